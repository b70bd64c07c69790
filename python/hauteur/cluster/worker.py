"""A worker: plays the units that it is given, those of one job side by side, in a thread of its own."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hauteur.cluster.kinds import UnitJob, job_class, preload, unit_of
from hauteur.cluster.unit import MOST_CONTENT, Unit, UnitResult
from hauteur.system.errors import explain

MOST_JOBS = 3
"""Jobs whose nets stay open: self-play of two generations and a gate may take turns."""
MOST_CAUSE = 2000
"""Characters of a line that says why a unit could not be played."""

Deliver = Callable[[UnitResult], None]
Fail = Callable[[str, str], None]
"""Takes the key of a unit, and why it could not be played, as one line."""


class UnitWorker:
    """Plays units. files: returns the place of a net, by its sha256 and file name."""

    def __init__(self, files: Callable[[str, str], Path], deliver: Deliver, fail: Fail, *, threads: int = 1) -> None:
        self._files, self._deliver, self._fail, self._threads = files, deliver, fail, threads
        self._waiting: deque[Unit] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._jobs: OrderedDict[str, UnitJob] = OrderedDict()
        self._thread = threading.Thread(target=self._work, name="units", daemon=True)
        self._thread.start()

    def receive(self, key: str, fields: Any) -> None:
        """Take a unit as the driver sends it; one that is not right fails under this key."""
        try:
            unit = unit_of(fields)
        except ValueError as error:
            self._fail(key, described(error))
        else:
            self.submit(unit)

    def submit(self, unit: Unit) -> None:
        """Take a unit; its result, or why there is none, is delivered from another thread."""
        with self._changed:
            self._waiting.append(unit)
            self._changed.notify()

    def close(self) -> None:
        """End when the present job has nothing to do any more."""
        with self._changed:
            self._waiting.clear()
            self._closed = True
            self._changed.notify()

    def _work(self) -> None:
        preload()  # here, not beside the first job: two threads would wait for each other's imports
        while (unit := self._first()) is not None:
            self._play(unit)
        while self._jobs:
            self._drop(next(iter(self._jobs)))

    def _play(self, unit: Unit) -> None:
        """Play the units of a job that wait now; each of them is handed in or fails."""
        feed = _JobFeed(self, unit.job)
        line = f"{unit.kind} ended without a result"
        try:
            self._job(unit).play(feed)
        except BaseException as error:  # what the units are made of decides, and panics of the core are no Exception
            line = described(error) if unit.job in self._jobs else f"{unit.kind} cannot begin: {described(error)}"
            self._drop(unit.job)
        lost = list(feed.taken.values())
        if not feed.was_asked and (first := self._take(unit.job)) is not None:
            lost.append(first)
        for one in lost:
            self._fail(one.key, line)

    def _first(self) -> Unit | None:
        """Wait for a unit, which stays in the queue."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._waiting[0] if self._waiting else None

    def _take(self, job: str) -> Unit | None:
        """Take the next unit of a job; None where the next one is of another, which has its turn, or there is none."""
        with self._changed:
            return self._waiting.popleft() if self._waiting and self._waiting[0].job == job else None

    def _job(self, unit: Unit) -> UnitJob:
        if unit.job not in self._jobs:
            while len(self._jobs) >= MOST_JOBS:
                self._drop(next(iter(self._jobs)))
            files = {sha256: self._files(sha256, name) for sha256, name in unit.files.items()}
            self._jobs[unit.job] = job_class(unit.kind)(unit, files, self._threads)
        self._jobs.move_to_end(unit.job)
        return self._jobs[unit.job]

    def _drop(self, job: str) -> None:
        if (dropped := self._jobs.pop(job, None)) is not None:
            try:
                dropped.close()
            except Exception:  # of a job that has failed already, or is done
                traceback.print_exc()


class _JobFeed:
    """The units of one job that wait at a worker."""

    def __init__(self, worker: UnitWorker, job: str) -> None:
        self._worker = worker
        self._job = job
        self.taken: dict[str, Unit] = {}
        self.was_asked = False

    def next_unit(self) -> Unit | None:
        """Return the next unit of the job."""
        self.was_asked = True
        unit = self._worker._take(self._job)
        if unit is not None:
            self.taken[unit.key] = unit
        return unit

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:
        """Deliver a unit. ValueError where its content is too long."""
        if len(content) > MOST_CONTENT:
            raise ValueError(f"the result has {len(content)} bytes, at most {MOST_CONTENT} are allowed")
        del self.taken[unit.key]
        self._worker._deliver(UnitResult(unit.key, content, facts))


def described(error: BaseException) -> str:
    """Return an error as one line; that of a fault of the program names its type, and its traceback goes to stderr."""
    if isinstance(error, ValueError | OSError | ImportError) and (line := explain(error)):
        return line[:MOST_CAUSE]
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MOST_CAUSE]

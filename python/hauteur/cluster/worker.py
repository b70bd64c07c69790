"""A worker: plays the units that it is given, those of one job side by side, in a thread of its own."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hauteur.cluster.unit import Unit, UnitJob, UnitResult, job_class, preload, unit_of
from hauteur.system.errors import explain

MOST_JOBS = 3
"""Jobs whose nets stay open: self-play of two generations and a gate may take turns."""
MOST_CAUSE = 2000
"""Characters of a line that says why a unit could not be played."""


class UnitWorker:
    """Plays units.

    files: returns the place of a net, by its sha256 and file name; deliver: takes results; fail: takes the key of a
    unit, and why it could not be played, as one line. Both are called from the worker's thread.
    """

    def __init__(
        self,
        files: Callable[[str, str], Path],
        deliver: Callable[[UnitResult], None],
        fail: Callable[[str, str], None],
        *,
        threads: int = 1,
    ) -> None:
        self._files, self._deliver, self._fail, self._threads = files, deliver, fail, threads
        self._waiting: deque[Unit] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._jobs: OrderedDict[str, UnitJob] = OrderedDict()
        self.thread = threading.Thread(target=self._work, name="units", daemon=True)
        self.thread.start()

    def receive(self, message: Mapping[str, Any]) -> None:
        """Take a unit as the driver sends it; one that is not right fails."""
        try:
            unit = unit_of(message)
        except ValueError as error:
            self._fail(message["key"], described(error))
            return
        with self._changed:
            self._waiting.append(unit)
            self._changed.notify()

    def close(self) -> None:
        """End when the present job has nothing to do any more."""
        with self._changed:
            self._waiting.clear()
            self._closed = True
            self._changed.notify()

    def take(self, job: str) -> Unit | None:
        """Take the next unit of a job; None where the next one is of another, which has its turn, or there is none."""
        with self._changed:
            return self._waiting.popleft() if self._waiting and self._waiting[0].job == job else None

    def _work(self) -> None:
        preload()  # here, not beside the first job: two threads would wait for each other's imports
        while (unit := self._first()) is not None:
            self._play(unit)
        while self._jobs:
            self._drop(next(iter(self._jobs)))

    def _first(self) -> Unit | None:
        """Wait for a unit, which stays in the queue."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._waiting[0] if self._waiting else None

    def _play(self, unit: Unit) -> None:
        """Play the units of a job that wait now; each of them is delivered or fails."""
        units = _UnitsOfJob(self, unit.job)
        try:
            for result in self._job(unit).play(units):
                self._deliver(result)
                del units.taken[result.key]
        except BaseException as error:  # panics of the core are no Exception
            line = described(error) if unit.job in self._jobs else f"{unit.kind} cannot begin: {described(error)}"
            self._drop(unit.job)
            if not units.taken and (first := self.take(unit.job)) is not None:
                units.taken[first.key] = first
            for key in units.taken:
                self._fail(key, line)

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


class _UnitsOfJob:
    """The units of one job that wait at a worker; taken: those that are being played, by key."""

    def __init__(self, worker: UnitWorker, job: str) -> None:
        self._worker = worker
        self._job = job
        self.taken: dict[str, Unit] = {}

    def __iter__(self) -> _UnitsOfJob:
        return self

    def __next__(self) -> Unit:
        unit = self._worker.take(self._job)
        if unit is None:
            raise StopIteration
        self.taken[unit.key] = unit
        return unit


def described(error: BaseException) -> str:
    """Return an error as one line; that of a fault of the program names its type, and its traceback goes to stderr."""
    if isinstance(error, ValueError | OSError | ImportError) and (line := explain(error)):
        return line[:MOST_CAUSE]
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MOST_CAUSE]

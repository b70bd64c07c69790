"""A worker: plays the units that it is given, those of one job side by side, in a thread of its own."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from pathlib import Path

from hauteur.cluster.kinds import Job, job_class
from hauteur.cluster.unit import Unit, UnitResult
from hauteur.system.errors import explain, one_line

MOST_JOBS = 2
"""Jobs whose nets stay open."""

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
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._thread = threading.Thread(target=self._work, name="units", daemon=True)
        self._thread.start()

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
        while (unit := self._first()) is not None:
            feed = _JobFeed(self, unit.job)
            try:
                self._job(unit).play(feed)
            except Exception as error:  # what the units are made of decides; the driver names it
                line = explain(error) or one_line(error) or type(error).__name__
                for lost in feed.taken.values():
                    self._fail(lost.key, line)
                if not feed.taken and (first := self._take(unit.job)) is not None:  # the job could not be opened
                    self._fail(first.key, line)
                self._drop(unit.job)
        for job in self._jobs.values():
            job.close()

    def _first(self) -> Unit | None:
        """Wait for a unit, which stays in the queue."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._waiting[0] if self._waiting else None

    def _take(self, job: str) -> Unit | None:
        """Take the next unit of a job; None where the next one is of another, or there is none."""
        with self._changed:
            return self._waiting.popleft() if self._waiting and self._waiting[0].job == job else None

    def _job(self, unit: Unit) -> Job:
        if unit.job not in self._jobs:
            while len(self._jobs) >= MOST_JOBS:
                self._jobs.popitem(last=False)[1].close()
            files = {sha256: self._files(sha256, name) for sha256, name in unit.files.items()}
            self._jobs[unit.job] = job_class(unit.kind)(unit, files, self._threads)
        self._jobs.move_to_end(unit.job)
        return self._jobs[unit.job]

    def _drop(self, job: str) -> None:
        if (dropped := self._jobs.pop(job, None)) is not None:
            dropped.close()


class _JobFeed:
    """The units of one job that wait at a worker."""

    def __init__(self, worker: UnitWorker, job: str) -> None:
        self._worker = worker
        self._job = job
        self.taken: dict[str, Unit] = {}

    def next_unit(self) -> Unit | None:
        """Return the next unit of the job."""
        unit = self._worker._take(self._job)
        if unit is not None:
            self.taken[unit.key] = unit
        return unit

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:
        """Deliver a unit."""
        del self.taken[unit.key]
        self._worker._deliver(UnitResult(unit.key, content, facts))

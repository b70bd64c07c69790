"""What the scheduler and the way to a worker cost the driver, measured with units without games."""

from __future__ import annotations

import time
from collections import deque

from hauteur.cluster.fleet import Event, Finished, Fleet, Joined, Sources, WorkerFacts
from hauteur.cluster.model.empty import empty_units
from hauteur.cluster.scheduler import CheckedResult, Scheduler
from hauteur.cluster.unit import Unit, UnitResult

TRIES = 3


class InstantFleet:
    """Workers that are there at once and need no time. most: events that one `wait` returns."""

    def __init__(self, workers: int, most: int) -> None:
        facts = WorkerFacts("here", "none", "0")
        self.name = f"{workers} workers that need no time"
        self._events: deque[Event] = deque(Joined(f"instant-{i}", facts) for i in range(workers))
        self._most = [workers, most]  # all join in the first

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:  # noqa: ARG002 - there are no nets
        """Finish a unit."""
        self._events.append(Finished(worker, UnitResult(unit.key, b"")))

    def wait(self, seconds: float) -> list[Event]:
        """Return some of what has happened."""
        if not self._events:
            time.sleep(min(seconds, 0.001))
        most = self._most.pop(0) if len(self._most) > 1 else self._most[0]
        return [self._events.popleft() for _ in range(min(most, len(self._events)))]

    def wake(self) -> None:
        """Nothing waits for long."""

    def remove(self, worker: str, cause: str, *, replace: bool = True) -> None:
        """No worker ends before the others."""

    def shortage(self) -> str | None:
        """Return None: all are there."""
        return None

    def close(self) -> None:
        """Nothing is open."""


def cpu_seconds_a_unit(fleet: Fleet, units: list[Unit], *, workers: int) -> tuple[float, float]:
    """Return seconds of this process's processor, and of the clock, for each unit without games.

    They begin when so many workers have joined.
    """
    scheduler = Scheduler(fleet)
    try:
        while len(scheduler.workers) < workers:
            time.sleep(0.01)
        for _ in scheduler.start(units[:1], {}, lambda unit, _: CheckedResult(unit.key)):
            pass
        began, clock = time.process_time(), time.perf_counter()
        for _ in scheduler.start(units[1:], {}, lambda unit, _: CheckedResult(unit.key)):
            pass
        return (time.process_time() - began) / (len(units) - 1), (time.perf_counter() - clock) / (len(units) - 1)
    finally:
        scheduler.close()


def scheduling_seconds(workers: int = 500) -> tuple[float, float]:
    """Return the processor's seconds of the scheduler for a unit, and of a round for each worker.

    Rounds that take one event each are compared with rounds that take many; the least of TRIES counts.
    """
    units = empty_units([0.0] * (2 * workers), task_bytes=0, result_bytes=0)
    few, many = (
        min(cpu_seconds_a_unit(InstantFleet(workers, most), units, workers=workers)[0] for _ in range(TRIES))
        for most in (1, workers)
    )
    return many, max(0.0, few - many) / workers

"""The scheduler: gives units to workers, takes results, and gives lost units to others."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hauteur.cluster.fleet import Event, Failed, Finished, Fleet, Joined, Left, Present, Sources, WorkerFacts
from hauteur.cluster.unit import Unit, UnitResult

IN_FLIGHT = 2
"""Units that a worker has at a time."""
MOST_FAILURES = 3
"""Workers that may fail at a unit; then the work stops."""
PULSE = 0.2
"""Seconds after which the scheduler looks around while nothing happens."""

Check = Callable[[Unit, bytes], str]
"""Returns the hash of a result's games. ValueError, in one line, for content that cannot be right."""


@dataclass(frozen=True)
class Played:
    """A unit that was played. digest: hash of its games; replaces: it stands in the place of one that was handed out
    before, by a worker that was found to be wrong.
    """

    unit: Unit
    result: UnitResult
    worker: str
    facts: WorkerFacts
    digest: str
    replaces: bool = False


@dataclass
class Counts:
    """What was done for a batch of units."""

    units: int = 0
    finished: int = 0
    retried: int = 0
    compared: int = 0
    workers: set[str] = field(default_factory=set)
    busy_seconds: float = 0.0
    present_seconds: float = 0.0

    @property
    def idle_share(self) -> float:
        """Share of the workers' time in which they had no unit, 0 to 1."""
        return 1 - self.busy_seconds / self.present_seconds if self.present_seconds > 0 else 0.0


class Batch:
    """Units that were given to a scheduler; iterate for what was made of them, in the order of arrival."""

    def __init__(self, units: Sequence[Unit], sources: Sources, check: Check, scheduler: Scheduler) -> None:
        self.units = {unit.key: unit for unit in units}
        self.sources = sources
        self.check = check
        self.counts = Counts(units=len(self.units))
        self.waiting: deque[Unit] = deque(self.units.values())
        self.failures: dict[str, int] = {}
        self.done: set[str] = set()
        self.results: queue.Queue[Played | Exception] = queue.Queue()
        self._scheduler = scheduler

    def __iter__(self) -> Iterator[Played]:
        for _ in range(len(self.units)):
            found = self.results.get()
            if isinstance(found, Exception):
                raise found
            yield found

    def close(self) -> None:
        """Give no more of these units away, and take no more results of them."""
        self._scheduler.cancel(self)


class Scheduler:
    """Gives units to the workers of a fleet, in a thread of its own; batches that were started first come first."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.workers: dict[str, Present] = {}
        self._batches: list[Batch] = []
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    def start(self, units: Sequence[Unit], sources: Sources, check: Check, *, first: bool = False) -> Batch:
        """Begin to work on units. first: before the batches that are there."""
        batch = Batch(units, sources, check, self)
        with self._lock:
            self._batches.insert(0 if first else len(self._batches), batch)
        self.fleet.wake()
        return batch

    def cancel(self, batch: Batch) -> None:
        """Forget a batch; what is in flight of it is played in vain."""
        with self._lock:
            if batch in self._batches:
                self._batches.remove(batch)

    def status(self) -> str:
        """Return how many workers and units there are, and why nothing moves where nothing does, in words."""
        with self._lock:
            flying = sum(len(worker.units) for worker in self.workers.values())
            shortage = self.fleet.shortage()
            text = f"{len(self.workers)} workers, {flying} units in flight"
            return f"{text}; {shortage}" if shortage else text

    def close(self) -> None:
        """End the workers."""
        self._closed = True
        self.fleet.wake()
        self._thread.join()
        self.fleet.close()

    def _run(self) -> None:
        looked = time.monotonic()
        while not self._closed:
            events = self.fleet.wait(PULSE)
            with self._lock:
                now = time.monotonic()
                self._count_time(now - looked)
                looked = now
                for event in events:
                    self._take(event)
                self._give()

    def _count_time(self, seconds: float) -> None:
        for batch in self._batches[:1]:
            batch.counts.present_seconds += seconds * len(self.workers)
            batch.counts.busy_seconds += seconds * sum(bool(worker.units) for worker in self.workers.values())

    def _take(self, event: Event) -> None:
        match event:
            case Joined(name, facts):
                self.workers[name] = Present(name, facts, joined=time.monotonic())
            case Left(name, _):
                gone = self.workers.pop(name, None)
                for key in gone.units if gone is not None else ():
                    self._again(key)
            case Failed(name, key, cause):
                self._release(name, key)
                self._failed(key, cause)
            case Finished(name, result):
                self._release(name, result.key)
                self._finished(name, result)

    def _release(self, name: str, key: str) -> None:
        if name in self.workers:
            self.workers[name].units.pop(key, None)

    def _batch_of(self, key: str) -> Batch | None:
        return next((batch for batch in self._batches if key in batch.units and key not in batch.done), None)

    def _again(self, key: str) -> None:
        """Put a unit back in front."""
        batch = self._batch_of(key)
        if batch is not None:
            batch.counts.retried += 1
            batch.waiting.appendleft(batch.units[key])

    def _failed(self, key: str, cause: str) -> None:
        batch = self._batch_of(key)
        if batch is None:
            return
        batch.failures[key] = batch.failures.get(key, 0) + 1
        if batch.failures[key] >= MOST_FAILURES:
            self._batches.remove(batch)
            batch.results.put(ValueError(f"{batch.units[key].name}: {cause}"))
        else:
            self._again(key)

    def _finished(self, name: str, result: UnitResult) -> None:
        batch = self._batch_of(result.key)
        if batch is None:
            return
        unit = batch.units[result.key]
        try:
            digest = batch.check(unit, result.content)
        except ValueError as error:
            self._failed(result.key, f"{name}: {error}")
            return
        batch.done.add(result.key)
        batch.counts.finished += 1
        batch.counts.workers.add(name)
        batch.results.put(Played(unit, result, name, self.workers[name].facts, digest))
        if batch.counts.finished == batch.counts.units:
            self._batches.remove(batch)

    def _give(self) -> None:
        """Give waiting units to workers that have room, the least busy first."""
        for depth in range(IN_FLIGHT):
            for worker in self.workers.values():
                if len(worker.units) <= depth:
                    self._give_to(worker)

    def _give_to(self, worker: Present) -> None:
        batch = next((batch for batch in self._batches if batch.waiting), None)
        if batch is None:
            return
        unit = batch.waiting.popleft()
        worker.units[unit.key] = time.monotonic()
        self.fleet.submit(worker.name, unit, batch.sources)

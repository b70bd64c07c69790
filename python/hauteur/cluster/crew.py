"""The workers of a scheduler, and which units each of them has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.present import Flight, Present

IN_FLIGHT = 2
"""Units that a worker has at a time."""
WHOLE = 12
"""The load that a worker is; each of its units has an equal share."""
MOST_PAST = 1024
"""Workers that are remembered after they left, in case that a result of them arrives late."""


class Crew:
    """Workers that are present, by name; `past`: those that left, with the units that they had then."""

    def __init__(self) -> None:
        self.workers: dict[str, Present] = {}
        self.past: OrderedDict[str, Present] = OrderedDict()
        self._with: list[dict[str, Present]] = [{} for _ in range(IN_FLIGHT + 1)]

    def join(self, name: str, facts: WorkerFacts) -> Present:
        """Take a worker in."""
        worker = self.workers[name] = Present(name, facts)
        self._list(worker)
        return worker

    def leave(self, name: str) -> Present | None:
        """Take a worker out; it keeps its units. None where it is not present."""
        worker = self.workers.pop(name, None)
        if worker is not None:
            self._unlist(worker)
            self.past[name] = worker
            if len(self.past) > MOST_PAST:
                self.past.popitem(last=False)
        return worker

    def known(self, name: str) -> Present | None:
        """Return a worker that is present, or was."""
        return self.workers.get(name) or self.past.get(name)

    def put(self, worker: Present, flight: Flight) -> None:
        """Note that a worker has a unit."""
        self._unlist(worker)
        worker.units[flight.state.unit.key] = flight
        self._list(worker)

    def drop(self, worker: Present, key: str) -> Flight | None:
        """Note that a worker does not have a unit any more; None where it had none such."""
        if worker.name not in self.workers:
            return worker.units.pop(key, None)
        self._unlist(worker)
        flight = worker.units.pop(key, None)
        self._list(worker)
        return flight

    def with_room(self) -> Iterator[Present]:
        """Yield workers with room for a unit, the least busy first; they may be given units meanwhile."""
        for number in range(IN_FLIGHT):
            yield from list(self._with[number].values())

    def idle(self) -> int:
        """Return how many workers have no unit."""
        return len(self._with[0])

    def in_flight(self) -> int:
        """Return how many units the workers have."""
        return sum(number * len(workers) for number, workers in enumerate(self._with))

    def flights(self) -> Iterator[Flight]:
        """Yield what the workers have that are present."""
        for workers in self._with[1:]:
            for worker in workers.values():
                yield from worker.units.values()

    def _list(self, worker: Present) -> None:
        self._with[len(worker.units)][worker.name] = worker
        self._load(worker, 1)

    def _unlist(self, worker: Present) -> None:
        del self._with[len(worker.units)][worker.name]
        self._load(worker, -1)

    def _load(self, worker: Present, sign: int) -> None:
        for flight in worker.units.values():
            if flight.batch is not None:
                flight.batch.load += sign * WHOLE // len(worker.units)
                flight.batch.counts.in_flight += sign

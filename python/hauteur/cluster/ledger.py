"""The state of a scheduler: its workers, its batches, and what changes both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hauteur.cluster.batch import UnitBatch
from hauteur.cluster.counts import Counts
from hauteur.cluster.crew import Crew
from hauteur.cluster.fleet import Fleet
from hauteur.cluster.played import Played, UnitState
from hauteur.cluster.present import Flight, Present

MOST_FAILURES = 3
"""Times that a unit may fail, each time at another worker as long as there is one; then its batch ends."""
MOST_DEATHS = 10
"""Workers that may end while they have a unit; then its batch ends."""


class Ledger:
    """What is where. time: seconds that the scheduler has worked; notes: lines for the user that were not shown yet."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.crew = Crew()
        self.batches: list[UnitBatch] = []
        self.counts = Counts()
        self.notes: list[str] = []
        self.time = 0.0

    def add(self, batch: UnitBatch, *, first: bool) -> None:
        """Take a batch. first: before the others."""
        batch.counts.present = batch.counts.most_present = len(self.crew.workers)
        self.counts.units += batch.counts.units
        self.batches.insert(0 if first else len(self.batches), batch)

    def forget(self, batch: UnitBatch) -> None:
        """Let go of a batch; what is in flight of it is played in vain."""
        if batch in self.batches:
            self.batches.remove(batch)
            for worker in (*self.crew.workers.values(), *self.crew.past.values()):
                for flight in worker.units.values():
                    flight.batch = None if flight.batch is batch else flight.batch
            batch.counts.in_flight = 0
            self._drop_comparisons(batch)
            batch.waiting.clear()
            batch.states.clear()

    def _drop_comparisons(self, batch: UnitBatch) -> None:
        """Count the comparisons that have not ended, and name those that differ: nobody will know who is right."""
        for comparison in batch.comparisons.values():
            for counts in self.both(batch):
                counts.uncompared += 1
            if comparison.differs:
                unit, names = comparison.state.unit.name, " and ".join(comparison.votes)
                self.notes.append(
                    f"{unit}: {names} give different games; the work ended before it was known who is right"
                )
        batch.comparisons.clear()

    def end(self, batch: UnitBatch, error: BaseException | None = None) -> None:
        """End a batch, with an error if there is one."""
        self.forget(batch)
        batch.end(error)

    def both(self, batch: UnitBatch) -> tuple[Counts, Counts]:
        """Return the counts of a batch, and those of all."""
        return batch.counts, self.counts

    def accept(self, batch: UnitBatch, played: Played) -> None:
        """Take a result of a unit that has none, or a suspect one; hand it out unless it was handed out before."""
        state = batch.states[played.unit.key]
        known = state.digest
        batch.missing -= state.is_open
        batch.take_out(state)
        state.digest, state.worker, state.facts = played.digest, played.worker, played.facts
        state.suspect, state.confirmed = False, known == played.digest
        for counts in self.both(batch):
            counts.workers.add(played.worker)
            counts.finished += known is None
            counts.replaced += known not in (None, played.digest)
        if known != played.digest:
            batch.hand_out(replace(played, replaces=known is not None))

    def suspect(self, batch: UnitBatch, state: UnitState) -> None:
        """Have a unit played again, because a wrong worker has played it."""
        if not state.is_open:
            state.suspect, state.confirmed = True, False
            batch.missing += 1
            batch.comparisons.pop(state.unit.key, None)
            batch.put_back(state)

    def again(self, flight: Flight, cause: str) -> None:
        """Have a unit played that a worker has not played."""
        batch, state = flight.batch, flight.state
        if batch is not None and state.is_open:
            for counts in self.both(batch):
                counts.retried += 1
                counts.causes[cause] += 1
            batch.put_back(state)

    def lose(self, name: str, cause: str) -> Present | None:
        """Take a worker out; its units go back. None where it is not present."""
        worker = self.crew.leave(name)
        if worker is not None:
            for counts in self.all_counts():
                counts.left += 1
                counts.present -= 1
            for flight in reversed(worker.units.values()):
                comparison = flight.comparison
                if comparison is not None and comparison.asked == name:
                    comparison.asked = None
                self.again(flight, cause)
        return worker

    def remove(self, worker: Present, kind: str, cause: str, *, replace: bool = True) -> None:
        """End a worker. kind: why its units go back, for the counts."""
        self.lose(worker.name, kind)
        self.fleet.remove(worker.name, cause, replace=replace)

    def check_unit(self, flight: Flight) -> None:
        """End a batch where one of its units cannot be played."""
        batch, state = flight.batch, flight.state
        if batch is None:
            return
        if len(state.failures) >= MOST_FAILURES:
            names = ", ".join(dict.fromkeys(name for name, _ in state.failures))
            line = f"{state.unit.name} failed {len(state.failures)} times, at {names}: {state.failures[-1][1]}"
            self.end(batch, ValueError(line))
        elif len(state.deaths) >= MOST_DEATHS:
            name, cause = state.deaths[-1]
            line = f"{state.unit.name}: {len(state.deaths)} workers ended while they had it, the last {name}: {cause}"
            self.end(batch, ValueError(line))

    def all_counts(self) -> Iterator[Counts]:
        """Yield the counts of every batch, and those of all."""
        yield from (batch.counts for batch in self.batches)
        yield self.counts

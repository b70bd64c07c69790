"""Who is right where two workers give different games of the same unit, and what follows for who is wrong."""

from __future__ import annotations

from hauteur.cluster.batch import UnitBatch
from hauteur.cluster.comparing import UnitComparison, Vote, is_drawn
from hauteur.cluster.ledger import Ledger
from hauteur.cluster.played import ComparedUnit, Played
from hauteur.cluster.present import Present

STUCK_SECONDS = 60.0
"""Seconds for which a comparison that differs waits for another worker, where one may come."""


class Judge:
    """Compares results, and shuts out who is wrong. share: of the units that are compared; seed: of their draw."""

    def __init__(self, ledger: Ledger, share: float, seed: int) -> None:
        self.wrong: set[str] = set()
        self._ledger, self._share, self._seed = ledger, share, seed

    def draw(self, batch: UnitBatch, worker: Present, played: Played) -> None:
        """Have a unit compared that a worker has just finished, if it is drawn."""
        if played.unit.comparable:
            number = worker.comparable
            worker.comparable += 1
            state = batch.states[played.unit.key]
            if is_drawn(self._share, self._seed, worker.name, number) and not state.confirmed:
                batch.comparisons[played.unit.key] = _begun(batch, played.unit.key)

    def take(self, batch: UnitBatch, worker: Present, played: Played) -> None:
        """Take a result of a unit that has one already."""
        key = played.unit.key
        state, comparison = batch.states[key], batch.comparisons.get(key)
        if comparison is None or comparison.asked != worker.name:
            for counts in self._ledger.both(batch):
                counts.duplicates += 1
        assert state.facts is not None
        if not played.unit.comparable or worker.facts.device_class != state.facts.device_class:
            return
        if comparison is None and played.digest == state.digest:
            state.confirmed = True
            return
        if comparison is None:
            comparison = batch.comparisons[key] = _begun(batch, key)
        comparison.add(worker, played.digest)
        self._settle(batch, comparison, played)

    def look(self, *, more: bool = False) -> None:
        """Decide where nobody can be asked any more. ValueError where it cannot be known who is right.

        more: further workers may come.
        """
        for batch in list(self._ledger.batches):
            for comparison in [one for one in batch.comparisons.values() if one.differs]:
                self._look_at(batch, comparison, more=more)

    def drop_hopeless(self, batch: UnitBatch) -> None:
        """Let go of comparisons for which no other worker is there."""
        for key, comparison in list(batch.comparisons.items()):
            if not comparison.differs and not comparison.can_go_on(self._ledger.crew.workers):
                del batch.comparisons[key]
                for counts in self._ledger.both(batch):
                    counts.uncompared += 1

    def _look_at(self, batch: UnitBatch, comparison: UnitComparison, *, more: bool) -> None:
        workers, time = self._ledger.crew.workers, self._ledger.time
        if batch.comparisons.get(comparison.state.unit.key) is not comparison:
            return  # another verdict has ended it
        if comparison.can_go_on(workers):
            comparison.stuck = None
            return
        comparison.stuck = time if comparison.stuck is None else comparison.stuck
        may_come = more or any(name not in workers for name in comparison.votes)
        waits = may_come and time < comparison.stuck + STUCK_SECONDS
        if not waits and not self._settle(batch, comparison, None):
            gave = "; ".join(f"{name}: {' and '.join(vote.digests)}" for name, vote in comparison.votes.items())
            raise ValueError(
                f"{comparison.state.unit.name}: workers of {comparison.device_class} give "
                f"different games, and there is no other one to decide who is right ({gave})"
            )

    def _settle(self, batch: UnitBatch, comparison: UnitComparison, played: Played | None) -> bool:
        """Return whether a comparison has ended. played: the last result; None: nobody can be asked any more."""
        verdict, state = comparison.verdict(nobody_left=played is None), comparison.state
        if verdict is None:
            return False
        del batch.comparisons[state.unit.key]
        for counts in self._ledger.both(batch):
            counts.compared += 1
            counts.differing += bool(verdict.wrong)
        batch.hand_out(ComparedUnit(state.unit, tuple(comparison.votes), tuple(verdict.wrong)))
        if state.digest != verdict.digest:
            self._ledger.suspect(batch, state)
            if played is not None:  # what has just come decided, so it is right
                self._ledger.accept(batch, played)
        state.confirmed = not state.suspect
        for name, digests in verdict.wrong.items():
            cause = (
                f"its games of {state.unit.name} differ from those of other workers ({digests}, not {verdict.digest})"
            )
            self._shut_out(name, cause)
        return True

    def _shut_out(self, name: str, cause: str) -> None:
        """End a worker for good; what it has played and nobody has confirmed is played again."""
        ledger, again = self._ledger, 0
        self.wrong.add(name)
        worker = ledger.crew.known(name)
        if name in ledger.crew.workers:
            ledger.remove(ledger.crew.workers[name], "wrong games", cause, replace=False)
        for batch in ledger.batches:
            for state in [one for one in batch.states.values() if one.worker == name]:
                if not state.confirmed and not state.is_open:
                    ledger.suspect(batch, state)
                    again += 1
            for comparison in batch.comparisons.values():
                comparison.votes.pop(name, None)
        finished = worker.finished if worker is not None else again
        host = f" on {worker.facts.host}" if worker is not None else ""
        ledger.notes.append(
            f"{name}{host} is shut out: {cause}; of the {finished} units that it finished, {again} of the work "
            "that is open are played again"
        )


def _begun(batch: UnitBatch, key: str) -> UnitComparison:
    """Return the comparison of a unit that has a result."""
    state = batch.states[key]
    assert state.facts is not None
    assert state.digest is not None
    votes = {state.worker: Vote(state.facts.host, [state.digest])}
    return UnitComparison(state, state.facts.device_class, votes)

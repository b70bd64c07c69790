"""What a scheduler does in a turn: takes what the fleet reports, and gives units to workers that have room."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

from hauteur.cluster.batch import UnitBatch
from hauteur.cluster.comparing import UnitComparison
from hauteur.cluster.crew import WHOLE
from hauteur.cluster.fleet import Event, Failed, Finished, Fleet, Joined, Left, WorkerFacts
from hauteur.cluster.judge import Judge
from hauteur.cluster.ledger import MOST_FAILURES, Ledger
from hauteur.cluster.played import CheckedResult, Played, UnitState
from hauteur.cluster.present import Flight, Present
from hauteur.cluster.unit import MOST_CONTENT, UnitResult
from hauteur.system.errors import explain, one_line

PULSE = 0.2
"""Seconds after which a turn ends while nothing happens."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at time limits."""
ABSENT_SECONDS = 30.0
"""Seconds without any worker after which the user is told."""
MOST_GAP = 5.0
"""Seconds of a turn that count for time limits: while the driver was stopped, workers could not hand anything in."""
MOST_STARTS = 5
"""Workers that may end before they have joined while there is no other; then all work ends,"""
START_SECONDS = 10.0
"""though not before so many seconds have passed."""
FEWEST_SECONDS = 60.0
"""Time limits of units are never shorter than this,"""
FIRST_SECONDS = 900.0
"""nor than this for a worker that has not finished any, because it opens nets;"""
LIMIT_FACTOR = 10
"""so many times the median of the batch, or the slowest unit of the worker;"""
UNKNOWN_SECONDS = 4 * 3600.0
"""and this while too few units of the batch have finished."""


class Dispatcher:
    """Takes turns, in one thread; who else looks at its ledger holds `lock`.

    compare_share: of the units that are compared, 0 to 1; unit_seconds: time limit of a unit, 0: learned from those
    that have finished; seed: of the draw of comparisons, None: any; clock: seconds that only grow.
    """

    def __init__(
        self, fleet: Fleet, *, compare_share: float, unit_seconds: float, seed: int | None, clock: Callable[[], float]
    ) -> None:
        if not 0 <= compare_share <= 1:
            raise ValueError(f"compare_share must be 0 to 1, got {compare_share}")
        if unit_seconds < 0:
            raise ValueError(f"unit_seconds must be positive, or 0 for a limit that is learned, got {unit_seconds}")
        self.lock = threading.RLock()
        self.ledger = Ledger(fleet)
        self.shortage: str | None = None
        self.moved = 0.0
        self.judge = Judge(self.ledger, compare_share, secrets.randbits(64) if seed is None else seed)
        self._unit_seconds, self._clock = unit_seconds, clock
        self._turned, self._looked = clock(), 0.0
        self._failed_starts, self._starts_since, self._start_cause = 0, 0.0, ""
        self._manned, self._absence_noted = 0.0, False

    def turn(self) -> None:
        """Wait for what happens, at most for a moment, and do what follows. ValueError where work cannot go on."""
        events = self.ledger.fleet.wait(PULSE)
        found = [self._examine(event) for event in events]  # without the lock: it may take long
        with self.lock:
            self._pass_time()
            for event, examined in zip(events, found, strict=True):
                self.moved = self.ledger.time
                self._take(event, examined)
            if self.ledger.time >= self._looked + LOOK_SECONDS:
                self._look()
            self._give()
            for batch in [one for one in self.ledger.batches if not one.missing]:
                self.judge.drop_hopeless(batch)
                if not batch.comparisons:
                    self.ledger.end(batch)

    def limit(self, flight: Flight, worker: Present) -> float:
        """Return the seconds that a unit may take at a worker."""
        if self._unit_seconds:
            return self._unit_seconds
        typical = None if flight.batch is None else flight.batch.typical_seconds()
        if typical is None:
            return UNKNOWN_SECONDS
        fewest = FEWEST_SECONDS if worker.finished else FIRST_SECONDS
        return max(fewest, LIMIT_FACTOR * max(typical, worker.slowest))

    def _pass_time(self) -> None:
        """Count the seconds since the last turn, in which nobody came, left or was given anything."""
        ledger, now = self.ledger, self._clock()
        gone, self._turned = now - self._turned, now
        ledger.time += min(gone, MOST_GAP)
        present, idle = gone * len(ledger.crew.workers), gone * ledger.crew.idle()
        for batch in ledger.batches:
            batch.counts.busy_seconds += gone * batch.load / WHOLE
            batch.counts.unit_seconds += gone * batch.counts.in_flight
        if ledger.batches:
            ledger.counts.busy_seconds += present - idle
            ledger.counts.unit_seconds += gone * ledger.crew.in_flight()
            for counts in ledger.all_counts():
                counts.present_seconds += present
                counts.idle_seconds += idle
                counts.work_seconds += gone

    def _look(self) -> None:
        """See to what does not come as an event."""
        ledger = self.ledger
        self._looked = ledger.time
        self.shortage = ledger.fleet.shortage()
        self._note_absence()
        for worker in list(ledger.crew.workers.values()):
            self._check_time(worker)
        self.judge.look(more=self.shortage is not None)
        failing = not ledger.crew.workers and self._failed_starts >= MOST_STARTS
        if failing and ledger.time >= self._starts_since + START_SECONDS:
            raise ValueError(f"no worker starts; {self._failed_starts} ended before they joined: {self._start_cause}")

    def _note_absence(self) -> None:
        """Report that there is nobody to play what waits, and that there is again."""
        ledger = self.ledger
        if ledger.crew.workers or not ledger.batches:
            if self._absence_noted:
                ledger.notes.append("there are workers again")
            self._manned, self._absence_noted = ledger.time, False
        elif ledger.time >= self._manned + ABSENT_SECONDS and not self._absence_noted:
            self._absence_noted = True
            ledger.notes.append(f"waiting for workers for {ABSENT_SECONDS:.0f} s: {self.shortage or 'none has joined'}")

    def _check_time(self, worker: Present) -> None:
        """Remove a worker that hangs."""
        now = self.ledger.time
        old = now - (self._unit_seconds or FEWEST_SECONDS)  # younger ones are within any limit
        aged = [flight for flight in worker.units.values() if flight.since < old]
        late = [flight for flight in aged if now - flight.since > self.limit(flight, worker)]
        if not late:
            return
        cause = f"{late[0].state.unit.name} had not ended after {now - late[0].since:.0f} s"
        self._remove(worker, "time limit", cause)
        for flight in late:
            self._failed_at(worker, flight, cause)

    # What the fleet reports.

    def _examine(self, event: Event) -> CheckedResult | Exception | None:
        """Return what a result holds, or what is wrong with it; None where nobody waits for it."""
        worker = self.ledger.crew.known(event.worker)
        flight = worker.units.get(event.result.key) if worker is not None and isinstance(event, Finished) else None
        batch = flight.batch if flight is not None else None
        if not isinstance(event, Finished) or flight is None or batch is None:
            return None
        content = event.result.content
        if len(content) > MOST_CONTENT:
            return ValueError(f"its result has {len(content)} bytes, of at most {MOST_CONTENT}")
        try:
            return batch.check(flight.state.unit, content)
        except Exception as error:  # made of what a worker has sent: the worker is at fault, until others fail as well
            return error

    def _take(self, event: Event, examined: CheckedResult | Exception | None) -> None:
        match event:
            case Joined(name, facts):
                self._joined(name, facts)
            case Left(name, cause):
                self._left(name, cause)
            case Failed(name, key, cause):
                self._failed(name, key, "failed", cause)
            case Finished(name, result) if isinstance(examined, Exception):
                self._failed(name, result.key, "wrong content", explain(examined) or one_line(examined))
            case Finished(name, result):
                self._finished(name, result, examined)

    def _joined(self, name: str, facts: WorkerFacts) -> None:
        ledger = self.ledger
        self._failed_starts = 0
        if name in ledger.crew.workers:
            return
        ledger.crew.join(name, facts)
        for counts in ledger.all_counts():
            counts.joined += 1
            counts.present = len(ledger.crew.workers)
            counts.most_present = max(counts.most_present, counts.present)

    def _left(self, name: str, cause: str) -> None:
        ledger = self.ledger
        never_joined = ledger.crew.known(name) is None
        worker = ledger.lose(name, "worker lost")
        if worker is not None:
            units = f"; units that are given to others: {len(worker.units)}" if worker.units else ""
            ledger.notes.append(f"{name} on {worker.facts.host} is gone: {cause}{units}")
        for flight in list(worker.units.values()) if worker is not None else ():
            flight.state.deaths.append((name, cause))
            ledger.check_unit(flight)
        if never_joined:
            self._starts_since = self._starts_since if self._failed_starts else ledger.time
            self._failed_starts += 1
            self._start_cause = cause

    def _failed(self, name: str, key: str, kind: str, cause: str) -> None:
        """Note that a worker could not play a unit. kind: for the counts."""
        ledger = self.ledger
        worker = ledger.crew.known(name)
        flight = ledger.crew.drop(worker, key) if worker is not None else None
        if worker is None or flight is None or name not in ledger.crew.workers:
            return
        worker.failures += 1
        if flight.batch is not None:
            for counts in ledger.both(flight.batch):
                counts.failed += 1
            self._failed_at(worker, flight, cause)
            ledger.again(flight, kind)
        if worker.failures >= MOST_FAILURES:
            self._remove(worker, "worker lost", f"{worker.failures} units in a row failed, the last: {cause}")

    def _failed_at(self, worker: Present, flight: Flight, cause: str) -> None:
        """Note that a unit failed at a worker; where it was played for a comparison, others are asked."""
        if flight.comparison is not None:
            flight.comparison.failed.add(worker.name)
            if flight.comparison.asked == worker.name:
                flight.comparison.asked = None
        if flight.state.is_open:
            flight.state.failures.append((worker.name, cause))
            self.ledger.check_unit(flight)

    def _finished(self, name: str, result: UnitResult, checked: CheckedResult | None) -> None:
        ledger = self.ledger
        worker = ledger.crew.known(name)
        flight = ledger.crew.drop(worker, result.key) if worker is not None else None
        if worker is None or flight is None:
            ledger.counts.duplicates += 1
            return
        worker.failures = 0
        worker.finished += 1
        worker.slowest = max(worker.slowest, ledger.time - flight.since)
        batch, state = flight.batch, flight.state
        if batch is None or checked is None or name in self.judge.wrong:
            return
        batch.durations.append(ledger.time - flight.since)
        played = Played(
            state.unit, result, name, worker.facts, checked.digest, attempts=state.attempts, games=checked.games
        )
        if state.digest is not None:
            for counts in ledger.both(batch):
                counts.replayed += 1
        if state.is_open:
            ledger.accept(batch, played)
            self.judge.draw(batch, worker, played)
        else:
            self.judge.take(batch, worker, played)

    def _remove(self, worker: Present, kind: str, cause: str) -> None:
        self.ledger.remove(worker, kind, cause)
        self.ledger.notes.append(f"{worker.name} on {worker.facts.host} is replaced: {cause}")

    # Who gets what.

    def _give(self) -> None:
        """Give units to workers that have room."""
        ledger = self.ledger
        if not any(batch.waiting or batch.comparisons for batch in ledger.batches):
            return
        for worker in ledger.crew.with_room():
            found = self._next_for(worker)
            if found is not None:
                batch, state, comparison = found
                if comparison is not None:
                    comparison.asked = worker.name
                else:
                    batch.take_out(state)
                    state.attempts += 1
                ledger.crew.put(worker, Flight(batch, state, ledger.time, comparison))
                ledger.fleet.submit(worker.name, state.unit, batch.sources)
                self.moved = ledger.time

    def _next_for(self, worker: Present) -> tuple[UnitBatch, UnitState, UnitComparison | None] | None:
        """Return what a worker is given next: a comparison, else a unit of the first batch that has any."""
        workers = self.ledger.crew.workers
        if any(_is_alone(flight.state) for flight in worker.units.values()):
            return None
        for batch in self.ledger.batches:
            for comparison in batch.comparisons.values():
                if comparison.asks(worker, workers):
                    return batch, comparison.state, comparison
        for batch in self.ledger.batches:
            if batch.waiting and not batch.is_full(len(workers)):
                for state in batch.waiting:
                    if self._may_play(worker, state):
                        return batch, state, None
        return None

    def _may_play(self, worker: Present, state: UnitState) -> bool:
        """Return whether a worker may be given a unit: where one failed, another is asked, which has played others if
        there is such a one, so that a host at which everything fails ends no work.
        """
        if state.unit.key in worker.units or (_is_alone(state) and worker.units):
            return False
        if not state.failures:
            return True
        failed = {name for name, _ in state.failures}
        present = list(self.ledger.crew.workers.values())
        others = [other for other in present if other.name not in failed]
        return worker in ([other for other in others if other.finished] or others or present)


def _is_alone(state: UnitState) -> bool:
    """Return whether a worker that has a unit is given no other: workers ended with it, and it may be the cause."""
    return len(state.deaths) >= MOST_FAILURES

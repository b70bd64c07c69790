"""The scheduler: gives units to the workers of a fleet, and gives those that are lost, late or failed to others."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hauteur.cluster.threads import ItemQueue, Threads
from hauteur.cluster.unit import Event, Failed, Finished, Fleet, Joined, Left, Sources, Unit, UnitResult
from hauteur.system.hardware import processor_name
from hauteur.system.stopping import Stopped, stop

IN_FLIGHT = 2
"""Units that a worker has at a time: it plays them side by side, so that its batches stay full when one ends."""
PULSE = 0.05
"""Seconds after which a turn ends while nothing happens, and new batches are begun."""
MOST_GAP = 5.0
"""Seconds of a turn that count for time limits: while the driver was stopped, workers could not hand anything in."""
MOST_FAILURES = 3
"""Times that a unit may fail, at other workers as long as there are any; then its batch ends."""
MOST_DEATHS = 10
"""Workers that may end while they have a unit; then its batch ends."""
LEAST_LIMIT = 900.0
"""Seconds that a learned time limit has at least: a worker opens nets before its first unit."""
LIMIT_FACTOR = 10
"""A learned time limit is this times the seconds of the slowest unit of the batch, of three or more."""
CLOSE_SECONDS = 60.0
"""Seconds for which the end waits for the present turn."""
COUNTED = {"units": "units played", "retried": "given out again", "failed": "failed", "left": "workers lost"}
"""Numbers that are counted, and what they are for people; failed: units that a worker could not play, or took too long
for.
"""
TIMED = ("work_seconds", "worker_seconds", "unit_seconds", "idle_seconds")
"""Seconds of the clock in which there was work; in that time those of all workers that were there, of all units that
were in flight, and of the workers without any.
"""


def summed_numbers(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return what workers did altogether: the numbers of `COUNTED` and `TIMED`, and what follows from them.

    present, in_flight: workers, and units that they had, on average while there was work; idle_share: 0 to 1.
    """
    found = list(parts)
    totals = {name: _total(found, name) for name in (*COUNTED, *TIMED)}
    work, workers, units, idle = (totals[name] for name in TIMED)
    counts: dict[str, float] = {name: int(totals[name]) for name in COUNTED}
    times = {name: round(totals[name], 6) for name in TIMED}
    return {
        "present": round(workers / work, 4) if work else 0.0,
        "in_flight": round(units / work, 4) if work else 0.0,
        **counts,
        **times,
        "idle_share": round(idle / workers, 4) if workers else 0.0,
    }


def _total(parts: Sequence[Mapping[str, float]], name: str) -> float:
    return sum(part.get(name, 0.0) for part in parts)


def numbers_in_words(numbers: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return numbers for people: each with what it is."""
    return [
        (f"{numbers.get('present', 0):.1f}", "workers, on average"),
        (f"{numbers.get('in_flight', 0):.1f}", "units in flight, on average"),
        *((f"{numbers.get(name, 0):,.0f}", words) for name, words in COUNTED.items()),
        (f"{numbers.get('idle_share', 0):.1%}", "idle share of worker time"),
    ]


@dataclass(frozen=True)
class Played:
    """A unit that was played."""

    unit: Unit
    result: UnitResult


@dataclass(eq=False)
class _Open:
    """A unit without a result. failures: workers that could not play it; deaths: workers that ended meanwhile."""

    unit: Unit
    batch: UnitBatch
    failures: list[str] = field(default_factory=list)
    deaths: int = 0
    since: float = 0.0


class UnitBatch:
    """Units that were given to a scheduler; iterate for what was made of them, in the order of arrival.

    The iteration ends when every unit has been played, or with the error that stopped the work; one thread iterates.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        sources: Sources,
        forget: Callable[[UnitBatch], None],
        found: ItemQueue[Played | BaseException | None],
    ) -> None:
        self.sources = sources
        self.waiting = deque(_Open(unit, self) for unit in units)
        self.missing = len({unit.key for unit in units})
        self.slowest = 0.0
        self.finished = 0
        if self.missing < len(units):
            raise ValueError(f"units of a batch must differ, got {len(units)} of which {self.missing} do")
        self._found = found
        self._forget = forget
        if not units:
            self.end()

    def __iter__(self) -> Iterator[Played]:
        """Yield results as they arrive; raise what stopped the work."""
        while isinstance(found := self._found.get(), Played):
            yield found
        self.end(found)  # for those who iterate again
        if found is not None:
            raise found

    @property
    def is_ready(self) -> bool:
        """Whether the iteration goes on, or ends, without waiting."""
        return not self._found.empty()

    def close(self) -> None:
        """Give no more of these units away; the iteration ends. At any time, any number of times."""
        self._forget(self)
        self.end()

    def hand_out(self, played: Played, seconds: float) -> None:
        """Leave a result for the consumer. seconds: that it took."""
        self.missing -= 1
        self.finished += 1
        self.slowest = max(self.slowest, seconds)
        self._found.put(played)

    def end(self, error: BaseException | None = None) -> None:
        """End the iteration, when the results that wait are taken; the first end counts."""
        self._found.put(error)


def print_note(line: str) -> None:
    """Print a line about a worker, on standard error."""
    print(line, file=sys.stderr, flush=True)


class Scheduler:
    """Gives units to the workers of a fleet, in a thread of its own; batches that were started first come first.

    Once the process was asked to end, no unit is given any more; batches end when those in flight have come.

    unit_seconds: time limit of a unit, 0: learned from those that have finished; on_note: takes lines about workers,
    and tracebacks of their faults, from the scheduler's thread; clock: seconds that only grow; threads: begin the
    scheduler's thread and others.
    """

    def __init__(
        self,
        fleet: Fleet,
        *,
        unit_seconds: float = 0.0,
        on_note: Callable[[str], None] = print_note,
        clock: Callable[[], float] = time.monotonic,
        threads: Threads = Threads(),  # noqa: B008  (it has no state)
    ) -> None:
        self.fleet = fleet
        self.threads = threads
        self._unit_seconds = unit_seconds
        self._on_note = on_note
        self._clock = clock
        # Guards all below, which the scheduler's thread shares with those that start and close batches. Re-entrant: a
        # batch that ends within a turn is forgotten while the turn holds it. It is never held while the fleet waits.
        self._lock = threading.RLock()
        self._workers: dict[str, dict[str, _Open]] = {}
        self._hosts: dict[str, str] = {}
        self._processors: list[str] = []
        self._batches: list[UnitBatch] = []
        self._counts = dict.fromkeys((*COUNTED, *TIMED), 0.0)
        self._turned = clock()
        self._time = 0.0
        self._noted: set[str] = set()
        self._traced: set[str] = set()
        self._error: BaseException | None = None
        self._closed = False
        self._task = threads.start(self._run, "scheduler")

    @property
    def workers(self) -> int:
        """Number of workers that have joined."""
        with self._lock:
            return len(self._workers)

    def counts(self, since: Mapping[str, float] = {}) -> dict[str, float]:
        """Return the work until now, or after an earlier count."""
        with self._lock:
            return {name: value - since.get(name, 0.0) for name, value in self._counts.items()}

    def start(self, units: Sequence[Unit], sources: Sources, *, first: bool = False) -> UnitBatch:
        """Begin to work on units; iterate over what is returned for the results.

        sources: where the files of the units are, by sha256; first: before the batches that are there. ValueError where
        two of the units are the same; the error that stopped the scheduler, where one did.
        """
        batch = UnitBatch(units, sources, self._forget, self.threads.queue())
        with self._lock:
            if self._error is not None:
                raise self._error
            if units:
                self._batches.insert(0 if first else len(self._batches), batch)
        return batch

    def status(self) -> str:
        """Return how many workers and units there are, and why there are not more workers, in one line."""
        with self._lock:
            waiting = sum(len(batch.waiting) for batch in self._batches)
            text = f"{len(self._workers)} workers, {self._flying()} units in flight, {waiting} waiting"
        shortage = self.fleet.shortage()
        return f"{text}; {shortage}" if shortage else text

    def _flying(self) -> int:
        """Return how many units workers have."""
        return sum(map(len, self._workers.values()))

    def close(self) -> None:
        """End the workers, and batches that are open with an error; at any time, any number of times."""
        self._closed = True
        self._task.join(CLOSE_SECONDS)
        if stop.requested:
            self._on_note(f"units that were in work and are lost: {self._flying()}")
        self.stop(RuntimeError("the scheduler was closed"))
        self.fleet.close()

    def _run(self) -> None:
        """Take turns until the scheduler is closed; the only thread that uses the fleet."""
        try:
            while not self._closed:
                self.turn()
        except BaseException as error:  # whatever it is, those who wait for results must have it
            self.stop(error)

    def stop(self, error: BaseException) -> None:
        """End all batches with an error; the first error counts."""
        with self._lock:
            self._error = self._error or error
            for batch in list(self._batches):
                self._end(batch, self._error)

    def turn(self) -> None:
        """Wait for what happens, at most for a moment, and do what follows. ValueError where work cannot go on."""
        events = self.fleet.wait(PULSE)
        with self._lock:
            self._pass_time()
            for event in events:
                self._take(event)
            self._replace_late()
            if stop.requested:
                self._drain()
            else:
                self._give()

    def _pass_time(self) -> None:
        """Count the seconds since the last turn, in which no worker came, left or was given anything."""
        now = self._clock()
        gone = now - self._turned
        self._turned = now
        self._time += min(gone, MOST_GAP)
        if self._batches:
            loads = [len(flights) for flights in self._workers.values()]
            counts = (1, len(loads), sum(loads), loads.count(0))
            for name, count in zip(TIMED, counts, strict=True):
                self._counts[name] += gone * count

    def _take(self, event: Event) -> None:
        """Do what follows from an event of the fleet."""
        match event:
            case Joined(name, host, _, processor):
                self._workers[name] = {}
                self._hosts[name] = host
                self._compare(name, processor or processor_name())
            case Left(name, cause) if name in self._workers:
                self._lose(name, cause)
            case Finished(name, result) if (flight := self._landed(name, result.key)) is not None:
                if flight.batch in self._batches:
                    self._counts["units"] += 1
                    flight.batch.hand_out(Played(flight.unit, result), self._time - flight.since)
                    if not flight.batch.missing:
                        self._end(flight.batch)
            case Failed(name, key, cause, trace) if (flight := self._landed(name, key)) is not None:
                self._show_trace(trace)
                if name not in self._noted:
                    self._noted.add(name)
                    self._on_note(f"{name} on {self._hosts[name]}: {flight.unit.name} failed: {cause}")
                self._fail(flight, name, cause)

    def _show_trace(self, trace: str) -> None:
        """Show where a program is at fault, once for each such place."""
        # The message may name the position, so that it is another one each time.
        place = "\n".join(line for line in trace.splitlines() if line.startswith("  File "))
        if trace and place not in self._traced:
            self._traced.add(place)
            self._on_note(trace)

    def _compare(self, name: str, processor: str) -> None:
        """Say, once for each kind, that a worker has another processor than those before it."""
        if processor in self._processors:
            return
        self._processors.append(processor)
        if len(self._processors) > 1:
            self._on_note(
                f"{name} on {self._hosts[name]} has another processor, {processor}, than {self._processors[0]}: games "
                "in float32 are the same on both, in bfloat16 they may differ"
            )

    def _landed(self, name: str, key: str) -> _Open | None:
        """Return a unit that a worker has, which it has no more; None where it had none such."""
        if name not in self._workers:
            return None
        return self._workers[name].pop(key, None)

    def _lose(self, name: str, cause: str) -> None:
        """Put the units of a worker that is gone back, in the order in which it had them."""
        flights = self._workers.pop(name)
        self._counts["left"] += 1
        self._on_note(f"{name} on {self._hosts[name]} is gone: {cause}; units that are given to others: {len(flights)}")
        for flight in reversed(flights.values()):
            flight.deaths += 1
            error = f"{flight.unit.name}: {flight.deaths} workers ended while they had it, the last {name}: {cause}"
            self._again(flight, error, is_last=flight.deaths >= MOST_DEATHS)

    def _fail(self, flight: _Open, name: str, cause: str) -> None:
        """Note that a worker could not play a unit, which goes back."""
        self._counts["failed"] += 1
        flight.failures.append(name)
        names = ", ".join(dict.fromkeys(flight.failures))
        error = f"{flight.unit.name} failed {len(flight.failures)} times, at {names}: {cause}"
        self._again(flight, error, is_last=len(flight.failures) >= MOST_FAILURES)

    def _again(self, flight: _Open, error: str, *, is_last: bool) -> None:
        """Put a unit in front of the queue; is_last: end its batch with the error."""
        if flight.batch in self._batches and is_last:
            self._end(flight.batch, ValueError(error))
        elif flight.batch in self._batches:
            self._counts["retried"] += 1
            flight.batch.waiting.appendleft(flight)

    def _replace_late(self) -> None:
        """Replace workers that have a unit for longer than its limit."""
        for name, flights in list(self._workers.items()):
            late = [one for one in flights.values() if self._time - one.since > self._limit(one.batch)]
            if late:
                first = late[0]
                cause = f"{first.unit.name} had not ended after {self._time - first.since:.0f} s"
                # The late units count as failed, so that one which hangs everywhere ends its batch; what else the
                # worker had is lost with it.
                for flight in late:
                    del flights[flight.unit.key]
                    self._fail(flight, name, cause)
                self._lose(name, cause)
                self.fleet.replace(name, cause)

    def _drain(self) -> None:
        """End all batches once no unit of them is in flight."""
        flights = [one for flights in self._workers.values() for one in flights.values()]
        if not any(one.batch in self._batches for one in flights):
            self.stop(Stopped("the process was asked to end"))

    def _limit(self, batch: UnitBatch) -> float:
        """Return the seconds that a unit of a batch may take."""
        if self._unit_seconds:
            return self._unit_seconds
        if batch.finished >= 3:
            return max(LEAST_LIMIT, LIMIT_FACTOR * batch.slowest)
        return float("inf")

    def _give(self) -> None:
        """Give units to workers with free places, the least busy first."""
        if not any(batch.waiting for batch in self._batches):
            return
        # Round by round: nobody has a second unit before everybody has a first.
        for load in range(IN_FLIGHT):
            for name in [name for name, flights in self._workers.items() if len(flights) == load]:
                flight = self._next_for(name)
                if flight is not None:
                    flight.batch.waiting.remove(flight)
                    flight.since = self._time
                    self._workers[name][flight.unit.key] = flight
                    self.fleet.submit(name, flight.unit, flight.batch.sources)

    def _next_for(self, name: str) -> _Open | None:
        """Return the next unit of the first batch that has one; not one that failed at this worker, while others are
        there where it has not.
        """
        for batch in self._batches:
            for flight in batch.waiting:
                if name not in flight.failures or self._workers.keys() <= set(flight.failures):
                    return flight
        return None

    def _forget(self, batch: UnitBatch) -> None:
        """Let go of a batch; what is in flight of it is played in vain."""
        with self._lock:
            if batch in self._batches:
                self._batches.remove(batch)
            batch.waiting.clear()

    def _end(self, batch: UnitBatch, error: BaseException | None = None) -> None:
        """Let go of a batch and end its iteration, with an error if there is one."""
        self._forget(batch)
        batch.end(error)

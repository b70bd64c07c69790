"""A fleet without processes: workers that die, hang, fail and lie as told, in a time that passes at once."""

import hashlib
import heapq
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hauteur.cluster.batch import OnCompared, UnitBatch
from hauteur.cluster.dispatcher import Dispatcher
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left, Sources, WorkerFacts
from hauteur.cluster.played import CheckedResult, Played
from hauteur.cluster.unit import Unit, UnitResult


def some_units(count: int, *, games: str = "", name: str = "unit", comparable: bool = True) -> list[Unit]:
    """Units that differ; those of another `games` differ from them all."""
    return [Unit("toy", f"{name} {n}", {"games": games}, {"number": n}, comparable=comparable) for n in range(count)]


def content_of(unit: Unit) -> bytes:
    """What a worker makes of a unit that is right."""
    return f"games of {unit.key}".encode()


def check(unit: Unit, content: bytes) -> CheckedResult:
    """The digest of a result; altered games pass."""
    if not content.startswith(content_of(unit)):
        raise ValueError("these are not its games")
    return CheckedResult(hashlib.sha256(content).hexdigest())


@dataclass
class Habits:
    """How a worker is. Each function takes the unit and how many units the worker was given before.

    seconds: for a unit, one after the other; altered: what it adds to its games; fails: why it cannot play it; wrong:
    its content is none; hangs: it never ends; dies: it ends before this unit does.
    """

    seconds: Callable[[Unit, int], float] = lambda _unit, _number: 1.0
    altered: Callable[[Unit, int], str] = lambda _unit, _number: ""
    fails: Callable[[Unit, int], str | None] = lambda _unit, _number: None
    wrong: Callable[[Unit, int], bool] = lambda _unit, _number: False
    hangs: Callable[[Unit, int], bool] = lambda _unit, _number: False
    dies: Callable[[Unit, int], bool] = lambda _unit, _number: False
    host: str = ""
    device_class: str = "toy processor"


@dataclass
class SimulatedWorker:
    """A worker, and until when it is busy."""

    habits: Habits
    slot: int
    free: float = 0.0
    given: int = 0
    alive: bool = True
    has: list[Unit] = field(default_factory=list)


class SimulatedFleet:
    """Workers of given habits, one a slot: `habits(slot, times)`, times being how many the slot has had before.

    None instead of habits: it ends before it joins. Time is `now`, which `wait` moves on.
    """

    name = "simulated workers"

    def __init__(self, slots: int, habits: Callable[[int, int], Habits | None] | None = None) -> None:
        self.now = 0.0
        self.workers: dict[str, SimulatedWorker] = {}
        self.removed: dict[str, tuple[str, bool]] = {}
        self.submitted: list[tuple[str, Unit]] = []
        self.most_in_flight = 0
        self.late_results = False
        self.closed = False
        self._habits = habits or (lambda _slot, _times: Habits())
        self._slots = range(slots)
        self._times: dict[int, int] = {}
        self._events: list[tuple[float, int, Event]] = []
        self._count = 0
        for slot in range(slots):
            self.start(slot)

    def start(self, slot: int, *, after: float = 0.1) -> None:
        """A worker of a slot begins."""
        times = self._times.get(slot, 0)
        self._times[slot] = times + 1
        habits, name = self._habits(slot, times), f"worker-{slot}.{times}"
        if habits is None:
            self._at(self.now + after * 2 ** min(times, 6), Left(name, "it cannot start"))
            return
        self.workers[name] = SimulatedWorker(habits, slot)
        facts = WorkerFacts(habits.host or f"host-{slot}", habits.device_class, "1")
        self._at(self.now + after, Joined(name, facts))

    def end(self, name: str, cause: str = "it was killed", *, replace: bool = True) -> None:
        """A worker ends, and another begins in its place."""
        worker = self.workers[name]
        if not worker.alive:
            return
        worker.alive = False
        if not self.late_results:
            self._events = [one for one in self._events if getattr(one[2], "worker", "") != name]
            heapq.heapify(self._events)
        self._at(self.now, Left(name, cause))
        if replace:
            self.start(worker.slot, after=0.5)

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Give a unit to a worker."""
        one = self.workers[worker]
        assert worker not in self.removed, "given to a worker that was removed"
        self.submitted.append((worker, unit))
        if not one.alive:
            return
        one.has.append(unit)
        self.most_in_flight = max(self.most_in_flight, len(one.has))
        number, habits = one.given, one.habits
        one.given += 1
        if habits.hangs(unit, number):
            return
        one.free = max(one.free, self.now) + habits.seconds(unit, number)
        if habits.dies(unit, number):
            self._at(one.free, Left(worker, "it died"))
        elif (cause := habits.fails(unit, number)) is not None:
            self._at(one.free, Failed(worker, unit.key, cause))
        else:
            content = b"nonsense" if habits.wrong(unit, number) else content_of(unit)
            content += habits.altered(unit, number).encode()
            self._at(one.free, Finished(worker, UnitResult(unit.key, content)))

    def wait(self, seconds: float) -> list[Event]:
        """What happens next, all that happens at the same time."""
        if not self._events or self._events[0][0] > self.now + seconds:
            self.now += seconds
            return []
        self.now = max(self.now, self._events[0][0])
        found: list[Event] = []
        while self._events and self._events[0][0] <= self.now:
            found += self._happens(heapq.heappop(self._events)[2])
        return found

    def wake(self) -> None:
        """Nobody sleeps."""

    def remove(self, worker: str, cause: str, *, replace: bool = True) -> None:
        """End a worker."""
        assert worker not in self.removed, "removed twice"
        self.removed[worker] = (cause, replace)
        self.end(worker, cause, replace=replace)

    def shortage(self) -> str | None:
        """Never any."""
        return None

    def close(self) -> None:
        """End."""
        self.closed = True

    def deliver(self, event: Event, *, after: float = 0.0) -> None:
        """Report something that no worker did."""
        self._at(self.now + after, event)

    def _happens(self, event: Event) -> Iterator[Event]:
        match event:
            case Left(name, "it died"):
                worker = self.workers[name]
                if worker.alive:
                    self.end(name, "it died at once")
            case Finished(name, UnitResult(key)) | Failed(name, key):
                worker = self.workers[name]
                worker.has = [unit for unit in worker.has if unit.key != key]
                yield event
            case _:
                yield event

    def _at(self, time: float, event: Event) -> None:
        self._count += 1
        heapq.heappush(self._events, (time, self._count, event))


class Drive:
    """A dispatcher on a simulated fleet, turned by hand: what happens is the same every time."""

    def __init__(self, fleet: SimulatedFleet, *, share: float = 0.01, unit_seconds: float = 0.0, seed: int = 0) -> None:
        self.fleet = fleet
        self.dispatcher = Dispatcher(
            fleet, compare_share=share, unit_seconds=unit_seconds, seed=seed, clock=lambda: fleet.now
        )
        self.ledger = self.dispatcher.ledger

    def start(self, units: list[Unit], *, first: bool = False, on_compared: OnCompared = lambda _: None) -> UnitBatch:
        """Begin a batch."""
        batch = UnitBatch(units, {}, check, self.ledger.forget, lambda: None, on_compared)
        self.ledger.add(batch, first=first)
        return batch

    def turns(self, count: int) -> None:
        """Take turns."""
        for _ in range(count):
            self.dispatcher.turn()

    def until(self, seconds: float) -> None:
        """Take turns until a time."""
        while self.fleet.now < seconds:
            self.dispatcher.turn()

    def finish(self, *batches: UnitBatch, turns: int = 100_000) -> list[list[Played]]:
        """Take turns until batches have ended; what they handed out."""
        found: list[list[Played]] = [[] for _ in batches]
        for _ in range(turns):
            for batch, played in zip(batches, found, strict=True):
                while batch.results:
                    one = batch.take()
                    assert one is not None
                    played.append(one)
            if not any(batch in self.ledger.batches for batch in batches):
                for batch in batches:
                    assert batch.take() is None
                return found
            self.dispatcher.turn()
        raise AssertionError(f"no end after {turns} turns")


def games(played: list[Played]) -> dict[str, str]:
    """The digest of every unit, the last where it was replaced; each came once, but for replacements."""
    found: dict[str, str] = {}
    for one in played:
        assert one.replaces == (one.unit.key in found), f"{one.unit.name} came twice"
        found[one.unit.key] = one.digest
    return found


def right_games(units: list[Unit]) -> dict[str, str]:
    """The digests that right workers give."""
    return {unit.key: check(unit, content_of(unit)).digest for unit in units}


def random_habits(seed: int, *, death: float = 0.0, failure: float = 0.0, hang: float = 0.0) -> Habits:
    """A worker that dies, fails and hangs by chance."""
    dice = random.Random(seed)
    return Habits(
        seconds=lambda _unit, _number: dice.uniform(0.2, 3.0),
        dies=lambda _unit, _number: dice.random() < death,
        fails=lambda _unit, _number: "no memory" if dice.random() < failure else None,
        hangs=lambda _unit, _number: dice.random() < hang,
    )

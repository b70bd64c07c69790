"""A fleet without processes: workers that die, hang and fail as asked, in a time that passes at once."""

import heapq
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hauteur.cluster.scheduler import Played, Scheduler, UnitBatch
from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, Sources, Unit, UnitResult


def some_units(count: int, *, name: str = "unit") -> list[Unit]:
    """Units that differ; those of another name differ from them all."""
    return [Unit("toy", f"{name} {number}", {"games": name}, {"number": number}) for number in range(count)]


@dataclass
class Habits:
    """Behaviour of a worker. Each function takes the unit and how many units the worker was given before.

    seconds: for a unit, one after the other; fails: why it cannot play it; hangs: it never ends; dies: it ends before
    this unit does.
    """

    seconds: Callable[[Unit, int], float] = lambda _unit, _number: 1.0
    fails: Callable[[Unit, int], str | None] = lambda _unit, _number: None
    hangs: Callable[[Unit, int], bool] = lambda _unit, _number: False
    dies: Callable[[Unit, int], bool] = lambda _unit, _number: False


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

    Time is `now`, which `wait` moves on.
    """

    def __init__(self, slots: int, habits: Callable[[int, int], Habits] | None = None) -> None:
        self.now = 0.0
        self.workers: dict[str, SimulatedWorker] = {}
        self.replaced: dict[str, str] = {}
        self.submitted: list[tuple[str, Unit]] = []
        self.most_in_flight = 0
        self.closed = False
        self._habits = habits or (lambda _slot, _times: Habits())
        self._times: dict[int, int] = {}
        self._events: list[tuple[float, int, Event]] = []
        self._count = 0
        for slot in range(slots):
            self.start(slot)

    def start(self, slot: int, *, after: float = 0.1) -> None:
        """A worker of a slot begins."""
        times = self._times.get(slot, 0)
        self._times[slot] = times + 1
        name = f"worker-{slot}.{times}"
        self.workers[name] = SimulatedWorker(self._habits(slot, times), slot)
        self.deliver(Joined(name, f"host-{slot}"), after=after)

    def end(self, name: str, cause: str) -> None:
        """A worker ends, and another begins in its place."""
        worker = self.workers[name]
        if worker.alive:
            worker.alive = False
            self._events = [one for one in self._events if getattr(one[2], "worker", "") != name]
            heapq.heapify(self._events)
            self.deliver(Left(name, cause))
            self.start(worker.slot, after=0.5)

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Give a unit to a worker."""
        one = self.workers[worker]
        assert worker not in self.replaced, "given to a worker that was replaced"
        self.submitted.append((worker, unit))
        one.has.append(unit)
        self.most_in_flight = max(self.most_in_flight, len(one.has))
        number = one.given
        habits = one.habits
        one.given += 1
        if habits.hangs(unit, number):
            return
        one.free = max(one.free, self.now) + habits.seconds(unit, number)
        if habits.dies(unit, number):
            event: Event = Left(worker, "it died")
        elif (cause := habits.fails(unit, number)) is not None:
            event = Failed(worker, unit.key, cause)
        else:
            event = Finished(worker, UnitResult(unit.key, f"games of {unit.name}".encode()))
        self.deliver(event, after=one.free - self.now)

    def wait(self, seconds: float) -> list[Event]:
        """Return what happens next, all that happens at the same time."""
        if not self._events or self._events[0][0] > self.now + seconds:
            self.now += seconds
            return []
        self.now = max(self.now, self._events[0][0])
        found: list[Event] = []
        while self._events and self._events[0][0] <= self.now:
            found += self._happens(heapq.heappop(self._events)[2])
        return found

    def replace(self, worker: str, cause: str) -> None:
        """End a worker."""
        assert worker not in self.replaced, "replaced twice"
        self.replaced[worker] = cause
        self.end(worker, cause)

    def shortage(self) -> str | None:
        """Never any."""
        return None

    def close(self) -> None:
        """End."""
        self.closed = True

    def deliver(self, event: Event, *, after: float = 0.0) -> None:
        """Report something."""
        self._count += 1
        heapq.heappush(self._events, (self.now + after, self._count, event))

    def _happens(self, event: Event) -> Iterator[Event]:
        match event:
            case Left(name, "it died"):
                self.end(name, "it died at once")
            case Finished(name, UnitResult(key)) | Failed(name, key) if name in self.workers:
                worker = self.workers[name]
                worker.has = [unit for unit in worker.has if unit.key != key]
                yield event
            case _:
                yield event


class Drive(Scheduler):
    """A scheduler on a simulated fleet, turned by hand: what happens is the same every time. notes: its lines."""

    def __init__(self, fleet: SimulatedFleet, *, unit_seconds: float = 0.0) -> None:
        self.simulated = fleet
        self.notes: list[str] = []
        super().__init__(fleet, unit_seconds=unit_seconds, on_note=self.notes.append, clock=lambda: fleet.now)

    def _run(self) -> None:
        """Leave the turns to the test."""

    def until(self, seconds: float) -> None:
        """Take turns until a time."""
        while self.simulated.now < seconds:
            self.turn()

    def finish(self, *batches: UnitBatch, turns: int = 100_000) -> list[list[Played]]:
        """Take turns until batches have ended; what they handed out."""
        for _ in range(turns):
            if not any(batch in self._batches for batch in batches):
                return [list(batch) for batch in batches]
            self.turn()
        raise AssertionError(f"no end after {turns} turns")


def assert_played(played: list[Played], units: list[Unit]) -> None:
    """Every unit came exactly once, with its own games."""
    assert sorted(one.unit.name for one in played) == sorted(unit.name for unit in units)
    assert all(one.result.content == f"games of {one.unit.name}".encode() for one in played)


def random_habits(seed: int, *, death: float = 0.0, failure: float = 0.0, hang: float = 0.0) -> Habits:
    """A worker that dies, fails and hangs by chance."""
    dice = random.Random(seed)
    return Habits(
        seconds=lambda _unit, _number: dice.uniform(0.2, 3.0),
        dies=lambda _unit, _number: dice.random() < death,
        fails=lambda _unit, _number: "no memory" if dice.random() < failure else None,
        hangs=lambda _unit, _number: dice.random() < hang,
    )

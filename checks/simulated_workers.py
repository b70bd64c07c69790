"""Simulated workers, messages and threads of a learning run. What a worker plays is a cheap function of its unit."""

from __future__ import annotations

import heapq
import json
import random
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import __version__
from hauteur.cluster import unit as units
from hauteur.cluster.scheduler import Scheduler, UnitBatch
from hauteur.cluster.threads import ItemQueue, Threads
from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, Sources, TakeUnit, Unit, UnitResult
from hauteur.games.registry import load_game
from hauteur.learning.shards import shard_bytes
from hauteur.matches.openings import opening_state
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.units import plan_from_json
from hauteur.system.seeds import derived_seed
from hauteur.system.stopping import Stopped, stop
from simulated_machine import World

GAP = 4.0
"""Seconds that a turn lets pass at most."""
OTHER_VERSION = "0.0.1"
SECONDS = (0.5, 9.0)
"""Seconds that a unit takes."""


def toy_result(unit: Unit, version: str = __version__) -> UnitResult:
    """Return what a worker of a version makes of a unit, with the count of what it has cost."""
    return _toy_result(unit.key, json.dumps(unit.to_json()), version)


@lru_cache(100_000)
def _toy_result(key: str, message: str, version: str) -> UnitResult:
    """Return the result of a unit; games of another version are other games."""
    unit = units.unit_of(json.loads(message))
    shared = unit.shared
    draws = random.Random(f"{key} {version}")
    seed = shared["recipe"]["run"]["seed"]
    most = 1 if unit.kind == "reanalyse" else 100
    records = []
    for fields in unit.own["plans"]:
        plan = plan_from_json(fields)
        own = derived_seed(seed, shared["purpose"], plan.index) if plan.seed is None else plan.seed
        records.append(_random_game(shared["recipe"]["game"], plan, own, draws, most))
    content = shard_bytes(shared["recipe"]["game"], records, generation=shared["generation"], nets=shared["nets"])
    return UnitResult(key, content, {"games": len(records), "evaluations": draws.randint(10, 99)})


def _random_game(spec: str, plan: GamePlan, seed: int, draws: random.Random, most: int) -> GameRecord:
    """Return a game of at most so many random moves, recorded as if searches had chosen them."""
    game = load_game(spec)
    state = opening_state(game, plan)
    actions: list[int] = []
    movers: list[int] = []
    while not state.is_terminal and len(actions) < most:
        movers.append(state.to_move)
        actions.append(int(draws.choice(state.legal_actions())))
        state.apply(actions[-1])
    count = len(actions)
    return GameRecord(
        plan=plan,
        seed=seed,
        actions=np.array(actions, np.uint16),
        movers=np.array(movers, np.uint8),
        policy_actions=np.array(actions, np.uint16),
        policy_counts=np.ones(count, np.uint32),
        policy_lengths=np.ones(count, np.uint16),
        root_wdl=np.full((count, 3), 1 / 3, np.float32),
        outcome=state.outcome() or 0,
        end_reason="",
    )


class ToyJob:
    """Units that the driver plays itself, in the place of `LearningJob`."""

    world: World

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        del unit, files, threads

    def play(self, take: TakeUnit, on_game: Callable[[], object] = lambda: None) -> Generator[UnitResult]:
        """Play units, two side by side."""
        waiting: list[Unit] = []
        while True:
            while len(waiting) < 2 and (unit := take()) is not None:
                waiting.append(unit)
            if not waiting:
                return
            found = waiting.pop(self.world.random.randrange(len(waiting)))
            self.world.now += self.world.random.uniform(*SECONDS)
            self.world.may_ask()
            self.world.may_end()
            for _ in range(found.games):
                on_game()
            yield toy_result(found)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class _Worker:
    """A worker: its version, until when it is busy, and when it has ended."""

    version: str
    free: float = 0.0
    ended: bool = False


class SimulatedCluster:
    """A fleet of workers that die, hang, fail and run another version, behind a network that loses, doubles, delays
    and reorders messages.
    """

    def __init__(self, world: World, workers: int) -> None:
        self._world = world
        self._workers: dict[str, _Worker] = {}
        self._count = 0
        self._messages = 0
        self._arriving: list[tuple[float, int, float, Event]] = []
        self._given: list[Unit] = []
        for _ in range(workers):
            self._start()

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Send a unit to a worker."""
        del sources
        assert not stop.requested, "a unit is begun after a request to end"
        world = self._world
        one = self._workers[worker]
        if one.ended or world.fault("request lost"):
            return
        message = json.loads(json.dumps(unit.to_json()))
        try:
            taken = units.unit_of(message, one.version)
        except ValueError as error:
            self._send(Failed(worker, unit.key, str(error)))
            return
        self._given.append(taken)
        one.free = max(one.free, world.now) + world.random.uniform(*SECONDS)
        self._play(worker, one, taken)

    def wait(self, seconds: float) -> list[Event]:
        """Return what arrives next; time passes until then."""
        del seconds
        world = self._world
        if world.fault("driver stopped"):
            world.now += 3600.0
        until = self._arriving[0][0] if self._arriving else world.now + GAP
        world.now = max(world.now, min(until, world.now + GAP))
        found: list[Event] = []
        while self._arriving and self._arriving[0][0] <= world.now:
            _, _, sent, event = heapq.heappop(self._arriving)
            found += self._arrived(sent, event)
        return found

    def replace(self, worker: str, cause: str) -> None:
        """Kill a worker; what it has sent is still on its way."""
        if not self._workers[worker].ended:
            self._end(worker, cause, self._world.now)

    def shortage(self) -> str | None:
        """Return no reason."""
        return None

    def close(self) -> None:
        """Nothing is left of it."""

    def _start(self) -> None:
        """Start a worker."""
        self._count += 1
        name = f"worker-{self._count}"
        is_other = self._world.fault("other version")
        self._workers[name] = _Worker(OTHER_VERSION if is_other else __version__)
        self._send(Joined(name, "host"), after=self._world.random.uniform(0.1, 3.0))

    def _play(self, name: str, worker: _Worker, unit: Unit) -> None:
        """Send what becomes of a unit."""
        world = self._world
        after = worker.free - world.now
        if world.fault("worker dies"):
            self._end(name, "it died", world.now + after)
        elif world.fault("worker fails"):
            self._send(Failed(name, unit.key, "no memory"), after=after)
        elif not (world.fault("worker hangs") or world.fault("answer lost")):
            result = toy_result(unit, worker.version)
            if world.fault("wrong answer"):
                other = toy_result(world.random.choice(self._given), worker.version)
                result = UnitResult(unit.key, world.random.choice((other.content, result.content[:90])), result.facts)
            late = world.random.uniform(10.0, 500.0) if world.fault("answer late") else 0.0
            self._send(Finished(name, result), after=after, late=late)
            if world.fault("answer twice"):
                self._send(Finished(name, result), after=after, late=world.random.uniform(0.0, 60.0))

    def _end(self, name: str, cause: str, when: float) -> None:
        """Let a worker end at a time, and another take its place."""
        self._workers[name].ended = True
        # What it would have sent later is never sent.
        self._arriving = [one for one in self._arriving if one[3].worker != name or one[2] <= when]
        heapq.heapify(self._arriving)
        self._send(Left(name, cause), after=when - self._world.now)

    def _send(self, event: Event, *, after: float = 0.0, late: float = 0.0) -> None:
        """Send a message in so many seconds; late: that it takes besides the usual ones."""
        self._messages += 1
        sent = self._world.now + after
        arrives = sent + self._world.random.uniform(0.0, 0.4) + late
        heapq.heappush(self._arriving, (arrives, self._messages, sent, event))

    def _arrived(self, sent: float, event: Event) -> Iterator[Event]:
        """Yield an event; the end of a worker starts another."""
        del sent
        if isinstance(event, Left):
            self._start()
        yield event


class Turns(Threads):
    """The driver's threads as turns of one: whenever one would wait, the others go on."""

    def __init__(self, world: World) -> None:
        self.scheduler: Scheduler | None = None
        self._world = world
        self._consumers: list[_Consumer] = []
        self._in_turn = False

    def queue(self) -> ItemQueue[Any]:
        """Return a queue whose reader gives the others turns while it waits."""
        return _Queue(self.turn)

    def start(self, work: Callable[[], None], name: str) -> _Turned:
        """Begin the scheduler, whose turns are `turn`."""
        del work, name
        return _Turned(self.turn)

    def each(self, items: Iterable[Any], take: Callable[[Any], None], name: str) -> _Consumer:
        """Begin to take the results of a batch."""
        del name
        assert isinstance(items, UnitBatch)
        consumer = _Consumer(items, take, self.turn)
        self._consumers.append(consumer)
        return consumer

    def turn(self) -> None:
        """Give the scheduler a turn, and those that take results."""
        if self._in_turn or self.scheduler is None:
            return
        self._world.may_ask()
        self._in_turn = True
        try:
            self._world.may_end()
            self._turn_scheduler(self.scheduler)
            for consumer in list(self._consumers):
                if self._world.random.random() < 0.8:
                    consumer.step()
                if not consumer.is_alive():
                    self._consumers.remove(consumer)
        finally:
            self._in_turn = False

    @staticmethod
    def _turn_scheduler(scheduler: Scheduler) -> None:
        """Take a turn of the scheduler; an error ends its batches, as in its own thread."""
        try:
            scheduler.turn()
        except Exception as error:
            scheduler.stop(error)


class _Queue:
    """A queue of one thread."""

    def __init__(self, turn: Callable[[], None]) -> None:
        self._turn = turn
        self._items: deque[Any] = deque()

    def put(self, item: Any) -> None:
        """Add an item."""
        self._items.append(item)

    def get(self) -> Any:
        """Take the first item."""
        while not self._items:
            self._turn()
        return self._items.popleft()

    def empty(self) -> bool:
        """Return whether there is no item."""
        return not self._items


class _Turned:
    """Work that is done in turns."""

    def __init__(self, turn: Callable[[], None]) -> None:
        self._turn = turn
        self.is_over = False

    def join(self, timeout: float | None = None) -> None:
        """Give a turn."""
        del timeout
        if not self.is_over:
            self._turn()

    def is_alive(self) -> bool:
        """Return whether it goes on."""
        return not self.is_over


class _Consumer(_Turned):
    """Takes the results of a batch, one a turn."""

    def __init__(self, batch: UnitBatch, take: Callable[[Any], None], turn: Callable[[], None]) -> None:
        super().__init__(turn)
        self.error: BaseException | None = None
        self._batch = batch
        self._items = iter(batch)
        self._take = take

    def step(self) -> None:
        """Take a result, if there is one."""
        if self.is_over or not self._batch.is_ready:
            return
        try:
            self._take(next(self._items))
        except StopIteration:
            self.is_over = True
        except (Exception, Stopped) as error:
            self.error = error
            self.is_over = True

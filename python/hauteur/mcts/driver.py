"""The driver of searches: gather rows, let the network compute them, apply the answers.

`SearchDriver` drives one forest until its trees are finished, or turn by turn: the batch analysis does something with
finished trees between two batches. Up to `in_flight` batches wait for a network at a time, so that the core gathers
batch B while the network computes batch A.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from hauteur import _core
from hauteur.mcts.plain_settings import PlainSettings, SearchSettings, has_section
from hauteur.mcts.step_plan import StepPlan
from hauteur.networks.evaluators.base import ComputedByCore, PackedEvaluator, StateEvaluator

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams
    from hauteur.networks.evaluators.base import Evaluator, Pending


@dataclass(frozen=True)
class BatchRows:
    """A buffer for the rows of one batch.

    gather: lets the forest write at most N rows for a net; submit: gives the evaluator the rows of a batch.
    """

    gather: Callable[[int, int], _core.Batch]
    submit: Callable[[_core.Batch], Pending]


def rows_for(evaluator: Evaluator, forest: _core.Forest, size: int) -> BatchRows:
    """Return a buffer for batches of at most `size` rows, in the form that suits the evaluator best.

    Positions; bit planes, masks uint64 [B, C] and values float32 [B, C]; or features, float32 [B, C, H, W].
    """
    _, height, width = forest.game.feature_shape
    # First of all: random games begin from positions, and features do not bring them back.
    if isinstance(evaluator, StateEvaluator):
        return _rows_of_states(evaluator, forest)
    # A bit plane is one word where the board has at most 64 squares: about 20 times fewer bytes to copy
    # to a GPU.
    if isinstance(evaluator, PackedEvaluator) and height * width <= 64:
        return _rows_of_planes(evaluator, forest, size)
    return _rows_of_features(evaluator, forest, size)


def _rows_of_states(evaluator: StateEvaluator, forest: _core.Forest) -> BatchRows:
    return BatchRows(forest.gather, lambda batch: evaluator.submit_states(forest.batch_states(batch)))


def _rows_of_planes(evaluator: PackedEvaluator, forest: _core.Forest, size: int) -> BatchRows:
    planes = forest.game.feature_shape[0]
    masks = np.zeros((size, planes), np.uint64)
    values = np.zeros((size, planes), np.float32)
    return BatchRows(
        lambda rows, net: forest.gather_packed(masks[:rows], values[:rows], net),
        lambda batch: evaluator.submit_packed(masks[: len(batch)], values[: len(batch)]),
    )


def _rows_of_features(evaluator: Evaluator, forest: _core.Forest, size: int) -> BatchRows:
    features = np.zeros((size, *forest.game.feature_shape), np.float32)
    return BatchRows(
        lambda rows, net: forest.gather(features[:rows], net),
        lambda batch: evaluator.submit(features[: len(batch)]),
    )


@dataclass
class SearchFacts:
    """The time of a search by its parts, and the fill of its batches; the rest of `total` is Python."""

    search: float = 0.0
    """Seconds in gather and apply (the core)."""
    network: float = 0.0
    """Seconds of waiting for networks."""
    total: float = 0.0
    """Seconds from start to end."""
    rows: int = 0
    """Positions that networks evaluated."""
    batches: int = 0
    """Batches that networks evaluated."""
    capacity: int = 0
    """Rows that these batches had room for."""

    @property
    def python(self) -> float:
        """Seconds that were neither the core nor waiting for the network."""
        return max(0.0, self.total - self.search - self.network)

    @property
    def fill(self) -> float:
        """Mean share of a batch that held rows, 0 to 1."""
        return self.rows / self.capacity if self.capacity else 0.0

    def add(self, other: SearchFacts) -> None:
        """Add seconds and counts of another stretch of work."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class InFlight:
    """The batches of a forest that wait for one network, oldest first, and the buffers that hold their rows."""

    forest: _core.Forest
    """The forest whose leaves are evaluated."""
    evaluator: Evaluator
    """The network."""
    batch_size: int
    """Maximum rows of a batch."""
    depth: int = 2
    """Maximum batches that wait at a time."""
    spread: bool = False
    """Each tree has one leaf in flight, so the active trees are spread over `depth` batches; the next batch can then be
    gathered while one is computed."""
    plan: Callable[[], StepPlan] | None = None
    """Asked before every batch for its size; None: full batches, which nothing ends."""
    facts: SearchFacts = field(default_factory=SearchFacts)
    """Takes the seconds, rows and batches."""
    net: int = 0
    """Number of the network in the forest's settings, 0 the smallest."""

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.depth < 1:
            raise ValueError(f"batch_size and in_flight must be >= 1, got {self.batch_size} and {self.depth}")
        self._core = self.evaluator.core if isinstance(self.evaluator, ComputedByCore) else None
        # An evaluator of the core writes its rows itself and needs no buffers of Python.
        buffers = 0 if self._core is not None else self.depth
        self._free = [self._new_buffer() for _ in range(buffers)]
        self._waiting: deque[tuple[_core.Batch, Pending, BatchRows]] = deque()

    def __len__(self) -> int:
        """Return the number of batches that wait."""
        return len(self._waiting)

    def fill(self) -> None:
        """Gather and submit batches until `depth` of them wait or the forest has no more rows to give."""
        rows = self._most_rows()
        while self._free and rows and self._submit_next(rows):
            pass

    def apply_oldest(self) -> bool:
        """Wait for the oldest batch and apply it; False when none waits, or the plan ends the waiting.

        An evaluator of the core computes its batches here, at once: nothing waits.
        """
        if self._core is not None:
            return self._step(self._core)
        if not self._waiting or not self._has_answered(self._waiting[0][1]):
            return False
        batch, pending, buffer = self._waiting.popleft()
        # Before the answer is asked for: an evaluator that raises would otherwise cost a buffer each time.
        self._free.append(buffer)
        started = time.perf_counter()
        try:
            policy_logits, wdl = pending.result()
        except BaseException:
            # Visits in flight lower the scores of their edges: left in the tree they would keep others away for good.
            self.forest.cancel(batch)
            raise
        answered = time.perf_counter()
        self.forest.apply(batch, policy_logits, wdl)
        self.facts.network += answered - started
        self.facts.search += time.perf_counter() - answered
        return True

    def _next_plan(self) -> StepPlan:
        """Ask for the plan of the next batch; its rows are at most `batch_size`."""
        if self.plan is None:
            return StepPlan(self.batch_size)
        plan = self.plan()
        return replace(plan, rows=min(self.batch_size, plan.rows))

    def _has_answered(self, pending: Pending) -> bool:
        """Wait until a batch is computed; return False where a stop or the end of the time comes first."""
        plan = self._next_plan()
        # Only a future can be waited for together with a stop. The first batch is waited for in any case: without it
        # a tree has no move.
        if plan.control is None or plan.sure or not isinstance(pending, Future):
            return True
        if not pending.done():
            plan.control.wait(pending, seconds=plan.seconds)
        return pending.done()

    def _step(self, core: _core.Network | _core.Uniform) -> bool:
        """Let the core gather, evaluate and apply; False when there were no rows."""
        plan = self._next_plan()
        flag = None if plan.control is None else plan.control.flag
        rows, batches, search, network = self.forest.step(
            core,
            plan.rows,
            self.net,
            plan.batches,
            flag,
            plan.seconds,
            plan.sure,
        )
        self.facts.search += search
        self.facts.network += network
        self.facts.rows += rows
        self.facts.batches += batches
        self.facts.capacity += plan.rows * batches
        return rows > 0

    def cancel(self) -> None:
        """Take back the visits of all batches that wait; the forest is then as if they had not been gathered."""
        while self._waiting:
            batch, _, _ = self._waiting.pop()
            self.forest.cancel(batch)
            self._free.append(self._new_buffer())  # the network may still read the old one

    def _new_buffer(self) -> BatchRows:
        """Return a buffer for a batch of `batch_size` rows."""
        return rows_for(self.evaluator, self.forest, self.batch_size)

    def _most_rows(self) -> int:
        """Return the maximum rows of the next batch."""
        if self.spread and self.net == 0:  # turns of larger nets are rare, and some come together
            rows = -(-len(self.forest.active()) // self.depth)
            return min(self.batch_size, rows)
        return self._next_plan().rows

    def _submit_next(self, most: int) -> bool:
        """Gather one batch and submit it; False when there were no rows."""
        buffer = self._free.pop()
        batch = None
        started = time.perf_counter()
        try:
            batch = buffer.gather(most, self.net)
            self.facts.search += time.perf_counter() - started
            rows = len(batch)
            pending = buffer.submit(batch) if rows else None
        except BaseException:
            if batch is not None:
                self.forest.cancel(batch)
            self._free.append(buffer)
            raise
        # An empty batch would wait for an answer that never comes.
        if pending is None:
            self.forest.cancel(batch)
            self._free.append(buffer)
            return False
        self._waiting.append((batch, pending, buffer))
        self.facts.rows += rows
        self.facts.batches += 1
        self.facts.capacity += self.batch_size
        return True


class SearchDriver:
    """Drives a forest turn by turn: gather rows, let the networks compute them, apply the answers.

    large: the second net, where the settings of the forest have one; more: those after it; batches of all are in flight
    at once.
    batch_size: maximum rows of a batch, None: each evaluator's own. in_flight: maximum batches of a network at a time.
    spread, plan: see `InFlight`. facts: counts both networks together.
    """

    def __init__(
        self,
        forest: _core.Forest,
        evaluator: Evaluator,
        large: Evaluator | None = None,
        batch_size: int | None = None,
        in_flight: int = 2,
        *,
        spread: bool = False,
        plan: Callable[[], StepPlan] | None = None,
        facts: SearchFacts | None = None,
        more: Sequence[Evaluator] = (),
    ) -> None:
        self._forest = forest
        self._visits_when_idle: float | None = None
        self.facts = SearchFacts() if facts is None else facts
        self.networks = [
            InFlight(
                forest,
                one,
                one.batch_size if batch_size is None else batch_size,
                in_flight,
                spread,
                plan,
                self.facts,
                net,
            )
            for one, net in nets_of(forest, evaluator, large, more)
        ]

    def turn(self) -> bool:
        """Fill the batches of every network up and apply its oldest; False when no tree is active any more.

        Raises RuntimeError where trees are active, but two turns in a row bring neither rows nor visits.
        """
        # All are filled before one is waited for, so that the nets compute at the same time.
        for network in self.networks:
            network.fill()
        # A list: any() of a generator would leave out the nets after the first that has answered.
        applied = [network.apply_oldest() for network in self.networks]
        if any(applied):
            self._visits_when_idle = None
            return True
        if not len(self._forest.active()):
            return False
        visits = self._forest.stats()["visits"]
        if visits == self._visits_when_idle:
            raise RuntimeError("the search stands still: trees are active, but gather gives neither rows nor visits")
        self._visits_when_idle = visits  # from the cache, or because the games end there
        return True

    def run(self, should_stop: Callable[[], bool] | None = None) -> SearchFacts:
        """Search until no tree is active, or `should_stop()` returns true (called once a turn).

        After a stop the batches that still wait are taken back, and the trees are left consistent with nothing in
        flight. `should_stop` has to return true once the plan has ended a batch.
        """
        started = time.perf_counter()
        try:
            while self.turn():
                if should_stop is not None and should_stop():
                    break
        finally:
            self.cancel()
            self.facts.total += time.perf_counter() - started
        return self.facts

    def cancel(self) -> None:
        """Take back the visits of all batches that wait; nothing is in flight then."""
        for network in self.networks:
            network.cancel()


@overload
def for_nets(search: SearchParams, large: object | None) -> SearchParams: ...
@overload
def for_nets(search: SearchSettings, large: object | None) -> SearchSettings: ...
def for_nets(search: SearchSettings, large: object | None) -> SearchSettings:
    """The settings to search with: where a second net is given they have a section `second_net` or `opponent_net`."""
    if large is None or has_section(search, "second_net") or has_section(search, "opponent_net"):
        return search
    if isinstance(search, PlainSettings):
        return PlainSettings({**search.values, "second_net": {}})
    from hauteur.mcts.params import SecondNet  # here: engines start without models

    return search.model_copy(update={"second_net": SecondNet()})


def nets_of(
    forest: _core.Forest,
    evaluator: Evaluator,
    large: Evaluator | None,
    more: Sequence[Evaluator] = (),
) -> list[tuple[Evaluator, int]]:
    """Return the evaluators of a forest, each with the number of its net; ValueError if one is missing or not used."""
    if large is None and 1 in forest.nets:
        raise ValueError("the search settings have second_net or opponent_net, which need a second net; none was given")
    further = max(forest.nets[-1] - 1, 0)
    if further != len(more):
        raise ValueError(
            f"nets after the second one: {len(more)} given, {further} in second_net.more, which has a part for each, "
            "such as more=20:0.33:1"
        )
    # The place of a net is its number. That of a missing second net is filled, and never asked for.
    given = [evaluator, evaluator if large is None else large, *more]
    return [(given[net], net) for net in forest.nets]

"""The driver of searches: gather rows, let the network compute them, apply the answers.

`SearchDriver` goes turn by turn, for the batch analysis, which does something with finished trees between two batches.
`run_searches` drives one forest until its trees are finished. Up to `in_flight` batches wait for a network at a time,
so that the core gathers batch B while the network computes batch A.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from hauteur import _core
from hauteur.mcts.params import SearchParams, SecondNet
from hauteur.networks.evaluators.base import BlindEvaluator, PackedEvaluator, StateEvaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator, Pending


class BatchRows(Protocol):
    """Room for the rows of one batch."""

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        """Let a forest write its rows for a net from `begin` on, at most up to `end`."""

    def submit(self, parts: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        """Give the evaluator the first rows, which are those of these batches in order."""


class FeatureRows:
    """Features, float32 [B, C, H, W]."""

    def __init__(self, evaluator: Evaluator, game: _core.Game, size: int) -> None:
        self._evaluator = evaluator
        self._rows = np.zeros((size, *game.feature_shape), np.float32)

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(self._rows[begin:end], net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit(self._rows[:rows])


class PackedRows:
    """Bit planes: masks uint64 [B, C] and values float32 [B, C]."""

    def __init__(self, evaluator: PackedEvaluator, game: _core.Game, size: int) -> None:
        self._evaluator = evaluator
        planes = game.feature_shape[0]
        self._masks, self._values = np.zeros((size, planes), np.uint64), np.zeros((size, planes), np.float32)

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather_packed(self._masks[begin:end], self._values[begin:end], net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit_packed(self._masks[:rows], self._values[:rows])


class NumberOfRows:
    """Nothing: the evaluator needs to know the number of rows alone."""

    def __init__(self, evaluator: BlindEvaluator) -> None:
        self._evaluator = evaluator

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(end - begin, net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit_blind(rows)


class PositionRows:
    """Nothing: the evaluator takes the positions themselves."""

    def __init__(self, evaluator: StateEvaluator) -> None:
        self._evaluator = evaluator

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(end - begin, net)

    def submit(self, parts: Sequence[tuple[_core.Forest, _core.Batch]], _: int, /) -> Pending:
        return self._evaluator.submit_states([state for forest, batch in parts for state in forest.batch_states(batch)])


def rows_for(evaluator: Evaluator, forests: Sequence[_core.Forest], size: int) -> BatchRows:
    """Return room for batches of at most `size` rows, in the form that suits the evaluator best."""
    game = forests[0].game
    if isinstance(evaluator, StateEvaluator):
        return PositionRows(evaluator)
    if isinstance(evaluator, BlindEvaluator):
        return NumberOfRows(evaluator)
    squares = game.feature_shape[1] * game.feature_shape[2]
    if isinstance(evaluator, PackedEvaluator) and squares <= 64:
        return PackedRows(evaluator, game, size)
    return FeatureRows(evaluator, game, size)


ROWS_A_STEP = 32
"""Rows that the core computes between two looks at limits and time, in batches of fewer where a tree is small."""


@dataclass
class SearchFacts:
    """The time of a search by its parts (seconds), and the fill of its batches.

    search: in gather and apply (the core); network: waiting for answers; total: from start to end. The rest is Python.
    """

    search: float = 0.0
    network: float = 0.0
    total: float = 0.0
    rows: int = 0
    batches: int = 0
    capacity: int = 0

    @property
    def python(self) -> float:
        """Seconds that were neither the core nor waiting for the network."""
        return max(0.0, self.total - self.search - self.network)

    @property
    def fill(self) -> float:
        """Mean share of a batch that held rows, 0 to 1."""
        return self.rows / self.capacity if self.capacity else 0.0

    def add(self, other: SearchFacts) -> None:
        """Add the counts and seconds of another search."""
        self.search += other.search
        self.network += other.network
        self.total += other.total
        self.rows += other.rows
        self.batches += other.batches
        self.capacity += other.capacity


@dataclass
class InFlight:
    """The batches that wait for one network, oldest first, and the buffers that their rows lie in.

    A batch holds rows of all `forests` that use this network. batch_size: most rows of a batch; depth: most batches at
    a time; spread: one leaf a tree at a time is wanted, so the active trees are spread over `depth` batches, and the
    next batch can be gathered while one is computed. nets: which net of each forest this network is (default: 0).
    """

    forests: Sequence[_core.Forest]
    evaluator: Evaluator
    batch_size: int
    depth: int = 2
    spread: bool = False
    rows: Callable[[], int] | None = None
    facts: SearchFacts = field(default_factory=SearchFacts)
    nets: Sequence[int] = ()

    def __post_init__(self) -> None:
        self._sources = list(zip(self.forests, self.nets or [0] * len(self.forests), strict=True))
        if self.batch_size < 1 or self.depth < 1:
            raise ValueError(f"batch_size and in_flight must be >= 1, got {self.batch_size} and {self.depth}")
        self._core: Any = getattr(self.evaluator, "core", None)
        self._free = [] if self._core is not None else [self._new_buffer() for _ in range(self.depth)]
        self._waiting: deque[tuple[list[_BatchPart], Pending, BatchRows]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def fill(self) -> None:
        """Gather and submit batches until `depth` of them wait or the forests have no more rows to give."""
        wanted = self._rows_wanted()
        while self._free and any(wanted) and self._submit_next(wanted):
            pass

    def apply_oldest(self) -> bool:
        """Wait for the oldest batch and apply it; False when none waits.

        An evaluator of the core computes its batches here, at once: nothing waits.
        """
        if self._core is not None:
            return self._step()
        if not self._waiting:
            return False
        parts, pending, buffer = self._waiting.popleft()
        started = time.perf_counter()
        try:
            policy_logits, wdl = pending.result()
        except BaseException:
            self._take_back(parts, buffer)
            raise
        answered = time.perf_counter()
        for part in parts:
            part.forest.apply(part.batch, policy_logits[part.rows], wdl[part.rows])
        self._free.append(buffer)
        self.facts.network += answered - started
        self.facts.search += time.perf_counter() - answered
        return True

    def _step(self) -> bool:
        """Let the core gather, evaluate and apply; False when there were no rows."""
        rows = self.batch_size if self.rows is None else min(self.batch_size, self.rows())
        batches = max(1, ROWS_A_STEP // rows) if self.rows is not None else 1
        done = 0
        for forest, net in self._sources:
            computed, search, network = forest.step(self._core, rows, net, batches)
            done += computed
            self.facts.search += search
            self.facts.network += network
        self.facts.rows += done
        self.facts.batches += batches
        self.facts.capacity += rows * batches
        return done > 0

    def cancel(self) -> None:
        """Take back the visits of all batches that wait; the forests are then as if they had not been gathered."""
        while self._waiting:
            parts, _, _ = self._waiting.pop()
            self._take_back(parts, self._new_buffer())  # the network may still read the old one

    def _new_buffer(self) -> BatchRows:
        return rows_for(self.evaluator, self.forests, self.batch_size)

    def _rows_wanted(self) -> list[int]:
        """Rows of the next batch for each forest, at most; together they may be more than fit."""
        if not self.spread:
            return [self.batch_size if self.rows is None else min(self.batch_size, self.rows())] * len(self.forests)
        # Large turns are rare, and some come together.
        wanted = [self.batch_size if net else -(-len(forest.active()) // self.depth) for forest, net in self._sources]
        total = sum(wanted)
        return wanted if total <= self.batch_size else [-(-rows * self.batch_size // total) for rows in wanted]

    def _submit_next(self, wanted: Sequence[int]) -> bool:
        """Gather one batch and submit it; False when there were no rows."""
        buffer = self._free.pop()
        parts: list[_BatchPart] = []
        started = time.perf_counter()
        try:
            self._gather(wanted, buffer, parts)
            self.facts.search += time.perf_counter() - started
            rows = parts[-1].rows.stop if parts else 0
            if rows:
                pending = buffer.submit([(part.forest, part.batch) for part in parts], rows)
        except BaseException:
            self._take_back(parts, buffer)
            raise
        if rows == 0:
            self._free.append(buffer)
            return False
        self._waiting.append((parts, pending, buffer))
        self.facts.rows += rows
        self.facts.batches += 1
        self.facts.capacity += self.batch_size
        return True

    def _gather(self, wanted: Sequence[int], buffer: BatchRows, parts: list[_BatchPart]) -> None:
        """Let each forest write its rows behind those of the one before, while there is room."""
        end = 0
        for (forest, net), rows in zip(self._sources, wanted, strict=True):
            room = min(rows, self.batch_size - end)
            batch = buffer.gather(forest, end, end + room, net)
            if len(batch):
                parts.append(_BatchPart(forest, batch, slice(end, end + len(batch))))
                end += len(batch)
            else:
                forest.cancel(batch)

    def _take_back(self, parts: list[_BatchPart], buffer: BatchRows) -> None:
        """Take back the visits of a batch; the buffer is free again."""
        for part in parts:
            part.forest.cancel(part.batch)
        self._free.append(buffer)


class _BatchPart(NamedTuple):
    """The rows of a batch that belong to one forest."""

    forest: _core.Forest
    batch: _core.Batch
    rows: slice


class Searched(NamedTuple):
    """A forest with the nets that its trees are searched with. large: the second net, where its settings want one."""

    forest: _core.Forest
    evaluator: Evaluator
    large: Evaluator | None = None


class SearchDriver:
    """Drives forests turn by turn: gather rows, let the networks compute them, apply the answers.

    Forests with the same evaluator share its batches. batch_size: most rows of a batch, None: each evaluator's own.
    in_flight: most batches of a network at a time. spread, rows: see `InFlight`. facts: counts all networks together;
    None: each network has its own.
    """

    def __init__(
        self,
        searched: Sequence[Searched],
        batch_size: int | None = None,
        in_flight: int = 2,
        *,
        spread: bool = False,
        rows: Callable[[], int] | None = None,
        facts: SearchFacts | None = None,
    ) -> None:
        self._forests = [forest for forest, _, _ in searched]
        self._visits_when_idle: float | None = None
        users: dict[int, tuple[Evaluator, list[_core.Forest], list[int]]] = {}
        for forest, small, large in searched:
            for evaluator, net in nets_of(forest, small, large):
                _, forests, nets = users.setdefault(id(evaluator), (evaluator, [], []))
                forests.append(forest)
                nets.append(net)
        self.networks = [
            InFlight(
                forests,
                evaluator,
                evaluator.batch_size if batch_size is None else batch_size,
                in_flight,
                spread=spread,
                rows=rows,
                facts=SearchFacts() if facts is None else facts,
                nets=nets,
            )
            for evaluator, forests, nets in users.values()
        ]

    def turn(self) -> bool:
        """Fill the batches of every network up and apply its oldest; False when no tree is active any more.

        Raises RuntimeError where trees are active, but two turns in a row bring neither rows nor visits.
        """
        for network in self.networks:
            network.fill()
        applied = [network.apply_oldest() for network in self.networks]
        if any(applied):
            self._visits_when_idle = None
            return True
        if not any(len(forest.active()) for forest in self._forests):
            return False
        visits = sum(forest.stats()["visits"] for forest in self._forests)
        if visits == self._visits_when_idle:
            raise RuntimeError("the search stands still: trees are active, but gather gives neither rows nor visits")
        self._visits_when_idle = visits  # from the cache, or because the games end there
        return True

    def cancel(self) -> None:
        """Take back the visits of all batches that wait; nothing is in flight then."""
        for network in self.networks:
            network.cancel()


def run_searches(
    forest: _core.Forest,
    evaluator: Evaluator,
    *,
    large: Evaluator | None = None,
    batch_size: int,
    in_flight: int = 2,
    rows: Callable[[], int] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_batch: Callable[[SearchFacts], None] | None = None,
) -> SearchFacts:
    """Search until no tree of the forest is active, or `should_stop()` returns true (called once a batch).

    After a stop the batches that still wait are taken back: a stop costs at most one batch, and the trees are left
    consistent with nothing in flight. `on_batch` sees the facts after every batch. large: the second net, where the
    settings of the forest want one; batches of both are in flight at once.
    """
    started = time.perf_counter()
    facts = SearchFacts()
    driver = SearchDriver([Searched(forest, evaluator, large)], batch_size, in_flight, rows=rows, facts=facts)
    try:
        while driver.turn():
            facts.total = time.perf_counter() - started
            if on_batch is not None:
                on_batch(facts)
            if should_stop is not None and should_stop():
                break
    finally:
        driver.cancel()
        facts.total = time.perf_counter() - started
    return facts


def for_nets(search: SearchParams, large: object | None) -> SearchParams:
    """The settings to search with: where a large net is given they have a section `second_net`."""
    if large is None or search.second_net is not None:
        return search
    return search.model_copy(update={"second_net": SecondNet()})


def nets_of(forest: _core.Forest, evaluator: Evaluator, large: Evaluator | None) -> list[tuple[Evaluator, int]]:
    """Return the evaluators of a forest, each with the number of its net; ValueError if the large one is missing."""
    if large is None and 1 in forest.nets:
        raise ValueError("the search settings have second_net, which needs a large net; none was given")
    return [(evaluator if net == 0 or large is None else large, net) for net in forest.nets]

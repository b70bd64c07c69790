"""Players, and the one loop that runs searches: gather rows, let the network compute them, apply the answers.

`run_searches` drives a forest until its trees are finished; analysis, the UCI engine and the benchmarks use it. The
arena uses the same `InFlight` step by step, because it plays moves between two batches. Up to `in_flight` batches wait
for the network at a time, so that the core gathers batch B while the network computes batch A.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.config import SearchParams, Temperature
from hauteur.evaluate import StateEvaluator
from hauteur.temperature import choose_actions, temperatures_at

if TYPE_CHECKING:
    from hauteur.evaluate import Evaluator, Pending


@dataclass
class SearchFacts:
    """Where the time of a search went (seconds) and how full its batches were.

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
        """Adds the counts and seconds of another search."""
        self.search += other.search
        self.network += other.network
        self.total += other.total
        self.rows += other.rows
        self.batches += other.batches
        self.capacity += other.capacity


@dataclass
class InFlight:
    """The batches of one forest that wait for the network, oldest first, and the buffers that their rows lie in.

    batch_size: most rows of a batch; depth: most batches at a time; spread: one leaf a tree at a time is wanted, so the
    active trees are spread over `depth` batches, and the next batch can be gathered while one is computed.
    """

    forest: _core.Forest
    evaluator: Evaluator
    batch_size: int
    depth: int = 2
    spread: bool = False
    rows: Callable[[], int] | None = None
    facts: SearchFacts = field(default_factory=SearchFacts)

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.depth < 1:
            raise ValueError(f"batch_size and in_flight must be >= 1, got {self.batch_size} and {self.depth}")
        shape = (self.batch_size, *self.forest.game.feature_shape)
        self._free: list[NDArray[np.float32]] = [np.zeros(shape, np.float32) for _ in range(self.depth)]
        # Asked once: looking at a protocol takes longer than gathering a row.
        self._by_states = self.evaluator if isinstance(self.evaluator, StateEvaluator) else None
        self._waiting: deque[tuple[_core.Batch, Pending, NDArray[np.float32]]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def fill(self) -> None:
        """Gathers and submits batches until `depth` of them wait or the forest has no more rows to give."""
        rows = self._rows_wanted()
        while self._free and rows and self._gather(rows):
            pass

    def apply_oldest(self) -> bool:
        """Waits for the oldest batch and applies it; False when none waits."""
        if not self._waiting:
            return False
        batch, pending, buffer = self._waiting.popleft()
        started = time.perf_counter()
        try:
            policy_logits, wdl = pending.result()
        except BaseException:
            self.forest.cancel(batch)
            self._free.append(buffer)
            raise
        answered = time.perf_counter()
        self.forest.apply(batch, policy_logits, wdl)
        self._free.append(buffer)
        self.facts.network += answered - started
        self.facts.search += time.perf_counter() - answered
        return True

    def cancel(self) -> None:
        """Takes back the visits of all batches that wait; the forest is then as if they had not been gathered."""
        while self._waiting:
            batch, _, buffer = self._waiting.pop()
            self.forest.cancel(batch)
            self._free.append(np.zeros_like(buffer))  # the network may still read the old one

    def _rows_wanted(self) -> int:
        if not self.spread:
            return self.batch_size if self.rows is None else min(self.batch_size, self.rows())
        return min(self.batch_size, -(-len(self.forest.active()) // self.depth))

    def _gather(self, rows: int) -> bool:
        """One gather of up to `rows` rows; False when it gave none."""
        buffer = self._free.pop()
        started = time.perf_counter()
        batch = self.forest.gather(buffer[:rows])
        self.facts.search += time.perf_counter() - started
        if len(batch) == 0:
            self.forest.cancel(batch)
            self._free.append(buffer)
            return False
        try:
            pending = self._submit(batch, buffer[: len(batch)])
        except BaseException:
            self.forest.cancel(batch)
            self._free.append(buffer)
            raise
        self._waiting.append((batch, pending, buffer))
        self.facts.rows += len(batch)
        self.facts.batches += 1
        self.facts.capacity += self.batch_size
        return True

    def _submit(self, batch: _core.Batch, rows: NDArray[np.float32]) -> Pending:
        """Gives the evaluator its work: the rows, or the positions themselves where it plays on from them."""
        if self._by_states is not None:
            return self._by_states.submit_states(self.forest.batch_states(batch))
        return self.evaluator.submit(rows)


def run_searches(
    forest: _core.Forest,
    evaluator: Evaluator,
    *,
    batch_size: int,
    in_flight: int = 2,
    rows: Callable[[], int] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_batch: Callable[[SearchFacts], None] | None = None,
) -> SearchFacts:
    """Searches until no tree of the forest is active, or `should_stop()` says so (asked once a batch).

    After a stop the batches that still wait are taken back: a stop costs at most one batch, and the trees are left
    consistent with nothing in flight. `on_batch` sees the facts after every batch.
    """
    started = time.perf_counter()
    waiting = InFlight(forest, evaluator, batch_size, in_flight, rows=rows)
    facts = waiting.facts
    try:
        while _turn(waiting):
            facts.total = time.perf_counter() - started
            if on_batch is not None:
                on_batch(facts)
            if should_stop is not None and should_stop():
                break
    finally:
        waiting.cancel()
        facts.total = time.perf_counter() - started
    return facts


def _turn(waiting: InFlight) -> bool:
    """Fills up, then applies the oldest batch; False when there is nothing left to do."""
    before = waiting.forest.stats()["visits"]
    waiting.fill()
    if waiting.apply_oldest():
        return True
    if len(waiting.forest.active()) == 0:
        return False
    if waiting.forest.stats()["visits"] == before:
        raise RuntimeError("the search stands still: trees are active, but gather gives neither rows nor visits")
    return True


@dataclass(frozen=True)
class Player:
    """What chooses moves in the arena: an evaluator, search settings, a visit limit a move, and a temperature schedule.

    visits: root visits (own evaluation included) at which a move is chosen.
    """

    name: str
    evaluator: Evaluator
    search: SearchParams
    visits: int
    temperature: Temperature = field(default_factory=Temperature)

    def forest(self, game: _core.Game, *, seed: int, threads: int = 1) -> _core.Forest:
        """A new forest with this player's search settings, whose trees have one leaf in flight: sequential searches."""
        search = self.search.model_copy(update={"max_in_flight": 1})
        return _core.Forest(game, search.model_dump_json(exclude_none=True), seed, threads)

    def choose(
        self, forest: _core.Forest, ids: NDArray[np.int64], plies: NDArray[np.int64], uniforms: NDArray[np.float64]
    ) -> Choice:
        """Chooses a move in each of the trees `ids`, at game plies `plies`, with one uniform number in [0, 1) each."""
        visits = forest.root_visits(ids)
        temperatures = temperatures_at(self.temperature, plies)
        actions = choose_actions(
            visits,
            forest.root_q(ids),
            forest.root_priors(ids),
            best=forest.best_actions(ids),
            temperatures=temperatures,
            uniforms=uniforms,
            settings=self.temperature,
        )
        return Choice(actions=actions, visits=visits, temperatures=temperatures)


@dataclass(frozen=True)
class Choice:
    """The moves of T trees: actions uint16 [T], root visits uint32 [T, A] and temperatures float64 [T] behind them."""

    actions: NDArray[np.uint16]
    visits: NDArray[np.uint32]
    temperatures: NDArray[np.float64]

"""Analysis of many positions: what a search finds of each at few visits and, going on in the same tree, at many.

The positions are searched side by side, each in a tree of its own with one leaf in flight, so that batches are full and
a reading depends on its position, the settings and the seed alone, not on the positions beside it or their order. (A
network may round a row differently in a batch of another size; the core's evaluator does not.) At most `at_a_time`
trees are in memory; a search that is done makes room for the next position.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from hauteur import _core
from hauteur.mcts.driver import SearchDriver, Searched, SearchFacts, for_nets
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams
    from hauteur.networks.evaluators.base import Evaluator

MOST_VISITS = 1_000_000_000


@dataclass(frozen=True)
class SearchReading:
    """The findings of a search about its position at a number of visits. Values are for the player to move, -1 to 1.

    visits: of the root, its own evaluation included; q: win minus loss of the root; best: the move it would play;
    best_q: that move's value; second, second_q: of the other moves that were visited the one with the highest value.
    NaN and None: not visited.
    """

    visits: int
    q: float
    best: int
    best_q: float
    second: int | None
    second_q: float

    @property
    def gap(self) -> float:
        """Margin of the best move over the second best; NaN where one of them was not visited."""
        return self.best_q - self.second_q


Readings = tuple[SearchReading, ...]
"""One for each count of visits that was reached."""

GoOn = Callable[[Readings], bool]
"""Whether a search goes on to its next count of visits, by what it has found until now."""


@dataclass(frozen=True)
class AnalysisRequest:
    """A position to analyse, its past included, at these counts of visits (ascending).

    only: the root moves allowed, empty: all; go_on: called at every count but the last; a search that does not go
    on has fewer readings.
    """

    state: _core.State
    visits: tuple[int, ...]
    only: tuple[int, ...] = ()
    go_on: GoOn | None = None

    def __post_init__(self) -> None:
        if not self.visits or list(self.visits) != sorted(set(self.visits)):
            raise ValueError(f"counts of visits must ascend, got {self.visits}")
        if not 1 <= self.visits[0] <= self.visits[-1] <= MOST_VISITS:
            raise ValueError(f"counts of visits must be 1 to {MOST_VISITS:,}, got {self.visits}")
        if self.state.outcome() is not None:
            raise ValueError(f"the game is over in the position {self.state.notation()}: there is nothing to analyse")


Result = TypeVar("Result")
RequestChain = Generator[AnalysisRequest, Readings, Result]
"""Requests one after another, each made of the readings of those before; at the end it returns what came out."""


@dataclass
class BatchAnalysis:
    """A net (or two) and search settings with which many positions are analysed.

    seed: of the random draws of rules that have them; at_a_time: trees in memory (default: three batches); threads: of
    the core. facts: what all analyses so far have cost.
    """

    evaluator: Evaluator
    search: SearchParams
    large: Evaluator | None = None
    seed: int = 0
    at_a_time: int | None = None
    threads: int = 1
    facts: SearchFacts = field(default_factory=SearchFacts)

    def analyse(self, requests: Iterable[AnalysisRequest]) -> list[Readings]:
        """Return the readings of all requests, in their order."""
        found = dict(self.analyse_each(requests))
        return [found[number] for number in range(len(found))]

    def analyse_each(self, requests: Iterable[AnalysisRequest]) -> Generator[tuple[int, Readings]]:
        """Yield the number of each request (from 0) with its readings, once they are there; read as there is room."""
        return self.run(_single(request) for request in requests)

    def run(self, chains: Iterable[RequestChain[Result]]) -> Generator[tuple[int, Result]]:
        """Yield the number of each chain (from 0) with what it returned, when it ends; begun as there is room."""
        started = time.perf_counter()
        try:
            yield from _Chains(self, chains).results()
        finally:
            self.facts.total += time.perf_counter() - started


def _single(request: AnalysisRequest) -> RequestChain[Readings]:
    return (yield request)


def counts_up_to(most: int, *also: int, a_doubling: int = 4) -> tuple[int, ...]:
    """Counts of visits from 1 to `most`, so many a doubling (4: 1, 2, 3, 4, 5, 6, 7, 8, 10, 11 ...), and `also`."""
    steps = math.ceil(math.log2(most) * a_doubling) if most > 1 else 0
    counts = {round(2 ** (step / a_doubling)) for step in range(steps)}
    return tuple(sorted(count for count in {*counts, *also, most} if count <= most))


def visits_to_solution(readings: Sequence[SearchReading], right: Callable[[int], bool]) -> int | None:
    """Return the first count of visits from which on the move to play is right; None if the last one is wrong."""
    solved = None
    for reading in reversed(readings):
        if not right(reading.best):
            break
        solved = reading.visits
    return solved


@dataclass
class _Tree(Generic[Result]):
    """The search of a chain's request."""

    number: int
    chain: RequestChain[Result]
    request: AnalysisRequest
    found: list[SearchReading] = field(default_factory=list)


class _Chains(Generic[Result]):
    """The chains of one call, and their searches."""

    def __init__(self, analysis: BatchAnalysis, chains: Iterable[RequestChain[Result]]) -> None:
        self.analysis = analysis
        self.room = analysis.at_a_time or 3 * analysis.evaluator.batch_size
        self.waiting = enumerate(chains)
        self.searches: _Searches | None = None
        self.trees: dict[int, _Tree[Result]] = {}
        self.ended: deque[tuple[int, Result]] = deque()

    def results(self) -> Iterator[tuple[int, Result]]:
        """Search until every chain has ended."""
        try:
            self._begin_more()
            while self.trees or self.ended:
                while self.ended:
                    yield self.ended.popleft()
                self._step()
                self._begin_more()
        finally:
            if self.searches is not None:
                self.searches.driver.cancel()

    def _begin_more(self) -> None:
        """Begin further chains while there is room."""
        while len(self.trees) + len(self.ended) < self.room and (following := next(self.waiting, None)) is not None:
            number, chain = following
            self._go_on(number, chain, None)

    def _go_on(self, number: int, chain: RequestChain[Result], found: Readings | None) -> None:
        """Hand a chain its readings (None: it begins) and take its next request, or what it returns."""
        try:
            request = next(chain) if found is None else chain.send(found)
        except StopIteration as end:
            self.ended.append((number, end.value))
            return
        if self.searches is None:
            self.searches = _Searches(self.analysis, request.state.game)
        self.trees[self.searches.begin(request)] = _Tree(number, chain, request)

    def _step(self) -> None:
        """Take one turn of the searches, and read what the finished ones have found."""
        if self.searches is None or not self.trees:
            return
        for tree in self.searches.turn():
            search = self.trees[tree]
            search.found.append(self.searches.reading(tree))
            found, request = tuple(search.found), search.request
            if len(found) < len(request.visits) and (request.go_on is None or request.go_on(found)):
                self.searches.limit(tree, request.visits[len(found)])
            else:
                del self.trees[tree]
                self.searches.end(tree)
                self._go_on(search.number, search.chain, found)


class _Searches:
    """The forest of one run, and what drives it."""

    def __init__(self, analysis: BatchAnalysis, game: _core.Game) -> None:
        search = for_nets(analysis.search, analysis.large).model_copy(update={"max_in_flight": 1})
        self.forest = _core.Forest(game, search, analysis.seed, analysis.threads)
        self.seed = analysis.seed
        searched = Searched(self.forest, analysis.evaluator, analysis.large)
        self.driver = SearchDriver([searched], spread=True, facts=analysis.facts)

    def begin(self, request: AnalysisRequest) -> int:
        """Return the tree in which a request is searched."""
        # The seed is of the position, not of its number: the same position is searched alike wherever it stands.
        tree = self.forest.add(request.state, derived_seed(self.seed, "judging", request.state.key))
        if request.only:
            self.forest.restrict_root(tree, request.only)
        self.limit(tree, request.visits[0])
        return tree

    def limit(self, tree: int, visits: int) -> None:
        """Set at how many visits the tree is finished."""
        self.forest.set_visit_limits(np.array([tree], np.int64), np.array([visits], np.uint32))

    def end(self, tree: int) -> None:
        """Forget a tree."""
        self.forest.remove(np.array([tree], np.int64))

    def turn(self) -> list[int]:
        """Drive the searches on; return the trees that are finished then."""
        self.driver.turn()
        return [int(tree) for tree in self.forest.finished()]

    def reading(self, tree: int) -> SearchReading:
        """Return what the tree has found until now."""
        ids = np.array([tree], np.int64)
        win, _, loss = self.forest.root_values(ids)[0].tolist()
        q = self.forest.root_q(ids)[0]
        best = int(self.forest.best_actions(ids)[0])
        others = q.copy()
        others[best] = np.nan
        second = None if np.isnan(others).all() else int(np.nanargmax(others))
        visits = int(self.forest.root_node_visits(ids)[0])
        second_q = math.nan if second is None else float(q[second])
        return SearchReading(visits, win - loss, best, float(q[best]), second, second_q)

"""Analysis of many positions: what a search finds of each at few visits and then, in the same tree, at many.

`SearchPool` searches trees side by side, for whoever reads them; `BatchAnalysis` reads a few numbers of each.

The positions are searched side by side, each in a tree of its own with one leaf in flight, so that batches are full and
a reading depends on its position, the settings and the seed alone, not on the other positions or their order. (A
network may round a row differently in a batch of another size; the core's evaluator does not.) At most `at_a_time`
trees are in memory; the next position begins where a search is done.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from hauteur import _core
from hauteur.mcts.driver import SearchDriver, SearchFacts, for_nets
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams
    from hauteur.networks.evaluators.base import Evaluator


@dataclass(frozen=True)
class SearchReading:
    """The findings of a search about its position at a number of visits. Values are for the player to move, -1 to 1."""

    visits: int
    """Visits of the root, its own evaluation included."""
    q: float
    """Mean value of the root, win minus loss."""
    best: int
    """The action that the search would play."""
    best_q: float
    """Mean value of that action; NaN: not visited."""
    second_q: float
    """The highest mean value of the other visited actions; NaN: none was visited."""

    @property
    def gap(self) -> float:
        """Margin of the best move over the second best; NaN where one of them was not visited."""
        return self.best_q - self.second_q


Readings = tuple[SearchReading, ...]
"""One for each count of visits that was reached."""

GoOn = Callable[[Readings], bool]
"""True where a search continues to its next count of visits, by its findings until now."""


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
        if self.state.outcome() is not None:
            raise ValueError(f"the game is over in the position {self.state.notation()}: there is nothing to analyse")


Result = TypeVar("Result")
RequestChain = Generator[AnalysisRequest, Readings, Result]
"""Requests one after another, each made of the readings of those before; at the end it returns what came out."""


class SearchPool:
    """Trees of one game that are searched side by side, each with one leaf in flight.

    large: the second net, where the settings have one; more: those after it. batch_size: maximum rows of a batch; None:
    what suits the evaluator. facts: takes the cost of the searches. ValueError where the settings need a net that was
    not given.
    """

    def __init__(
        self,
        game: _core.Game,
        evaluator: Evaluator,
        search: SearchParams,
        *,
        large: Evaluator | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        facts: SearchFacts | None = None,
        more: Sequence[Evaluator] = (),
    ) -> None:
        settings = for_nets(search, large).model_copy(update={"max_in_flight": 1})
        self.forest = _core.Forest(game, settings, seed)
        """The trees, by the numbers that `add` returns."""
        self._driver = SearchDriver(self.forest, evaluator, large, batch_size, spread=True, facts=facts, more=more)
        self._seed = seed

    def add(self, state: _core.State, visits: int, only: Sequence[int] = ()) -> int:
        """Begin a tree at a position that is not over; return its number. only: root moves allowed; empty: all."""
        # The seed is of the position, not of its number: the same position is searched alike wherever it stands.
        tree = self.forest.add(state, derived_seed(self._seed, "judging", state.key))
        self.forest.restrict_root(tree, only)
        self.set_visits(tree, visits)
        return tree

    def set_visits(self, tree: int, visits: int) -> None:
        """Let a tree have so many visits in all; one that has more makes no further one."""
        self.forest.set_visit_limits([tree], [visits])

    def turn(self) -> list[int]:
        """Search a batch; return the trees that have their visits, which wait for more of them or for `remove`."""
        self._driver.turn()
        return [int(tree) for tree in self.forest.finished()]

    def remove(self, tree: int) -> None:
        """Drop a tree that has its visits; its number may be given again."""
        self.forest.remove([tree])

    def cancel(self) -> None:
        """Take back the visits that wait for a net."""
        self._driver.cancel()


@dataclass
class BatchAnalysis:
    """A net (or several) and search settings with which many positions are analysed."""

    evaluator: Evaluator
    """The net; with two nets the small one."""
    search: SearchParams
    """Settings of every search."""
    large: Evaluator | None = None
    """The second net, where the settings have one."""
    seed: int = 0
    """Seed of the random draws of rules that have them."""
    at_a_time: int | None = None
    """Trees in memory; None: three batches of them."""
    more: Sequence[Evaluator] = ()
    """The nets after the second one, where the settings have some."""
    facts: SearchFacts = field(default_factory=SearchFacts)
    """Cost of all analyses so far."""

    def run(self, chains: Iterable[RequestChain[Result]]) -> Generator[tuple[int, Result]]:
        """Yield the number of each chain (from 0) with what it returned, when it ends; at most `at_a_time` are open."""
        started = time.perf_counter()
        searches: _Searches[Result] = _Searches(self)
        most_open = self.at_a_time or 3 * self.evaluator.batch_size
        waiting = enumerate(chains)
        try:
            while True:
                # Ended chains count as open until they are read: a slow reader does not fill the memory with results.
                while searches.open < most_open:
                    following = next(waiting, None)
                    if following is None:
                        break
                    searches.go_on(*following, None)
                if searches.ended:
                    yield searches.ended.popleft()
                elif searches.open:
                    searches.turn()
                else:
                    return
        finally:
            if searches.pool is not None:
                searches.pool.cancel()
            self.facts.total += time.perf_counter() - started


def counts_up_to(most: int, *also: int) -> tuple[int, ...]:
    """Counts of visits from 1 to `most`, four to a doubling (1, 2, 3, 4, 5, 6, 7, 8, 10 ...), and `also`."""
    steps = math.ceil(math.log2(most) * 4) if most > 1 else 0
    counts = {round(2 ** (step / 4)) for step in range(steps)}
    return tuple(sorted(count for count in {*counts, *also, most} if count <= most))


def visits_to_solution(readings: Sequence[SearchReading], right: Callable[[int], bool]) -> int | None:
    """Return the first count of visits from which on the move to play is right; None if the last one is wrong."""
    solved = None
    # From the end: a move that is found, lost and found again counts from the last time on.
    for reading in reversed(readings):
        if not right(reading.best):
            break
        solved = reading.visits
    return solved


@dataclass
class _Search(Generic[Result]):
    """The search of a chain's request."""

    number: int
    chain: RequestChain[Result]
    request: AnalysisRequest
    found: list[SearchReading] = field(default_factory=list)


class _Searches(Generic[Result]):
    """The trees of one run, and the chains whose requests they answer."""

    def __init__(self, analysis: BatchAnalysis) -> None:
        self.analysis = analysis
        self.pool: SearchPool | None = None
        self.ended: deque[tuple[int, Result]] = deque()
        self._trees: dict[int, _Search[Result]] = {}

    @property
    def open(self) -> int:
        """Chains that are searched, or have ended and were not read."""
        return len(self._trees) + len(self.ended)

    def go_on(self, number: int, chain: RequestChain[Result], found: Readings | None) -> None:
        """Hand a chain its readings (None: it begins), and begin its next request or note what it returns."""
        try:
            request = next(chain) if found is None else chain.send(found)
        except StopIteration as end:
            self.ended.append((number, end.value))
            return
        if self.pool is None:
            self.pool = self._pool_for(request.state.game)
        tree = self.pool.add(request.state, request.visits[0], request.only)
        self._trees[tree] = _Search(number, chain, request)

    def turn(self) -> None:
        """Take one turn of the searches, and read what the finished ones have found."""
        assert self.pool is not None, "a chain has begun"
        # Batches stay full because a finished tree is replaced at once, not when all have finished.
        for tree in self.pool.turn():
            search = self._trees[tree]
            search.found.append(_reading(self.pool.forest, tree))
            found = tuple(search.found)
            request = search.request
            has_more = len(found) < len(request.visits)
            if has_more and (request.go_on is None or request.go_on(found)):
                self.pool.set_visits(tree, request.visits[len(found)])
            else:
                del self._trees[tree]
                self.pool.remove(tree)
                self.go_on(search.number, search.chain, found)

    def _pool_for(self, game: _core.Game) -> SearchPool:
        """Return the pool for the game of the first request."""
        one = self.analysis
        return SearchPool(
            game,
            one.evaluator,
            one.search,
            large=one.large,
            seed=one.seed,
            facts=one.facts,
            more=one.more,
        )


def _reading(forest: _core.Forest, tree: int) -> SearchReading:
    """Return the findings of a tree at its present number of visits."""
    ids = [tree]
    win, _, loss = forest.root_values(ids)[0].tolist()
    q = forest.root_q(ids)[0]
    best = int(forest.best_actions(ids)[0])
    others = np.delete(q, best)
    second_q = math.nan
    # nanmax of nothing but NaN would give a warning too.
    if not np.isnan(others).all():
        second_q = float(np.nanmax(others))
    visits = int(forest.root_node_visits(ids)[0])
    return SearchReading(visits, win - loss, best, float(q[best]), second_q)

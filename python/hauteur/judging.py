"""Judging many positions: what a search says of each at few visits and, going on in the same tree, at many.

The positions are searched side by side, each in a tree of its own with one leaf in flight, so that batches are full and
a judgement depends on its position, the settings and the seed alone, not on the positions beside it or their order. (A
network may round a row differently in a batch of another size; OpenVINO's float32 towers do not.) At most `at_a_time`
trees are in memory; a search that is done makes room for the next position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hauteur import _core
from hauteur.player import InFlight, SearchFacts, asked_networks, for_nets
from hauteur.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.config import SearchParams
    from hauteur.evaluate import Evaluator

MOST_VISITS = 1_000_000_000


@dataclass(frozen=True)
class Judgement:
    """What a search says of its position at a number of visits. Values are for the player to move, -1 to 1.

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
        """How much better than the second best move the best one is; NaN where one of them was not visited."""
        return self.best_q - self.second_q


@dataclass(frozen=True)
class Question:
    """A position to judge, its past included, at these counts of visits (ascending); only: the root moves allowed."""

    state: _core.State
    visits: tuple[int, ...]
    only: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.visits or list(self.visits) != sorted(set(self.visits)):
            raise ValueError(f"counts of visits must ascend, got {self.visits}")
        if not 1 <= self.visits[0] <= self.visits[-1] <= MOST_VISITS:
            raise ValueError(f"counts of visits must be 1 to {MOST_VISITS:,}, got {self.visits}")
        if self.state.outcome() is not None:
            raise ValueError(f"the game is over in the position {self.state.notation()}: there is nothing to judge")


Judgements = tuple[Judgement, ...]
"""One for each count of visits that was reached."""

GoOn = Callable[[Judgements], bool]
"""Whether a search goes on to its next count of visits, by what it has found until now."""


@dataclass
class Judge:
    """A net (or two) and search settings that judge positions.

    seed: of the random draws of rules that have them; at_a_time: trees in memory (default: three batches); threads: of
    the core. facts: what all judging so far has cost.
    """

    evaluator: Evaluator
    search: SearchParams
    large: Evaluator | None = None
    seed: int = 0
    at_a_time: int | None = None
    threads: int = 1
    facts: SearchFacts = field(default_factory=SearchFacts)

    def judge(self, questions: Iterable[Question], go_on: GoOn | None = None) -> list[Judgements]:
        """The judgements of all questions, in their order."""
        found = dict(self.judge_each(questions, go_on))
        return [found[number] for number in range(len(found))]

    def judge_each(self, questions: Iterable[Question], go_on: GoOn | None = None) -> Generator[tuple[int, Judgements]]:
        """The number of each question (from 0) with its judgements, as they are ready; questions are read when needed.

        go_on: asked at every count of visits but the last; a search that does not go on has fewer judgements.
        """
        waiting = enumerate(questions)
        first = next(waiting, None)
        if first is not None:
            yield from _Judging(self, first, waiting, go_on).run()

    def judge_states(self, states: Iterable[_core.State], *visits: int) -> list[Judgements]:
        """The judgements of positions at these counts of visits."""
        return self.judge(Question(state, visits) for state in states)


def counts_up_to(most: int, *also: int, a_doubling: int = 4) -> tuple[int, ...]:
    """Counts of visits from 1 to `most`, so many a doubling (4: 1, 2, 3, 4, 5, 6, 7, 8, 10, 11 ...), and `also`."""
    steps = math.ceil(math.log2(most) * a_doubling) if most > 1 else 0
    counts = {round(2 ** (step / a_doubling)) for step in range(steps)}
    return tuple(sorted(count for count in {*counts, *also, most} if count <= most))


def visits_to_solution(judgements: Sequence[Judgement], right: Callable[[int], bool]) -> int | None:
    """The first count of visits at which the move to play is right and stays right; None if the last one is wrong."""
    solved = None
    for judgement in reversed(judgements):
        if not right(judgement.best):
            break
        solved = judgement.visits
    return solved


@dataclass
class _Tree:
    """The search of a question."""

    number: int
    question: Question
    found: list[Judgement] = field(default_factory=list)


class _Judging:
    """The searches of one call."""

    def __init__(
        self, judge: Judge, first: tuple[int, Question], rest: Iterator[tuple[int, Question]], go_on: GoOn | None
    ) -> None:
        search = for_nets(judge.search, judge.large).model_copy(update={"max_in_flight": 1})
        game = first[1].state.game
        self.forest = _core.Forest(game, search.model_dump_json(exclude_none=True), judge.seed, judge.threads)
        self.seed = judge.seed
        self.rest = rest
        self.go_on = go_on
        self.trees: dict[int, _Tree] = {}
        nets = asked_networks(self.forest, judge.evaluator, judge.large)
        self.networks = [
            InFlight([self.forest], net, net.batch_size, spread=True, facts=judge.facts, nets=[number])
            for net, number in nets
        ]
        self.room = judge.at_a_time or 3 * judge.evaluator.batch_size
        self._begin(*first)

    def run(self) -> Iterator[tuple[int, Judgements]]:
        """Searches until every question is answered."""
        try:
            self._fill()
            while self.trees:
                applied = self._turn()
                finished = [int(tree) for tree in self.forest.finished()]
                if not applied and not finished:
                    raise RuntimeError("judging stands still: trees are active, but gather gives no rows")
                for tree in finished:
                    yield from self._note(tree)
                self._fill()
        finally:
            for network in self.networks:
                network.cancel()

    def _fill(self) -> None:
        """Begins further questions while there is room."""
        while len(self.trees) < self.room and (following := next(self.rest, None)) is not None:
            self._begin(*following)

    def _begin(self, number: int, question: Question) -> None:
        # The seed is of the position, not of its number: the same position is judged alike wherever it stands.
        seed = derived_seed(self.seed, "judging", question.state.key)
        tree = self.forest.add(question.state, seed)
        if question.only:
            self.forest.restrict_root(tree, question.only)
        self.trees[tree] = _Tree(number, question)
        self._limit(tree, question.visits[0])

    def _turn(self) -> bool:
        """Fills the batches up, then applies the oldest of each net; False when none waited."""
        visits = self.forest.stats()["visits"]
        for network in self.networks:
            network.fill()
        applied = [network.apply_oldest() for network in self.networks]
        return any(applied) or self.forest.stats()["visits"] > visits

    def _note(self, tree: int) -> Iterator[tuple[int, Judgements]]:
        """Writes down what a finished search has found; yields it all when the question is answered."""
        search = self.trees[tree]
        search.found.append(self._judgement(tree))
        found, wanted = tuple(search.found), search.question.visits
        if len(found) < len(wanted) and (self.go_on is None or self.go_on(found)):
            self._limit(tree, wanted[len(found)])
            return
        del self.trees[tree]
        self.forest.remove(np.array([tree], np.int64))
        yield search.number, found

    def _judgement(self, tree: int) -> Judgement:
        ids = np.array([tree], np.int64)
        win, _, loss = self.forest.root_values(ids)[0].tolist()
        q = self.forest.root_q(ids)[0]
        best = int(self.forest.best_actions(ids)[0])
        others = q.copy()
        others[best] = np.nan
        second = None if np.isnan(others).all() else int(np.nanargmax(others))
        visits = int(self.forest.root_node_visits(ids)[0])
        second_q = math.nan if second is None else float(q[second])
        return Judgement(visits, win - loss, best, float(q[best]), second, second_q)

    def _limit(self, tree: int, visits: int) -> None:
        self.forest.set_visit_limits(np.array([tree], np.int64), np.array([visits], np.uint32))

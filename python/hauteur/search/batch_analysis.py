"""Judging many positions: what a search says of each at few visits and, going on in the same tree, at many.

The positions are searched side by side, each in a tree of its own with one leaf in flight, so that batches are full and
a judgement depends on its position, the settings and the seed alone, not on the positions beside it or their order. (A
network may round a row differently in a batch of another size; OpenVINO's float32 towers do not.) At most `at_a_time`
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
from hauteur.search.driver import InFlight, SearchFacts, asked_networks, for_nets
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator
    from hauteur.search.params import SearchParams

MOST_VISITS = 1_000_000_000


@dataclass(frozen=True)
class SearchReading:
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


Judgements = tuple[SearchReading, ...]
"""One for each count of visits that was reached."""

GoOn = Callable[[Judgements], bool]
"""Whether a search goes on to its next count of visits, by what it has found until now."""


@dataclass(frozen=True)
class AnalysisRequest:
    """A position to judge, its past included, at these counts of visits (ascending).

    only: the root moves allowed, empty: all; go_on: asked at every count but the last; a search that does not go on
    has fewer judgements.
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
            raise ValueError(f"the game is over in the position {self.state.notation()}: there is nothing to judge")


Said = TypeVar("Said")
Dialogue = Generator[AnalysisRequest, Judgements, Said]
"""Questions one after another, each made of the judgements of those before; at the end it returns what came out."""


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

    def judge(self, questions: Iterable[AnalysisRequest]) -> list[Judgements]:
        """The judgements of all questions, in their order."""
        found = dict(self.judge_each(questions))
        return [found[number] for number in range(len(found))]

    def judge_each(self, questions: Iterable[AnalysisRequest]) -> Generator[tuple[int, Judgements]]:
        """The number of each question (from 0) with its judgements, once they are there; read as there is room."""
        return self.converse(_single(question) for question in questions)

    def judge_states(self, states: Iterable[_core.State], *visits: int) -> list[Judgements]:
        """The judgements of positions at these counts of visits."""
        return self.judge(AnalysisRequest(state, visits) for state in states)

    def converse(self, dialogues: Iterable[Dialogue[Said]]) -> Generator[tuple[int, Said]]:
        """The number of each dialogue (from 0) with what it returned, when it ends; they are begun as there is room."""
        started = time.perf_counter()
        try:
            yield from _Conversation(self, dialogues).run()
        finally:
            self.facts.total += time.perf_counter() - started


def _single(question: AnalysisRequest) -> Dialogue[Judgements]:
    return (yield question)


def counts_up_to(most: int, *also: int, a_doubling: int = 4) -> tuple[int, ...]:
    """Counts of visits from 1 to `most`, so many a doubling (4: 1, 2, 3, 4, 5, 6, 7, 8, 10, 11 ...), and `also`."""
    steps = math.ceil(math.log2(most) * a_doubling) if most > 1 else 0
    counts = {round(2 ** (step / a_doubling)) for step in range(steps)}
    return tuple(sorted(count for count in {*counts, *also, most} if count <= most))


def visits_to_solution(judgements: Sequence[SearchReading], right: Callable[[int], bool]) -> int | None:
    """The first count of visits at which the move to play is right and stays right; None if the last one is wrong."""
    solved = None
    for judgement in reversed(judgements):
        if not right(judgement.best):
            break
        solved = judgement.visits
    return solved


@dataclass
class _Tree(Generic[Said]):
    """The search of a dialogue's question."""

    number: int
    dialogue: Dialogue[Said]
    question: AnalysisRequest
    found: list[SearchReading] = field(default_factory=list)


class _Conversation(Generic[Said]):
    """The dialogues of one call, and their searches."""

    def __init__(self, judge: Judge, dialogues: Iterable[Dialogue[Said]]) -> None:
        self.judge = judge
        self.room = judge.at_a_time or 3 * judge.evaluator.batch_size
        self.waiting = enumerate(dialogues)
        self.searches: _Searches | None = None
        self.trees: dict[int, _Tree[Said]] = {}
        self.ended: deque[tuple[int, Said]] = deque()

    def run(self) -> Iterator[tuple[int, Said]]:
        """Searches until every dialogue has ended."""
        try:
            self._begin_more()
            while self.trees or self.ended:
                yield from self._said()
                self._step()
                self._begin_more()
        finally:
            if self.searches is not None:
                self.searches.cancel()

    def _said(self) -> Iterator[tuple[int, Said]]:
        while self.ended:
            yield self.ended.popleft()

    def _begin_more(self) -> None:
        """Begins further dialogues while there is room."""
        while len(self.trees) + len(self.ended) < self.room and (following := next(self.waiting, None)) is not None:
            number, dialogue = following
            self._ask(number, dialogue, None)

    def _ask(self, number: int, dialogue: Dialogue[Said], answer: Judgements | None) -> None:
        """Gives a dialogue its answer (None: it begins) and takes its next question, or what it returns."""
        try:
            question = next(dialogue) if answer is None else dialogue.send(answer)
        except StopIteration as end:
            self.ended.append((number, end.value))
            return
        if self.searches is None:
            self.searches = _Searches(self.judge, question.state.game)
        self.trees[self.searches.begin(question)] = _Tree(number, dialogue, question)

    def _step(self) -> None:
        """One turn of the searches, and what the finished ones have found."""
        if self.searches is None or not self.trees:
            return
        for tree in self.searches.turn():
            search = self.trees[tree]
            search.found.append(self.searches.judgement(tree))
            found, question = tuple(search.found), search.question
            if len(found) < len(question.visits) and (question.go_on is None or question.go_on(found)):
                self.searches.limit(tree, question.visits[len(found)])
            else:
                del self.trees[tree]
                self.searches.end(tree)
                self._ask(search.number, search.dialogue, found)


class _Searches:
    """The forest of a conversation, and the nets that it asks."""

    def __init__(self, judge: Judge, game: _core.Game) -> None:
        search = for_nets(judge.search, judge.large).model_copy(update={"max_in_flight": 1})
        self.forest = _core.Forest(game, search, judge.seed, judge.threads)
        self.seed = judge.seed
        self.networks = [
            InFlight([self.forest], net, net.batch_size, spread=True, facts=judge.facts, nets=[number])
            for net, number in asked_networks(self.forest, judge.evaluator, judge.large)
        ]

    def begin(self, question: AnalysisRequest) -> int:
        """The tree in which a question is searched."""
        # The seed is of the position, not of its number: the same position is judged alike wherever it stands.
        tree = self.forest.add(question.state, derived_seed(self.seed, "judging", question.state.key))
        if question.only:
            self.forest.restrict_root(tree, question.only)
        self.limit(tree, question.visits[0])
        return tree

    def limit(self, tree: int, visits: int) -> None:
        """At how many visits the tree is finished."""
        self.forest.set_visit_limits(np.array([tree], np.int64), np.array([visits], np.uint32))

    def end(self, tree: int) -> None:
        """Forgets a tree."""
        self.forest.remove(np.array([tree], np.int64))

    def turn(self) -> list[int]:
        """Fills the batches up, applies the oldest of each net; the trees that are finished then."""
        visits = self.forest.stats()["visits"]
        for network in self.networks:
            network.fill()
        applied = [network.apply_oldest() for network in self.networks]
        finished = [int(tree) for tree in self.forest.finished()]
        if not (finished or any(applied)) and self.forest.stats()["visits"] == visits:
            raise RuntimeError("judging stands still: trees are active, but gather gives neither rows nor visits")
        return finished

    def cancel(self) -> None:
        """Takes back the batches that wait."""
        for network in self.networks:
            network.cancel()

    def judgement(self, tree: int) -> SearchReading:
        """What the tree says now."""
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

"""Analysis of batches: the readings of single searches, whatever is searched beside; early ends; solutions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_toys import Floats, hash_evaluator

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.games.registry import load_game
from hauteur.mcts.batch_analysis import (
    AnalysisRequest,
    BatchAnalysis,
    Readings,
    RequestChain,
    SearchReading,
    counts_up_to,
    visits_to_solution,
)
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.params import Dirichlet, SearchContempt, SearchParams
from hauteur.networks.evaluators.base import GameEvaluator
from hauteur.networks.evaluators.callables import random_positions

pytestmark = pytest.mark.quick

CONNECT4 = load_game("connect4")
CONTEMPT = SearchParams(search_contempt=SearchContempt(n_scl=4), dirichlet=Dirichlet())


class Hashed(GameEvaluator):
    """Pseudo-random answers, each a function of its row."""

    def __init__(self, batch_size: int = 16) -> None:
        super().__init__(CONNECT4, "hashed", batch_size)
        self._answer = hash_evaluator(CONNECT4.num_actions)

    def compute(self, features: Floats) -> tuple[Floats, Floats]:
        return self._answer(features)


def one(request: AnalysisRequest) -> RequestChain[Readings]:
    return (yield request)


def readings_of(analysis: BatchAnalysis, requests: Iterable[AnalysisRequest]) -> list[Readings]:
    """The readings of all requests, in their order."""
    found = dict(analysis.run(one(request) for request in requests))
    return [found[number] for number in range(len(found))]


def of_states(analysis: BatchAnalysis, states: Iterable[_core.State], *visits: int) -> list[Readings]:
    """The readings of positions at these counts of visits."""
    return readings_of(analysis, (AnalysisRequest(state, visits) for state in states))


def test_alone_or_beside_others_in_any_order() -> None:
    states = random_positions(CONNECT4, 50)
    together = of_states(BatchAnalysis(Hashed(), CONTEMPT, seed=5), states, 5, 40)
    backwards = of_states(BatchAnalysis(Hashed(7), CONTEMPT, seed=5, at_a_time=3), reversed(states), 5, 40)
    alone = [of_states(BatchAnalysis(Hashed(1), CONTEMPT, seed=5), [state], 5, 40)[0] for state in states]
    assert repr(together) == repr(alone) == repr(backwards[::-1])
    assert repr(together) != repr(of_states(BatchAnalysis(Hashed(), CONTEMPT, seed=6), states, 5, 40))


def test_readings_are_those_of_a_plain_search() -> None:
    (state,) = random_positions(CONNECT4, 1)
    few, many = of_states(BatchAnalysis(Hashed(), SearchParams()), [state], 6, 80)[0]
    for reading in (few, many):
        forest = _core.Forest(CONNECT4, SearchParams(max_in_flight=1))
        ids = np.array([forest.add(state)], np.int64)
        forest.set_visit_limits(ids, np.array([reading.visits], np.uint32))
        SearchDriver(forest, Hashed(), batch_size=1).run()
        win, _, loss = forest.root_values(ids)[0].tolist()
        q = {edge["action"]: edge["q"] for edge in forest.root_edges(int(ids[0])) if edge["visits"]}
        assert (reading.best, reading.q) == (forest.best_actions(ids)[0], win - loss)
        assert reading.best_q == pytest.approx(q.pop(reading.best), abs=1e-6)
        assert reading.second_q == pytest.approx(max(q.values()), abs=1e-6)
        assert reading.gap == reading.best_q - reading.second_q
    assert (few.visits, many.visits) == (6, 80)


def test_searches_may_end_early() -> None:
    states = random_positions(CONNECT4, 30)
    analysis = BatchAnalysis(Hashed(), SearchParams())
    every = of_states(analysis, states, 4, 32)

    def changed(found: Readings) -> bool:
        return found[0].best != 3

    some = readings_of(analysis, (AnalysisRequest(state, (4, 32), go_on=changed) for state in states))
    assert {len(found) for found in some} == {1, 2}
    for whole, found in zip(every, some, strict=True):
        assert repr(whole[: len(found)]) == repr(found)
        assert len(found) == 1 + (whole[0].best != 3)


def test_chains_request_by_what_was_found() -> None:
    def line(state: _core.State) -> RequestChain[list[int]]:
        """Plays the best moves of both sides until the game is over, at most six."""
        played: list[int] = []
        state = state.copy()
        while state.outcome() is None and len(played) < 6:
            (found,) = yield AnalysisRequest(state.copy(), (12,))
            played.append(found.best)
            state.apply(found.best)
        return played

    states = random_positions(CONNECT4, 20)
    analysis = BatchAnalysis(Hashed(), SearchParams(), at_a_time=5)
    lines = dict(analysis.run(line(state) for state in states))
    alone = [dict(BatchAnalysis(Hashed(), SearchParams()).run([line(state)]))[0] for state in states]
    assert [lines[number] for number in range(20)] == alone
    assert analysis.facts.rows > 0


def test_a_game_that_is_over() -> None:
    state = position_after(CONNECT4.new_initial_state(), (0, 1, 0, 1, 0, 1, 0))
    with pytest.raises(ValueError, match="the game is over"):
        AnalysisRequest(state, (5,))


@given(st.integers(1, 100_000), st.lists(st.integers(1, 200_000), max_size=4))
def test_counts_ascend_to_the_last(most: int, also: list[int]) -> None:
    counts = counts_up_to(most, *also)
    assert list(counts) == sorted(set(counts))
    assert (counts[0], counts[-1]) == (1, most)
    assert {count for count in also if count <= most} <= set(counts)
    between = [b / a for a, b in pairwise(counts)]
    assert all(ratio <= 2 for ratio in between)


@given(st.lists(st.booleans(), min_size=1))
def test_visits_to_solution(rights: list[bool]) -> None:
    readings = [SearchReading(10 * (i + 1), 0.0, int(right), 0.0, 0.0) for i, right in enumerate(rights)]
    solved = visits_to_solution(readings, bool)
    if solved is None:
        assert not rights[-1]
    else:
        number = solved // 10 - 1
        assert all(rights[number:])
        assert number == 0 or not rights[number - 1]

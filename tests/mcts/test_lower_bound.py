"""Final choice by the lower confidence bound: quantiles, bounds by hand, core against reference."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from search_pairs import Pair
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import LowerBound, SearchParams
from reference.lower_bound import bound
from reference.student import t_quantile


@given(st.floats(0.5, 0.999999), st.one_of(st.integers(1, 400), st.integers(1, 10**9)))
def test_quantiles_are_those_of_students_distribution(confidence: float, freedom: int) -> None:
    assert t_quantile(confidence, freedom) == pytest.approx(stats.t.ppf(confidence, freedom), rel=1e-6, abs=1e-9)


def test_the_bound_by_hand() -> None:
    rule = LowerBound(confidence=0.95)
    # Ten values of mean 0.2 whose squared deviations sum to 0.9: sigma = sqrt(0.1), t_9 = 1.833113.
    assert bound(rule, 0.2, 10, 0.9) == pytest.approx(0.2 - 1.833113 * math.sqrt(0.1) / math.sqrt(10), abs=1e-6)
    assert bound(rule, 0.2, 1, 0.0) == -math.inf
    assert bound(LowerBound(confidence=0.5), 0.2, 1, 0.0) == 0.2


def searched(rule: LowerBound | None, visits: int = 60) -> Pair:
    game = Game("connect4")
    params = SearchParams(lower_bound=rule)
    pair = Pair(game.new_initial_state(), params, hash_evaluator(game.num_actions, salt=3), seed=1)
    pair.run(visits)
    return pair


def test_visits_and_targets_are_those_of_plain_puct() -> None:
    plain, other = searched(None), searched(LowerBound(confidence=0.9, min_share=1e-6))
    assert plain.forest.digest(0) == other.forest.digest(0)
    assert plain.forest.policy_targets(plain.ids).tolist() == other.forest.policy_targets(other.ids).tolist()

"""The move to play, the order of reports and the policy target; the choice by the lower confidence bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from search_pairs import Pair, pairs, without
from search_toys import hash_evaluator, uniform_evaluator

from hauteur._core import Forest, Game
from hauteur.mcts.lc0_options import search_params
from hauteur.mcts.params import LowerBound, SearchParams
from reference.lower_bound import bound
from reference.student import t_quantile

pytestmark = pytest.mark.quick


@given(pairs(), st.integers(1, 80), st.integers(1, 9))
def test_core_and_reference_choose_the_same_move(pair: Pair, visits: int, rows: int) -> None:
    pair.run(visits, rows)
    best = int(pair.forest.best_actions(pair.ids)[0])
    assert best == pair.search.best_action()
    assert pair.forest.root_edges(int(pair.ids[0]))[0]["action"] == best
    line = pair.forest.principal_variation(int(pair.ids[0]))
    assert line[:1] == [best] or (line == [] and pair.search.root.visits == 1)


@given(pairs(), st.integers(1, 80))
def test_plain_targets_are_visit_shares_and_priors_before_the_first(pair: Pair, visits: int) -> None:
    pair = without(pair, "solver", "forced_playouts", "posterior")
    pair.run(visits)
    target = pair.forest.policy_targets(pair.ids)[0]
    counts = pair.forest.root_visits(pair.ids)[0].astype(np.float64)
    expected = counts if counts.sum() else pair.forest.root_priors(pair.ids)[0].astype(np.float64)
    np.testing.assert_allclose(target, expected / expected.sum(), rtol=1e-6)


def test_a_restricted_root_chooses_among_its_actions() -> None:
    game = Game("tictactoe")
    pair = Pair(game.new_initial_state(), SearchParams(), uniform_evaluator(9))
    pair.run(50)
    most = int(pair.forest.best_actions(pair.ids)[0])
    pair.restrict(0b110000000)
    assert most not in (7, 8)
    assert int(pair.forest.best_actions(pair.ids)[0]) in (7, 8)
    assert pair.forest.principal_variation(0)[0] in (7, 8)


def test_the_option_of_the_chess_engine_is_the_rule_with_its_defaults() -> None:
    assert search_params({"LowerBound": True}).lower_bound == LowerBound()
    assert search_params({}).lower_bound is None


def test_a_tree_without_moves_has_no_best_action() -> None:
    game = Game("tictactoe")
    forest = Forest(game, SearchParams())
    tree = forest.add(game.new_initial_state())
    with pytest.raises(ValueError, match="tree 0 has no best action"):
        forest.best_actions(np.array([tree]))
    assert not forest.policy_targets(np.array([tree])).any()


# -- lower confidence bound --------------------------------------------------------------------------------------------


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
    plain = searched(None)
    other = searched(LowerBound(confidence=0.9, min_share=1e-6))
    assert plain.forest.digest(0) == other.forest.digest(0)
    assert plain.forest.policy_targets(plain.ids).tolist() == other.forest.policy_targets(other.ids).tolist()

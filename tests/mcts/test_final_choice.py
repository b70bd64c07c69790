"""The move to play, the order of reports and the policy target, from one rule of choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import Pair, pairs, without
from search_toys import uniform_evaluator

from hauteur._core import Forest, Game
from hauteur.mcts.params import SearchParams


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


def test_a_tree_without_moves_has_no_best_action() -> None:
    game = Game("tictactoe")
    forest = Forest(game, SearchParams())
    tree = forest.add(game.new_initial_state())
    with pytest.raises(ValueError, match="tree 0 has no best action"):
        forest.best_actions(np.array([tree]))
    assert not forest.policy_targets(np.array([tree])).any()

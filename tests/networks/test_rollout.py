"""Rollouts: random games as an evaluator, alone and in a search."""

from __future__ import annotations

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import StateEvaluator
from hauteur.networks.evaluators.factory import make_evaluator

pytestmark = pytest.mark.quick

WIN_NEXT = ("4", "1", "4", "1", "4", "2")


def position(spec: str, moves: tuple[str, ...]) -> _core.State:
    state = load_game(spec).new_initial_state()
    for move in moves:
        state.apply(state.parse(move))
    return state


def test_values_depend_on_seed_and_position_alone() -> None:
    states = [position("connect4", WIN_NEXT[:plies]) for plies in range(7)]
    values = _core.rollout_values(states, seed=5, games=50)
    assert values.shape == (7, 3)
    assert np.allclose(values.sum(axis=1), 1)
    assert np.array_equal(_core.rollout_values(states[::-1], seed=5, games=50), values[::-1])
    assert not np.array_equal(_core.rollout_values(states, seed=6, games=50), values)


@pytest.mark.parametrize("spec", ["connect4", "tutorial"])
def test_search_with_rollouts(spec: str) -> None:
    state = position(spec, WIN_NEXT if spec == "connect4" else ())
    evaluator = make_evaluator(state.game, "rollout")
    assert isinstance(evaluator, StateEvaluator)
    forest = _core.Forest(state.game, SearchParams())
    ids = np.array([forest.add(state)], np.int64)
    forest.set_visit_limits(ids, np.array([300], np.uint32))
    facts = SearchDriver(forest, evaluator, batch_size=evaluator.batch_size).run()
    evaluator.close()
    forest.check_invariants(int(ids[0]))
    assert forest.root_node_visits(ids)[0] >= 300
    assert facts.rows > 0
    if spec == "connect4":
        assert forest.root_visits(ids)[0].argmax() == 3

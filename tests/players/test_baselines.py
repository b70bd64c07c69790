"""Searches by random games: the core agrees with the specification visit by visit, and is as strong as it should be."""

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.registry import load_game
from reference.rave import Rave


def position(spec: str, plies: int, seed: int) -> tuple[_core.State, dict[int, int]]:
    """A position after random moves, and its stones."""
    random, state = np.random.default_rng(seed), load_game(spec).new_initial_state()
    stones: dict[int, int] = {}
    for _ in range(plies):
        action = int(random.choice(state.legal_actions()))
        stones[action] = state.to_move
        state.apply(action)
    return state, stones


@pytest.mark.parametrize(
    ("spec", "plies", "simulations"),
    [
        ("nogo(size=2)", 0, 60),
        ("nogo(size=4)", 0, 400),
        ("nogo(size=4)", 7, 300),
        ("nogo(rows=3,cols=5)", 2, 300),
        ("nogo(size=5)", 4, 400),
        ("nogo", 20, 60),
        ("nogo(size=12)", 30, 12),
    ],
)
def test_rave_agrees_with_its_specification_visit_by_visit(spec: str, plies: int, simulations: int) -> None:
    for seed in range(2):
        state, stones = position(spec, plies, seed)
        _, rows, columns = state.game.feature_shape
        search = Rave(rows, columns, stones, state.to_move, seed)
        for _ in range(simulations):
            search.simulate()
        expected = np.zeros((rows * columns, 4), np.uint32)
        for child in search.root.children or []:
            expected[child.point] = child.N, 2 * child.W, child.R, 2 * child.S
        np.testing.assert_array_equal(_core.rave_search(state, simulations, seed), expected)


@pytest.mark.parametrize("spec", ["hex(size=7)", "gomoku(size=7)"])
def test_rave_is_stronger_than_mcts_where_points_are_taken_once(spec: str) -> None:
    searches = (_core.rave_search, _core.mcts_search)
    won = 0
    for game in range(6):
        state, _ = position(spec, 2, game // 2)
        while not state.is_terminal:
            visits = searches[state.to_move ^ game % 2](state, 200, state.ply)[:, 0]
            state.apply(int(visits.argmax()))
        won += state.outcome() == (1, -1)[game % 2]
    assert won >= 5

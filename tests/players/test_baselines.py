"""Searches by random games: the core agrees with the specification visit by visit, and is as strong as it should be."""

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.matches.play import play_match
from hauteur.players.baselines import move_function, parse_baseline
from reference.rave import Rave


def position(spec: str, plies: int, seed: int) -> tuple[_core.State, dict[int, int]]:
    """A position after random moves, and its stones."""
    random = np.random.default_rng(seed)
    state = load_game(spec).new_initial_state()
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


def chosen_by_material(fen: str, seed: int = 0, game: str = "chess") -> str:
    """The move of `material` in a position."""
    state = load_game(with_fen(game, fen)).new_initial_state()
    choose = move_function(state.game, parse_baseline("material"))
    return str(state.action_to_text(choose(state, seed).action))


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        ("6k1/5ppp/8/7q/8/8/6K1/R6R w - - 0 1", "a1a8"),  # mate is more than a queen
        ("4k3/8/8/3q4/8/3R4/8/4K3 w - - 0 1", "d3d5"),
        ("4k3/8/8/3q4/4r3/8/8/4Q1K1 b - - 0 1", "e4e1"),
        ("k7/2P5/8/8/8/8/7r/1K4n1 w - - 0 1", "c7c8q"),
        ("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5c6"),
    ],
)
def test_material_sees_one_ply(fen: str, move: str) -> None:
    assert chosen_by_material(fen) == move


def test_material_draws_among_equals() -> None:
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    moves = [chosen_by_material(start, seed) for seed in range(300)]
    assert len(set(moves)) == 20
    assert moves == [chosen_by_material(start, seed) for seed in range(300)]


def test_material_is_for_games_of_pieces() -> None:
    match = play_match("material", "random", "minichess", games=20, seed=1, progress=False)
    assert match.score > 0.7
    with pytest.raises(ValueError, match="material plays chess and minichess, got connect4"):
        play_match("material", "random", "connect4", games=2, progress=False)
    with pytest.raises(ValueError, match="write material"):
        parse_baseline("material:3")

"""Re-use of evaluations by position: what shares a key, and that a tree depends on nothing but itself."""

import numpy as np
import pytest
from forests import search
from search_toys import hash_evaluator

from hauteur import _core
from hauteur.mcts.params import SearchParams

CHESS = _core.Game("chess")
ENDGAME = _core.Game("chess(fen=8/8/4k3/8/8/3K4/3P4/8 w - - 0 60)")
SHUFFLE = "g1f3 g8f6 f3g1 f6g8"


def after(moves: str, game: _core.Game = CHESS) -> _core.State:
    state = game.new_initial_state()
    for move in moves.split():
        state.apply_text(move)
    return state


def test_orders_of_moves_share_a_key_that_the_network_does_not_share() -> None:
    one = after("g1f3 g8f6 b1c3")
    other = after("b1c3 g8f6 g1f3")
    assert one.position_key == other.position_key
    assert one.key != other.key
    assert one.position_key != after("g1f3 g8f6").position_key
    assert after("e2e4 e7e6 d2d4").position_key == after("d2d4 e7e6 e2e4").position_key


def test_positions_near_a_repetition_keep_their_past() -> None:
    assert after(SHUFFLE).position_key != CHESS.new_initial_state().position_key
    seen = [after(f"{SHUFFLE} {moves}") for moves in ("b1c3 b8c6 g1f3", "g1f3 b8c6 b1c3")]
    assert seen[0].position_key != seen[1].position_key
    # A pawn move makes the repeats impossible to come back to, though the network still sees them.
    assert after(f"{SHUFFLE} e2e4").position_key == after("e2e4").position_key


@pytest.mark.parametrize(("plies", "same"), [((0, 39), True), ((39, 40), False), ((40, 47), True), ((80, 81), False)])
def test_plies_without_progress_are_told_apart_towards_the_rule(plies: tuple[int, int], same: bool) -> None:
    keys = [
        _core.Game(f"chess(fen=8/5k2/8/8/8/2K5/3R4/8 w - - {n} 60)").new_initial_state().position_key for n in plies
    ]
    assert (keys[0] == keys[1]) == same


def searched(games: int, key: str, threads: int = 1) -> tuple[list[float], dict[str, float]]:
    """Root visits of the first of some trees on different positions, and the forest's totals."""
    params = SearchParams.model_validate({"cache_key": key, "cache_size": 0, "max_in_flight": 4})
    forest = _core.Forest(ENDGAME, params, seed=3, threads=threads)
    starts = ["", "d3c3", "d3c4 e6d6", "d3e3"][:games]
    ids = [forest.add(after(moves, ENDGAME), seed=n) for n, moves in enumerate(starts)]
    search(forest, hash_evaluator(CHESS.num_actions, salt=1, sharpness=6.0), visits=600, rows=4 * games)
    return forest.root_visits(np.array(ids[:1]))[0].tolist(), forest.stats()


def test_a_tree_takes_evaluations_from_itself_alone() -> None:
    alone, totals = searched(1, "position")
    assert totals["position_hits"] > 0.05 * totals["visits"]
    assert totals["rows"] + totals["position_hits"] + totals["terminal_visits"] == totals["visits"]
    assert [searched(games, "position", threads)[0] for games, threads in [(4, 1), (4, 3)]] == [alone, alone]
    assert searched(1, "exact")[1]["position_hits"] == 0

"""Wins by threats that the solver proves at new nodes (Gomoku: continuous fours)."""

import pytest

import hauteur as ht
from hauteur.mcts.params import Solver
from hauteur.mcts.result import SearchResult

OPEN_THREE = "H8 A1 J8 C1 K8 E1"
"""Black has three in a row with both ends open, and is to move: an open four, then five."""
NO_THREAT = "H8 A1 J8 C1"


def position(moves: str) -> ht.State:
    """Return the position of Gomoku after these moves."""
    state = ht.load_game("gomoku").new_initial_state()
    for move in moves.split():
        state.apply(state.parse(move))
    return state


def searched(moves: str, threats: int, visits: int = 40) -> SearchResult:
    """Search a position without a net."""
    return ht.search(position(moves), "uniform", ht.SearchParams(solver=Solver(threats=threats)), visits=visits)


def test_an_open_three_is_proven_at_the_first_node() -> None:
    found = searched(OPEN_THREE, threats=300)
    assert (found.moves[0].proven, found.moves[0].move) in ((1, "G8"), (1, "L8"))
    assert all(move.proven is None for move in searched(OPEN_THREE, threats=0).moves)


def test_moves_that_leave_an_open_three_are_refuted_by_a_visit() -> None:
    """White is to move: a move far away loses, and one visit proves it; a block does not."""
    proven = {move.move: move.proven for move in searched("H8 A1 J8 C1 K8", threats=300, visits=300).moves}
    assert proven["O15"] == -1
    assert proven["G8"] is None
    assert proven["L8"] is None


def test_nothing_is_proven_without_threats() -> None:
    assert all(move.proven is None for move in searched(NO_THREAT, threats=300).moves)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "hex(size=5)"])
def test_games_without_such_a_search_are_searched_as_before(game: str) -> None:
    state = ht.load_game(game).new_initial_state()
    plain, threats = (
        ht.search(state, "uniform", ht.SearchParams(solver=Solver(threats=number)), visits=200) for number in (0, 100)
    )
    assert [(move.move, move.visits) for move in plain.moves] == [(move.move, move.visits) for move in threats.moves]

"""Wins by threats that the solver proves at new nodes (Gomoku: continuous fours; chess: mates by checks)."""

from collections.abc import Sequence

import pytest

import hauteur as ht
from hauteur.mcts.lc0_options import search_params
from hauteur.mcts.params import Solver
from hauteur.mcts.result import SearchResult

OPEN_THREE = "H8 A1 J8 C1 K8 E1"
"""Black has three in a row with both ends open, and is to move: an open four, then five."""
TO_DEFEND = "H8 A1 J8 C1 K8"
"""The same three, and White is to move."""
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


def test_moves_that_leave_an_open_three_are_lost_at_the_first_node() -> None:
    """White is to move: all moves but the two at the ends lose."""
    proven = {move.move: move.proven for move in searched(TO_DEFEND, threats=300, visits=2).moves}
    assert len(proven) == 15 * 15 - 5
    assert {move for move, result in proven.items() if result is None} == {"G8", "L8"}
    assert set(proven.values()) == {None, -1}


def end_of(state: ht.State, line: Sequence[str]) -> ht.State:
    """Return the position after a line."""
    for move in line:
        state.apply(state.parse(move))
    return state


def test_lines_go_on_to_the_end_by_threats() -> None:
    """They ended with the move that was proven, so that a mate in three was a line of one move."""
    found = searched(OPEN_THREE, threats=300)
    assert len(found.pv) == 3
    assert end_of(position(OPEN_THREE), found.pv).outcome() == 1
    lost = searched("H8 A1 J8 O1 K8 A15 D4 O15 D5 H1 D6", threats=300, visits=2)
    for move in lost.moves:
        assert end_of(position("H8 A1 J8 O1 K8 A15 D4 O15 D5 H1 D6"), move.line.split()).outcome() == 1


def test_a_line_of_checks_ends_in_mate() -> None:
    """Paul Morphy against the Duke of Brunswick and Count Isouard: 16. Qb8+ Nxb8 17. Rd8#."""
    fen = "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16"
    found = ht.search(fen, "uniform", ht.SearchParams(solver=Solver(threats=500)), visits=10)
    assert found.pv == ("b3b8", "d7b8", "d1d8")
    assert end_of(ht.position("chess", fen), found.pv).end_reason() == "checkmate"


def test_visits_go_to_defences_alone() -> None:
    visits = {move.move: move.visits for move in searched(TO_DEFEND, threats=300, visits=100).moves}
    assert {move for move, count in visits.items() if count} == {"G8", "L8"}


def test_two_open_threes_are_lost_at_once() -> None:
    """No defence stops both, so the root is proven at its first visit."""
    found = searched("H8 A1 J8 O1 K8 A15 D4 O15 D5 H1 D6", threats=300, visits=2)
    assert {move.proven for move in found.moves} == {-1}


def test_nothing_is_proven_without_threats() -> None:
    assert all(move.proven is None for move in searched(NO_THREAT, threats=300).moves)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "hex(size=5)"])
def test_games_without_such_a_search_are_searched_as_before(game: str) -> None:
    state = ht.load_game(game).new_initial_state()
    plain, threats = (
        ht.search(state, "uniform", ht.SearchParams(solver=Solver(threats=number)), visits=200) for number in (0, 100)
    )
    assert [(move.move, move.visits) for move in plain.moves] == [(move.move, move.visits) for move in threats.moves]


SMOTHERED = "r5k1/6pp/8/6N1/8/8/4Q1PP/6K1 w - - 0 1"
"""White mates in four moves, all checks: Qe6, Nf7, Nd8 discovering the queen's, Qe8."""
BACK_RANK = "6k1/5ppp/8/8/8/8/r4PPP/6K1 w - - 0 1"
"""Black threatens to mate on the back rank."""


def test_a_mate_by_checks_is_proven_at_the_first_node() -> None:
    found = ht.search(SMOTHERED, "uniform", ht.SearchParams(solver=Solver(threats=1000)), visits=2)
    assert found.moves[0].move in ("e2c4", "e2e6")
    assert found.moves[0].proven == 1
    plain = ht.search(SMOTHERED, "uniform", ht.SearchParams(solver=Solver()), visits=2)
    assert all(move.proven is None for move in plain.moves)


def test_a_win_by_threats_is_as_far_as_it_is() -> None:
    """A proof is no end of the game: the mate in four is none in one."""
    found = ht.search(SMOTHERED, "uniform", ht.SearchParams(solver=Solver(threats=1000)), visits=2).report
    assert (found.mate, found.moves[0].terminal) == (4, False)
    lost = ht.search(BACK_RANK, "uniform", ht.SearchParams(solver=Solver(threats=100)), visits=2).report
    assert {move.mate for move in lost.moves} == {None, -1}
    assert not any(move.terminal for move in lost.moves)


def test_the_option_of_the_engine_needs_sticky_endgames() -> None:
    solver = search_params({"MateSearch": 200}).solver
    assert solver is not None
    assert (solver.threats, solver.lost_child_mode) == (200, "zero_prior")
    assert search_params({"MateSearch": 200, "StickyEndgames": False}).solver is None


def test_moves_that_do_not_stop_a_mate_on_the_back_rank_are_lost() -> None:
    params = ht.SearchParams(solver=Solver(threats=100))
    proven = {move.move: move.proven for move in ht.search(BACK_RANK, "uniform", params, visits=2).moves}
    assert {move for move, result in proven.items() if result is None} == {
        "g2g3",
        "g2g4",
        "h2h3",
        "h2h4",
        "f2f3",
        "f2f4",
        "g1f1",
    }

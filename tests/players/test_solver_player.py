"""The exact solver of NoGo, and the player that solves small games."""

import pytest

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.move_player import MoveFunction
from hauteur.players.solver import solver_rule
from hauteur.studies.exact_play import solved_connect4_positions

PUBLISHED = [
    (["X.O.", ".O..", "....", "...."], -1, 1),
    (["..XX", "....", "...O", ".O.."], -1, 1),
    (["X.OX.", "X....", "O..OO", "..X.."], -1, 1),
    ([".OOX.", ".....", "....X", "XO...", ".O.X."], 1, -1),
    (["X..O.", "...X.", "X....", "X.OO.", "O...."], -1, 1),
    (["....."], 1, 1),
    (["."], -1, -1),
]
"""Boards with public results (test suite of the solver MCGS): the mover's, the first player's and the second's."""


def solve_board(board: list[str], to_move: int, nodes: int) -> int | None:
    points = "".join(board)
    first, second = ([i for i, sign in enumerate(points) if sign == stone] for stone in "XO")
    return _core.NoGoSolver(len(board), len(board[0]), 18).solve_stones(first, second, to_move, nodes)


@pytest.mark.parametrize(("board", "first", "second"), PUBLISHED)
def test_published_outcomes(board: list[str], first: int, second: int) -> None:
    assert [solve_board(board, mover, 10**6) for mover in (0, 1)] == [first, second]


def exhaust(rule: MoveFunction, state: _core.State, seat: int) -> set[int]:
    """Results, +1 the first player won, of the rule in one seat against every reply."""
    results, level = set(), {state.key: state}
    while level:
        below = {}
        for position in level.values():
            moves = [rule(position, 0).action] if position.to_move == seat else position.legal_actions().tolist()
            for move in moves:
                child = position.copy()
                child.apply(move)
                outcome = child.outcome()
                if outcome is None:
                    below[child.key] = child
                else:
                    results.add(outcome)
        level = below
    return results


def test_tictactoe_is_never_lost() -> None:
    rule, start = solver_rule(load_game("tictactoe"), None), load_game("tictactoe").new_initial_state()
    assert exhaust(rule, start, 0) == {0, 1}
    assert exhaust(rule, start, 1) == {0, -1}


def test_won_boards_of_nogo_are_won_against_every_reply() -> None:
    for spec, seat in (("nogo(size=3)", 0), ("nogo(rows=3,cols=4)", 1)):
        game = load_game(spec)
        assert exhaust(solver_rule(game, None), game.new_initial_state(), seat) == {1 if seat == 0 else -1}


def test_where_all_is_lost_the_opponent_has_few_ways_to_win() -> None:
    game = load_game("nogo(rows=3,cols=4)")
    state = game.new_initial_state()
    move = solver_rule(game, None)(state, 0)
    solver, ways = _core.NoGoSolver(3, 4), {}
    for action in state.legal_actions().tolist():
        child = state.copy()
        child.apply(action)
        replies = [child.copy() for _ in child.legal_actions()]
        for reply, answer in zip(replies, child.legal_actions().tolist(), strict=True):
            reply.apply(answer)
        ways[action] = sum(solver.solve(reply, 10**6) == -1 for reply in replies)
    assert min(ways.values()) >= 1
    assert ways[move.action] == min(ways.values())
    assert move.note == ""


def test_replies_in_connect4_are_searched_with_the_rest_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    solvers: list[_core.Connect4Solver] = []

    def kept(table_bits: int, columns: int, rows: int) -> _core.Connect4Solver:
        solvers.append(solver(table_bits, columns, rows))
        return solvers[-1]

    solver, with_replies = _core.Connect4Solver, 0
    monkeypatch.setattr(_core, "Connect4Solver", kept)
    for position in [p for p in solved_connect4_positions() if p.state.ply >= 20]:
        alone = solver(22)
        if max(alone.move_values(position.state)) < 1:
            budget = alone.nodes * 5 // 4
            move = solver_rule(load_game("connect4"), budget)(position.state, 0)
            assert solvers[-1].nodes <= budget
            if move.note == "":
                assert position.preserved_by(move.action)
                with_replies += solvers[-1].nodes > alone.nodes
        if len(solvers) == 20:
            break
    assert with_replies >= 5

"""Connect Four on boards of other sizes: a second program of its rules, published values, drawings, what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.pictures import board_of, board_svg
from hauteur.games.registry import check_game, load_game
from hauteur.players.solver import solver_rule

SIZES = [(4, 4), (5, 4), (4, 6), (5, 5), (6, 5), (7, 4), (6, 6), (7, 5)]

TROMP = {
    (4, 4): 0, (4, 5): 0, (4, 6): 0, (5, 4): 0, (5, 5): 0, (5, 6): 0, (6, 4): -1, (6, 5): 0, (7, 4): 0
}  # fmt: skip
"""Value for the first player by columns and rows: J. Tromp, "John's Connect Four Playground"."""


def spec(columns: int, rows: int) -> str:
    return f"connect4(columns={columns},rows={rows})"


class Columns:
    """The rules with a list of stones a column."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns: list[list[int]] = [[] for _ in range(columns)]
        self.rows = rows

    @property
    def ply(self) -> int:
        return sum(map(len, self.columns))

    def legal(self) -> list[int]:
        return [number for number, stones in enumerate(self.columns) if len(stones) < self.rows]

    def at(self, column: int, row: int) -> int | None:
        inside = 0 <= column < len(self.columns) and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if inside else None

    def play(self, column: int) -> int | None:
        """Return the outcome after this move, None while the game goes on."""
        mover = self.ply % 2
        self.columns[column].append(mover)
        row = len(self.columns[column]) - 1
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            line = [self.at(column + i * right, row + i * up) == mover for i in range(-3, 4)]
            if any(all(line[i : i + 4]) for i in range(4)):
                return 1 - 2 * mover
        return None if self.legal() else 0

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for column in self.legal():
            outcome = self.play(column)
            total += (depth == 1) if outcome is not None else self.perft(depth - 1)
            self.columns[column].pop()
        return total


@pytest.mark.parametrize("size", SIZES)
def test_random_games_are_those_of_another_program(size: tuple[int, int]) -> None:
    random, game = np.random.default_rng(1), load_game(spec(*size))
    for _ in range(60):
        state, other, outcome = game.new_initial_state(), Columns(*size), None
        while outcome is None:
            assert (state.outcome(), state.legal_actions().tolist()) == (None, other.legal())
            action = int(random.choice(other.legal()))
            outcome = other.play(action)
            state.apply(action)
            planes = state.features().reshape(game.feature_shape)
            stones = {(c, r): stone for c, column in enumerate(other.columns) for r, stone in enumerate(column)}
            for plane, player in ((0, state.to_move), (1, 1 - state.to_move)):
                met = {(int(c), size[1] - 1 - int(r)) for r, c in np.argwhere(planes[plane])}
                assert met == {place for place, stone in stones.items() if stone == player}
            assert (planes[2] == (state.to_move == 0)).all()
        assert (state.outcome(), state.legal_actions().tolist()) == (outcome, [])
        assert state.ply <= game.max_plies == size[0] * size[1]


@pytest.mark.parametrize("size", [(4, 4), (5, 5)])
def test_numbers_of_move_sequences_are_those_of_another_program(size: tuple[int, int]) -> None:
    state = load_game(spec(*size)).new_initial_state()
    assert [state.perft(depth) for depth in range(1, 8)] == [Columns(*size).perft(depth) for depth in range(1, 8)]


@pytest.mark.parametrize("size", SIZES)
def test_other_sizes_obey_the_laws(size: tuple[int, int]) -> None:
    results = check_game(spec(*size), games=2, seed=1)
    assert [result for result in results if result.broken] == []


def test_a_spec_is_written_in_one_way() -> None:
    for given in ("connect4", "connect4(columns=7)", "connect4(rows=6,columns=7)"):
        assert load_game(given).spec == "connect4"
    assert load_game("connect4( rows = 5, columns=6 )").spec == "connect4(columns=6,rows=5)"
    assert load_game("connect4(rows=5)").spec == "connect4(columns=7,rows=5)"
    assert load_game("connect4(rows=5)").feature_shape == (3, 5, 7)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("connect4(columns=8)", r"connect4\(columns=8\): columns must be a whole number from 4 to 7"),
        ("connect4(rows=3)", r"connect4\(rows=3\): rows must be a whole number from 4 to 6"),
        ("connect4(rows=x)", r"connect4\(rows=x\): rows must be a whole number from 4 to 6"),
        ("connect4(size=5)", 'connect4 has no parameter "size"; allowed: columns, rows'),
    ],
)
def test_sizes_that_there_are_not_are_refused(given: str, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        load_game(given)


@pytest.mark.parametrize(("size", "value"), TROMP.items())
def test_the_first_player_gets_what_is_published(size: tuple[int, int], value: int) -> None:
    solver = _core.Connect4Solver(20, *size)
    assert solver.move_values(load_game(spec(*size)).new_initial_state()).max() == value


def test_a_solver_takes_the_positions_of_its_board_alone() -> None:
    solver = _core.Connect4Solver(10, 5, 4)
    for other in ("connect4", "connect4(columns=4,rows=5)", "tictactoe"):
        with pytest.raises(ValueError, match=r"this solver is for connect4 of 5 columns and 4 rows, got a state of "):
            solver.move_values(load_game(other).new_initial_state())
    with pytest.raises(ValueError, match="columns must be a whole number from 4 to 7"):
        _core.Connect4Solver(10, 9, 4)


def test_the_player_solver_never_loses_a_drawn_board() -> None:
    game = load_game(spec(4, 4))
    rule, random = solver_rule(game, None), np.random.default_rng(3)
    for number in range(20):
        state = game.new_initial_state()
        while state.outcome() is None:
            is_own = state.to_move == number % 2
            state.apply(rule(state, 0).action if is_own else int(random.choice(state.legal_actions())))
        assert state.outcome() in (0, 1 - 2 * (number % 2))


def test_a_board_is_drawn_in_its_size() -> None:
    state = load_game(spec(5, 4)).new_initial_state()
    for move in ("1", "e", "5"):
        state.apply(state.parse(move))
    assert state.notation() == "155"
    board = board_of(state)
    assert board is not None
    assert (board.columns, board.rows) == (5, 4)
    assert board_svg(state).startswith("<svg ")
    lines = state.text().splitlines()
    assert [line.split()[1:] for line in lines[:4]] == [["."] * 5, ["."] * 5, [*"....Y"], [*"Y...R"]]
    discs = re.findall('<circle cx="([0-9]+)" cy="([0-9]+)" [^>]*stroke="([^"]+)"', state.svg())
    assert state.svg().count("<circle") == 20
    assert [(int(x), int(y)) for x, y, stroke in discs if stroke != "none"] == [(210, 110)]

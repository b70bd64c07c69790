"""Connect Four on boards of other sizes: a second program of its rules, published values, drawings, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from hauteur.games.registry import load_game

SIZES = [(4, 4), (5, 4), (4, 6), (5, 5), (6, 5), (7, 4), (6, 6), (7, 5)]


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

"""A game to read before writing one: misère tic-tac-toe, where three in a row lose."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

ROWS = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
COLUMNS = [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
DIAGONALS = [[0, 4, 8], [2, 4, 6]]
LINES = np.array(ROWS + COLUMNS + DIAGONALS)


class MisereTicTacToe:
    """One position. Actions 0 to 8 are the squares, row by row from the top."""

    num_actions = 9
    feature_shape = (2, 3, 3)
    max_plies = 9

    def __init__(self) -> None:
        """The empty board, first player to move."""
        self.stones = np.zeros((2, 9), bool)  # [player, square]
        self.to_move = 0

    def legal_actions(self) -> list[int]:
        """The empty squares; none when the game is over."""
        if self.outcome() is not None:
            return []
        return np.flatnonzero(~self.stones.any(axis=0)).tolist()

    def apply(self, action: int) -> None:
        """Put a stone of the player to move on the square."""
        self.stones[self.to_move, action] = True
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:
        """Return the result: three in a row loses; a full board is a draw."""
        for player, result_if_lost in ((0, -1), (1, +1)):
            if self.stones[player][LINES].all(axis=1).any():
                return result_if_lost
        return 0 if self.stones.any(axis=0).all() else None

    def features(self) -> NDArray[np.float32]:
        """Two planes: the mover's stones, the opponent's stones."""
        own_first = self.stones[[self.to_move, 1 - self.to_move]]
        return own_first.reshape(2, 3, 3).astype(np.float32)

    def copy(self) -> Self:
        """Return an independent copy, also of a class that derives from this one."""
        twin = type(self)()
        twin.stones = self.stones.copy()
        twin.to_move = self.to_move
        return twin

    # From here on nothing is needed; it makes training quicker and the game nicer to look at.

    def symmetries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The eight turns and reflections of the board; actions are squares, so both arrays are the same."""
        board = np.arange(9).reshape(3, 3)
        turned = [np.rot90(board, turns).ravel() for turns in range(4)]
        reflected = [np.rot90(board.T, turns).ravel() for turns in range(4)]
        squares = np.stack([*turned, *reflected])
        return squares, squares

    def action_to_text(self, action: int) -> str:
        """`a3` for the upper left square to `c1` for the lower right one."""
        return "abc"[action % 3] + "321"[action // 3]

    def text(self) -> str:
        """The board, a row a line."""
        signs = np.where(self.stones[0], "X", np.where(self.stones[1], "O", "."))
        return "\n".join(" ".join(row) for row in signs.reshape(3, 3))

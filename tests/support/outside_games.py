"""Small games as people outside write them: sound ones, and ones whose features leave out something that decides."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Outside:
    """What all of them share: a copy, and a turn that passes."""

    num_actions = 9
    feature_shape = (2, 3, 3)
    max_plies = 60

    def __init__(self) -> None:
        self.to_move = 0
        self.winner: int | None = None
        self.plies = 0

    def copy(self) -> Any:
        return copy.deepcopy(self)

    def pass_on(self) -> None:
        self.to_move = 1 - self.to_move
        self.plies += 1


class Occupied(Outside):
    """Tic-tac-toe whose features show which squares are taken, and not by whom."""

    def __init__(self) -> None:
        super().__init__()
        self.board = [0] * 9

    def legal_actions(self) -> list[int]:
        return [] if self.outcome() is not None else [square for square in range(9) if not self.board[square]]

    def apply(self, action: int) -> None:
        self.board[action] = 1 - 2 * self.to_move
        self.pass_on()

    def outcome(self) -> int | None:
        for line in LINES:
            total = sum(self.board[square] for square in line)
            if abs(total) == 3:
                return total // 3
        return 0 if all(self.board) else None

    def features(self) -> Features:
        taken = np.array(self.board, np.float32).reshape(3, 3) != 0
        return np.stack([taken, taken]).astype(np.float32)


class HiddenRight(Outside):
    """Two pieces a side on a track: the first may castle, and wins, as long as it has not moved; nothing shows that."""

    num_actions = 5
    feature_shape = (4, 1, 4)
    max_plies = 24

    def __init__(self) -> None:
        super().__init__()
        self.places = [[0, 0], [0, 0]]
        self.right = [True, True]

    def legal_actions(self) -> list[int]:
        if self.outcome() is not None:
            return []
        king, rook = self.places[self.to_move]
        allowed = [king < 3, king > 0, rook < 3, rook > 0, self.right[self.to_move] and king == 0 and rook == 3]
        return [action for action in range(5) if allowed[action]]

    def apply(self, action: int) -> None:
        if action == 4:
            self.winner = 1 - 2 * self.to_move
        else:
            piece, back = divmod(action, 2)
            self.places[self.to_move][piece] += 1 - 2 * back
            self.right[self.to_move] &= piece != 0
        self.pass_on()

    def outcome(self) -> int | None:
        return self.winner if self.winner is not None else 0 if self.plies == self.max_plies else None

    def features(self) -> Features:
        planes = np.zeros((4, 1, 4), np.float32)
        for plane, place in enumerate([*self.places[self.to_move], *self.places[1 - self.to_move]]):
            planes[plane, 0, place] = 1
        return planes


class HiddenCounter(Outside):
    """A sum modulo 5; who plays the fourth two of the game wins, and no feature counts them."""

    num_actions = 3
    feature_shape = (1, 1, 5)
    max_plies = 12

    def __init__(self) -> None:
        super().__init__()
        self.total = self.twos = 0

    def legal_actions(self) -> list[int]:
        return [] if self.outcome() is not None else [0, 1, 2]

    def apply(self, action: int) -> None:
        self.total = (self.total + action) % 5
        self.twos += action == 2
        if self.twos == 4:
            self.winner = 1 - 2 * self.to_move
        self.pass_on()

    def outcome(self) -> int | None:
        return self.winner if self.winner is not None else 0 if self.plies == self.max_plies else None

    def features(self) -> Features:
        shown: Features = (np.arange(5) == self.total).astype(np.float32).reshape(1, 1, 5)
        return shown


class Nim(Outside):
    """Three heaps; who takes the last stone wins."""

    num_actions = 12
    feature_shape = (1, 3, 5)
    max_plies = 12

    def __init__(self) -> None:
        super().__init__()
        self.heaps = [4, 3, 4]

    def legal_actions(self) -> list[int]:
        return [4 * heap + take for heap in range(3) for take in range(self.heaps[heap])]

    def apply(self, action: int) -> None:
        self.heaps[action // 4] -= action % 4 + 1
        self.pass_on()

    def outcome(self) -> int | None:
        return None if any(self.heaps) else (1 if self.to_move else -1)

    def features(self) -> Features:
        shown: Features = (np.arange(5) == np.array(self.heaps)[:, None]).astype(np.float32).reshape(1, 3, 5)
        return shown


class Isolation(Outside):
    """Two pieces on 4 x 4 squares, moved like kings; the square that is left is gone; who cannot move has lost."""

    num_actions = 16
    feature_shape = (3, 4, 4)
    max_plies = 16

    def __init__(self) -> None:
        super().__init__()
        self.places = [0, 15]
        self.gone = np.zeros(16, bool)

    def reach(self) -> list[int]:
        row, column = divmod(self.places[self.to_move], 4)
        near = [
            4 * y + x
            for y in range(max(0, row - 1), min(4, row + 2))
            for x in range(max(0, column - 1), min(4, column + 2))
        ]
        return [square for square in near if not self.gone[square] and square not in self.places]

    def legal_actions(self) -> list[int]:
        return self.reach()

    def apply(self, action: int) -> None:
        self.gone[self.places[self.to_move]] = True
        self.places[self.to_move] = action
        self.pass_on()

    def outcome(self) -> int | None:
        return None if self.reach() else (-1 if self.to_move == 0 else 1)

    def features(self) -> Features:
        planes = np.zeros((3, 16), np.float32)
        planes[0, self.places[self.to_move]] = planes[1, self.places[1 - self.to_move]] = 1
        planes[2] = self.gone
        return planes.reshape(3, 4, 4)


class Chase(Outside):
    """Two pieces on a ring of 7 that step by one or two; the first wins by a capture, after 14 plies it is drawn.

    The features do not count plies: positions are compared at equal ones.
    """

    num_actions = 4
    feature_shape = (2, 1, 7)
    max_plies = 14

    def __init__(self) -> None:
        super().__init__()
        self.places = [0, 3]

    def legal_actions(self) -> list[int]:
        return [] if self.outcome() is not None else [0, 1, 2, 3]

    def apply(self, action: int) -> None:
        self.places[self.to_move] = (self.places[self.to_move] + (-2, -1, 1, 2)[action]) % 7
        if self.places[0] == self.places[1]:
            self.winner = 1 - 2 * self.to_move
        self.pass_on()

    def outcome(self) -> int | None:
        return self.winner if self.winner is not None else 0 if self.plies == self.max_plies else None

    def features(self) -> Features:
        planes = np.zeros((2, 1, 7), np.float32)
        planes[0, 0, self.places[self.to_move]] = planes[1, 0, self.places[1 - self.to_move]] = 1
        return planes

"""Breakthrough: two rows of pieces each; whoever first reaches the other side, or takes everything, wins."""

import numpy as np

import hauteur as ht


class Breakthrough:
    """A position. Action 3 s + d: the piece on square s, from the top left, goes on a row and by d - 1 columns."""

    look = "reversi"
    has_draws = False

    def __init__(self, size: int = 6) -> None:
        if not 5 <= size <= 12:
            raise ValueError(f"breakthrough(size={size}): size must be 5 to 12")
        self.size = size
        self.num_actions = 3 * size * size
        self.feature_shape = (3, size, size)
        self.max_plies = 4 * size * size  # every move goes on by a row
        self.board = np.zeros((size, size), np.int8)  # 1: the first player's, who go up; -1: the second's
        self.board[:2], self.board[-2:] = -1, 1
        self.to_move = 0

    def legal_actions(self) -> list[int]:
        return [] if self.outcome() is not None else [a for a in range(self.num_actions) if self._is_legal(a)]

    def _is_legal(self, action: int) -> bool:
        own = (1, -1)[self.to_move]
        (row, column), (to_row, to_column) = self.squares(action)
        if self.board[row, column] != own or not 0 <= to_column < self.size:
            return False
        target = self.board[to_row, to_column]
        return bool(target == 0 if column == to_column else target != own)  # pieces are taken at an angle alone

    def apply(self, action: int) -> None:
        (row, column), to = self.squares(action)
        self.board[to], self.board[row, column] = self.board[row, column], 0
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:
        if (self.board[0] == 1).any() or not (self.board == -1).any():
            return 1
        return -1 if (self.board[-1] == -1).any() or not (self.board == 1).any() else None

    def features(self) -> np.ndarray:  # own pieces, the opponent's, and who goes up
        own = (1, -1)[self.to_move]
        return np.stack([self.board == own, self.board == -own, np.full_like(self.board, own == 1)]).astype(np.float32)

    def copy(self) -> "Breakthrough":
        twin = Breakthrough(self.size)
        twin.board = self.board.copy()
        twin.to_move = self.to_move
        return twin

    def squares(self, action: int) -> list[tuple[int, int]]:  # from here on nothing is needed
        row, column = divmod(action // 3, self.size)
        return [(row, column), (row + (-1, 1)[self.to_move], column + action % 3 - 1)]

    def action_to_text(self, action: int) -> str:  # a2-a3, b2xc3
        (row, column), (to_row, to_column) = self.squares(action)
        sign = "x" if self.board[to_row, to_column] else "-"
        return f"{self._name(row, column)}{sign}{self._name(to_row, to_column)}"

    def _name(self, row: int, column: int) -> str:
        return f"{'abcdefghijkl'[column]}{self.size - row}"

    def symmetries(self) -> tuple[np.ndarray, np.ndarray]:  # the board itself, and left for right
        squares = np.arange(self.size**2).reshape(self.size, self.size)
        actions = np.arange(self.num_actions).reshape(self.size, self.size, 3)
        mirrored = squares[:, ::-1], actions[:, ::-1, ::-1]
        return np.stack([squares.ravel(), mirrored[0].ravel()]), np.stack([actions.ravel(), mirrored[1].ravel()])

    def text(self) -> str:
        return "\n".join(" ".join(".XO"[piece] for piece in row) for row in self.board.tolist())


ht.register_game("breakthrough", Breakthrough)


def main() -> None:
    """Check the rules, show the start, and play a short match."""
    assert ht.check_game("breakthrough", games=5).ok
    print(ht.load_game("breakthrough").new_initial_state().text())
    print(ht.play_match("net=rollout visits=20", "random", "breakthrough", games=4, seed=1))


if __name__ == "__main__":
    main()

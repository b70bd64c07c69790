"""Dots and Boxes: players draw edges in turn; whoever closes a box has it, and moves again. Most boxes win."""

import numpy as np

import hauteur as ht


class DotsAndBoxes:
    """A position. Dots, edges and boxes are the cells of one grid; actions are its edges, row by row."""

    def __init__(self, rows: int = 3, columns: int = 3) -> None:
        if not (1 <= rows <= 8 and 1 <= columns <= 8):
            raise ValueError(f"dots-and-boxes(rows={rows}, columns={columns}): 1 to 8 of each")
        self.rows = rows
        self.columns = columns
        height = 2 * rows + 1
        width = 2 * columns + 1
        self.edges = [(r, c) for r in range(height) for c in range(width) if (r + c) % 2 == 1]
        self.num_actions = self.max_plies = len(self.edges)
        self.feature_shape = (3, height, width)
        self.has_draws = rows * columns % 2 == 0
        self.drawn = np.zeros((height, width), bool)
        self.owner = np.zeros((height, width), np.int8)  # of boxes, 1: the first player, -1: the second
        self.to_move = 0

    def legal_actions(self) -> list[int]:
        return [a for a, edge in enumerate(self.edges) if not self.drawn[edge]]

    def apply(self, action: int) -> None:
        row, column = self.edges[action]
        self.drawn[row, column] = True
        beside = [(row - 1, column), (row + 1, column)] if row % 2 == 0 else [(row, column - 1), (row, column + 1)]
        closed = [box for box in beside if self._is_closed(*box)]
        for box in closed:
            self.owner[box] = (1, -1)[self.to_move]
        if not closed:  # else the same player moves again
            self.to_move = 1 - self.to_move

    def _is_closed(self, row: int, column: int) -> bool:
        if not (0 < row < 2 * self.rows and 0 < column < 2 * self.columns):
            return False
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return all(self.drawn[edge] for edge in around)

    def outcome(self) -> int | None:
        return None if self.legal_actions() else int(np.sign(self.owner.sum()))

    def features(self) -> np.ndarray:  # the edges, own boxes, the opponent's
        own = (1, -1)[self.to_move]
        return np.stack([self.drawn, self.owner == own, self.owner == -own]).astype(np.float32)

    def copy(self) -> "DotsAndBoxes":
        twin = DotsAndBoxes(self.rows, self.columns)
        twin.drawn = self.drawn.copy()
        twin.owner = self.owner.copy()
        twin.to_move = self.to_move
        return twin

    # from here on nothing is needed
    def squares(self, action: int) -> list[tuple[int, int]]:
        return [self.edges[action]]

    def action_to_text(self, action: int) -> str:  # column and row of the grid, from the lower left
        row, column = self.edges[action]
        return f"{'abcdefghijklmnopq'[column]}{2 * self.rows + 1 - row}"

    def text(self) -> str:
        return "\n".join(
            " ".join(self._sign(r, c) for c in range(2 * self.columns + 1)) for r in range(len(self.drawn))
        )

    def _sign(self, row: int, column: int) -> str:
        if row % 2 == 0 and column % 2 == 0:
            return "+"
        if self.drawn[row, column]:
            return "-" if row % 2 == 0 else "|"
        return ".XO"[self.owner[row, column]]


ht.register_game("dots-and-boxes", DotsAndBoxes)


def main() -> None:
    """Check the rules, show a position in which a player moves twice, and play a short match."""
    assert ht.check_game("dots-and-boxes", games=5).ok
    state = ht.position("dots-and-boxes(rows=1, columns=2)", "b1 b3 a2 c2")
    print(f"{state.text()}\n{state.game.sides[state.to_move]} has a box and moves again")
    print(ht.play_match("net=rollout visits=20", "random", "dots-and-boxes(rows=2, columns=2)", games=4, seed=1))


if __name__ == "__main__":
    main()

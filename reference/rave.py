"""NoGo by random games with all-moves-as-first values, as the player `rave` searches (docs/reference/players.md).

Rules are read literally: after a move every chain on the board must have a liberty. Random numbers are drawn in the
order of the core, so that both agree visit by visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hauteur import _core

TIE = 1e-4
EXPLORATION = 0.25

Board = dict[int, int]
"""Owner of every point with a stone: 0 the first player, 1 the second."""


@dataclass
class RaveNode:
    """A move: N visits, W of them won by its player; R simulations that took its point later, S of them won."""

    point: int = -1
    N: int = 0
    W: int = 0
    R: int = 20
    S: int = 10
    children: list[RaveNode] | None = None


@dataclass
class Rave:
    """A search from a position: its stones and the player to move."""

    rows: int
    columns: int
    stones: Board
    to_move: int
    seed: int
    draws: int = 0
    root: RaveNode = field(default_factory=RaveNode)

    def below(self, n: int) -> int:
        """A random number from 0 to n - 1."""
        word = _core.random_u64(self.seed, self.draws)
        self.draws += 1
        return (word >> 32) * n >> 32

    def legal(self, board: Board, player: int, point: int) -> bool:
        """Return whether an empty point is legal: neither a capture nor suicide."""
        after = {**board, point: player}
        return all(self._has_liberty(after, stone) for stone in after)

    def _has_liberty(self, board: Board, stone: int) -> bool:
        chain = {stone}
        pending = [stone]
        while pending:
            for point in self._beside(pending.pop()):
                if point not in board:
                    return True
                if board[point] == board[stone] and point not in chain:
                    chain.add(point)
                    pending.append(point)
        return False

    def _beside(self, point: int) -> list[int]:
        row, column = divmod(point, self.columns)
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [r * self.columns + c for r, c in around if 0 <= r < self.rows and 0 <= c < self.columns]

    def simulate(self) -> None:
        """One simulation: selection, expansion at the second visit, a random game, backup."""
        board = dict(self.stones)
        mover = self.to_move
        path = [self.root]
        taken: list[set[int]] = [set(), set()]
        while path[-1].N > 0:
            node = path[-1]
            if node.children is None:
                node.children = [RaveNode(p) for p in self._empty(board) if self.legal(board, mover, p)]
            if not node.children:
                self._back_up(path, taken, winner=1 - mover)
                return
            path.append(self._select(node))
            board[path[-1].point] = mover
            mover = 1 - mover
        self._back_up(path, taken, winner=self._play_to_the_end(board, mover, taken))

    def _empty(self, board: Board) -> list[int]:
        return [point for point in range(self.rows * self.columns) if point not in board]

    def _select(self, node: RaveNode) -> RaveNode:
        """argmax (R r + N q + 0.25 sqrt(N ln n)) / (N + R), ties within 1e-4 drawn."""
        children = node.children or []
        log = math.log(node.N)
        scores = [(c.S + c.W + EXPLORATION * math.sqrt(c.N * log)) / (c.N + c.R) for c in children]
        tied = [child for child, score in zip(children, scores, strict=True) if score >= max(scores) - TIE]
        return tied[0] if len(tied) == 1 else tied[self.below(len(tied))]

    def _play_to_the_end(self, board: Board, mover: int, taken: list[set[int]]) -> int:
        """Play the points open to both players, then those open to one alone; return the winner."""
        shared = self._empty(board)
        own: tuple[list[int], list[int]] = ([], [])
        while shared:
            point = self._draw(shared)
            legal = [self.legal(board, player, point) for player in (0, 1)]
            if all(legal):
                board[point] = mover
                taken[mover].add(point)
                mover = 1 - mover
            elif any(legal):
                own[legal.index(True)].append(point)
        while own[mover]:
            point = self._draw(own[mover])
            if self.legal(board, mover, point):
                board[point] = mover
                mover = 1 - mover
        return 1 - mover

    def _draw(self, points: list[int]) -> int:
        """Take a random point out; the last one comes to its place."""
        place = self.below(len(points))
        points[place], points[-1] = points[-1], points[place]
        return points.pop()

    def _back_up(self, path: list[RaveNode], taken: list[set[int]], *, winner: int) -> None:
        """Count the result in the path, and in the children of its nodes whose points their player took later."""
        for depth in reversed(range(len(path))):
            node = path[depth]
            mover = (self.to_move + depth) % 2
            if depth + 1 < len(path):
                taken[mover].add(path[depth + 1].point)
            node.N += 1
            node.W += winner != mover
            for child in node.children or []:
                if child.point in taken[mover]:
                    child.R += 1
                    child.S += winner == mover

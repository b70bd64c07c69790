"""lc0's 1858 chess moves as numbers, and how the policy heads' outputs map to them. Squares: a1 = 0 ... h8 = 63.

Moves are seen from the mover (black's board is flipped). For every square in order, all squares a queen or a knight
reaches on an empty board in order (1792 moves); then for every file the promotions to queen, rook, bishop from the
seventh rank, by target file (66). A knight's promotion is the plain move; castling is the king taking its own rook.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

CHESS_FEATURES = (112, 8, 8)
"""Planes, rows and columns of chess."""
NUM_MOVES = 1858
CONVOLUTION_PLANES = 80
"""Planes of the convolution policy head; 73 are used."""

_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""(file, rank) steps north, north-east, ... north-west: the order of the convolution head's planes."""

_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))

_PLANES = {
    (distance * dx, distance * dy): 7 * number + distance - 1
    for number, (dx, dy) in enumerate(_DIRECTIONS)
    for distance in range(1, 8)
} | {step: 56 + number for number, step in enumerate(_KNIGHT)}
"""Plane of lc0's convolution head by the files and ranks of a move of a queen or a knight."""


@cache
def plain_moves() -> tuple[tuple[int, int], ...]:
    """The 1792 (from, to) moves of queens and knights, in order."""
    moves = []
    for start in range(64):
        for end in range(64):
            files = end % 8 - start % 8
            ranks = end // 8 - start // 8
            if (files, ranks) in _PLANES:
                moves.append((start, end))
    return tuple(moves)


@cache
def promotions() -> tuple[tuple[int, int, int], ...]:
    """The 66 (from file, to file, piece) promotions, in order; piece: 0 queen, 1 rook, 2 bishop."""
    moves = []
    for start in range(8):
        for end in (start - 1, start, start + 1):
            if 0 <= end < 8:
                moves += [(start, end, piece) for piece in range(3)]
    return tuple(moves)


def convolution_indices() -> NDArray[np.int64]:
    """Index of each move in the flattened convolution head [80, 8, 8], int64 [1858]."""
    indices = []
    for start, end in plain_moves():
        files = end % 8 - start % 8
        ranks = end // 8 - start // 8
        plane = _PLANES[files, ranks]
        indices.append(plane * 64 + start)
    # The head's planes have rook, bishop, queen; the list of moves has queen, rook, bishop.
    piece_offset = (2, 0, 1)
    for start, end, piece in promotions():
        plane = 64 + 3 * (end - start + 1) + piece_offset[piece]
        indices.append(plane * 64 + 48 + start)
    return np.array(indices, dtype=np.int64)


def attention_indices() -> NDArray[np.int64]:
    """Index of each move in the flattened attention head [64 x 64 pairs, 8 x 8 x 3 promotions], int64 [1858]."""
    plain = [a * 64 + b for a, b in plain_moves()]
    special = [4096 + a * 24 + b * 3 + piece for a, b, piece in promotions()]
    return np.array(plain + special, dtype=np.int64)


def reach_map() -> NDArray[np.float32]:
    """The position map of attention bodies, float32 [64, 64]: 1 where a queen or knight moves, -1 on the diagonal."""
    result = -np.eye(64, dtype=np.float32)
    squares = np.array(plain_moves())
    result[squares[:, 0], squares[:, 1]] = 1
    return result

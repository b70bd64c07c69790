"""Handicap stones of Go by the Go Text Protocol, version 2, section 4.1.1: where they stand, and what may be asked."""

from collections.abc import Sequence

from hauteur.engine.gtp.session import PASS, GtpBoard, quoted

LEAST_SIZE = 7
"""Smallest board on which the points of a handicap are fixed."""


def most_stones(size: int) -> int:
    """Return the largest fixed handicap on a board of this size, 0 where there is none."""
    if size < LEAST_SIZE:
        return 0
    if size % 2 == 0 or size == LEAST_SIZE:
        return 4
    return 9


def fixed_points(board: GtpBoard, stones: int) -> list[str]:
    """Return the vertices of a fixed handicap: corners, then the centre (odd numbers from 5 on), then the sides.

    ValueError unless there are 2 to `most_stones` stones.
    """
    size = board.size
    most = most_stones(size)
    if not 2 <= stones <= most:
        allowed = f"2 to {most}" if most else "none"
        raise ValueError(f"invalid number of stones: {stones}, on a board of {size} there are {allowed}")
    edge = 4 if size > 12 else 3
    low = edge
    high = size + 1 - edge
    middle = (size + 1) // 2
    corners = [(low, low), (high, high), (low, high), (high, low)]
    sides = [(low, middle), (high, middle), (middle, low), (middle, high)]
    has_centre = stones >= 5 and stones % 2 == 1
    points = (corners + sides)[: stones - has_centre]
    if has_centre:
        points.append((middle, middle))
    letters = board.drawing.column_labels
    return [f"{letters[column - 1]}{row}" for column, row in points]


def place(board: GtpBoard, vertices: Sequence[str]) -> None:
    """Put Black's stones on an empty board; ValueError, and the board stays empty, where that cannot be."""
    if board.actions:
        raise ValueError("board not empty: handicap stones come before the first move")
    try:
        _check(vertices)
        for vertex in vertices:
            board.put(board.colours.index("black"), vertex)
    except ValueError as error:
        while board.actions:
            board.undo()
        raise ValueError(f"bad vertex list: {error}") from None


def _check(vertices: Sequence[str]) -> None:
    """Raise ValueError unless there are two stones at least, none of them a pass."""
    if len(vertices) < 2:
        raise ValueError(f"expected 2 vertices or more, got {len(vertices)}")
    if any(vertex.lower() == PASS for vertex in vertices):
        raise ValueError(f"expected points, got {quoted(PASS)}")

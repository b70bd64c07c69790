"""A position in the terminal: signs in colours, the last move in brackets, from either side."""

from __future__ import annotations

from rich.text import Text

from hauteur import _core
from hauteur.games.pictures import Board, Look, board_of

STYLES: dict[Look, dict[str, str]] = {
    "discs": {"Y": "bold yellow", "R": "bold red"},
    "stones": {"X": "bold cyan", "O": "bold magenta"},
    "crosses": {"X": "bold cyan", "O": "bold magenta"},
}
"""Styles of the signs; the pieces of chess have those of their sides."""
FIRST, SECOND = "bold cyan", "bold magenta"
LAST, EMPTY = "bold green", "dim"


def board_text(state: _core.State, *, flip: bool = False) -> Text:
    """Return the position with the squares of the last move in brackets; colours show where there are any.

    flip: seen from the second player's side. A game without a board of cells shows its own text.
    """
    board = board_of(state)
    if board is None:
        return Text(state.text())
    width = max(map(len, board.row_labels))
    columns = range(board.columns)[:: -1 if flip else 1]
    text = Text()
    for row in range(board.rows)[:: -1 if flip else 1]:
        text.append(f"{board.row_labels[row]:>{width}} ", style=EMPTY)
        _append_row(text, board, [row * board.columns + column for column in columns])
    labels = " ".join(board.column_labels[column] for column in columns)
    text.append(f"{'':{width}}  {labels}\n", style=EMPTY)
    text.append(board.caption)
    return text


def _append_row(text: Text, board: Board, squares: list[int]) -> None:
    """Append the squares of a row, with a bracket or a space before and behind each."""
    before = [square in board.last for square in squares]
    for place, square in enumerate(squares):
        opened = before[place]
        closed = place > 0 and before[place - 1]
        text.append("(" if opened else ")" if closed else " ", style=LAST)
        sign = board.cells[square]
        text.append(sign, style=_style(board.look, sign))
    text.append(")\n" if before[-1] else "\n", style=LAST)


def _style(look: Look, sign: str) -> str:
    if sign == ".":
        return EMPTY
    if look == "pieces":
        return FIRST if sign.isupper() else SECOND
    return STYLES[look].get(sign, "")


def sees_second_side(state: _core.State, humans: set[int]) -> bool:
    """Return whether a board of pieces is shown from the second player's side: it is the only human."""
    board = board_of(state)
    return humans == {1} and board is not None and board.look == "pieces"

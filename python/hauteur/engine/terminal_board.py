"""A position in the terminal, from either side: figures on coloured squares where it can show them, else signs."""

from __future__ import annotations

from rich.console import Console
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

FIGURES = dict(zip("kqrbnp", ("\u265a", "\u265b", "\u265c", "\u265d", "\u265e", "\u265f\ufe0e"), strict=True))
"""The pieces of both sides, which differ by colour; the pawn's second sign keeps it from becoming a picture."""
WHITE, BLACK = "bold #ffffff", "#000000"
SQUARES, LAST_SQUARES = ("#b88b61", "#8f6640"), ("#b0a032", "#8f8220")
"""Backgrounds of light and dark squares, usually and for the last move: white and black stand out on all of them."""


def draws_figures(console: Console) -> bool:
    """Return whether a terminal shows figures on coloured squares: it has 256 colours, may use them, and the signs."""
    try:
        "".join(FIGURES.values()).encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return console.color_system in ("256", "truecolor") and not console.no_color


def position_text(state: _core.State, console: Console) -> Text:
    """Return the position as a report shows it: with figures and colours where the terminal has them, else plain."""
    return board_text(state, figures=True) if draws_figures(console) else Text(state.text())


def board_text(state: _core.State, *, flip: bool = False, figures: bool = False) -> Text:
    """Return the position with the squares of the last move in brackets; colours show where there are any.

    flip: seen from the second player's side. figures: pieces are figures on coloured squares, those of the last move in
    another colour. A game without a board of cells shows its own text.
    """
    board = board_of(state)
    if board is None:
        return Text(state.text())
    width = max(map(len, board.row_labels))
    columns = range(board.columns)[:: -1 if flip else 1]
    text, drawn = Text(), figures and board.look == "pieces"
    for row in range(board.rows)[:: -1 if flip else 1]:
        text.append(f"{board.row_labels[row]:>{width}} ", style=EMPTY)
        (_append_figures if drawn else _append_row)(text, board, [row * board.columns + column for column in columns])
    labels = ("  " if drawn else " ").join(board.column_labels[column] for column in columns)
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


def _append_figures(text: Text, board: Board, squares: list[int]) -> None:
    """Append the squares of a row as figures, three signs wide, and its label again: a line's end keeps no spaces."""
    for square in squares:
        sign = board.cells[square]
        row, column = divmod(square, board.columns)
        ground = (LAST_SQUARES if square in board.last else SQUARES)[(row + column + board.rows) % 2]
        text.append(f" {FIGURES.get(sign.lower(), ' ')} ", style=f"{WHITE if sign.isupper() else BLACK} on {ground}")
    text.append(f" {board.row_labels[squares[0] // board.columns]}\n", style=EMPTY)


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

"""Boards as pictures: the cells of a position, and the position as SVG.

A game says by `Game.look` how its squares are drawn: chess and minichess with the pieces of python-chess, others with
stones, discs, crosses, on hexagons, or the signs of their text; and by `State.squares` to which squares an action
belongs.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

from hauteur import _core
from hauteur.games.game_line import end_text

Look = Literal["pieces", "stones", "reversi", "hexagons", "discs", "crosses", "letters"]

CELL = 45
"""Side of a cell in the units of the drawing, which is that of python-chess's pieces."""
LEFT, TOP, BOTTOM = 24, 12, 44
"""Margins: labels of rows, above the board, labels of columns with the caption."""

MOST_SIGNS = 1000
"""Cells of a board that is drawn from a text."""

LAST_MOVE = "#e8c63c"
RED, BLUE, HEXAGON = "#d8432f", "#2f5fa8", "#f0e6d2"
LABELS = 'font-family="sans-serif" text-anchor="middle" fill="#4a4038"'


@dataclass(frozen=True)
class Board:
    """The look of a position on a rectangular board."""

    look: Look
    """Kind of board, which decides colours and shapes of squares and pieces."""
    cells: str
    """One character a square, row by row from the top; `.` where it is empty."""
    row_labels: tuple[str, ...]
    """Labels of the rows, from the top."""
    column_labels: tuple[str, ...]
    """Labels of the columns, from the left."""
    caption: str
    """Whose turn it is, or how the game ended."""
    last: tuple[int, ...] = ()
    """Squares of the last move, as indices of `cells`."""

    @property
    def rows(self) -> int:
        return len(self.row_labels)

    @property
    def columns(self) -> int:
        return len(self.column_labels)

    @property
    def size(self) -> tuple[int, int]:
        return LEFT + self.columns * CELL + self.slant(self.rows - 1) + 12, TOP + self.rows * CELL + BOTTOM

    def slant(self, row: int) -> int:
        """How far a row lies to the right of the top one: hexagons half a cell a row."""
        return row * CELL // 2 if self.look == "hexagons" else 0

    def corner(self, square: int, *, flip: bool = False) -> tuple[int, int]:
        """Return the upper left corner of a square; flip: the board seen from the other side."""
        row, column = divmod(len(self.cells) - 1 - square if flip else square, self.columns)
        return LEFT + column * CELL + self.slant(row), TOP + row * CELL


def board_svg(state: _core.State, *, flip: bool = False) -> str:
    """Return the position as a stand-alone SVG document; the last move is marked.

    flip: seen from the second player's side. A game without a board of cells is drawn by its own `State.svg`.

    >>> from hauteur.games.pictures import board_svg
    >>> from hauteur.games.registry import load_game
    >>> board_svg(load_game("connect4").new_initial_state()).startswith("<svg ")
    True
    """
    board = board_of(state)
    if board is None:
        return state.svg()
    width, height = board.size
    frame = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" class="board" role="img"'
    middle = LEFT + (board.columns * CELL + board.slant(board.rows - 1)) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame}><title>{escape(board.caption)}</title>',
        f"<defs>{''.join(symbols(board.look, set(board.cells)))}</defs>",
        ground(board, flip=flip),
        *(_mark(board, square, flip=flip) for square in board.last),
        *(_piece(board, square, sign, flip=flip) for square, sign in enumerate(board.cells)),
        f'<text x="{middle}" y="{height - 8}" {LABELS} font-size="14">{escape(board.caption)}</text></svg>\n',
    ]
    return "".join(parts)


def board_of(state: _core.State, last: tuple[int, ...] | None = None) -> Board | None:
    """Return the cells of a position, None where its game has no board of cells.

    A game has one whose text is a grid of single signs, with blanks between them or without, with labels at the left
    and below or without. last: squares of the last move, where they are known.
    """
    look: Look | Literal[""] = state.game.look
    lines = state.text().splitlines()
    if not look or _misfit(state.game, lines) is not None:
        return None
    _, rows, columns = state.game.feature_shape
    grid = [_signs(line, columns) or [] for line in lines[:rows]]
    width = len(grid[0])
    row_labels = tuple(line[0] for line in grid) if width > columns else ("",) * rows
    has_more = width > columns and len(lines) > rows + 1
    below = lines[rows].split() if has_more else []
    column_labels = tuple(below) if len(below) == columns else ("",) * columns
    cells = "".join("".join(line[-columns:]) for line in grid)
    text = lines[-1] if has_more else caption(state)
    if last is None and state.moves:
        before = state.copy()
        last = action_squares(before, before.undo())
    return Board(look, cells, row_labels, column_labels, text, last or ())


def why_no_board(state: _core.State) -> str:
    """Return why a position has no board of cells, in words that follow "because"; empty where it has one."""
    if not state.game.look:
        return "the game has a drawing of its own, svg()"
    return _misfit(state.game, state.text().splitlines()) or ""


def _misfit(game: _core.Game, lines: Sequence[str]) -> str | None:
    """Return why a text is not a grid of signs, as large as the features; None where it is one."""
    _, rows, columns = game.feature_shape
    if game.look == "letters" and not 1 < rows * columns <= MOST_SIGNS:
        return f"a board has 2 to {MOST_SIGNS:,} cells, and feature_shape has {rows} rows of {columns}"
    if lines and lines[0].startswith(f"{game.spec}:"):
        return "there is no text() that draws it, a row a line"
    if len(lines) < rows:
        return f"text() has {len(lines)} line{'' if len(lines) == 1 else 's'}, and feature_shape {rows} rows"
    grid = [_signs(line, columns) for line in lines[:rows]]
    for number, signs in enumerate(grid):
        if signs is None or len(signs) != len(grid[0] or ()):
            shown = repr(lines[number][:40])
            return f"line {number + 1} of text(), {shown}, is not {columns} single signs, as feature_shape has columns"
    return None


def _signs(line: str, columns: int) -> list[str] | None:
    """Return the signs of a row, with its label before them if there is one; None where it is not such a row.

    `8 . X O` and `8 .XO` are rows with a label, `. X O` and `.XO` are rows without.
    """
    words = line.split()
    if words and len(words) <= 2 and len(words[-1]) == columns:
        words = [*words[:-1], *words[-1]]
    fits = len(words) in (columns, columns + 1) and all(len(sign) == 1 for sign in words[-columns:])
    return words if fits else None


def caption(state: _core.State) -> str:
    """Return whose turn it is, or how the game ended."""
    if state.outcome() is not None:
        return end_text(state)
    last = state.text().rstrip("\n").rpartition("\n")[2].strip()
    return last if last.endswith("to move") else f"{('first', 'second')[state.to_move]} player to move"


def side_names(game: _core.Game) -> tuple[str, str]:
    """Return what the two players of a game are called, as captions call them: `White` and `Black`."""
    names, state = ["First player", "Second player"], game.new_initial_state()
    for _ in range(2):
        text = caption(state)
        if text.endswith(" to move"):
            names[state.to_move] = text[0].upper() + text[1:].removesuffix(" to move")
        if state.outcome() is None:
            state.apply(int(state.legal_actions()[0]))
    return names[0], names[1]


def square_names(board: Board) -> list[str]:
    """Return the name of every square, such as e4, in the order of the cells; row and column without labels."""
    places = [(row, column) for row in range(board.rows) for column in range(board.columns)]
    names = (f"{board.column_labels[column]}{board.row_labels[row]}" for row, column in places)
    return [name or f"row {row + 1} column {column + 1}" for name, (row, column) in zip(names, places, strict=True)]


def square_words(board: Board) -> list[str]:
    """Return what stands on every square in words, such as `white pawn`; `empty` where nothing does."""
    names = STYLES[board.look].names
    return ["empty" if sign == "." else names.get(sign, sign) for sign in board.cells]


def sees_second_side(state: _core.State, humans: set[int]) -> bool:
    """Return whether a board of pieces is shown from the second player's side: it is the only human."""
    board = board_of(state)
    return humans == {1} and board is not None and board.look == "pieces"


def action_squares(state: _core.State, action: int) -> tuple[int, ...]:
    """Return the squares of a legal action as indices of cells: from and to, or one, or none."""
    columns = state.game.feature_shape[2]
    return tuple(row * columns + column for row, column in state.squares(action))


def action_area(board: Board, squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the squares that choose an action with these squares first: for discs all of the column, else one."""
    if board.look == "discs":
        return tuple(range(squares[0] % board.columns, len(board.cells), board.columns))
    return squares[:1]


# The drawing.


def symbols(look: Look, signs: Iterable[str]) -> list[str]:
    """Return a `<g>` for each of these signs of the cells, with the id `LOOK-SIGN`, drawn in a cell of CELL units."""
    return [f'<g id="{symbol_id(look, sign)}">{sign_svg(look, sign)}</g>' for sign in sorted(signs)]


def sign_svg(look: Look, sign: str) -> str:
    """Return the drawing of a sign of the cells, in a square of CELL units at the origin."""
    return "" if sign == "." and look != "discs" else STYLES[look].draw(sign)


def symbol_id(look: Look, sign: str) -> str:
    """Return the id of a sign's drawing: capitals and small letters stay apart where ids ignore case."""
    if look == "letters":
        return f"{look}-{ord(sign)}"
    return f"{look}-{'e' if sign == '.' else sign.lower() + ('1' if sign.isupper() else '2')}"


def all_signs(look: Look) -> str:
    """Return every sign that the cells of such a board can have; none where they are any letters."""
    return "" if look == "letters" else f"{''.join(STYLES[look].names)}."


def ground(board: Board, *, flip: bool = False) -> str:
    """Return the empty board with its labels."""
    width, height = board.size
    right, below = LEFT + board.columns * CELL, TOP + board.rows * CELL
    low, down = board.slant(board.rows - 1), 22 if board.look == "hexagons" else 16
    rows = board.row_labels[::-1] if flip else board.row_labels
    columns = board.column_labels[::-1] if flip else board.column_labels
    texts = [(LEFT / 2 + board.slant(row), TOP + CELL * row + CELL / 2 + 5, label) for row, label in enumerate(rows)]
    texts += [(LEFT + low + CELL * column + CELL / 2, below + down, label) for column, label in enumerate(columns)]
    labels = "".join(f'<text x="{x}" y="{y}">{escape(label)}</text>' for x, y, label in texts)
    return (
        f'<rect width="{width}" height="{height}" rx="6" fill="#f6f3ee"/>'
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{below - TOP}" fill="{STYLES[board.look].ground}"/>'
        f'{_pattern(board)}<g {LABELS} font-size="12">{labels}</g>'
    )


def _pattern(board: Board) -> str:
    squares = range(len(board.cells))
    if board.look == "pieces":
        dark = [square for square in squares if (square // board.columns + square % board.columns + board.rows) % 2]
        corners = [board.corner(square) for square in dark]
        return f'<path fill="#b58a66" d="{"".join(f"M{x} {y}h{CELL}v{CELL}h-{CELL}z" for x, y in corners)}"/>'
    if board.look == "discs":
        return ""
    if board.look == "hexagons":
        return _hexagons(board)
    inset = CELL / 2 if board.look == "stones" else 0
    count = 0 if board.look == "stones" else 1
    right, below = LEFT + board.columns * CELL - inset, TOP + board.rows * CELL - inset
    across = [f"M{LEFT + inset} {TOP + CELL * row + inset}H{right}" for row in range(count, board.rows)]
    down = [f"M{LEFT + CELL * column + inset} {TOP + inset}V{below}" for column in range(count, board.columns)]
    return f'<path stroke="#444" stroke-width="1.5" d="{"".join(across + down)}"/>'


def _hexagons(board: Board) -> str:
    """Return the cells of a slanted board, in half units, and its sides in the colours of who connects them."""
    side, left = 2 * CELL, 2 * LEFT
    half, third = side // 2, side // 3
    at = {
        (row, column): f"M{left + side * column + half * row} {2 * TOP + side * row + third // 2}"
        for row in range(board.rows)
        for column in range(board.columns)
    }
    bottom, right = board.rows - 1, board.columns - 1
    upper, down = f"l{half}-{third} {half} {third}", f"v{2 * third}"
    cells = "".join(f"{corner}{upper}{down}l-{half} {third}-{half}-{third}z" for corner in at.values())
    red = "".join(f"{at[0, column]}{upper}" for column in range(right + 1))
    red += "".join(f"{at[bottom, column]}m0 {2 * third}l{half} {third} {half}-{third}" for column in range(right + 1))
    blue = "".join(f"{at[row, 0]}{down}" + (f"l{half} {third}" if row < bottom else "") for row in range(bottom + 1))
    blue += "".join(f"{at[row, right]}m{side} {2 * third}v-{2 * third}" for row in range(bottom + 1))
    blue += "".join(f"{at[row, right]}m{side} 0l-{half}-{third}" for row in range(1, bottom + 1))
    return (
        f'<g transform="scale(.5)" fill="none"><path fill="{HEXAGON}" stroke="#444" stroke-width="3" d="{cells}"/>'
        f'<g stroke-width="10" stroke-linejoin="round"><path stroke="{BLUE}" d="{blue}"/>'
        f'<path stroke="{RED}" d="{red}"/></g></g>'
    )


def _mark(board: Board, square: int, *, flip: bool) -> str:
    x, y = board.corner(square, flip=flip)
    size = f'width="{CELL}" height="{CELL}"' + (f' rx="{CELL // 2}"' if board.look == "hexagons" else "")
    return f'<rect x="{x}" y="{y}" {size} fill="{LAST_MOVE}" opacity=".75"/>'


def _piece(board: Board, square: int, sign: str, *, flip: bool) -> str:
    x, y = board.corner(square, flip=flip)
    if sign == "." and board.look != "discs":
        return ""
    return f'<use href="#{symbol_id(board.look, sign)}" x="{x}" y="{y}"/>'


def _chess_piece(sign: str) -> str:
    """Return a piece as python-chess draws it (Colin M. L. Burnett's, GPL), without its id and without styles.

    A page with a strict policy ignores styles within a document, but no attributes.
    """
    from chess.svg import PIECES

    return _STYLED.sub(_with_attributes, re.sub(r' id="[^"]*"', "", PIECES[sign]))


_STYLED = re.compile(r'<(\w+)([^>]*?) style="([^"]*)"([^>]*?)(/?)>')


def _with_attributes(tag: re.Match[str]) -> str:
    """Return a tag with the properties of its style as attributes, which replace those of the same names."""
    name, before, style, after, end = tag.groups()
    properties = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in style.split(";"))}
    properties.pop("", None)
    rest = re.sub(rf' (?:{"|".join(properties)})="[^"]*"', "", before + after)
    attributes = "".join(f' {key}="{value}"' for key, value in properties.items())
    return f"<{name}{rest}{attributes}{end}>"


def _stone(sign: str) -> str:
    return f'<circle cx="22.5" cy="22.5" r="19" fill="{"#16140f" if sign == "X" else "#fafafa"}" stroke="#16140f"/>'


def _coloured_stone(sign: str) -> str:
    return f'<circle cx="22.5" cy="22.5" r="17" fill="{RED if sign == "X" else BLUE}" stroke="#16140f"/>'


def _disc(sign: str) -> str:
    fill = {"R": "#d8432f", "Y": "#f2cb2e", ".": "#f6f3ee"}[sign]
    return f'<circle cx="22.5" cy="22.5" r="18" fill="{fill}"/>'


def _cross(sign: str) -> str:
    shape = '<path d="M9 9l27 27m0-27l-27 27"/>' if sign == "X" else '<circle cx="22.5" cy="22.5" r="14"/>'
    return f'<g fill="none" stroke="#222" stroke-width="4">{shape}</g>'


def _letter(sign: str) -> str:
    return f'<text x="22.5" y="31" font-family="sans-serif" font-size="24" text-anchor="middle">{escape(sign)}</text>'


class Style(NamedTuple):
    """A look of boards. ground: colour of the board; names: signs of its cells in words; draw: of a sign, as SVG."""

    ground: str
    names: Mapping[str, str]
    draw: Callable[[str], str]


_PIECES = dict(zip("PNBRQK", ("pawn", "knight", "bishop", "rook", "queen", "king"), strict=True))

STYLES: dict[Look, Style] = {
    "pieces": Style(
        "#efe2cc",
        {sign: f"white {name}" for sign, name in _PIECES.items()}
        | {sign.lower(): f"black {name}" for sign, name in _PIECES.items()},
        _chess_piece,
    ),
    "stones": Style("#e3bd74", {"X": "black stone", "O": "white stone"}, _stone),
    "reversi": Style("#4a9465", {"X": "black disc", "O": "white disc"}, _stone),
    "hexagons": Style("none", {"X": "red stone", "O": "blue stone"}, _coloured_stone),
    "discs": Style("#2f5fa8", {"R": "red disc", "Y": "yellow disc"}, _disc),
    "crosses": Style("#f4f1ea", {"X": "cross", "O": "nought"}, _cross),
    "letters": Style("#f4f1ea", {}, _letter),
}

"""Odds games of chess: starts that lack pieces of one side, or have lesser ones in their place.

The giver is the player without the pieces, the odds taker has them all. A handicap is the difference between a start,
the normal one or any of the 960 of Chess960, and the position. One grammar in both directions:

    ITEM + ITEM ... [, start N]      ITEM: PIECE [SQUARE] [for PIECE] | SQUARE [for PIECE] | two PIECEs

`queen d1 + rook a1`, `knight + pawn`, `queen for knight`, `two rooks, start 356`. Where a square is left out it is the
queen's rook, knight or bishop (the one nearest to the a-file), and of the pawns the one of the f-file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hauteur.system.formatting import did_you_mean

WHITE, BLACK = 0, 1
FILES = "abcdefgh"
NORMAL_START = 518
"""Number of the normal start among the 960."""

PIECES = {"q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
"""Names of the pieces that may be given, by their letters; in the order in which names list them."""
_LETTERS = {name: letter for letter, name in PIECES.items()}
WORTH = "qrbnp"
"""Pieces from the most to the least: what stands for a given one is worth less."""

_ITEM = re.compile(
    r"(?:(?P<two>two) )?(?P<piece>queen|rook|bishop|knight|pawn)s?"
    r"(?: (?P<square>[a-h][1-8]))?(?: (?P<second>[a-h][1-8]))?"
    r"(?: for (?P<by>rook|bishop|knight|pawn))?|(?P<alone>[a-h][1-8])(?: for (?P<alone_by>rook|bishop|knight|pawn))?"
)
ALLOWED = "PIECE [SQUARE] [for PIECE], joined by +, such as `queen d1`, `queen + rook a1`, `queen for knight`"


@dataclass(frozen=True, order=True)
class Given:
    """A piece that the giver lacks. square: its home; piece: its letter; by: that of what stands there, or empty."""

    square: str
    piece: str
    by: str = ""

    @property
    def text(self) -> str:
        """Name of the item: `queen d1`, `queen d1 for knight`."""
        return f"{PIECES[self.piece]} {self.square}{f' for {PIECES[self.by]}' if self.by else ''}"


@dataclass(frozen=True)
class Odds:
    """A handicap. giver: 0 White, 1 Black; given: pieces in the order of the name; start: 0 to 959, 518 is normal."""

    giver: int
    given: tuple[Given, ...]
    start: int = NORMAL_START

    @property
    def name(self) -> str:
        """Name in messages and tables: `queen d1 + rook a1`, `queen d8 for knight, start 356`."""
        start = "" if self.start == NORMAL_START else f", start {self.start}"
        return " + ".join(item.text for item in self.given) + start

    @property
    def pieces(self) -> str:
        """The given pieces as letters in the order of the name: `q`, `qr`, `q>n`. Settings are chosen by them."""
        return "".join(item.piece + (f">{item.by}" if item.by else "") for item in self.given)

    @property
    def fen(self) -> str:
        """The position, White to move. A rook, or what a king would castle with, takes its castling right with it."""
        board = start_board(self.start)
        for item in self.given:
            sign = item.by or " "
            board[item.square] = sign if self.giver == BLACK else sign.upper()
        return f"{_placement(board)} w {_castling(board)} - 0 1"

    @property
    def game(self) -> str:
        """The game that begins there, as a spec of `load_game`."""
        return _game(self.fen, self.start)


def parse_odds(text: str, gives: Literal["white", "black"] | None = None, start: int = NORMAL_START) -> Odds:
    """Return the handicap that a text names.

    gives: whose pieces; None: as the squares say, White's without any. White's squares stand for Black's mirrored ones
    where Black gives. start: of the 960, unless the text names one. ValueError for what is not a handicap.
    """
    items, _, rest = text.partition(", start ")
    if rest:
        start = int(rest) if rest.strip().isdecimal() else -1
    if not 0 <= start <= 959:
        raise ValueError(f"odds {text!r}: the start must be a number from 0 to 959")
    found = [_read_item(item.strip(), text) for item in items.split("+")]
    squares = [square for _, own, _ in found for square in own if square]
    of_black = [square for square in squares if square[1] in "78"]
    giver = {"white": WHITE, "black": BLACK, None: BLACK if of_black else WHITE}[gives]
    if of_black and (giver == WHITE or len(of_black) < len(squares)):
        raise ValueError(f"odds {text!r}: the squares must be of one side, got {', '.join(squares)}")
    board, given = start_board(start), list[Given]()
    for piece, own, by in found:
        for place in own or [""]:
            square = _home(place, piece, board, giver, {item.square for item in given}, text)
            given.append(Given(square, board[square].lower(), by))
    return _checked(Odds(giver, _ordered(given), start), text)


def game_at_odds(parameters: Mapping[str, str]) -> str:
    """Return the spec of the game of `chess(odds=TEXT)`, or `chess(odds=TEXT,start=N)`; ValueError for other ones."""
    others = sorted(parameters.keys() - {"odds", "start"})
    if others:
        raise ValueError(f"chess(odds=...): takes odds and start (0 to 959), got {', '.join(others)}")
    start = parameters.get("start", str(NORMAL_START))
    return parse_odds(f"{parameters['odds']}, start {start}").game


def toggled(odds: Odds | None, square: str, gives: Literal["white", "black"], start: int) -> Odds | None:
    """Return the handicap with the piece of a home square given too, or with that item taken out; None: nothing given.

    ValueError for a square without a piece to give.
    """
    items = () if odds is None else odds.given
    texts = [item.text for item in items if item.square != square]
    if len(texts) == len(items):
        texts.append(square)
    return parse_odds(" + ".join(texts), gives, start) if texts else None


def _read_item(item: str, text: str) -> tuple[str, list[str], str]:
    """Letter of the piece (empty: by its square), squares, and letter of what stands for it."""
    match = _ITEM.fullmatch(item.lower())
    if match is None:
        hint = did_you_mean(item, _LETTERS)
        raise ValueError(f"odds {text!r}: {item!r} is no item{hint}; allowed: {ALLOWED}")
    words = match.groupdict()
    if words["alone"]:
        return "", [words["alone"]], _LETTERS.get(words["alone_by"] or "", "")
    squares = [square for square in (words["square"], words["second"]) if square]
    if len(squares) == 2 and not words["two"]:
        raise ValueError(f"odds {text!r}: {item!r} names two squares of one piece; allowed: two {words['piece']}s")
    if words["two"] and len(squares) == 1:
        raise ValueError(f"odds {text!r}: {item!r} names one square of two pieces")
    squares = squares or (["", ""] if words["two"] else [])
    return _LETTERS[words["piece"]], squares, _LETTERS.get(words["by"] or "", "")


def _home(square: str, piece: str, board: dict[str, str], giver: int, taken: set[str], text: str) -> str:
    """The square of a piece that is given: the one named, mirrored where Black gives, else the first free one."""
    own = {place: sign.lower() for place, sign in board.items() if sign.isupper() == (giver == WHITE) and sign != " "}
    if not square:
        free = [place for place, letter in own.items() if letter == piece and place not in taken]
        first = sorted(free, key=lambda place: (piece == "p" and place[0] != "f", place))
        if not first:
            raise ValueError(f"odds {text!r}: there is no other {PIECES[piece]} to give")
        return first[0]
    square = mirrored(square) if giver == BLACK and square[1] in "12" else square
    found = own.get(square, "")
    if found not in PIECES or (piece and found != piece) or square in taken:
        what = PIECES.get(found, "the king" if found == "k" else "no piece")
        stands = "given twice" if square in taken else f"of {what}"
        raise ValueError(
            f"odds {text!r}: {square} is the square {stands}, not of a {PIECES.get(piece, 'piece')} to give"
        )
    return square


def _ordered(given: list[Given]) -> tuple[Given, ...]:
    return tuple(sorted(given, key=lambda item: (WORTH.index(item.piece), item.square)))


def _checked(odds: Odds, text: str) -> Odds:
    for item in odds.given:
        if item.by and WORTH.index(item.by) <= WORTH.index(item.piece):
            raise ValueError(f"odds {text!r}: a {PIECES[item.by]} is worth no less than a {PIECES[item.piece]}")
        if item.by == "p" and item.square[1] in "18":
            raise ValueError(f"odds {text!r}: a pawn cannot stand on {item.square}")
    return odds


def odds_of(fen: str) -> Odds | None:
    """Return the odds of a position in which no piece has moved; None for a start without odds and for anything else.

    Only the pieces count: one side has all of them on their squares, the other lacks some or has lesser ones there.
    The start is that of the odds taker's first rank. ValueError where the board of the FEN cannot be read.
    """
    board = pieces_of(fen)
    for giver in (WHITE, BLACK):
        rank = "8" if giver == WHITE else "1"
        start = _start_numbers().get("".join(board[f"{file}{rank}"] for file in FILES).lower())
        found = None if start is None else _difference(board, start_board(start), giver)
        if start is not None and found:
            return Odds(giver, found, start)
    return None


def _difference(board: dict[str, str], begin: dict[str, str], giver: int) -> tuple[Given, ...]:
    """Pieces that the giver lacks on a board; empty where there is another difference."""
    given = []
    for square, sign in begin.items():
        here = board[square]
        if here == sign:
            continue
        own = sign != " " and sign.isupper() == (giver == WHITE) and sign.lower() in WORTH
        lesser = here.lower() in WORTH and here.isupper() == sign.isupper()
        if not own or (here != " " and (not lesser or WORTH.index(here.lower()) <= WORTH.index(sign.lower()))):
            return ()
        given.append(Given(square, sign.lower(), here.lower().strip()))
    return _ordered(given)


# -- boards ------------------------------------------------------------------------------------------------------------


def pieces_of(fen: str) -> dict[str, str]:
    """The signs of a FEN's board by square, White's as capital letters, a space where nothing stands."""
    ranks = (fen.split() or [""])[0].split("/")
    rows = ["".join(" " * int(sign) if sign in "12345678" else sign for sign in rank) for rank in ranks]
    if len(rows) != 8 or any(len(row) != 8 for row in rows):
        raise ValueError(f"no board of a FEN: {fen[:80]!r}")
    return {f"{FILES[f]}{8 - r}": sign for r, row in enumerate(rows) for f, sign in enumerate(row)}


def start_fen(number: int) -> str:
    """The position of one of the 960 starts."""
    board = start_board(number)
    return f"{_placement(board)} w {_castling(board)} - 0 1"


def start_game(number: int) -> str:
    """The game that begins at one of the 960 starts, as a spec of `load_game`."""
    return "chess" if number == NORMAL_START else _game(start_fen(number), number)


def _game(fen: str, start: int) -> str:
    return f"chess(fen={fen}{'' if start == NORMAL_START else ',chess960=true'})"


def start_board(number: int) -> dict[str, str]:
    """The signs of one of the 960 starts by square."""
    rank = start_rank(number)
    return pieces_of(f"{rank}/pppppppp/8/8/8/8/PPPPPPPP/{rank.upper()}")


def start_rank(number: int) -> str:
    """The first rank of one of the 960 starts, 0 to 959, by Scharnagl's numbers: 518 is rnbqkbnr."""
    rest, light = divmod(number, 4)
    rest, dark = divmod(rest, 4)
    knights, queen = divmod(rest, 6)
    rank = [" "] * 8
    rank[2 * light + 1] = rank[2 * dark] = "b"
    _fill(rank, queen, "q")
    pairs = [(first, second) for first in range(5) for second in range(first + 1, 5)]
    first, second = pairs[knights]
    _fill(rank, second, "n")  # the later one first, so that the earlier one's place is not moved
    _fill(rank, first, "n")
    for sign in "rkr":
        _fill(rank, 0, sign)
    return "".join(rank)


def _fill(rank: list[str], place: int, sign: str) -> None:
    """Put a piece on a free square, counted from the a-file."""
    rank[[file for file, found in enumerate(rank) if found == " "][place]] = sign


@cache
def _start_numbers() -> dict[str, int]:
    return {start_rank(number): number for number in range(960)}


def mirrored(squares: str) -> str:
    """The same squares from the other player's side: `b1 g1` is `b8 g8`."""
    return " ".join(f"{square[0]}{9 - int(square[1])}" for square in squares.split())


def _castling(board: dict[str, str]) -> str:
    """Castling rights of a start (X-FEN): K, Q where a rook stands on that side of the king; - for none."""
    found = ""
    for rank, king, rook in (("1", "K", "R"), ("8", "k", "r")):
        row = "".join(board[f"{file}{rank}"] for file in FILES)
        at = row.index(king)
        sides = ("K" if rook in row[at:] else "") + ("Q" if rook in row[:at] else "")
        found += sides if king == "K" else sides.lower()
    return found or "-"


def _placement(board: dict[str, str]) -> str:
    rows = ["".join(board[f"{file}{rank}"] for file in FILES) for rank in range(8, 0, -1)]
    return "/".join(re.sub(" +", lambda run: str(len(run[0])), row) for row in rows)


USUAL = (
    *("queen", "rook", "knight b1", "knight g1", "bishop", "pawn", "two knights", "two rooks", "rook + knight"),
    *("queen + rook", "queen for knight"),
)
"""The handicaps that are played most."""

ODDS_STARTS = {odds.name: odds.fen for text in USUAL for odds in (parse_odds(text, "white"), parse_odds(text, "black"))}
"""FEN of every usual odds start by its name, with White or Black as the giver: `queen d1`, `knight b8 + knight g8`."""

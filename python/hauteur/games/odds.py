"""Odds games of chess: starts that lack pieces of one side, and the settings published for the side that gives them.

The giver is the player without the pieces, the odds taker has them all. Settings: the odds runs of the search-contempt
paper (A. Joshi, 2025) and, for queen odds, what the author's programs played with later; names are lc0's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

WHITE, BLACK = 0, 1
FILES = "abcdefgh"

KINDS = {
    "Q": "queen",
    "R": "rook",
    "N": "knight",
    "B": "bishop",
    "P": "pawn",
    "NN": "two knights",
    "RR": "two rooks",
    "NR": "rook and knight",
}
"""Odds by the letters of the missing pieces, sorted."""

SQUARES = ("d1", "a1", "b1", "g1", "c1", "f2", "b1 g1", "a1 h1", "a1 b1")
"""The pieces that are given in practice, as White's squares; Black gives those of the mirrored squares."""

PUBLISHED: Mapping[str, float] = {"ScLimit": 28, "Temperature": 0.7, "TempEndgame": 0.1, "TempDecayMoves": 5}
"""The giver's settings in the paper's odds runs."""

QUEEN: tuple[Mapping[str, float], Mapping[str, float]] = (
    {"ScLimit": 40, "CPuct": 1.5, "FpuValue": 0.4, "DrawScore": -0.4},
    {"ScLimit": 32, "CPuct": 1.5, "FpuValue": 0.4, "DrawScore": 0.6},
)
"""Settings of later queen odds, by the giver's colour, Black with SwapColors: the net knew White alone.

A draw counts for White, so both dislike draws.
"""


@dataclass(frozen=True)
class Odds:
    """Pieces missing from a start. giver: 0 White, 1 Black; kind: a name of KINDS; squares: their home squares."""

    kind: str
    giver: int
    squares: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name for messages and tables: `queen d1`, `two knights b8 g8`."""
        return " ".join([self.kind, *self.squares])

    def settings(self, trained_for: int | None = None) -> dict[str, float]:
        """The giver's settings, by lc0's names: those of the odds runs, with those of later practice for queen odds.

        trained_for: the only colour that the net was trained to give as, 0 White, 1 Black; to the other one's giver it
        is shown as that colour (SwapColors), as in that practice.
        """
        swapped = {} if trained_for in (None, self.giver) else {"SwapColors": True}
        return {**PUBLISHED, **(QUEEN[self.giver] if self.kind == "queen" else {}), **swapped}


def odds_of(fen: str) -> Odds | None:
    """Return the odds of a position in which no piece has moved; None for the normal start and for anything else.

    Only the pieces count: one side has all of them on their squares, the other lacks those of a name in KINDS. Raise
    ValueError where the board of the FEN cannot be read.
    """
    present = pieces_of(fen)
    if any(NORMAL.get(square) != piece for square, piece in present.items()):
        return None
    missing = sorted(NORMAL.keys() - present.keys())
    letters = "".join(sorted(NORMAL[square] for square in missing))
    if not missing or not (letters.isupper() or letters.islower()) or letters.upper() not in KINDS:
        return None
    return Odds(KINDS[letters.upper()], WHITE if letters.isupper() else BLACK, tuple(missing))


def odds_start(*squares: str) -> str:
    """The FEN of the normal start without the pieces of these squares, White to move: `odds_start("d1")`.

    A rook takes its castling right with it. ValueError for a square without a piece, and for a king's.
    """
    wrong = [square for square in squares if NORMAL.get(square, "k") in "kK"]
    if wrong or not squares:
        raise ValueError(f"odds are squares of pieces that a start can lack, such as d1 or b8, got {wrong or 'none'}")
    left = {square: piece for square, piece in NORMAL.items() if square not in squares}
    castling = "".join(right for right, square in zip("KQkq", ("h1", "a1", "h8", "a8"), strict=True) if square in left)
    return f"{_placement(left)} w {castling or '-'} - 0 1"


def pieces_of(fen: str) -> dict[str, str]:
    """The pieces of a FEN by square, White's as capital letters."""
    ranks = (fen.split() or [""])[0].split("/")
    rows = [_row(rank) for rank in ranks]
    if len(rows) != 8 or any(len(row) != 8 for row in rows):
        raise ValueError(f"no board of a FEN: {fen[:80]!r}")
    return {f"{FILES[f]}{8 - r}": piece for r, row in enumerate(rows) for f, piece in enumerate(row) if piece != " "}


def mirrored(squares: str) -> str:
    """The same squares from the other player's side: `b1 g1` is `b8 g8`."""
    return " ".join(f"{square[0]}{9 - int(square[1])}" for square in squares.split())


def _row(rank: str) -> str:
    return "".join(" " * int(sign) if sign in "12345678" else sign for sign in rank)


def _placement(pieces: Mapping[str, str]) -> str:
    rows = ["".join(pieces.get(f"{file}{rank}", "1") for file in FILES) for rank in range(8, 0, -1)]
    return "/".join(_run_lengths(row) for row in rows)


def _run_lengths(row: str) -> str:
    """A row with its runs of empty squares as one digit each."""
    for length in range(8, 1, -1):
        row = row.replace("1" * length, str(length))
    return row


NORMAL = pieces_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR")
"""The pieces of the normal start by square."""

ODDS_STARTS = {
    odds.name: fen
    for given in SQUARES
    for squares in (given, mirrored(given))
    if (odds := odds_of(fen := odds_start(*squares.split()))) is not None
}
"""FEN of every usual odds start by its name, with White or Black as the giver: `queen d1`, `two knights b8 g8`."""

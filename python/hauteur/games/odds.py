"""Odds games of chess: starts that lack pieces of one side, or have lesser ones in their place.

The giver is the player without the pieces, the odds taker has them all. A handicap is the difference between a start,
the normal one or any of the 960 of Chess960, and the position. One grammar in both directions (crates/lab, odds.rs):

    ITEM + ITEM ... [, start N]      ITEM: PIECE [SQUARE] [for PIECE] | SQUARE [for PIECE] | two PIECEs

`queen d1 + rook a1`, `knight + pawn`, `queen for knight`, `two rooks, start 356`. Where a square is left out it is the
queen's rook, knight or bishop (the one nearest to the a-file), and of the pawns the one of the f-file.
"""

from itertools import product
from typing import Literal

from hauteur import _core
from hauteur._core import Odds, start_board, start_game

__all__ = ["BLACK", "NORMAL_START", "ODDS_STARTS", "USUAL", "WHITE", "Odds"]
__all__ += ["odds_of", "parse_odds", "start_board", "start_game", "toggled"]

WHITE, BLACK = 0, 1
NORMAL_START = 518
"""Number of the normal start among the 960."""


def parse_odds(text: str, gives: Literal["white", "black"] | None = None, start: int = NORMAL_START) -> Odds:
    """Return the handicap that a text names.

    gives: whose pieces; None: as the squares say, White's without any. White's squares stand for Black's mirrored ones
    where Black gives. start: of the 960, unless the text names one. ValueError for what is not a handicap.

    >>> parse_odds("queen + rook").fen
    'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NB1KBNR w Kkq - 0 1'
    """
    return _core.parse_odds(text, gives, start)


def odds_of(fen: str) -> Odds | None:
    """Return the odds of a position in which no piece has moved; None for a start without odds and for anything else.

    Only the pieces count: one side has all of them on their squares, the other lacks some or has lesser ones there.
    The start is that of the odds taker's first rank. ValueError where the board of the FEN cannot be read.
    """
    return _core.odds_of(fen)


def toggled(odds: Odds | None, square: str, gives: Literal["white", "black"], start: int) -> Odds | None:
    """Return the handicap with the piece of a home square given too, or with that item taken out; None: nothing given.

    ValueError for a square without a piece to give.
    """
    return _core.toggled_odds(odds, square, gives, start)


USUAL = (
    *("queen", "rook", "knight b1", "knight g1", "bishop", "pawn", "two knights", "two rooks", "rook + knight"),
    *("queen + rook", "queen for knight"),
)
"""The handicaps that are played most."""

_GIVERS: tuple[Literal["white", "black"], ...] = ("white", "black")
_USUAL_ODDS = [parse_odds(text, giver) for text, giver in product(USUAL, _GIVERS)]

ODDS_STARTS = {odds.name: odds.fen for odds in _USUAL_ODDS}
"""FEN of every usual odds start by its name, with White or Black as the giver: `queen d1`, `knight b8 + knight g8`."""

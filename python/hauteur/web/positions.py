"""Positions: as pages name them, and as the board of a page takes them."""

import json
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.games.game_texts import MOST_CHARACTERS
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game, with_fen
from hauteur.system.settings import Section

MOST_MOVES = 5000
"""Moves of a game that a page sends."""

Spec = Annotated[str, Field(max_length=300)]
Move = Annotated[str, Field(max_length=40)]
GameText = Annotated[str, Field(max_length=MOST_CHARACTERS)]
"""A text that is a game: PGN, SGF, a FEN, moves."""


class PlaceFields(Section):
    """A position of a page: a game by its spec, a FEN, moves as text; flip: drawn from the second player's side."""

    game: Spec = "chess"
    fen: Annotated[str, Field(max_length=200)] = ""
    moves: Annotated[tuple[Move, ...], Field(max_length=MOST_MOVES)] = ()
    flip: bool = False


def game_at(place: PlaceFields) -> PlayedGame:
    """Return the game of a page up to its position. Raise ValueError for an unknown game, a bad FEN or move."""
    played = PlayedGame(load_game(with_fen(place.game, place.fen or None)))
    for move in place.moves:
        played.play(played.state.parse(move))
    return played


def first_ply(start: _core.State) -> int | None:
    """Return the ply of a start, counted from the first player's first move, as PGN numbers moves; None: from one."""
    if not start.game.has_fen:
        return None
    *_, number = start.notation().split()
    moves_before = int(number) - 1 if number.isdigit() and number != "0" else 0
    return 2 * moves_before + start.to_move


def position_view(state: _core.State, *, flip: bool = False) -> dict[str, Any]:
    """Return a position for static/board.js.

    svg: the drawing; frame: its width, height and the side of a square; squares: of each its name, what stands there
    and its upper left corner, none where the game has no board of cells; last: those of the last move. actions: the
    legal ones as number `a`, text, indices of squares, from first (none: the action is a button), and area: all squares
    that choose it, or choose it first; where several have the same squares, as promotions do, each has `stands`: what
    is then on the last of them, as text, as a drawing, and its rank among them. stone: what the mover puts on a square,
    as text and as a drawing, where all actions on one square put the same. to_move: 0 or 1. outcome: of the first
    player, null while the game goes on; caption: whose turn it is, or how it ended.
    """
    view: dict[str, Any] = json.loads(_core.position_view(state, flip))
    return view

"""Positions: as pages name them, and as the board of a page takes them."""

from collections import Counter
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.games import pictures
from hauteur.games.game_texts import MOST_CHARACTERS
from hauteur.games.played_game import PlayedGame, move_text
from hauteur.games.registry import load_game, with_fen
from hauteur.system.settings import Section

MOST_MOVES = 5000
"""Moves of a game that a page sends."""

OFFERED = "QRBN"
"""Pieces in the order in which a promotion offers them."""

OF_STONES: tuple[pictures.Look, ...] = ("stones", "reversi", "hexagons", "discs", "crosses")
"""Looks of games whose moves put one stone of the mover on a square."""

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
    return 2 * (int(number) - 1) + start.to_move if number.isdigit() and number != "0" else start.to_move


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
    board = pictures.board_of(state)
    return {
        "game": state.game.spec,
        "ply": state.ply,
        "to_move": state.to_move,
        "outcome": state.outcome(),
        "caption": pictures.caption(state),
        "notation": state.notation(),
        "svg": pictures.board_svg(state, flip=flip),
        "frame": None if board is None else [*board.size, pictures.CELL],
        "squares": [] if board is None else _squares(board, flip=flip),
        "last": [] if board is None else list(board.last),
        "flip": flip,
        "actions": _actions(state, board),
        "stone": None if board is None or board.look not in OF_STONES else _stone(state),
    }


def _squares(board: pictures.Board, *, flip: bool) -> list[dict[str, Any]]:
    corners = (board.corner(square, flip=flip) for square in range(len(board.cells)))
    facts = zip(pictures.square_names(board), pictures.square_words(board), corners, strict=True)
    return [{"name": name, "text": text, "x": x, "y": y} for name, text, (x, y) in facts]


def _stone(state: _core.State) -> dict[str, Any] | None:
    """Return what the player to move puts on a square; None where no action puts anything."""
    for action in state.legal_actions():
        squares = pictures.action_squares(state, int(action))
        if len(squares) == 1:
            standing = _standing(state, int(action), squares[0])
            return {"text": standing["text"], "svg": standing["svg"]}
    return None


def _actions(state: _core.State, board: pictures.Board | None) -> list[dict[str, Any]]:
    views = [_action(state, int(action), board) for action in state.legal_actions()]
    shared = Counter(tuple(view["squares"]) for view in views)
    for view in views:
        if board is not None and view["squares"] and shared[tuple(view["squares"])] > 1:
            view["stands"] = _standing(state, view["a"], view["squares"][-1])
    return views


def _action(state: _core.State, action: int, board: pictures.Board | None) -> dict[str, Any]:
    squares = () if board is None else pictures.action_squares(state, action)
    area = pictures.action_area(board, squares) if board is not None and squares else ()
    return {"a": action, "text": move_text(state, action), "squares": list(squares), "area": list(area)}


def _standing(state: _core.State, action: int, square: int) -> dict[str, Any]:
    behind = state.child(action)
    board = pictures.board_of(behind)
    assert board is not None  # that of the position before
    sign = board.cells[square]
    words = pictures.square_words(board)[square]
    return {"text": words, "svg": pictures.sign_svg(board.look, sign), "rank": OFFERED.find(sign.upper())}

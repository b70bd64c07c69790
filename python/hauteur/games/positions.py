"""Positions from what users have: texts in any notation, lists of moves, boards of python-chess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.games.registry import load_game, with_fen

if TYPE_CHECKING:
    import chess

    PositionLike = _core.State | chess.Board | str
    """What calls that take a position understand: a State, a `chess.Board`, a FEN (or another text of a chess game)."""


def position(
    game: str | _core.Game, given: str | Sequence[int | str] | chess.Board | _core.State | None = None
) -> _core.State:
    """Return a position of a game.

    game: a spec or a game, as for `load_game`. given: None: the start of the game; a text: moves in the game's notation
    (`"4 4 3"`, `"e2e4 c5 Nf3"`), a FEN (chess, minichess), PGN or SGF, after whose last move the position is; a list
    of moves, actions or texts; a `chess.Board`, whose moves are kept as its past; a State, of which a copy is returned.
    Raise ValueError, in one line, for what is no position of the game.

    >>> import hauteur as ht
    >>> ht.position("connect4", "4 4 3").ply
    3
    >>> ht.position("chess", "e4 c5 Nf3").fen
    'rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2'
    >>> ht.position("chess", ["e4"]) == ht.position("chess").child(322)
    True
    """
    loaded = load_game(game)
    if given is None:
        return loaded.new_initial_state()
    if isinstance(given, str):
        return _from_text(loaded, given)
    if isinstance(given, _core.State):
        return _of_game(given.copy(), loaded)
    if _is_board(given):
        return _of_game(_from_board(given), loaded)  # type: ignore[arg-type]
    if not isinstance(given, Sequence):
        kind = type(given).__name__
        raise TypeError(f"a position is given as a text, a list of moves, a chess.Board or a State; got {kind}")
    return _after(loaded.new_initial_state(), given)


def as_state(given: PositionLike) -> _core.State:
    """Return the position that a user gave: a State (itself), a `chess.Board`, or the text of a chess position."""
    if isinstance(given, _core.State):
        return given
    if isinstance(given, str):
        return _from_text(load_game("chess"), given)
    if _is_board(given):
        return _from_board(given)
    kind = type(given).__name__
    raise TypeError(f"expected a position: a State, as ht.position makes it, a chess.Board or a FEN; got {kind}")


def _is_board(given: object) -> bool:
    """Return whether this is a board of python-chess, which is imported only then."""
    return any(kind.__module__ == "chess" and kind.__name__ == "Board" for kind in type(given).__mro__)


def _from_board(board: chess.Board) -> _core.State:
    """Return the position of a board with the moves that it knows."""
    if board.uci_variant != "chess":
        raise ValueError(f"a chess.Board of standard chess is needed, got one of {board.uci_variant}")
    root = board.root()
    spec = "chess(chess960=true)" if board.chess960 else "chess"
    if board.chess960 or root.fen() != type(board).starting_fen:
        spec = with_fen(spec, root.fen(en_passant="fen"))
    return _after(load_game(spec).new_initial_state(), [move.uci() for move in board.move_stack])


def _from_text(game: _core.Game, text: str) -> _core.State:
    """Return the position after the last move of a text."""
    from hauteur.games.game_texts import form_of, read_game  # late: it reads PGN and SGF

    if form_of(text) == "moves":
        return _after(game.new_initial_state(), text.split())
    found = read_game(text, game.spec)
    return _of_game(_after(load_game(found.spec).new_initial_state(), found.actions), game)


def _after(state: _core.State, moves: Sequence[int | str]) -> _core.State:
    """Play moves, actions or texts, in place; ValueError names the first that is not legal."""
    for ply, move in enumerate(moves, 1):
        try:
            state.apply(state.parse(move) if isinstance(move, str) else move)
        except ValueError as error:
            raise ValueError(f"ply {ply}: {error}") from None
    return state


def _of_game(state: _core.State, game: _core.Game) -> _core.State:
    """Return the state; ValueError where it is of another game, whatever the position that the two begin from."""
    if (state.game.name, state.game.feature_shape) != (game.name, game.feature_shape):
        raise ValueError(f"a position of {game.spec} is needed, got one of {state.game.spec}")
    return state

"""Positions from what users have: texts in any notation, lists of moves, python-chess boards; exact values of moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.games.registry import load_game, names
from hauteur.system.hints import with_hints

if TYPE_CHECKING:
    import chess

    PositionLike = _core.State | chess.Board | str
    """A position for calls that take one: a State, a `chess.Board`, a FEN (or another text of a chess game)."""


@with_hints
def position(
    game: str | _core.Game, given: str | Sequence[int | str] | chess.Board | _core.State | None = None
) -> _core.State:
    """Return a position of a game.

    game: a spec or a game, as for `load_game`; alone also a FEN of chess. given: None: the start of the game; a text:
    moves in the game's notation (`"4 4 3"`, `"e2e4 c5 Nf3"`), a FEN (chess, minichess), PGN or SGF, after whose last
    move the position is; a list of moves, actions or texts; a `chess.Board`, whose moves are kept as its past; a State,
    of which a copy is returned.
    Raise ValueError, in one line, for what is no position of the game.

    >>> import hauteur as ht
    >>> ht.position("connect4", "4 4 3").ply
    3
    >>> ht.position("chess", "e4 c5 Nf3").fen
    'rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2'
    >>> ht.position("chess", ["e4"]) == ht.position("chess").child(322)
    True
    """
    if given is None and isinstance(game, str) and is_fen(game):
        return as_state(game)
    loaded = load_game(game)
    if given is None:
        return loaded.new_initial_state()
    if isinstance(given, str):
        return _from_text(loaded, given)
    if isinstance(given, Sequence):
        return _after(loaded.new_initial_state(), given)
    return _of_game(_core.position_of(given), loaded)


def is_fen(text: str) -> bool:
    """Return whether a text looks like a FEN of chess: eight rows, then whose move it is.

    >>> is_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"), is_fen("chess(fen=8/8/8/4k3/8/8/4P3/4K3 w - - 0 1)")
    (True, False)
    """
    fields = text.split()
    if len(fields) < 2 or fields[1] not in ("w", "b"):
        return False
    return re.fullmatch(r"[1-8pnbrqk]+(/[1-8pnbrqk]+){7}", fields[0], re.IGNORECASE) is not None


def as_state(given: PositionLike) -> _core.State:
    """Return the position that a user gave: a State, a `chess.Board`, or the text of a game of chess; a copy."""
    if isinstance(given, str) and (given == "startpos" or given.partition("(")[0] in names()):
        game = "chess" if given == "startpos" else given
        raise ValueError(f"{given!r} is no position: the start of the game is ht.position({game!r})")
    if isinstance(given, str):
        return _from_text(load_game("chess"), given)
    return _core.position_of(given)


def _from_text(game: _core.Game, text: str) -> _core.State:
    """Return the position after the last move of a text."""
    from hauteur.games.game_texts import form_of, read_game  # late: it reads PGN and SGF

    if form_of(text) == "moves":
        return _after(game.new_initial_state(), text.split())
    found = read_game(text, game.spec)
    for note in found.notes:
        if "null move" in note:  # the last move of the text is not the last one that was read
            raise ValueError(note)
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


MoveValues = Callable[[_core.State], Sequence[int]]
"""Values of all legal moves of a position, in ascending order: +1 the mover wins by it, 0 draw, -1 loses."""


def exact_values(game: _core.Game | str, *, table_bits: int = 22) -> MoveValues:
    """Return a function that gives the exact value of each legal move of a position, in the order of `legal_actions()`.

    game: any whose value of a position depends on no more of the past than the ply; of another one ValueError. Values:
    +1 the mover wins by it, 0 draw, -1 loses. A call takes as long as it takes: `_core.ExactSolver` has a limit.
    table_bits: the table has 2^table_bits entries of 8 bytes (connect4) or 16.

    >>> import hauteur as ht
    >>> values = ht.exact_values("tictactoe")
    >>> list(values(ht.position("tictactoe", "a1 b1 a2 b2")))
    [1, 0, -1, -1, -1]
    """
    solver = _core.ExactSolver(load_game(game) if isinstance(game, str) else game, table_bits)
    return lambda state: solver.move_values(state) or ()

"""Moves as text that know their number, and in chess how engines and people write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from hauteur import _core

if TYPE_CHECKING:
    import chess


class Move(str):
    """A move in the game's notation: a text with more to it.

    action: its number. uci, san: how engines and people write it, in chess; in other games the text itself.

    >>> import hauteur as ht
    >>> move = ht.search("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "uniform", visits=200).pv[0]
    >>> move, move.san, move.chess
    ('a1a8', 'Ra8#', Move.from_uci('a1a8'))
    """

    __slots__ = ("action", "san", "uci")

    action: int
    san: str
    uci: str

    def __new__(cls, text: str, action: int, san: str, uci: str) -> Self:
        """Return the move with its other spellings; `move_of` finds these."""
        move = super().__new__(cls, text)
        move.action, move.san, move.uci = action, san, uci
        return move

    def __getnewargs__(self) -> tuple[str, int, str, str]:  # type: ignore[override]
        """For copies and pickles."""
        return str(self), self.action, self.san, self.uci

    @property
    def chess(self) -> chess.Move:
        """The move for python-chess. ValueError in other games."""
        import chess

        return chess.Move.from_uci(self.uci)


def move_of(state: _core.State, action: int) -> Move:
    """Return a legal action of a position as a move."""
    text = state.action_to_text(action)
    if state.game.name != "chess":
        return Move(text, action, text, text)
    return Move(text, action, state.san(action), state.uci(action))


def moves_of(state: _core.State, actions: Iterable[int]) -> tuple[Move, ...]:
    """Return a line of actions from a position as moves."""
    place, moves = state.copy(), list[Move]()
    for action in actions:
        moves.append(move_of(place, action))
        place.apply(action)
    return tuple(moves)

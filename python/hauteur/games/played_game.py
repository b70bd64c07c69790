"""A game while it is played: its moves, how it goes back, and how it ended on the board or off it; moves as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from hauteur import _core
from hauteur.games.game_line import result_text

if TYPE_CHECKING:
    import chess

SIDE_NAMES = ("first player", "second player")
"""Names of the sides in messages."""
GTP_WORD = re.compile(r"[^\s#]+")
"""What can be the argument of a command in GTP, where `#` begins a comment."""


@dataclass(frozen=True)
class GameEnding:
    """How a game ended. outcome: +1 the first player won, 0 draw, -1 the second won; reason: a few words."""

    outcome: int
    reason: str

    @property
    def winner(self) -> int | None:
        """The side that has won; None: a draw."""
        if self.outcome == 0:
            return None
        return 0 if self.outcome > 0 else 1

    @property
    def text(self) -> str:
        """The result as people write it, `1-0 (checkmate)`."""
        if self.reason:
            return f"{result_text(self.outcome)} ({self.reason})"
        return result_text(self.outcome)


class PlayedGame:
    """One game, from the start that its spec names. actions: that were played already, which must be legal."""

    def __init__(self, game: _core.Game, actions: Sequence[int] = ()) -> None:
        self.game = game
        self.start = game.new_initial_state()
        self.actions: list[int] = []
        self.texts: list[str] = []
        """The moves as people write them."""
        self.movers: list[int] = []
        """The side of each move: 0 or 1."""
        self._state = game.new_initial_state()
        self._declared: GameEnding | None = None
        for ply, action in enumerate(actions, 1):
            try:
                self.play(action)
            except ValueError as error:
                raise ValueError(f"ply {ply}: {error}") from None

    @property
    def state(self) -> _core.State:
        """The position; not to be changed."""
        return self._state

    @property
    def ending(self) -> GameEnding | None:
        """How the game ended, by its rules or by `end`; None while it is played."""
        outcome = self._state.outcome()
        if outcome is None:
            return self._declared
        return GameEnding(outcome, self._state.end_reason() or "")

    def play(self, action: int) -> None:
        """Play a legal action. Raise ValueError for another one, and where the game is over."""
        if self.ending is not None:
            raise ValueError(f"the game is over: {self.ending.text}")
        text = move_text(self._state, action)
        mover = self._state.to_move
        self._state.apply(action)
        self.movers.append(mover)
        self.actions.append(action)
        self.texts.append(text)

    def take_back(self, sides: Collection[int] = (0, 1)) -> int:
        """Go back to the last turn of one of these sides; return the plies taken back, 0 where there is none."""
        for plies in range(len(self.actions) - 1, -1, -1):
            if self.movers[plies] in sides:
                before = self.after(plies)
                taken = len(self.actions) - plies
                del self.actions[plies:], self.texts[plies:], self.movers[plies:]
                self._state = before
                self._declared = None
                return taken
        return 0

    def end(self, outcome: int, reason: str) -> None:
        """End the game off the board: a player resigns, both agree to a draw, a clock has run out."""
        if self.ending is None:
            self._declared = GameEnding(outcome, reason)

    def after(self, plies: int) -> _core.State:
        return position_after(self.start, self.actions[:plies])


def move_text(state: _core.State, action: int) -> str:
    """Return a legal action as people write it: in chess SAN. Raise ValueError for another action."""
    return state.action_to_text(action, state.game.move_notation)


def line_texts(state: _core.State, actions: Sequence[int]) -> list[str]:
    """Return the moves of a line from a position as people write them."""
    return texts_of(state, actions, state.game.move_notation)


def texts_of(state: _core.State, actions: Iterable[int], notation: str | None = None) -> list[str]:
    """Return the moves of a line from a position as the game writes them, or in another of its notations."""
    place = state.copy()
    texts = []
    for action in actions:
        texts.append(place.action_to_text(action, notation))
        place.apply(action)
    return texts


def movers_of(state: _core.State, actions: Iterable[int]) -> list[int]:
    """Return the side that makes each move of a line from a position; ValueError for one that is illegal."""
    return movers_and_end(state, actions)[0]


def movers_and_end(state: _core.State, actions: Iterable[int]) -> tuple[list[int], _core.State]:
    """Return what `movers_of` does, and the position after the line; ValueError for a move that is illegal."""
    place = state.copy()
    movers = []
    for action in actions:
        movers.append(place.to_move)
        place.apply(action)
    return movers, place


def move_words(line: str) -> list[str]:
    """Return the moves of a line of text; numbers of moves are passed over, also those glued to their move.

    >>> move_words("1. e4 e5 2.Nf3")
    ['e4', 'e5', 'Nf3']
    """
    # Before a digit it is no number: a game in Python may have moves such as 1.2.
    return re.sub(r"(?<!\S)\d+\.+(?=\s|$|[^\W\d])", " ", line).split()


def position_after(state: _core.State, actions: Iterable[int]) -> _core.State:
    """Return the position after a line from a position; ValueError for a move that is illegal."""
    place = state.copy()
    for action in actions:
        place.apply(action)
    return place


def gtp_colours(game: _core.Game) -> tuple[str, str]:
    """Return the names of the players in GTP, the first one first: black, but white where the game's sides say so."""
    if tuple(side.lower() for side in game.sides) == ("white", "black"):
        return ("white", "black")
    return ("black", "white")


def gtp_moves(start: _core.State) -> list[str]:
    """Return the legal moves as GTP has them, the game's own texts. ValueError where one is more than a word."""
    texts = [start.action_to_text(action) for action in start.legal_actions().tolist()]
    for text in texts:
        if not GTP_WORD.fullmatch(text):
            raise ValueError(f"a move is one word in GTP, without #; a move of {start.game.spec} is {text!r}")
    return texts


def score_text(state: _core.State) -> str:
    """Return the result of a finished game as Go writes it, in GTP and SGF: `B+3.5`, `W+12`, `0` for a draw.

    The margin is 1 in games that count no points.
    """
    outcome = state.outcome()
    if not outcome:
        return "0"
    lead = state.score()
    points = 1 if lead is None else abs(lead)
    winner = gtp_colours(state.game)[0 if outcome > 0 else 1]
    return f"{winner[0].upper()}+{points:g}"


def loss_of(side: int) -> int:
    """Return the outcome of a game that this side (0, 1) loses."""
    return -1 if side == 0 else 1


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
        move.action = action
        move.san = san
        move.uci = uci
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
    place = state.copy()
    moves: list[Move] = []
    for action in actions:
        moves.append(move_of(place, action))
        place.apply(action)
    return tuple(moves)

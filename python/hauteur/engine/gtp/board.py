"""The board of a GTP game: moves as vertices, what has been played, whose turn it is.

A vertex is a letter for the column (without I) and the number of the row from below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hauteur import _core
from hauteur.engine.gtp.protocol import COLOURS, quoted

COLUMN_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
PASS = "PASS"
_VERTEX = re.compile(r"([A-HJ-Z])([1-9][0-9]?)")


class Vertices(Protocol):
    """Names of the moves of a game."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex of an action in `state`, which the `actions` have led to."""


@dataclass(frozen=True)
class PointVertices:
    """The game itself calls its moves by their points."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex of an action."""
        del actions
        return state.action_to_text(action).upper()


@dataclass(frozen=True)
class ColumnVertices:
    """Moves are columns, and a stone comes to lie on those already there."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex at which the stone comes to lie."""
        del state
        return f"{COLUMN_LETTERS[action]}{actions.count(action) + 1}"


def vertices_of(game: _core.Game) -> Vertices:
    """Return the names of the moves of this game; ValueError for a game whose moves are neither points nor columns."""
    _, rows, columns = game.feature_shape
    state = game.new_initial_state()
    names = [state.action_to_text(action).upper() for action in state.legal_actions().tolist()]
    if names and all(_is_move(name, rows, columns) for name in names):
        return PointVertices()
    if columns <= len(COLUMN_LETTERS) and names == [str(number) for number in range(1, columns + 1)]:
        return ColumnVertices()
    shown = names[0] if names else "none"
    raise ValueError(f"GTP is for games whose moves are points, such as nogo; a move of {game.spec} is {shown}")


def board_size(game: _core.Game) -> int:
    """Size of the smallest square board that holds the game's."""
    return max(game.feature_shape[1:])


def sgf_vertex(column: int, row: int, rows: int) -> str:
    """The vertex of a point; row from the top, both from 0."""
    return f"{COLUMN_LETTERS[column]}{rows - row}"


def is_vertex(text: str) -> bool:
    """Return whether the text is a vertex of a board of any size, or a pass."""
    return text == PASS or _VERTEX.fullmatch(text) is not None


def _is_move(name: str, rows: int, columns: int) -> bool:
    match = _VERTEX.fullmatch(name)
    if match is None:
        return name == PASS
    return COLUMN_LETTERS.index(match[1]) < columns and int(match[2]) <= rows


class GameHistory:
    """One game from its start. Players alternate as the game says; colours are 0 (black, the first player) and 1."""

    def __init__(self, game: _core.Game) -> None:
        self.game = game
        self._vertices = vertices_of(game)
        self._states = [game.new_initial_state()]
        self.start = self._states[0].copy()
        self.actions: list[int] = []
        self._passes = 0

    @property
    def state(self) -> _core.State:
        """The position; not to be changed."""
        return self._states[-1]

    @property
    def is_over(self) -> bool:
        """Return whether the game has ended."""
        return self.state.outcome() is not None

    def clear(self) -> None:
        """Go back to the start."""
        del self._states[1:]
        self.actions.clear()
        self._passes = 0

    def play(self, action: int) -> None:
        """Play a legal action."""
        state = self.state.copy()
        state.apply(action)
        self._states.append(state)
        self.actions.append(action)

    def pass_at_end(self) -> None:
        """Note a pass after the end of the game, which changes nothing but can be taken back."""
        self._passes += 1

    def undo(self) -> None:
        """Take the last move back."""
        if self._passes:
            self._passes -= 1
            return
        if not self.actions:
            raise ValueError("cannot undo: no move has been played")
        self._states.pop()
        self.actions.pop()

    def require_turn(self, colour: int) -> None:
        """Raise ValueError unless it is this player's turn: no player moves twice in a row."""
        if self.is_over:
            raise ValueError(f"the game is over ({self.state.end_reason() or 'no reason given'})")
        if self.state.to_move != colour:
            raise ValueError(f"it is the turn of {COLOURS[self.state.to_move]}: players alternate in {self.game.name}")

    def action(self, colour: int, vertex: str) -> int:
        """Return the legal action of a vertex for this player; ValueError with the reason where there is none."""
        name = vertex.upper()
        if not is_vertex(name):
            raise ValueError(f"syntax error: expected a vertex such as A1, got {quoted(vertex)}")
        try:
            self.require_turn(colour)
        except ValueError as error:
            raise ValueError(f"illegal move: {error}") from None
        legal: dict[str, int] = {self.vertex(action): action for action in self.state.legal_actions().tolist()}
        if name not in legal:
            raise ValueError(f"illegal move: {name} is not a legal move of {COLOURS[colour]} here")
        return legal[name]

    def vertex(self, action: int) -> str:
        """Return the vertex of a legal action."""
        return self._vertices.name(self.state, self.actions, action)

    def line(self, actions: tuple[int, ...]) -> list[tuple[int, str]]:
        """Return player and vertex of every move of a line of play from here."""
        state, played, moves = self.state.copy(), list(self.actions), []
        for action in actions:
            moves.append((state.to_move, self._vertices.name(state, played, action)))
            state.apply(action)
            played.append(action)
        return moves

    def moves(self) -> list[tuple[int, str]]:
        """Return player and vertex of every move so far."""
        start = GameHistory(self.game)
        return start.line(tuple(self.actions))

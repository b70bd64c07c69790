"""The board of a GTP game: moves as vertices, what has been played, whose turn it is.

A vertex is a letter for the column (without I) and the number of the row from below: the game's own name of a move."""

from __future__ import annotations

import re

from hauteur import _core
from hauteur.engine.gtp.protocol import COLOURS, quoted
from hauteur.games.played_game import PlayedGame

PASS = "PASS"
_VERTEX = re.compile(r"[A-HJ-Z][1-9][0-9]?")


def check_vertices(game: _core.Game) -> None:
    """Raise ValueError for a game whose moves are not named by their points."""
    state = game.new_initial_state()
    names = [vertex_of(state, action) for action in state.legal_actions().tolist()]
    wrong = next((name for name in names if not is_vertex(name)), None)
    if wrong is not None:
        raise ValueError(f"GTP is for games whose moves are points, such as nogo; a move of {game.spec} is {wrong}")


def is_vertex(text: str) -> bool:
    """Return whether the text is a vertex of a board of any size, or a pass."""
    return text == PASS or _VERTEX.fullmatch(text) is not None


def vertex_of(state: _core.State, action: int) -> str:
    """Return the vertex of an action of a position."""
    return state.action_to_text(action).upper()


def line_of(state: _core.State, actions: tuple[int, ...]) -> list[tuple[int, str]]:
    """Return player and vertex of every move of a line of play from a position."""
    state, moves = state.copy(), []
    for action in actions:
        moves.append((state.to_move, vertex_of(state, action)))
        state.apply(action)
    return moves


class GtpBoard(PlayedGame):
    """One game from its start. Players alternate as the game says; colours are 0 (black, the first player) and 1.

    Raise ValueError for a game whose moves are no points.
    """

    def __init__(self, game: _core.Game) -> None:
        check_vertices(game)
        super().__init__(game)
        self._passes = 0

    @property
    def is_over(self) -> bool:
        """Return whether the game has ended."""
        return self.state.outcome() is not None

    def pass_at_end(self) -> None:
        """Note a pass after the end of the game, which changes nothing but can be taken back."""
        self._passes += 1

    def undo(self) -> None:
        """Take the last move back."""
        if self._passes:
            self._passes -= 1
        elif not self.take_back():
            raise ValueError("cannot undo: no move has been played")

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
        return vertex_of(self.state, action)

    def line(self, actions: tuple[int, ...]) -> list[str]:
        """Return the vertices of a line of play from here."""
        return [vertex for _, vertex in line_of(self.state, actions)]

    def moves(self) -> list[tuple[int, str]]:
        """Return player and vertex of every move so far."""
        return line_of(self.start, tuple(self.actions))

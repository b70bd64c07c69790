"""The game on the board: what has been played, whose turn it is, moves by their vertices."""

from __future__ import annotations

from hauteur import _core
from hauteur.engine.gtp.points import is_vertex, vertices_of
from hauteur.engine.gtp.protocol import COLOURS, quoted


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

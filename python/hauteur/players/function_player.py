"""Players that are a function in Python: an engine in the same process, or anything else that chooses a move."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Lock
from typing import Any

from hauteur import _core
from hauteur.players.move_player import ChosenMove, MoveRequest

ChooseMove = Callable[[_core.State], int | str]
"""The choice of a move in a position: its action, or its text as `State.parse` reads it (chess: UCI or SAN)."""


class FunctionPlayer:
    """A player whose moves a function chooses; `workers` call it, one call at a time."""

    def __init__(self, name: str, function: ChooseMove, workers: Executor) -> None:
        self.name = name
        self._function = function
        self._workers = workers
        # Many games go on at once, and a user's function need not be safe in several threads.
        self._lock = Lock()

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        return self._workers.submit(self._move, request.state)

    def end(self, game: int) -> None:
        """Do nothing: no state is kept per game."""

    def close(self) -> None:
        """Do nothing: the workers belong to their owner."""

    def _move(self, state: _core.State) -> ChosenMove:
        with self._lock:
            # A copy: the function may play on in it, and its answer is checked in the position that it was asked about.
            answer = self._function(state.copy())
        return ChosenMove(self._action(state, answer))

    def _action(self, state: _core.State, answer: Any) -> int:
        """Return the legal action that was answered; raise ValueError for anything else."""
        legal: list[int] = state.legal_actions().tolist()
        action = self._parsed(state, answer) if isinstance(answer, str) else answer
        if action in legal:
            return int(action)
        shown = ", ".join(f"{one} ({state.action_to_text(one)})" for one in legal[:4])
        raise ValueError(
            f"the answer {answer!r} in {state.notation()!r} is no legal move;"
            f" allowed: a legal action or its text, such as {shown}"
        )

    def _parsed(self, state: _core.State, text: str) -> int | None:
        """Return the action of a text; None where it is no legal move."""
        try:
            return int(state.parse(text))
        except ValueError:
            return None

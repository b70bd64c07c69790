"""The exact search for a win in few moves that runs along with a search with such a limit, in a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from hauteur import _core
from hauteur.mcts.control import in_background


class MateProof:
    """Whether the player to move wins in at most `moves` of his moves, whatever is answered.

    actions: the only first moves; empty: all. The search of all lines takes as long as it takes: `close` ends it.
    """

    def __init__(self, state: _core.State, moves: int, actions: Sequence[int]) -> None:
        self._stop = _core.StopFlag()
        # A copy, since the thread outlives the call, and the caller may play on.
        position = state.copy()
        first = list(actions)
        self.answer: Future[list[int] | None] = in_background(
            lambda: _core.forced_win(position, moves, first, self._stop), "mates"
        )

    @property
    def line(self) -> list[int]:
        """The line of the shortest win; empty as long as there is none."""
        if not self.answer.done():
            return []
        return self.answer.result() or []

    @property
    def excludes_win(self) -> bool:
        """Whether it is proven that there is no such win."""
        return self.answer.done() and self.answer.result() is None

    def close(self) -> None:
        """Stop the exact search; does not wait for its thread."""
        self._stop.set()

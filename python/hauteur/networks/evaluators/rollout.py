"""The evaluator without a network that still knows something: random games from the leaf to the end of the game."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator, Pending

PREFERRED_ROWS = 16


class RolloutEvaluator(GameEvaluator):
    """Equal priors; the value of a position is the result of one uniformly random game from it (classic MCTS).

    It needs the positions and cannot work from their features: the search passes them to `submit_states`. A position
    has the same value at every request.
    """

    def __init__(self, game: _core.Game, *, batch_size: int = PREFERRED_ROWS) -> None:
        super().__init__(game, "rollout", batch_size)

    def compute(self, features: Floats) -> Answers:
        """Raise ValueError: not supported."""
        rows = len(features)
        raise ValueError(
            f"rollouts start from positions, got {rows} rows of features: this use needs a net, or `uniform`"
        )

    def submit_states(self, states: Sequence[_core.State]) -> Pending:
        """Begin to play the games of these positions."""
        future: Future[Answers] = self._worker.submit(self._play, states)
        return future

    def _play(self, states: Sequence[_core.State]) -> Answers:
        return np.zeros((len(states), self.num_actions), np.float32), _core.rollout_values(states, 0, 1)

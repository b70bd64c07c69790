"""The evaluator without a network that still knows something: random games from the leaf to the end of the game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator, Pending
from hauteur.system.seeds import derived_seed

PREFERRED_ROWS = 16


class RolloutEvaluator(GameEvaluator):
    """Equal priors; the value of a position is the result of `games` uniformly random games from it (1 = classic MCTS).

    It needs the positions and cannot work from their features: the search passes them to `submit_states`. A position
    has the same value at every request; with `fresh` every row has random games of its own, as in plain MCTS: equal
    positions of games that run side by side get different ones.
    """

    def __init__(
        self,
        game: _core.Game,
        *,
        batch_size: int = PREFERRED_ROWS,
        games: int = 1,
        seed: int = 0,
        fresh: bool = False,
    ) -> None:
        if games < 1:
            raise ValueError(f"rollouts: games must be >= 1, got {games}")
        super().__init__(game, "rollout" if games == 1 else f"rollout, {games} games a position", batch_size)
        self._games = games
        self._seed = seed
        self._fresh = fresh
        self._batches = 0

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
        policies = np.zeros((len(states), self.num_actions), np.float32)
        if not self._fresh:
            return policies, _core.rollout_values(states, self._seed, self._games)
        self._batches += 1
        values = np.empty((len(states), 3), np.float32)
        for number, rows in enumerate(_without_twins(states)):
            seed = derived_seed(self._seed, f"rollouts of twin {number}", self._batches - 1)
            values[rows] = _core.rollout_values([states[row] for row in rows], seed, self._games)
        return policies, values


def _without_twins(states: Sequence[_core.State]) -> list[list[int]]:
    """Return the rows in parts in which each position occurs once: the random games follow from position and seed."""
    parts: list[list[int]] = []
    times: Counter[int] = Counter()
    for row, state in enumerate(states):
        if times[state.key] == len(parts):
            parts.append([])
        parts[times[state.key]].append(row)
        times[state.key] += 1
    return parts

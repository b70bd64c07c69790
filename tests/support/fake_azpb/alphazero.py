"""The functions of alphazero-pybind11 that a comparison calls: games of two moves, a batch each, without a search."""

from types import SimpleNamespace
from typing import Any

import numpy as np

PlayParams = SimpleNamespace
Connect4GS = object


class PlayManager:
    """Asks for two positions, in which the second player is to move only in the second one."""

    def __init__(self, _game: object, parameters: Any) -> None:
        self.left, self.parameters = parameters.games_to_play, parameters
        self.waits = False

    def play(self) -> None:
        assert self.parameters.mcts_visits == [20, 20]

    def remaining_games(self) -> int:
        return int(self.left)

    def games_completed(self) -> int:
        return int(self.parameters.games_to_play)

    def avg_game_length(self) -> float:
        return 2.0

    def build_batch(self, _group: int, rows: Any) -> list[int]:
        self.waits = not self.waits
        if self.waits:
            return []  # no game has a position yet
        rows[:2] = 0
        rows[0, 2], rows[1, 3] = 1, 1
        rows[1, 0, 5, 3] = 1
        return [7, 8]

    def update_inferences(self, _group: int, games: list[int], values: Any, priors: Any) -> None:
        assert (games, values.shape, priors.shape) == ([7, 8], (2, 3), (2, 7))
        np.testing.assert_allclose(values.sum(1), 1, atol=1e-5)
        np.testing.assert_allclose(priors.sum(1), 1, atol=1e-5)
        self.left -= 1

"""An evaluator for tests of players, arena and learning: answers at once, every answer a pure function of the row."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.matches.arena import USUAL_RULES, GameRules, Layout, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, SearchParams, Temperature
from hauteur.players.search_player import SearchPlayer
from hauteur.system.closing import Closing

Answers = tuple[NDArray[np.float32], NDArray[np.float32]]


def toy_games(
    game: _core.Game, plans: int | list[GamePlan], visits: int, *, seed: int = 1, rules: GameRules = USUAL_RULES
) -> list[GameRecord]:
    """Games of a toy player with noise against itself, in their order."""
    player = SearchPlayer(
        "toy", ToyEvaluator(game), SearchParams(dirichlet=Dirichlet()), visits, Temperature(initial=1.0)
    )
    begun = [GamePlan(index) for index in range(plans)] if isinstance(plans, int) else plans
    played = play_games(game, [player], begun, seed=seed, purpose="t", layout=Layout(8, 8), rules=rules)
    return sorted(played, key=lambda record: record.plan.index)


@dataclass
class ToyEvaluator(Closing):
    """Random linear logits and values of the features, rounded so that the batch size cannot show; counts its rows."""

    game: _core.Game
    salt: int = 0
    batch_size: int = 16
    rows: list[int] = field(default_factory=list)
    fail_at: int = -1
    """Number of the submit that raises."""

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.salt)
        size = int(np.prod(self.game.feature_shape))
        self._weights = random.normal(size=(size, self.game.num_actions + 3)) * 0.7
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"toy {self.salt}"

    @property
    def game_spec(self) -> str:
        return self.game.spec

    @property
    def feature_shape(self) -> tuple[int, int, int]:
        return self.game.feature_shape

    @property
    def num_actions(self) -> int:
        return self.game.num_actions

    def __call__(self, features: NDArray[np.float32]) -> Answers:
        with self._lock:
            self.rows.append(len(features))
        if len(self.rows) - 1 == self.fail_at:
            raise RuntimeError("the network is gone")
        flat = features.reshape(len(features), -1).astype(np.float64)
        outputs = np.round(flat @ self._weights, 4)
        chances = np.exp(outputs[:, -3:])
        wdl = chances / chances.sum(axis=1, keepdims=True)
        return outputs[:, :-3].astype(np.float32), wdl.astype(np.float32)

    def submit(self, features: NDArray[np.float32]) -> Future[Answers]:
        ready = Future[Answers]()
        ready.set_result(self(features.copy()))
        return ready

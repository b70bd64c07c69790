"""Self-play in memory: every game once, varied, the same for the same seed, ended early without harm."""

import gc
import threading
from itertools import islice
from typing import Any

import numpy as np
import pytest

from hauteur import _core
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run import self_play
from hauteur.matches.record import GameRecord
from hauteur.players.settings import parse_player

GAME = _core.Game("tictactoe")


def lines(records: list[GameRecord]) -> list[tuple[int, ...]]:
    ordered = sorted(records, key=lambda record: record.plan.index)
    return [(*record.plan.start, *record.actions.tolist()) for record in ordered]


def test_games_differ_and_are_the_same_for_the_same_seed() -> None:
    first = lines(list(self_play(GAME, "net=uniform visits=12", 12, parallel=5, seed=1)))
    assert len(set(first)) > 6
    assert first == lines(list(self_play("tictactoe", parse_player("net=uniform visits=12"), 12, parallel=12, seed=1)))
    assert first != lines(list(self_play(GAME, "net=uniform visits=12", 12, seed=2)))


def test_without_noise_and_temperature_all_games_are_one() -> None:
    records = list(self_play(GAME, "net=uniform visits=30", 5, temperature=0.0, noise=False))
    assert len(set(lines(records))) == 1
    own = list(self_play(GAME, "net=uniform visits=30 dirichlet=on", 5, temperature=None, random_plies=3))
    assert len({record.plan.start for record in own}) > 1


def test_records_fill_a_buffer() -> None:
    buffer = ReplayBuffer(GAME)
    added = buffer.add(self_play(GAME, "net=uniform visits=12", 6, max_plies=7))
    batch = buffer.sample(np.random.default_rng(0), 20)
    assert added == 6
    assert batch.features.shape == (20, *GAME.feature_shape)
    assert batch.policy.shape == (20, 9)
    assert batch.wdl.shape == (20, 3)
    assert batch.features.dtype == batch.policy.dtype == batch.wdl.dtype == np.float32


def test_games_can_be_dropped_half_way() -> None:
    threads = threading.active_count()
    some = list(islice(self_play(GAME, "net=tictactoe visits=20", 500), 3))
    gc.collect()
    assert len(some) == 3
    assert threading.active_count() <= threads + 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games must be at least 1.* got 0, 0 and 0"),
        ({"random_plies": -1}, "got 100, -1 and 0"),
        ({"parallel": 0}, "parallel must be 1 to 100000, got 0"),
        ({"threads": -1}, "threads must be 0 to 1024, got -1"),
        ({"max_plies": 0}, "max_plies must be more than random_plies, got 0 and 0"),
        ({"player": "visits=0"}, "visits"),
        ({"player": "net=no-such-net.safetensors"}, "no-such-net"),
        ({"game": "no-such-game"}, "no game 'no-such-game'"),
        ({"temperature": -1.0}, "initial"),
    ],
)
def test_wrong_arguments_fail_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        self_play(settings.pop("game", GAME), settings.pop("player", "net=uniform visits=5"), **settings)

"""Learning by hand: games in memory into the buffer, steps, an evaluator of the weights, a file."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning_toys import toy_games
from network_toys import ToyTransformer, toy_linear
from torch import nn
from torch.nn import functional

from hauteur import _core
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.sections import TrainSettings
from hauteur.learning.shards import write_shard
from hauteur.learning.trainers import Trainer
from hauteur.matches.record import GameRecord
from hauteur.networks import load
from hauteur.networks.architecture import ResNet
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.registered import register_network

pytestmark = pytest.mark.quick

GAME = _core.Game("tictactoe")
SMALL = ResNet(filters=8, blocks=1, policy_channels=4, value_channels=4, value_hidden=8)
SETTINGS = TrainSettings(batch_size=32, warmup_steps=2)
FEATURES = features_of(GAME, random_positions(GAME, 12))


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return toy_games(GAME, 20, 15)


@pytest.fixture
def buffer(records: list[GameRecord]) -> ReplayBuffer:
    buffer = ReplayBuffer(GAME, 1000)
    assert buffer.add(records) == 20
    return buffer


def equal(first: Samples, second: Samples) -> bool:
    columns = ("features", "policy", "wdl")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in columns)


def test_games_in_memory_are_those_of_a_shard(records: list[GameRecord], tmp_path: Path) -> None:
    write_shard(tmp_path / "a.parquet", GAME.spec, records, generation=0, nets=[0, 0])
    memory = ReplayBuffer(GAME)
    disk = ReplayBuffer(GAME)
    memory.add(records)
    disk.extend([tmp_path / "a.parquet"])
    assert memory.positions == disk.positions > 0
    for seed in range(3):
        samples = [one.sample(np.random.default_rng(seed), 64, root_value_share=0.5) for one in (memory, disk)]
        assert equal(*samples)


def test_records_of_another_game_are_refused_whole(records: list[GameRecord]) -> None:
    buffer = ReplayBuffer(_core.Game("connect4"))
    with pytest.raises(ValueError, match=r"record \d+ is no game of connect4: "):
        buffer.add(records)
    impossible = replace(records[0], actions=records[0].actions[::-1].copy() * 0)
    own = ReplayBuffer(GAME)
    with pytest.raises(ValueError, match="is no game of tictactoe"):
        own.add([records[1], impossible])
    assert own.games is None


@pytest.mark.parametrize("kind", ["tower", "class", "function", "module", "own module"])
def test_every_kind_of_network_learns(kind: str, buffer: ReplayBuffer) -> None:
    torch.manual_seed(0)
    networks: dict[str, Any] = {
        "tower": SMALL,
        "class": ToyTransformer,
        "function": toy_linear,
        "module": toy_linear(GAME, value_width=1),
        "own module": _Own(),
    }
    settings = SETTINGS.model_copy(update={"learning_rate": 0.01, "schedule": "constant"})
    trainer = Trainer(GAME, networks[kind], settings, seed=3)
    first = trainer.fit(buffer, steps=5)
    last = trainer.fit(buffer, steps=100)
    assert (first.steps, first.samples, trainer.steps) == (5, 160, 105)
    assert last.policy_loss + last.value_loss < first.policy_loss + first.value_loss
    with trainer.evaluator(threads=1) as evaluator:
        before = evaluator(FEATURES)
        trainer.fit(buffer, steps=5)
        np.testing.assert_array_equal(evaluator(FEATURES)[0], before[0])
    with trainer.evaluator(threads=1) as evaluator:
        assert np.abs(evaluator(FEATURES)[0] - before[0]).max() > 1e-6


class _Drops(nn.Module):
    """Drops out by a function, which no list of its modules shows."""

    def __init__(self, game: _core.Game) -> None:
        super().__init__()
        self.both = nn.Linear(18, 12)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        both = self.both(functional.dropout(features.flatten(1), 0.5, self.training))
        return both[:, :9], both[:, 9:]


register_network("drops")(_Drops)


def test_dropout_by_a_function_is_the_same_for_the_same_seed(buffer: ReplayBuffer) -> None:
    settings = SETTINGS.model_copy(update={"shard_rows": 8})
    weights = []
    for before in (1, 2):
        torch.manual_seed(before)  # what the program has drawn until then
        trainer = Trainer(GAME, _Drops, settings)
        trainer.fit(buffer, steps=10)
        weights.append(trainer.network.state_dict()["both.weight"].clone())
    assert torch.equal(*weights)


class _Own(nn.Module):
    """A module that is not registered."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Linear(18, 12)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        both = self.both(features.flatten(1))
        return both[:, :9], both[:, 9:]


class _Endless(_Own):
    """Its values are no numbers."""

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        policy, value = super().forward(features)
        return policy, value * math.nan


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_the_file_is_the_network_of_the_evaluator(average: float, buffer: ReplayBuffer, tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"weight_average": average})
    trainer = Trainer(GAME, SMALL, settings)
    trainer.fit(buffer, steps=10)
    path = tmp_path / "net.safetensors"
    trainer.save(path)
    assert load(path).description.training == {"steps": 10, "samples": 320, "seed": 0}
    with trainer.evaluator(threads=1) as direct, make_evaluator(GAME, path, precision="float32", threads=1) as opened:
        for ours, theirs in zip(direct(FEATURES), opened(FEATURES), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("tower", "a network to train is a torch module, ht.ResNet"),
        (nn.Linear, "a network to train is a torch module, ht.ResNet"),
        (toy_linear(_core.Game("connect4")), "mat1 and mat2|returned"),
        (_Endless(), "network _Endless returned numbers that are not finite"),
        (toy_linear(GAME, value_width=2), r"network Linear returned float32 \[2, 9\] and float32 \[2, 2\]"),
    ],
)
def test_networks_that_do_not_fit(network: Any, message: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=message):
        Trainer(GAME, network)


def test_wrong_arguments_of_fit(buffer: ReplayBuffer) -> None:
    trainer = Trainer(GAME, SMALL, SETTINGS)
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        trainer.fit(buffer, steps=0)
    with pytest.raises(ValueError, match="progress must be two numbers from 0 to 1"):
        trainer.fit(buffer, steps=1, progress=(0.5, 2.0))
    with pytest.raises(ValueError, match="the replay buffer holds no positions"):
        trainer.fit(ReplayBuffer(GAME), steps=1)

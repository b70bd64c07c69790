"""Further targets: short-term values by hand, replies, heads of training alone, outputs of networks of one's own."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning_toys import toy_games
from torch import Tensor, nn
from torch.nn import functional

from hauteur import _core
from hauteur.learning.extra_heads import WithHeads, extra_losses
from hauteur.learning.recipe import parse_recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run import learn
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import ExtraTargets, TrainSettings
from hauteur.learning.targets import short_term_values
from hauteur.learning.train import Batch, CandidateTrainer
from hauteur.learning.trainers import Trainer
from hauteur.matches.record import GameRecord
from hauteur.networks import ResNetArchitecture, load
from hauteur.networks.architecture import ResNet
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.registered import register_network

GAME = _core.Game("tictactoe")
SMALL = ResNet(filters=8, blocks=2, pooling=2, policy_channels=4, value_channels=4, value_hidden=8)
ARCHITECTURE = ResNetArchitecture.sized(SMALL, GAME.feature_shape, GAME.num_actions)
EVERY = ExtraTargets(reply=0.5, soft_policy=2.0, short_term=0.5, horizons=(2.0, 5.0), value_error=0.25)


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return toy_games(GAME, 30, 20)


@pytest.fixture(scope="module")
def buffer(records: list[GameRecord]) -> ReplayBuffer:
    buffer = ReplayBuffer(GAME, extra=EVERY)
    buffer.add(records)
    return buffer


def settings(**more: Any) -> TrainSettings:
    return TrainSettings.model_validate({"batch_size": 300, "warmup_steps": 2, "extra": EVERY, **more})


def trainer_of(buffer: ReplayBuffer, steps: int = 4, *, threads: int = 1, **more: Any) -> CandidateTrainer:
    trainer = CandidateTrainer.new(ARCHITECTURE, settings(**more), seed=3)
    trainer.train(buffer, steps, seed=3, generation=1, generations=2, threads=threads)
    return trainer


def unequal(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    assert first.keys() == second.keys()
    return [name for name in first if not np.array_equal(first[name], second[name])]


def test_short_term_values_by_hand(records: list[GameRecord]) -> None:
    wdl = np.array([[0.5, 0.5, 0.0], [np.nan] * 3, [0.25, 0.25, 0.5]], np.float32)
    three = replace(records[0], outcome=1, root_wdl=wdl, **_cut(records[0], 3))
    values = short_term_values(Games.of([three, records[1]]), (1.0, 4.0))
    # The first player moves, then the second, then the first, who wins; the second move's value is not known.
    last = 0.25 * wdl[2] + 0.75 * np.array([1.0, 0.0, 0.0])
    assert values[2, 1] == pytest.approx(last)
    assert values[1, 1] == pytest.approx(last[::-1])
    assert values[0, 1] == pytest.approx(0.25 * wdl[0] + 0.75 * last)
    assert values[:3, 0] == pytest.approx(np.array([wdl[0], wdl[2][::-1], wdl[2]]))
    assert values[3:] == pytest.approx(short_term_values(Games.of([records[1]]), (1.0, 4.0)))


def _cut(record: GameRecord, moves: int) -> dict[str, Any]:
    """The columns of the first moves of a record."""
    edges = int(record.policy_lengths[:moves].sum())
    kept = {
        name: getattr(record, name)[:moves] for name in ("actions", "movers", "surprise", "learn", "policy_lengths")
    }
    return kept | {name: getattr(record, name)[:edges] for name in ("policy_actions", "policy_counts")}


def test_replies_are_the_next_policies_and_turn_with_the_board(buffer: ReplayBuffer) -> None:
    games = buffer.games
    assert games is not None
    moves = np.arange(buffer.positions)
    samples = buffer.samples_of(moves)
    is_last = np.isin(moves, games.moves_before[1:] - 1)
    assert np.array_equal(samples.extra["reply"][:-1][~is_last[:-1]], samples.policy[1:][~is_last[:-1]])
    assert not samples.extra["reply"][is_last].any()
    turned = buffer.transformed(samples, np.full(len(moves), 3))
    again = buffer.transformed(replace(samples, policy=samples.extra["reply"]), np.full(len(moves), 3))
    assert np.array_equal(turned.extra["reply"], again.policy)
    assert np.array_equal(turned.extra["short_term"], samples.extra["short_term"])


def test_a_record_comes_back_from_the_games(records: list[GameRecord]) -> None:
    for number, record in enumerate(records[:5]):
        found = Games.of(records).record(number)
        assert (found.plan, found.outcome) == (record.plan, record.outcome)
        for name in ("actions", "movers", "policy_actions", "policy_counts", "root_wdl", "learn"):
            assert np.array_equal(getattr(found, name), getattr(record, name))


def test_without_weights_nothing_changes(buffer: ReplayBuffer) -> None:
    none, zero = (trainer_of(buffer, extra=extra).tensors() for extra in (None, ExtraTargets()))
    assert unequal(none, zero) == []
    assert not [name for name in none if name.startswith("extra.")]
    every = trainer_of(buffer).tensors()
    assert unequal(none, {name: every[name] for name in none})  # the tower learns from the heads


def test_gradients_reach_the_tower_and_their_own_head(buffer: ReplayBuffer) -> None:
    trainer = CandidateTrainer.new(ARCHITECTURE, settings(), seed=3)
    assert trainer.heads is not None
    network = WithHeads(trainer.network, trainer.heads)  # type: ignore[arg-type]
    batch = Batch.of(buffer.samples_of(np.arange(64)))
    heads = {"reply": "reply.", "soft_policy": "soft.", "short_term": "short_term.", "value_error": "error."}
    for name, path in heads.items():
        _, value, outputs = network(batch["features"])
        network.zero_grad()
        extra_losses(EVERY, outputs, value, batch.columns)[name].backward()  # type: ignore[no-untyped-call]
        reached = {key for key, one in network.named_parameters() if one.grad is not None and one.grad.any()}
        assert {key.split(".")[1] for key in reached} == {"input", "blocks", path.removesuffix(".")}
        assert all(key.startswith(("network.", f"heads.{path}")) for key in reached)


def test_the_value_error_is_learned_from_the_square(buffer: ReplayBuffer) -> None:
    batch = Batch.of(buffer.samples_of(np.arange(2)))
    value = torch.tensor([[0.5], [-0.5]])
    z = batch["wdl"][:, 0] - batch["wdl"][:, 2]
    exact = torch.log(torch.expm1((value[:, 0] - z) ** 2))[:, None]  # softplus of it is the square
    alone = ExtraTargets(value_error=1)
    found = extra_losses(alone, {"value_error": exact}, value, batch.columns)
    assert found["value_error"].item() == pytest.approx(0, abs=1e-9)


def test_threads_and_a_restored_trainer_give_the_same_bytes(buffer: ReplayBuffer) -> None:
    going_on = trainer_of(buffer, weight_average=0.9)
    assert unequal(going_on.tensors(), trainer_of(buffer, threads=3, weight_average=0.9).tensors()) == []
    assert going_on.network_tensors().keys() == resnet_shapes(ARCHITECTURE).keys()  # files have no heads
    tensors = going_on.tensors()
    steps = going_on.steps
    restored = CandidateTrainer.restored(ARCHITECTURE, settings(weight_average=0.9), tensors, steps=steps)
    assert unequal(tensors, restored.tensors()) == []
    facts = [one.train(buffer, 3, seed=3, generation=2, generations=2) for one in (going_on, restored)]
    assert unequal(going_on.tensors(), restored.tensors()) == []
    assert facts[0].extra == facts[1].extra
    assert list(facts[0].metrics()["extra"]) == list(EVERY.weights)
    again = going_on.train(buffer, 60, seed=3, generation=3, generations=1000).extra
    assert all(again[name] < facts[0].extra[name] for name in ("reply", "soft_policy", "short_term"))


# -- networks of one's own ---------------------------------------------------------------------------------------------


class Own(nn.Module):
    """Policy, value, and what was asked for besides."""

    def __init__(self, game: Any, further: str = "plies_left") -> None:
        super().__init__()
        self.policy, self.value, self.left = (nn.Linear(18, width) for width in (9, 3, 1))
        self.further = further

    def forward(self, features: Tensor) -> Any:
        flat = features.flatten(1)
        outputs = (self.policy(flat), self.value(flat))
        return (
            (*outputs, self.left(flat)) if self.further == "a tensor" else (*outputs, {self.further: self.left(flat)})
        )


def plies_left(record: GameRecord) -> dict[str, Any]:
    return {"plies_left": np.arange(len(record.actions), 0, -1)[:, None] / 9}


LOSSES = {"plies_left": functional.mse_loss}
register_network("plies-left", targets=plies_left, losses=LOSSES)(Own)
FEATURES = features_of(GAME, random_positions(GAME, 5))


def test_a_network_learns_its_own_target_and_plays_without_it(records: list[GameRecord], tmp_path: Path) -> None:
    buffer = ReplayBuffer(GAME, targets=plies_left)
    for part in (records[:10], records[10:]):
        buffer.add(part)
    trainer = Trainer(GAME, Own, TrainSettings(batch_size=64, warmup_steps=0, learning_rate=0.01))
    first = trainer.fit(buffer, steps=5).extra
    last = trainer.fit(buffer, steps=80).extra
    assert last["plies_left"] < first["plies_left"] / 2
    trainer.save(tmp_path / "own.safetensors")
    module = load(tmp_path / "own.safetensors").module
    with trainer.evaluator(threads=1) as evaluator, torch.inference_mode():
        assert np.allclose(evaluator(FEATURES)[0], module(torch.from_numpy(FEATURES))[0].numpy(), atol=1e-6)
    given = Trainer(GAME, Own(GAME, "other"), losses={"other": LOSSES["plies_left"]})
    with pytest.raises(ValueError, match="no target 'other', which has a loss; further targets: plies_left"):
        given.fit(buffer, steps=1)


def test_a_recipe_learns_what_its_network_was_registered_with(tmp_path: Path) -> None:
    values = {"game": "tictactoe", "network": {"kind": "plies-left"}, "gate": {"by": "off"}}
    values |= {"selfplay": {"games": 8, "visits": 8}, "train": {"batch_size": 32}}
    run = {"generations": 1, "backend": "torch"}
    learn(parse_recipe({**values, "run": run}, "test"), out=tmp_path / "run", on_generation=lambda row: None)
    assert list(RunFolder(tmp_path / "run").read_metrics()[0]["train"]["extra"]) == ["plies_left"]
    with pytest.raises(ValueError, match=r"train\.extra: its heads are of residual towers, got 'plies-left'"):
        parse_recipe({**values, "train": {"extra": {"reply": 1}}, "run": run}, "test")


@pytest.mark.parametrize(
    ("further", "losses", "message"),
    [
        ("plies_left", None, "network Own returned an output 'plies_left' that no loss takes; losses: none"),
        ("plies_left", {"a": LOSSES["plies_left"]}, "returned an output 'plies_left' that no loss takes; losses: a"),
        ("a tensor", LOSSES, r"returned float32 \[2, 9\] and float32 \[2, 3\] and float32 \[2, 1\]; allowed: policy"),
    ],
)
def test_outputs_that_no_loss_takes_are_refused(further: str, losses: Any, message: str) -> None:
    module = Own(GAME, further)
    del module.__dict__["_hauteur_architecture"]
    with pytest.raises(ValueError, match=message) as caught:
        Trainer(GAME, module, losses=losses)
    assert "\n" not in str(caught.value)


def test_outputs_that_appear_in_training_are_refused_too(records: list[GameRecord]) -> None:
    buffer = ReplayBuffer(GAME, targets=plies_left)
    buffer.add(records)
    trainer = Trainer(GAME, module := Own(GAME), TrainSettings(batch_size=8))
    for further, message in (
        ("b", "returned an output 'b' that no loss takes"),
        ("a tensor", "allowed: policy logits"),
    ):
        module.further = further
        with pytest.raises(ValueError, match=message):
            trainer.fit(buffer, steps=1)
    assert trainer.steps == 0


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([1], r"targets of game \d+ must be a dict of arrays by name, got list"),
        ({"x": np.zeros(1)}, r"target x of game \d+ must have a row of finite numbers for each of its \d+ moves, got"),
        ({"reply": []}, "a target of one's own cannot be called 'reply'"),
    ],
)
def test_targets_that_do_not_fit(records: list[GameRecord], returned: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReplayBuffer(GAME, targets=lambda record: returned).add(records)


def test_own_targets_turn_by_their_shape(records: list[GameRecord]) -> None:
    def targets(record: GameRecord) -> dict[str, Any]:
        numbers = np.arange(len(record.actions) * 9, dtype=np.float32).reshape(-1, 9)
        return {"actions": numbers, "planes": numbers.reshape(-1, 1, 3, 3), "numbers": numbers[:, :4]}

    buffer = ReplayBuffer(GAME, targets=targets)
    buffer.add(records)
    samples = buffer.samples_of(np.arange(20))
    turned = buffer.transformed(samples, np.arange(20) % 8)
    expected = buffer.transformed(replace(samples, policy=samples.extra["actions"]), np.arange(20) % 8)
    assert np.array_equal(turned.extra["actions"], expected.policy)
    assert np.array_equal(turned.extra["planes"].reshape(20, 9), turned.extra["actions"])  # an action is a square here
    assert np.array_equal(turned.extra["numbers"], samples.extra["numbers"])


@pytest.mark.parametrize("network", [Own(GAME), Own])
def test_extra_heads_are_of_towers(network: Any) -> None:
    with pytest.raises(ValueError, match=r"train\.extra: its heads are of networks of kind resnet, got Own"):
        Trainer(GAME, network, settings(), losses=LOSSES)

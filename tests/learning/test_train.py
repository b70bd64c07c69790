"""Training: the loss by hand, the schedule, the same weights for any number of threads, restoring; batches in order."""

import math
import threading
import time
from typing import Any

import numpy as np
import pytest
import torch
from learning_toys import toy_games

from hauteur import _core
from hauteur.learning.optimiser import Optimiser
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.sections import TrainSettings, WindowSettings
from hauteur.learning.train import AHEAD, Batch, CandidateTrainer, in_order, learning_rate, losses
from hauteur.networks import ResNetArchitecture
from hauteur.networks.architecture import ResNet
from hauteur.system.seeds import stream

GAME = _core.Game("tictactoe")


def architecture(value: str = "wdl") -> ResNetArchitecture:
    tower = {"filters": 8, "blocks": 1, "policy_channels": 4, "value_channels": 4, "value_hidden": 8, "value": value}
    return ResNetArchitecture.sized(ResNet.model_validate(tower), GAME.feature_shape, GAME.num_actions)


@pytest.fixture(scope="module")
def buffer() -> ReplayBuffer:
    buffer = ReplayBuffer(GAME, 100)
    buffer.add(toy_games(GAME, 40, 20))
    return buffer


def trained(buffer: ReplayBuffer, settings: TrainSettings, *, threads: int = 1, steps: int = 6) -> CandidateTrainer:
    trainer = CandidateTrainer.new(architecture(), settings, seed=3)
    trainer.train(buffer, steps, seed=3, generation=1, generations=2, threads=threads)
    return trainer


def assert_equal_tensors(first: CandidateTrainer, second: CandidateTrainer) -> None:
    a = first.tensors()
    b = second.tensors()
    assert a.keys() == b.keys()
    assert [name for name in a if not np.array_equal(a[name], b[name])] == []


def test_losses_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0]])
    policy = torch.tensor([[0.5, 0.5], [1.0, 0.0]])
    wdl = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]])
    # row 1: -(ln 1/4 + ln 3/4) / 2, row 2: ln 2
    expected_policy = (-(math.log(0.25) + math.log(0.75)) / 2 + math.log(2)) / 2
    wide = losses(logits, torch.zeros(2, 3), policy, wdl)
    assert wide.policy.item() == pytest.approx(expected_policy, abs=1e-6)
    assert wide.value.item() == pytest.approx(math.log(3), abs=1e-6)
    # z = win - loss = 1 and 0, against 0.5 and -0.5: squared errors 0.25 and 0.25
    scalar = losses(logits, torch.tensor([[0.5], [-0.5]]), policy, wdl)
    assert scalar.value.item() == pytest.approx(0.25)


def test_masked_losses_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3.0), 7.0]], requires_grad=True)
    policy = torch.tensor([[0.5, 0.5, 0.0]])
    wdl = torch.tensor([[1.0, 0.0, 0.0]])
    masked = losses(logits, torch.zeros(1, 3), policy, wdl, torch.tensor([[1, 1, 0]], dtype=torch.uint8))
    assert masked.policy.item() == pytest.approx(-(math.log(0.25) + math.log(0.75)) / 2, abs=1e-6)
    masked.policy.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([-0.25, 0.25, 0.0], abs=1e-6)


def test_illegal_actions_can_be_masked(buffer: ReplayBuffer) -> None:
    settings = TrainSettings(batch_size=64, mask_illegal=True)
    with pytest.raises(ValueError, match=r"train\.mask_illegal: .* does not say which moves are legal"):
        CandidateTrainer.new(architecture(), settings, seed=1).train(buffer, 1, seed=1, generation=1, generations=1)
    with_legal = ReplayBuffer(GAME, 100, legal=True)
    assert buffer.games is not None
    with_legal.append(buffer.games)
    masked, plain = (
        CandidateTrainer.new(architecture(), settings.model_copy(update={"mask_illegal": mask}), seed=1).train(
            with_legal, 1, seed=1, generation=1, generations=1
        )
        for mask in (True, False)
    )
    assert masked.policy_loss < plain.policy_loss
    assert masked.value_loss == plain.value_loss


def test_learning_rate_warms_up_and_falls_as_half_a_cosine() -> None:
    settings = TrainSettings(learning_rate=0.1, final_learning_rate=0.02, warmup_steps=4)
    assert learning_rate(settings, 0, 0.0) == pytest.approx(0.02)
    assert learning_rate(settings, 4, 0.0) == pytest.approx(0.1)
    assert learning_rate(settings, 100, 0.5) == pytest.approx(0.06)
    assert learning_rate(settings, 100, 1.0) == pytest.approx(0.02)
    assert learning_rate(settings.model_copy(update={"schedule": "constant"}), 100, 0.9) == pytest.approx(0.1)


def test_one_cycle_rises_and_falls_in_every_generation() -> None:
    settings = TrainSettings(schedule="one_cycle", learning_rate=0.1, final_learning_rate=0.02, warmup_steps=0)
    rates = [learning_rate(settings, 500, 0.4, within) for within in (0.0, 0.15, 0.3, 0.65, 1.0)]
    assert rates == pytest.approx([0.02, 0.06, 0.1, 0.06, 0.02])


def test_the_window_grows_as_a_power_of_the_games() -> None:
    fixed = TrainSettings(window_games=1000)
    assert [fixed.window_at(games) for games in (1, 1000, 10**6)] == [1000] * 3
    growing = TrainSettings(window_games=1000, window=WindowSettings(alpha=0.75, beta=0.4))
    assert [growing.window_at(games) for games in (1, 1000)] == [1000, 1000]
    assert growing.window_at(16_000) == round(1000 * (1 + 0.4 * (8 - 1) / 0.75))  # 16^0.75 = 8
    starts = [games - growing.window_at(games) for games in range(1000, 40_000, 50)]
    assert starts == sorted(starts)  # a game that left the window never comes back


def test_steps_follow_the_new_positions() -> None:
    settings = TrainSettings(batch_size=100, samples_per_position=2.5)
    assert settings.steps_for(1000) == 25
    assert settings.steps_for(1) == 1


def test_batches_are_those_of_their_own_streams(buffer: ReplayBuffer) -> None:
    drawn: list[Samples] = []

    class Recorded:
        def sample(self, random: np.random.Generator, rows: int, **options: Any) -> Samples:
            drawn.append(buffer.sample(random, rows, **options))
            return drawn[-1]

    trainer = CandidateTrainer.new(architecture(), TrainSettings(batch_size=8), seed=3)
    trainer.train(Recorded(), 5, seed=9, generation=4, generations=4)
    for number, samples in enumerate(drawn):
        expected = buffer.sample(stream(9, "train 4", number), 8)
        assert np.array_equal(samples.features, expected.features)
        assert np.array_equal(samples.policy, expected.policy)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("precision", ["off", "bfloat16"])
def test_a_gpu_learns_and_is_restored(buffer: ReplayBuffer, precision: str) -> None:
    settings = TrainSettings.model_validate(
        {"batch_size": 512, "device": "cuda", "mixed_precision": precision, "weight_average": 0.9}
    )
    trainer = CandidateTrainer.new(architecture(), settings, seed=1)
    first = trainer.train(buffer, 5, seed=1, generation=1, generations=2)
    restored = CandidateTrainer.restored(architecture(), settings, trainer.tensors(), steps=trainer.steps)
    assert_equal_tensors(trainer, restored)
    assert restored.train(buffer, 60, seed=1, generation=2, generations=2).policy_loss < first.policy_loss


def test_shards_have_the_gradient_of_the_batch(buffer: ReplayBuffer) -> None:
    """With the normalisation's means fixed, three shards of 200 rows and one of 600 are the same sum."""
    settings = TrainSettings(batch_size=600, shard_rows=200)
    trainer = CandidateTrainer.new(architecture(), settings, seed=3)
    samples = buffer.sample(np.random.default_rng(0), 600)
    whole = CandidateTrainer.new(architecture(), settings, seed=3).network.eval()
    policy, value = whole(torch.from_numpy(samples.features))
    parts = losses(policy, value, torch.from_numpy(samples.policy), torch.from_numpy(samples.wdl))
    (parts.policy + parts.value).backward()  # type: ignore[no-untyped-call]
    for replica in trainer._replicas:
        replica.network.eval()
    for replica, shard in zip(trainer._replicas, Batch.of(samples).shards(3), strict=True):
        trainer._shard(replica, shard, 600)
    trainer._gather_replicas()
    for own, expected in zip(trainer.network.parameters(), whole.parameters(), strict=True):
        assert own.grad is not None
        assert expected.grad is not None
        assert torch.allclose(own.grad, expected.grad, atol=1e-6)


@pytest.mark.parametrize("name", ["adamw", "sgd"])
def test_the_optimisers_move_as_those_of_torch(name: str) -> None:
    """Bit for bit, weight decay on some parameters, one without a gradient."""
    settings = TrainSettings.model_validate({"optimiser": name, "weight_decay": 0.1, "momentum": 0.9})
    ours, theirs = (torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.BatchNorm1d(4)) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    groups = [
        {"params": [theirs[0].weight], "weight_decay": 0.1},
        {"params": [theirs[0].bias, *theirs[1].parameters()], "weight_decay": 0.0},
    ]
    expected = (
        torch.optim.AdamW(groups, lr=0.01, fused=True)
        if name == "adamw"
        else torch.optim.SGD(groups, lr=0.01, momentum=0.9, fused=True)
    )
    optimiser = Optimiser(ours, settings)
    rows = torch.randn(3, 8, 5, generator=torch.Generator().manual_seed(1))
    for batch in rows:
        for network in (ours, theirs):
            network.zero_grad()
            network(batch).square().sum().backward()
            network[1].bias.grad = None
        optimiser.step(0.01)
        expected.step()
    for own, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(own, other)


def test_the_mean_of_the_weights_is_what_plays(buffer: ReplayBuffer) -> None:
    settings = TrainSettings(batch_size=32, weight_average=0.5)
    trainer = CandidateTrainer.new(architecture(), settings, seed=3)
    name = "input.conv.weight"
    mean = trainer.network_tensors()[name].astype(np.float64)
    for step in range(1, 4):
        trainer.train(buffer, 1, seed=3, generation=step, generations=5)
        decay = min(0.5, step / (step + 10))
        mean = decay * mean + (1 - decay) * trainer.tensors()[f"network.{name}"]
    assert trainer.network_tensors()[name] == pytest.approx(mean, abs=1e-6)
    assert not np.array_equal(trainer.network_tensors()[name], trainer.tensors()[f"network.{name}"])


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_threads_and_restoring_leave_the_weights_as_they_are(buffer: ReplayBuffer, optimiser: str) -> None:
    values = {"batch_size": 600, "optimiser": optimiser, "weight_average": 0.9, "max_gradient_norm": 1.0}
    settings = TrainSettings.model_validate(values)
    going_on = trained(buffer, settings)
    assert_equal_tensors(going_on, trained(buffer, settings, threads=3))
    other_seed = CandidateTrainer.new(architecture(), settings, seed=4)
    name = "network.input.conv.weight"
    assert not np.array_equal(going_on.tensors()[name], other_seed.tensors()[name])
    restored = CandidateTrainer.restored(architecture(), settings, going_on.tensors(), steps=going_on.steps)
    assert_equal_tensors(going_on, restored)
    for trainer in (going_on, restored):
        trainer.train(buffer, 3, seed=3, generation=2, generations=2)
    assert_equal_tensors(going_on, restored)


@pytest.mark.parametrize("value", ["wdl", "scalar"])
def test_it_learns(buffer: ReplayBuffer, value: str) -> None:
    settings = TrainSettings(batch_size=64, learning_rate=1e-2, warmup_steps=0)
    trainer = CandidateTrainer.new(architecture(value), settings, seed=1)
    first = trainer.train(buffer, 5, seed=1, generation=1, generations=2)
    later = trainer.train(buffer, 60, seed=1, generation=2, generations=2)
    assert later.policy_loss < first.policy_loss
    assert later.value_loss < first.value_loss
    assert (later.steps, later.samples, trainer.steps) == (60, 60 * 64, 65)


def alive() -> int:
    return sum(thread.name.startswith("hauteur-batches") for thread in threading.enumerate())


@pytest.mark.parametrize("workers", [1, 3])
def test_the_order_is_that_of_the_numbers(workers: int) -> None:
    def make(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number * number

    assert list(in_order(make, 20, workers=workers)) == [number * number for number in range(20)]
    assert list(in_order(make, 0)) == []


def test_not_more_than_wanted_are_made_ahead() -> None:
    made: list[int] = []
    batches = in_order(made.append, 100, workers=2)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert len(made) <= 2 + AHEAD
    assert alive() == 0


def test_an_error_comes_in_its_place() -> None:
    def make(number: int) -> int:
        if number == 3:
            raise ValueError("the third is missing")
        return number

    batches = in_order(make, 9, workers=3)
    assert [next(batches) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="the third is missing"):
        next(batches)
    assert alive() == 0

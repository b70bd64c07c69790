"""Training lc0 networks: every layer learns, files read back with equal outputs, what is not used stays as it was."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lc0_toys import TOYS, Toy, attention_net, tower_net

from hauteur import networks
from hauteur.learning.replay import Samples
from hauteur.learning.sections import TrainSettings
from hauteur.learning.train import CandidateTrainer
from hauteur.networks import Lc0Architecture
from hauteur.networks.layers import NORM, Floats
from hauteur.networks.modules import Inference, build, tensors_of

SETTINGS = TrainSettings(batch_size=16, learning_rate=1e-3, warmup_steps=0, weight_decay=0.01)


class RandomPositions:
    """The same 64 random positions with random targets, drawn again and again."""

    def __init__(self) -> None:
        random = np.random.default_rng(2)
        self.planes = (random.random((64, 112, 8, 8)) < 0.2).astype(np.float32)
        self.moves = random.integers(1858, size=64)
        self.results = random.integers(3, size=64)

    def sample(self, random: np.random.Generator, rows: int, **_: Any) -> Samples:
        chosen = random.integers(64, size=rows)
        policy = np.zeros((rows, 1858), np.float32)
        policy[np.arange(rows), self.moves[chosen]] = 1
        return Samples(self.planes[chosen], policy, np.eye(3, dtype=np.float32)[self.results[chosen]])


def trained(toy: Toy, steps: int = 3, settings: TrainSettings = SETTINGS) -> CandidateTrainer:
    trainer = CandidateTrainer(build(*toy), settings)
    trainer.train(RandomPositions(), steps, seed=1, generation=1, generations=1)
    return trainer


def outputs(path: Path) -> list[Floats]:
    with torch.inference_mode():
        module = Inference(networks.load(path).module)
        return [output.numpy() for output in module(torch.from_numpy(RandomPositions().planes[:4]))]


@pytest.fixture(params=list(TOYS))
def toy(request: pytest.FixtureRequest) -> Toy:
    return TOYS[request.param]()


def test_every_layer_learns_but_the_moves_left_head(toy: Toy) -> None:
    architecture, tensors = toy
    before = tensors_of(build(architecture, tensors))
    after = trained(toy).network_tensors()
    assert set(after) == set(before)
    assert not [path for path in after if path.rpartition(".")[2] in NORM]
    unchanged = {path for path in after if np.array_equal(before[path], after[path])}
    moves_left = {path for path in after if path.startswith(("moves_left.", "ip_mov", "ip1_mov", "ip2_mov"))}
    assert bool(moves_left) == architecture.moves_left
    without_effect = {path for path in unchanged if path.endswith(".k_b")}  # softmax takes a key's bias away
    assert unchanged - without_effect == moves_left


def test_a_trained_network_is_saved_and_exported_with_equal_outputs(toy: Toy, tmp_path: Path) -> None:
    trainer = trained(toy)
    save = {"game": "chess", "training": {"steps": 3}}
    own, exact, rounded = (tmp_path / name for name in ("net.safetensors", "exact.pb.gz", "rounded.pb.gz"))
    networks.save(own, toy[0], trainer.network_tensors(), **save)  # type: ignore[arg-type]
    networks.convert(own, exact, encoding="float32")
    networks.convert(own, rounded)
    with torch.inference_mode():
        expected = [o.numpy() for o in Inference(trainer.network)(torch.from_numpy(RandomPositions().planes[:4]))]
    for path, tolerance in ((own, 1e-5), (exact, 1e-5), (rounded, 2e-2)):
        for ours, theirs in zip(expected, outputs(path), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=tolerance, rtol=tolerance)
    for first, second in zip(outputs(own), outputs(exact), strict=True):
        np.testing.assert_array_equal(first, second)
    assert networks.describe(rounded).architecture == toy[0]
    assert networks.describe(rounded).training == {"training_steps": 3}
    exact_architecture = networks.describe(exact).architecture
    assert isinstance(exact_architecture, Lc0Architecture)
    assert exact_architecture.min_version == (0, 33, 0)


def test_what_the_network_does_not_use_is_kept() -> None:
    architecture, tensors = attention_net(embedding="dense", multihead=True)
    others = {
        "policy_heads.soft.ip2_pol_w": np.ones(7, np.float32),
        "value_heads.st.value.bn_means": np.ones(3, np.float32),
    }
    after = trained((architecture, tensors | others)).network_tensors()
    for path, values in others.items():
        np.testing.assert_array_equal(after[path], values)
    tower, layers = tower_net(policy="convolution", value="wdl")
    np.testing.assert_array_equal(
        trained((tower, layers)).network_tensors()["policy.weights"][73:], layers["policy.weights"][73:]
    )

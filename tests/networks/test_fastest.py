"""`auto` of the core: what is fastest here by measurement, once for each shape of a net."""

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from lc0_toys import random_tensors

from hauteur import _core
from hauteur.networks.evaluators import fastest as measuring
from hauteur.networks.evaluators.base import Precision
from hauteur.networks.evaluators.fastest import core_precisions, fastest, fastest_network, fastest_precision, shape_of
from hauteur.networks.layers import CoreLayers, core_layers, resnet_shapes
from hauteur.networks.resnet_architecture import ResNetArchitecture


class Clock:
    """Seconds that batches let pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def batch(self, *seconds: float) -> Callable[[], None]:
        """A batch that takes these times, one after the other, the last one again and again."""
        left = list(seconds)

        def compute() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return compute


@pytest.mark.parametrize(
    ("float32", "bfloat16", "expected"),
    [
        ([0.003], [0.001], "bfloat16"),
        ([0.001], [0.003], "float32"),
        ([0.00300], [0.00295], "float32"),  # a difference that is none
        ([0.003, 0.003], [0.009, 0.001], "bfloat16"),  # disturbed once
        ([0.5], [0.2], "bfloat16"),  # longer than the whole measurement should take
    ],
)
def test_the_shortest_time_counts(float32: list[float], bfloat16: list[float], expected: Precision) -> None:
    clock = Clock()
    batches: dict[Precision, Callable[[], None]] = {
        "float32": clock.batch(*float32),
        "bfloat16": clock.batch(*bfloat16),
    }
    assert fastest(batches, clock) == expected
    assert clock.now <= max(measuring.SECONDS + float32[-1] + bfloat16[-1], 2 * (float32[-1] + bfloat16[-1]) + 0.01)


def layers(filters: int, seed: int = 1) -> CoreLayers:
    """A random residual net of tic-tac-toe's shapes."""
    architecture = ResNetArchitecture(
        feature_shape=(2, 3, 3), num_actions=9, filters=filters, blocks=1, se_channels=4, value="wdl"
    )
    return core_layers(architecture, random_tensors(resnet_shapes(architecture), seed))


def test_nets_of_one_shape_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def slower(nets: object, given: CoreLayers, threads: int) -> Precision:
        measured.append(given["input"].weights.shape[0])
        return "float32"

    monkeypatch.setattr(measuring, "_known", {})
    monkeypatch.setattr(measuring, "_measured", slower)
    for filters, seed in ((8, 1), (8, 2), (16, 1), (8, 3)):
        assert fastest_network(layers(filters, seed), 1, 4).precision == "float32"
    assert measured == ([8, 16] if len(core_precisions()) > 1 else [])
    assert shape_of(layers(8, 1)) == shape_of(layers(8, 2)) != shape_of(layers(16, 1))


def test_an_architecture_has_the_precision_of_its_nets() -> None:
    architecture = ResNetArchitecture(
        feature_shape=(2, 3, 3), num_actions=9, filters=24, blocks=2, se_channels=0, value="scalar"
    )
    chosen = fastest_precision(architecture)
    assert chosen in core_precisions()
    tensors = random_tensors(resnet_shapes(architecture), 5)
    assert fastest_network(core_layers(architecture, tensors), 2, 4).precision == chosen


def emulated(layers: CoreLayers, precision: str, threads: int = 1, batch_size: int = 64) -> _core.Network:
    """A net as a processor with bfloat16 computes it."""
    instructions = "emulated-amx" if precision == "bfloat16" else None
    return _core.Network(layers, precision, threads, batch_size, instructions)


def test_both_precisions_are_built_and_timed_where_there_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_known", {})
    monkeypatch.setattr(measuring, "core_precisions", lambda: ("float32", "bfloat16"))
    monkeypatch.setattr(measuring, "_core", SimpleNamespace(Network=emulated))
    first = fastest_network(layers(8), 2, 4)
    assert first.precision in ("float32", "bfloat16")
    assert fastest_network(layers(8, seed=2), 1, 4).precision == first.precision


def test_every_precision_of_the_core_can_be_measured() -> None:
    given = layers(8)
    nets: dict[Precision, _core.Network] = {name: _core.Network(given, name) for name in core_precisions()}
    begun = time.perf_counter()
    assert measuring._measured(nets, given, 1) in nets
    assert time.perf_counter() > begun

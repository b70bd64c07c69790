"""The core's evaluator: what torch computes of every kind of residual network, in float64; what it refuses, and how."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from lc0_toys import random_tensors, tower_net
from output_differences import largest_difference

import verify_lc0
from hauteur import _core, networks
from hauteur.networks.architecture import Architecture
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.layers import Floats, core_layers, resnet_shapes
from hauteur.networks.modules import Inference, build
from hauteur.networks.names import shipped_names
from hauteur.networks.resnet_architecture import ResNetArchitecture

pytestmark = pytest.mark.quick

Net = tuple[Architecture, dict[str, Floats]]

TOLERANCE = 2e-5
"""Of probabilities, and of logits relative to the largest; torch rounds to float32 too."""


def resnet(spec: str, *, filters: int = 12, seed: int = 1, **more: Any) -> Net:
    """A random network of two blocks for a game."""
    game = _core.Game(spec)
    architecture = ResNetArchitecture(
        feature_shape=game.feature_shape, num_actions=game.num_actions, filters=filters, blocks=2, **more
    )
    return architecture, random_tensors(resnet_shapes(architecture), seed)


RESNETS: dict[str, Callable[[], Net]] = {
    "dense, wdl": lambda: resnet("connect4"),
    "dense, scalar, excitation": lambda: resnet("connect4", value="scalar", se_channels=4),
    "one filter": lambda: resnet("tictactoe", filters=1),
    "33 filters, mish": lambda: resnet("nogo(size=5)", filters=33, activation="mish", se_channels=7),
    "convolution, chess": lambda: resnet("chess", policy="convolution", se_channels=4, activation="mish"),
    "convolution, a plane an action": lambda: resnet("tictactoe", policy="convolution"),
    "dense, chess": lambda: resnet("chess", value="scalar"),
    "pooling, in the second block": lambda: resnet("connect4", pooling=5),
    "pooling, excitation, mish, chess": lambda: resnet(
        "chess", policy="convolution", se_channels=4, activation="mish", pooling=3, pooling_every=1
    ),
    "9 by 9": lambda: resnet("nogo(size=9)", filters=16, value_channels=3),
}


def game_of(net: Net) -> _core.Game:
    """A game with the network's shapes."""
    specs = ("chess", "connect4", "tictactoe", "nogo(size=5)", "nogo(size=9)")
    games = {(game.feature_shape, game.num_actions): game for game in map(_core.Game, specs)}
    return games[net[0].feature_shape, net[0].num_actions]


def assert_agrees_with_torch(game: _core.Game, net: Net) -> None:
    """Probabilities and logits of positions of games are those of the torch module in float64."""
    states = random_positions(game, 40)
    features = features_of(game, states)
    logits, wdl = _core.Network(core_layers(*net)).evaluate(features)
    with torch.inference_mode():
        module = Inference(build(*net)).eval().double()
        policy, value = (output.numpy() for output in module(torch.from_numpy(features).double())[:2])
    expected = policy.astype(np.float32), value.astype(np.float32)
    assert largest_difference(states, (logits, wdl), expected) < TOLERANCE
    assert np.abs(wdl - value).max() < TOLERANCE
    assert np.abs(logits - policy).max() < TOLERANCE * max(1.0, float(np.abs(policy).max()))


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_nets(name: str) -> None:
    net = networks.load(name)
    assert_agrees_with_torch(_core.Game(net.game), (net.architecture, net.tensors))


@pytest.mark.parametrize("kind", RESNETS)
def test_residual_networks(kind: str) -> None:
    net = RESNETS[kind]()
    assert_agrees_with_torch(game_of(net), net)


@pytest.mark.parametrize("value", ["wdl", "scalar"])
@pytest.mark.parametrize("policy", ["classical", "convolution"])
@pytest.mark.parametrize(
    "more", [{}, {"se": False}, {"bn": False}, {"activation": "mish", "moves_left": True}], ids=str
)
def test_nets_of_lc0(
    policy: Literal["classical", "convolution"], value: Literal["wdl", "scalar"], more: dict[str, Any]
) -> None:
    assert_agrees_with_torch(_core.Game("chess"), tower_net(policy=policy, value=value, **more))


def test_the_outputs_of_lc0_are_reproduced(shared_data: Path) -> None:
    path = shared_data / "lc0" / "nn_outputs.json"
    report = verify_lc0.outputs(path, shared_data / "nets", backend="core", threads=1)
    assert report.worst <= 2e-4
    assert not report.wrong
    assert [line for line in report.lines if "77 positions, 2189 moves" in line and "hash" not in line]


def changed(**changes: Any) -> dict[str, Any]:
    """The layers of a small network with some of them exchanged."""
    return {**core_layers(*resnet("tictactoe", filters=4, se_channels=2)), **changes}


LAYERS = core_layers(*resnet("tictactoe", filters=4, se_channels=2))
WRONG: dict[str, dict[str, Any]] = {
    "rows must be 1 to 65536, got 0": {"board": (0, 3)},
    'activation must be relu or mish, got "selu"': {"activation": "selu"},
    "input: biases must be 4, got 3": {"input": (LAYERS["input"][0], LAYERS["input"][1][:3].copy())},
    "weights must be": {"input": (LAYERS["input"][0].astype(np.float64), LAYERS["input"][1])},
    "input: holds numbers that are not finite": {"input": (LAYERS["input"][0] * np.inf, LAYERS["input"][1])},
    "value, hidden: inputs must be": {"value": (LAYERS["value"][0], LAYERS["value"][2], LAYERS["value"][2])},
    "policy: inputs must be": {"board": (3, 4)},
}


@pytest.mark.parametrize("message", WRONG)
def test_layers_that_do_not_fit_are_refused_in_one_line(message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        _core.Network(changed(**WRONG[message]))
    assert "\n" not in str(caught.value)

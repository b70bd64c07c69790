"""Residual towers: files, seeds, exports; the same network in every format computes the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lc0_toys import random_tensors
from output_differences import largest_difference

from hauteur import _core, networks
from hauteur.networks.evaluators.base import Floats
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.modules import Inference, build, initialise, tensors_of
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.system.records import json_line, read_record

VARIANTS: dict[str, dict[str, Any]] = {
    "dense, wdl": {},
    "dense, scalar, mish": {"value": "scalar", "activation": "mish"},
    "se": {"se_channels": 4},
    "pooling": {"pooling": 3, "pooling_every": 1},
    "no blocks": {"blocks": 0},
    "convolution": {"policy": "convolution"},
}

CHESS: dict[str, dict[str, Any]] = {
    "convolution, wdl, se": {"policy": "convolution", "se_channels": 4},
    "dense, scalar, mish": {"policy": "dense", "value": "scalar", "activation": "mish", "policy_channels": 4},
}


def tictactoe(**more: Any) -> ResNetArchitecture:
    values: dict[str, Any] = {"feature_shape": (2, 3, 3), "num_actions": 9, "filters": 8, "blocks": 2}
    return ResNetArchitecture(**values | more)


def chess(**more: Any) -> ResNetArchitecture:
    values: dict[str, Any] = {"feature_shape": (112, 8, 8), "num_actions": 1858, "filters": 6, "blocks": 1}
    return ResNetArchitecture(**values | more)


def answers(path: Path, features: Floats) -> tuple[Floats, Floats]:
    with torch.inference_mode():
        policy, wdl, *_ = Inference(networks.load(path).module)(torch.from_numpy(features))
    return policy.numpy(), wdl.numpy()


@pytest.mark.parametrize("variant", VARIANTS)
def test_file_is_read_as_written(variant: str, tmp_path: Path) -> None:
    architecture = tictactoe(**VARIANTS[variant])
    tensors = tensors_of(initialise(architecture, seed=1))
    path = tmp_path / "net.safetensors"
    networks.save(path, architecture, tensors, game="tictactoe", training={"steps": 3, "loss": 0.5, "note": "x"})
    net = networks.load(path)
    assert net.description.architecture == architecture
    assert net.description.game == "tictactoe"
    assert net.description.training == {"steps": 3, "loss": 0.5, "note": "x"}
    assert {name: values.shape for name, values in net.tensors.items()} == resnet_shapes(architecture)
    features = torch.rand(4, 2, 3, 3, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = build(architecture, tensors)(features)
        for ours, theirs in zip(net.module(features), expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert list(tmp_path.iterdir()) == [path]


def test_float16_files_hold_the_rounded_numbers(tmp_path: Path) -> None:
    architecture = tictactoe(se_channels=4)
    tensors = random_tensors(resnet_shapes(architecture), 1)
    whole, half, again = (tmp_path / f"{name}.safetensors" for name in ("whole", "half", "again"))
    networks.save(whole, architecture, tensors, game="tictactoe", training={"steps": 3})
    networks.convert(whole, half, encoding="float16")
    read = networks.load(half).tensors
    description = networks.describe(half)
    for name, values in tensors.items():
        stored = values.astype(np.float16) if values.ndim > 1 else values
        assert read[name].dtype == np.float32
        assert np.array_equal(read[name], stored)
    assert half.stat().st_size < 0.65 * whole.stat().st_size
    assert (description.encodings, description.training) == (("FLOAT16", "FLOAT32"), {"steps": 3})
    networks.convert(half, again, encoding="float16")
    assert again.read_bytes() == half.read_bytes()


@pytest.mark.parametrize("variant", CHESS)
def test_chess_towers_become_lc0_files(variant: str, tmp_path: Path) -> None:
    architecture = chess(**CHESS[variant])
    source = tmp_path / "net.safetensors"
    networks.save(source, architecture, random_tensors(resnet_shapes(architecture), 2), game="chess")
    networks.convert(source, tmp_path / "net.pb.gz", encoding="float32")
    networks.convert(tmp_path / "net.pb.gz", tmp_path / "back.safetensors")
    game = _core.Game("chess")
    states = random_positions(game, 12)
    features = features_of(game, states)
    expected = answers(source, features)
    for name in ("net.pb.gz", "back.safetensors"):
        assert largest_difference(states, answers(tmp_path / name, features), expected) < 1e-5
    with make_evaluator(game, source, backend="onnxruntime", precision="float32", threads=1) as evaluator:
        assert largest_difference(states, evaluator(features), expected) < 1e-4


def test_what_lc0_has_no_place_for(tmp_path: Path) -> None:
    for architecture, message in (
        (tictactoe(), r"only chess networks \(112x8x8 planes, 1858 actions\) fit an lc0 file, got 9 actions"),
        (chess(pooling=2), "lc0 has no global pooling, got 2 pooled channels"),
        (chess(value_hidden=64), r"lc0 needs a value head of 32 channels and 128 hidden units, got 32 and 64"),
    ):
        tensors = random_tensors(resnet_shapes(architecture), 0)
        with pytest.raises(ValueError, match=message):
            networks.save(tmp_path / "net.pb.gz", architecture, tensors, game="tictactoe")
    assert not list(tmp_path.iterdir())


def test_pooling_is_in_the_file_and_the_summary_where_there_is_some(tmp_path: Path) -> None:
    plain = tictactoe()
    pooled = tictactoe(pooling=3, blocks=4)
    assert (plain.summary(), pooled.summary()) == tuple(
        f"resnet 8x{size} relu, dense policy, wdl value" for size in ("2", "4 pool3/2")
    )
    assert "pool" not in json_line(plain.values())
    assert read_record(ResNetArchitecture, json.loads(json_line(pooled.values()))) == pooled
    assert [block for block in range(4) if pooled.pools(block)] == [1, 3]
    assert set(resnet_shapes(pooled)) - set(resnet_shapes(tictactoe(blocks=4))) == {
        f"blocks.{block}.pool.{name}" for block in (1, 3) for name in ("weight", "bias")
    }
    with pytest.raises(ValueError, match="pooling must be less than filters, got 8 of 8"):
        tictactoe(pooling=8)


def test_wrong_tensors_are_named(tmp_path: Path) -> None:
    tensors = random_tensors(resnet_shapes(tictactoe()), 0)
    missing = {name: values for name, values in tensors.items() if name != "value.hidden.bias"}
    infinite = tensors | {"value.hidden.bias": np.full(128, np.inf, np.float32)}
    for wrong, message in (
        (missing, "tensor value.hidden.bias is missing"),
        (infinite, "tensor value.hidden.bias holds numbers that are not finite"),
        (tensors | {"extra": np.zeros(1, np.float32)}, "tensor extra has no place in this architecture"),
    ):
        with pytest.raises(ValueError, match=message):
            networks.save(tmp_path / "net.safetensors", tictactoe(), wrong, game="tictactoe")
    assert not list(tmp_path.iterdir())

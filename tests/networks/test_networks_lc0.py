"""lc0 network files: what is written is read back, every kind computes what the format's description says."""

import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lc0_toys import TOYS, NumpyNet, Toy, attention_net, tower_net

from hauteur import networks
from hauteur.networks.lc0 import lc0_bytes
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.lc0_layers import Floats, decode, encode
from hauteur.networks.lc0_proto import SCHEMA, Encoding, pack_net, read_net
from hauteur.networks.modules import Inference
from hauteur.networks.wire import Message, read_message, write_message


@pytest.fixture(params=list(TOYS))
def toy(request: pytest.FixtureRequest) -> Toy:
    return TOYS[request.param]()


def write(path: Path, net: Toy, encoding: Any = "float32") -> Path:
    path.write_bytes(lc0_bytes(*net, training={"training_steps": 7}, encoding=encoding))
    return path


def random_planes(rows: int) -> Floats:
    random = np.random.default_rng(1)
    return (random.random((rows, 112, 8, 8)) < 0.2).astype(np.float32)


def run(path: Path, planes: Floats) -> list[Floats]:
    with torch.inference_mode():
        return [output.numpy() for output in Inference(networks.load(path).module)(torch.from_numpy(planes))]


def test_outputs_agree_with_numpy(toy: Toy, tmp_path: Path) -> None:
    planes = random_planes(3)
    policy, wdl = run(write(tmp_path / "toy.pb.gz", toy), planes)
    for row, features in enumerate(planes):
        expected_policy, expected_value = NumpyNet(*toy)(features)
        np.testing.assert_allclose(policy[row], expected_policy, atol=2e-4, rtol=1e-4)
        value = wdl[row] if toy[0].value == "wdl" else wdl[row, :1] - wdl[row, 2:]
        np.testing.assert_allclose(value, expected_value, atol=1e-5)
        assert wdl[row].sum() == pytest.approx(1, abs=1e-5)


def test_file_is_read_as_written(toy: Toy, tmp_path: Path) -> None:
    net = networks.load(write(tmp_path / "toy.pb.gz", toy))
    assert net.description.architecture == replace(toy[0], min_version=(0, 33, 0))
    assert net.description.training == {"training_steps": 7}
    assert net.description.parameters == sum(values.size for values in toy[1].values())
    assert set(net.tensors) == set(toy[1])
    for path, values in toy[1].items():
        np.testing.assert_array_equal(net.tensors[path].reshape(values.shape), values)


def test_linear16_is_exact_the_second_time(toy: Toy, tmp_path: Path) -> None:
    first = networks.load(write(tmp_path / "first.pb.gz", toy, "linear16"))
    networks.convert(tmp_path / "first.pb.gz", tmp_path / "second.pb.gz")
    networks.convert(tmp_path / "first.pb.gz", tmp_path / "between.safetensors")
    networks.convert(tmp_path / "between.safetensors", tmp_path / "third.pb.gz")
    for name in ("second", "third"):
        again = networks.load(tmp_path / f"{name}.pb.gz").tensors
        for path, values in first.tensors.items():
            np.testing.assert_array_equal(again[path], values, err_msg=path)


def test_linear16_extremes() -> None:
    for values in ([0.0], [3.5, 3.5], [-1.0, 2.0], []):
        layer = encode(np.array(values, np.float32), Encoding.LINEAR16)
        np.testing.assert_array_equal(
            decode({**layer, "params": memoryview(layer["params"])}), np.array(values, np.float32)
        )


def test_old_attention_files(tmp_path: Path) -> None:
    message = messages(attention_net(embedding="map"))
    message["format"]["network_format"] = {
        "input": 1,
        "output": 2,
        "network": 4,
        "policy": 3,
        "value": 2,
        "moves_left": 1,
    }
    found = describe(message, tmp_path)
    assert (found.structure, found.input_embedding) == (6, "map")
    assert (found.ffn_activation, found.smolgen_activation) == ("relu_2", "swish")
    message = messages(attention_net(embedding="dense", multihead=True))
    form = message["format"]["network_format"]
    message["format"]["network_format"] = {**form, "network": 6, "input_embedding": 1}
    assert describe(message, tmp_path).structure == 7
    message["format"]["network_format"] = {**form, "network": 134}
    assert describe(message, tmp_path).structure == 7


def messages(net: Toy) -> Message:
    return read_message(gzip.decompress(lc0_bytes(*net)), SCHEMA, "Net")


def describe(message: Message, folder: Path) -> Lc0Architecture:
    path = folder / "changed.pb.gz"
    path.write_bytes(pack_net(message))
    architecture = networks.describe(path).architecture
    assert isinstance(architecture, Lc0Architecture)
    return architecture


UNSUPPORTED = {
    "input format 3 (CANONICALIZATION)": {"input": 3},
    "network structure 5 (ONNX)": {"network": 5},
    "policy format 9 (unknown)": {"policy": 9},
    "value format 3 (PARAM)": {"value": 3},
    "moves-left format 2": {"moves_left": 2},
    "default activation 5": {"default_activation": 5},
    "FFN activation 9 (SOFTMAX)": {"ffn_activation": 9},
}


@pytest.mark.parametrize("message", UNSUPPORTED)
def test_unsupported_formats_are_named(message: str, tmp_path: Path) -> None:
    net = messages(tower_net(policy="convolution", value="wdl"))
    net["format"]["network_format"] |= UNSUPPORTED[message]
    path = tmp_path / "strange.pb.gz"
    path.write_bytes(pack_net(net))
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")) as caught:
        networks.load(path)
    assert "\n" not in str(caught.value)


def test_wrong_layers_are_named(tmp_path: Path) -> None:
    architecture, tensors = tower_net(policy="convolution", value="wdl")
    path = tmp_path / "wrong.pb.gz"
    for name, values, complaint in (
        ("residual.1.se.w2", np.zeros(5, np.float32), "layer residual.1.se.w2 has 5 numbers, expected 36 (12x3)"),
        ("value.bn_means", np.zeros(0, np.float32), "layer value has only one of bn_means and bn_stddivs"),
        ("ip1_val_b", np.zeros(0, np.float32), "layer ip1_val_b is missing"),
        ("smolgen_w", np.zeros(4096, np.float32), "layer smolgen_w has no place"),
    ):
        message = messages((architecture, tensors))
        target = message["weights"]
        *parents, last = name.split(".")
        for parent in parents:
            target = target[int(parent)] if parent.isdecimal() else target[parent]
        target[last] = encode(values, Encoding.LINEAR16)
        path.write_bytes(pack_net(message))
        with pytest.raises(ValueError, match=r"wrong\.pb\.gz: ") as caught:
            networks.load(path)
        assert complaint in str(caught.value)


@pytest.mark.parametrize("name", ["maia-1100", "maia-1900"])
def test_real_networks_round_trip(name: str, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "nets" / f"{name}.pb.gz"
    description = networks.describe(source)
    assert description.architecture.summary() == "lc0 64x6 se relu, convolution policy, wdl value"
    networks.convert(source, tmp_path / "net.safetensors")
    networks.convert(tmp_path / "net.safetensors", tmp_path / "net.pb.gz")
    planes = random_planes(4)
    for before, after in zip(run(source, planes), run(tmp_path / "net.pb.gz", planes), strict=True):
        np.testing.assert_array_equal(before, after)
    ours = read_net(tmp_path / "net.pb.gz")
    theirs = read_net(source)
    assert write_message(ours["weights"], SCHEMA, "Weights") == write_message(theirs["weights"], SCHEMA, "Weights")


def test_a_size_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match="blocks must be 0 to 1024, got 1025"):
        replace(tower_net(policy="convolution", value="wdl")[0], blocks=1025)

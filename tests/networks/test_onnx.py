"""ONNX models written from the weights: valid, equal to the torch modules of every architecture, never left on disk."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lc0_toys import Policy, attention_net, random_net, random_tensors, tower_net

from hauteur import networks
from hauteur.networks.architecture import Architecture
from hauteur.networks.evaluators.base import Backend
from hauteur.networks.layers import Floats, resnet_shapes
from hauteur.networks.modules import Inference, build
from hauteur.networks.onnx import onnx_bytes
from hauteur.networks.resnet_architecture import ResNetArchitecture

Net = tuple[Architecture, dict[str, Floats]]
ACTIVATIONS = ("relu", "mish", "none", "tanh", "sigmoid", "selu", "swish", "relu_2")


@st.composite
def resnets(draw: st.DrawFn) -> Net:
    rows = draw(st.integers(1, 9))
    columns = draw(st.integers(1, 9))
    squares = draw(st.booleans())
    filters = draw(st.integers(1, 24))
    architecture = ResNetArchitecture(
        feature_shape=(draw(st.integers(1, 12)), rows, columns),
        num_actions=rows * columns if squares else draw(st.integers(1, 90)),
        filters=filters,
        blocks=draw(st.integers(0, 3)),
        pooling=draw(st.integers(0, filters - 1)),
        pooling_every=draw(st.integers(1, 2)),
        se_channels=draw(st.integers(0, 4)),
        activation=draw(st.sampled_from(["relu", "mish"])),
        policy="convolution" if squares and draw(st.booleans()) else "dense",
        policy_channels=draw(st.integers(1, 8)),
        value=draw(st.sampled_from(["wdl", "scalar"])),
        value_channels=draw(st.integers(1, 8)),
        value_hidden=draw(st.integers(1, 32)),
    )
    return architecture, random_tensors(resnet_shapes(architecture), draw(st.integers(0, 999)))


@st.composite
def towers(draw: st.DrawFn) -> Net:
    policies: list[Policy] = ["classical", "convolution", "attention"]
    policy = draw(st.sampled_from(policies))
    return tower_net(
        policy=policy,
        value=draw(st.sampled_from(["wdl", "scalar"])),
        se=draw(st.booleans()),
        bn=draw(st.booleans()),
        activation=draw(st.sampled_from(["relu", "mish"])),
        policy_encoders=draw(st.integers(0, 2)) if policy == "attention" else 0,
        ffn_activation=draw(st.sampled_from(ACTIVATIONS)),
    )


@st.composite
def attention_nets(draw: st.DrawFn) -> Net:
    return attention_net(
        embedding=draw(st.sampled_from(["none", "map", "dense"])),
        multihead=draw(st.booleans()),
        smolgen=draw(st.booleans()),
        policy_encoders=draw(st.integers(0, 2)),
        activation=draw(st.sampled_from(["relu", "mish"])),
        ffn_activation=draw(st.sampled_from(ACTIVATIONS)),
        smolgen_activation=draw(st.sampled_from(ACTIVATIONS)),
    )


def outputs_of_torch(net: Net, features: Floats) -> list[Floats]:
    with torch.inference_mode():
        return [output.numpy() for output in Inference(build(*net)).double()(torch.from_numpy(features).double())]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(net=resnets() | towers() | attention_nets(), rows=st.integers(1, 5))
def test_models_compute_what_torch_computes(net: Net, rows: int) -> None:
    random = np.random.default_rng(rows)
    features = (random.random((rows, *net[0].feature_shape)) < 0.3).astype(np.float32)
    expected = outputs_of_torch(net, features)
    model = onnx_bytes(*net)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["policy", "wdl"]
    for found, exact in zip(session.run(None, {"features": features}), expected, strict=True):
        assert found.shape == exact.shape
        np.testing.assert_allclose(found, exact, atol=3e-5 * max(1.0, float(np.abs(exact).max())))


def test_an_onnx_file_is_not_read_again(tmp_path: Path) -> None:
    networks.convert(random_net(tmp_path / "net.pb.gz"), tmp_path / "net.onnx")
    with pytest.raises(ValueError, match=r"net\.onnx: an ONNX file is for other programs"):
        networks.describe(tmp_path / "net.onnx")


@pytest.mark.parametrize("backend", ["core", "onnxruntime"])
def test_engines_start_without_torch(backend: Backend, tmp_path: Path) -> None:
    net = random_net(tmp_path / "net.pb.gz", seed=1)
    code = (
        "import sys; from hauteur import _core; from hauteur.networks.evaluators.factory import make_evaluator;"
        f"make_evaluator(_core.Game('chess'), {str(net)!r}, backend={backend!r}, threads=1);"
        "print(*sorted({'torch', 'onnx', 'onnxscript'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

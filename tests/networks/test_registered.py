"""Registered networks: files hold name, settings and weights; what is missing, wrong or taken is said in one line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from network_toys import ToyTransformer, toy_linear
from torch import nn

from hauteur import _core, networks
from hauteur.networks.architecture import RegisteredArchitecture
from hauteur.networks.evaluators.compare import differences, features_of, random_positions
from hauteur.networks.evaluators.factory import evaluator, make_evaluator
from hauteur.networks.modules import architecture_of, build, initialise, tensors_of
from hauteur.networks.registered import register_network, registered_architecture
from hauteur.networks.registry import load_network, save_network

GAME = _core.Game("tictactoe")
STATES = random_positions(GAME, 9)
FEATURES = features_of(GAME, STATES)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    save_network(tmp_path / "net.safetensors", ToyTransformer(GAME, 12, drop=0.5), GAME, training={"steps": 3})
    return tmp_path / "net.safetensors"


def test_a_file_holds_name_settings_and_weights(saved: Path) -> None:
    net = load_network(saved)
    assert isinstance(net.architecture, RegisteredArchitecture)
    assert net.architecture.summary() == "toy-transformer(width=12, layers=1, drop=0.5, scalar=False)"
    assert (net.game, net.architecture.defined_in) == ("tictactoe", "network_toys.py")
    assert net.parameters == sum(t.numel() for t in net.module.state_dict().values() if t.is_floating_point())
    assert isinstance(net.module, ToyTransformer)
    assert not net.module.training
    save_network(saved.with_name("again.safetensors"), net.module, net.game, training={"steps": 3})
    assert saved.read_bytes() == saved.with_name("again.safetensors").read_bytes()


@pytest.mark.parametrize("backend", ["onnxruntime", "torch"])
@pytest.mark.parametrize("rows", [1, 9])
def test_its_files_are_evaluated_by_every_backend(saved: Path, backend: Any, rows: int) -> None:
    with evaluator(GAME, load_network(saved).module, threads=1) as direct:
        expected = direct(FEATURES[:rows])
    with make_evaluator(GAME, saved, backend=backend, precision="float32", threads=1, device="cpu") as opened:
        assert differences(STATES[:rows], opened(FEATURES[:rows]), expected).largest < 1e-5


def test_networks_begin_the_same_for_the_same_seed() -> None:
    architecture = registered_architecture("toy-transformer", GAME, {"layers": 2})
    state = torch.random.get_rng_state()
    first, second, other = (tensors_of(initialise(architecture, seed)) for seed in (1, 1, 2))
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_without_its_code_a_file_is_described_and_says_what_to_import(saved: Path) -> None:
    program = (
        "import sys, hauteur as ht\nfrom hauteur import networks\n"
        f"print(networks.describe({str(saved)!r}).architecture.name, 'torch' in sys.modules)\n"
        f"try:\n    ht.load_network({str(saved)!r}).module\nexcept ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "toy-transformer False",
        (
            f"{saved}: network 'toy-transformer' is not known here: import network_toys.py, which registers it "
            "(hauteur --import network_toys.py)"
        ),
    ]


def test_weights_of_other_code_are_refused(saved: Path) -> None:
    net = load_network(saved)
    wider = registered_architecture("toy-transformer", GAME, {"width": 16})
    with pytest.raises(ValueError, match=r"tensor body.layers.0.linear1.bias has shape \(24,\), toy-transformer\(.*32"):
        build(wider, net.tensors)
    with pytest.raises(ValueError, match=r"tensor value.bias is missing, .* has \(3,\)"):
        build(architecture_of(net.module), {name: v for name, v in net.tensors.items() if name != "value.bias"})


class Unknown(nn.Module):
    """Registered by nobody."""


class Below(ToyTransformer):
    """A class below a registered one, not registered itself."""


@pytest.mark.parametrize("module", [Unknown(), Below(GAME)])
def test_modules_that_no_file_can_hold(tmp_path: Path, module: nn.Module) -> None:
    with pytest.raises(ValueError, match=f"{type(module).__name__} is no network that a file can hold: register"):
        save_network(tmp_path / "net.safetensors", module, GAME)
    assert not list(tmp_path.iterdir())


def test_lc0s_format_has_no_place_for_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lc0's format has no place for toy-linear"):
        save_network(tmp_path / "net.pb.gz", toy_linear(GAME), GAME)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"widht": 3},
            "network 'toy-transformer': got an unexpected keyword argument 'widht'; its settings: width, layers",
        ),
        ({"width": [3]}, r"setting width must be a number, a text, True, False or None, got \[3\]"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        registered_architecture("toy-transformer", GAME, settings)


def test_a_further_output_is_refused_rather_than_dropped() -> None:
    class ThreeHeads(nn.Module):
        def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, ...]:
            rows = len(features)
            return torch.zeros(rows, 9), torch.zeros(rows, 3), torch.zeros(rows, 5)

    register_network("toy-three", replace=True)(lambda game: ThreeHeads())
    message = r"network ThreeHeads returned .* and float32 \[2, 5\]; allowed: .*, and nothing besides"
    with pytest.raises(ValueError, match=message):
        initialise(registered_architecture("toy-three", GAME, {}), 1)
    with pytest.raises(ValueError, match=r"the module returned .* and nothing besides"):
        evaluator(GAME, ThreeHeads())


def test_names() -> None:
    with pytest.raises(ValueError, match=r"there is no network .transformr.; known: resnet.*, toy-linear"):
        registered_architecture("transformr", GAME, {})
    with pytest.raises(ValueError, match="small letters"):
        register_network("Big")
    with pytest.raises(ValueError, match="there is a built-in network 'resnet'"):
        register_network("resnet")
    with pytest.raises(ValueError, match="there is a network 'toy-linear' already: pass replace=True"):
        register_network("toy-linear")(ToyTransformer)
    register_network("toy-linear")(toy_linear)  # as a cell that runs again


def test_what_torch_cannot_export_is_said(tmp_path: Path) -> None:
    @register_network("toy-strange", replace=True)
    class Strange(nn.Module):
        def __init__(self, game: Any) -> None:
            super().__init__()
            self.linear = nn.Linear(18, 12)

        def forward(self, features: torch.Tensor) -> Any:
            both = torch.linalg.svd(self.linear(features.flatten(1)))[0] @ self.linear(features.flatten(1))
            return both[:, :9], both[:, 9:]

    save_network(tmp_path / "net.safetensors", Strange(GAME), GAME)
    with pytest.raises(ValueError, match=r"toy-strange\(\) cannot be written as ONNX: .*backend torch"):
        networks.convert(tmp_path / "net.safetensors", tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()

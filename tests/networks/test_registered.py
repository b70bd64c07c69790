"""Registered networks: files hold name, settings and weights; what is missing, wrong or taken is said in one line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from network_toys import ToyTransformer, toy_linear
from output_differences import largest_difference
from torch import nn

from hauteur import _core
from hauteur.networks.architecture import RegisteredArchitecture
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import evaluator, make_evaluator
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


@pytest.mark.parametrize("rows", [1, 9])
def test_its_files_are_evaluated_by_torch(saved: Path, rows: int) -> None:
    with evaluator(GAME, load_network(saved).module, threads=1) as direct:
        expected = direct(FEATURES[:rows])
    with make_evaluator(GAME, saved, precision="float32", threads=1, device="cpu") as opened:
        assert largest_difference(STATES[:rows], opened(FEATURES[:rows]), expected) < 1e-5
    with pytest.raises(ValueError, match=r"is a registered network: torch\.onnx\.export writes its module"):
        make_evaluator(GAME, saved, backend="onnxruntime", threads=1)


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


class Unknown(nn.Module):
    """Never registered."""


class Below(ToyTransformer):
    """A class below a registered one, not registered itself."""


@pytest.mark.parametrize("module", [Unknown(), Below(GAME)])
def test_modules_that_no_file_can_hold(tmp_path: Path, module: nn.Module) -> None:
    with pytest.raises(ValueError, match=f"{type(module).__name__} is no network that a file can hold: register"):
        save_network(tmp_path / "net.safetensors", module, GAME)
    assert not list(tmp_path.iterdir())


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

"""A missing layer is named with the command that installs it, in one line, before anything is written."""

import subprocess
import sys
from pathlib import Path

import pytest
from lc0_toys import attention_net, random_net

from hauteur import networks
from hauteur.cli.main import EXIT_BAD_INPUT, NEEDS
from hauteur.system import extras

OPTIONAL = {package.module for layer in extras.LAYERS for package in layer.packages}

WORDS = {
    "train": ["runs/tictactoe.toml"],
    "compare": ["tictactoe", "tictactoe selfplay.visits=8"],
    "games export": ["runs", "--to", "{folder}/out"],
    "web": [],
}


BASE_ALONE = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(OPTIONAL)}))
from hauteur import networks
from hauteur.cli.main import main
sys.exit(main())
"""


def with_the_base_alone(*words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process in which nothing but the base layer can be imported."""
    return subprocess.run([sys.executable, "-c", BASE_ALONE, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", NEEDS)
def test_commands_name_the_layer_that_they_need(command: str, tmp_path: Path) -> None:
    words = [word.format(folder=tmp_path) for word in WORDS[command]]
    done = with_the_base_alone(*command.split(), *words)
    assert done.returncode == EXIT_BAD_INPUT
    assert done.stderr.startswith(f"hauteur: hauteur {command} needs ")
    assert done.stderr.endswith(
        tuple(f"pip install 'hauteur[{layer}]'\n" for layer in ("train", "parquet", "web", "ray"))
    )
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["train", "games export"])
def test_help_needs_no_layer(command: str) -> None:
    assert with_the_base_alone(*command.split(), "--help").returncode == 0


MATCH = ["match", "net={net} visits=1", "random", "--game", "chess", "--games", "2"]


@pytest.mark.parametrize(
    ("words", "layer"), [([*MATCH, "--backend", "onnxruntime"], "onnx"), ([*MATCH, "--backend", "torch"], "train")]
)
def test_choices_that_need_a_layer_name_it(words: list[str], layer: str, tmp_path: Path) -> None:
    net = random_net(tmp_path / "net.pb.gz")
    done = with_the_base_alone(*(word.format(net=net) for word in words))
    assert done.returncode == EXIT_BAD_INPUT
    assert f"pip install 'hauteur[{layer}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_nets_that_the_core_does_not_compute_name_the_layer(tmp_path: Path) -> None:
    networks.save(tmp_path / "attention.pb.gz", *attention_net(embedding="map"), game="chess")
    done = with_the_base_alone("match", f"net={tmp_path / 'attention.pb.gz'} visits=1", *MATCH[2:])
    assert done.returncode == EXIT_BAD_INPUT
    line = "attention.pb.gz, a net with attention, needs onnxruntime, not installed here: pip install 'hauteur[onnx]'"
    assert done.stderr.endswith(f"{line}\n")
    assert done.stderr.count("\n") == 1


def test_nets_are_computed_by_what_the_base_has(tmp_path: Path) -> None:
    net = random_net(tmp_path / "net.pb.gz")
    done = with_the_base_alone(*(word.format(net=net) for word in MATCH))
    assert done.returncode == 0, done.stderr


PUBLIC_NAMES = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(OPTIONAL)}))
import hauteur as ht
for name in ht.__all__:
    try:
        getattr(ht, name)
    except ImportError as error:
        print(error)
try:
    ht.learn("tictactoe.toml")
except ImportError as error:
    print(error)
game = ht.load_game("tictactoe")
print(ht.search(game.new_initial_state(), ht.evaluator(game), visits=20).visits.sum())
"""


def test_public_names_of_the_base_and_what_the_others_need() -> None:
    done = subprocess.run([sys.executable, "-c", PUBLIC_NAMES], capture_output=True, text=True, check=True)
    *missing, visits = done.stdout.splitlines()
    assert {line.partition(" needs ")[0] for line in missing} == {"hauteur.Trainer", "hauteur.learn"}
    assert all(line.endswith("'hauteur[train]'") for line in missing)
    assert int(visits) > 0


def test_the_first_layer_that_has_everything_is_named() -> None:
    line = "x needs pyarrow, not installed here: pip install 'hauteur[parquet]'"
    assert extras.missing_line("x", ["pyarrow"]) == line
    both = extras.missing_line("x", ["torch", "pyarrow"])
    assert both == "x needs torch and pyarrow, not installed here: pip install 'hauteur[train]'"
    assert extras.missing_line("x", ["numpy"]) is None

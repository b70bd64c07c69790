"""--import FILE.py: a network and a game of the user's own in the commands; only what is named is imported."""

import sys
from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.networks import describe

NETWORK = """
import hauteur as ht
from torch import nn

@ht.register_network("{name}")
class Net(nn.Module):
    def __init__(self, game, width=4):
        super().__init__()
        planes, rows, columns = game.feature_shape
        self.hidden = nn.Linear(planes * rows * columns, width)
        self.policy, self.value = nn.Linear(width, game.num_actions), nn.Linear(width, 3)

    def forward(self, features):
        x = self.hidden(features.flatten(1)).relu()
        return self.policy(x), self.value(x)
"""
RECIPE = """
game = "tictactoe"
[network]
kind = "{name}"
settings = {{ width = 6 }}
[selfplay]
games = 4
visits = 4
parallel_games = 4
batch_size = 4
[train]
batch_size = 8
[gate]
games = 2
[run]
generations = 1
backend = "torch"
"""


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of one name lie in the folders of several tests: their folders leave the path again."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def files(folder: Path, name: str) -> tuple[str, str]:
    """A file that registers a network, and a recipe that trains it."""
    code = folder / f"{name}.py"
    recipe = folder / "recipe.toml"
    code.write_text(NETWORK.format(name=name))
    recipe.write_text(RECIPE.format(name=name))
    return str(code), str(recipe)


def test_a_registered_network_is_trained_resumed_and_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, recipe = files(tmp_path, "own-net-a")
    run = tmp_path / "run"
    assert main(["--import", code, "train", recipe, "--run", str(run), "network.settings.width=5"]) == 0
    net = describe(run / "best.safetensors")
    assert net.architecture.summary() == "own-net-a(width=5)"
    arguments = [recipe, "--run", str(run), "network.settings.width=5", "run.generations=2"]
    assert main(["train", *arguments, f"--import={code}"]) == 0
    page = (run / "report.html").read_text()
    assert "own-net-a(width=5)" in page
    best = str(run / "best.safetensors")
    assert main(["match", "random", f"net={best} visits=4", "--game", "tictactoe", "--games", "2"]) == 0
    assert main(["net", "info", best]) == 0
    assert "own-net-a(width=5)" in capsys.readouterr().out


def test_without_the_import_nothing_is_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, recipe = files(tmp_path, "own-net-b")
    assert main(["train", recipe, "--run", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "there is no network 'own-net-b'; known: resnet" in error
    assert "hauteur --import FILE.py" in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--import", "no/such.py", "doctor"], "--import: cannot import 'no/such.py'"),
        (["--import", "no_such_module", "doctor"], "--import: cannot import 'no_such_module'"),
        (["doctor", "--import"], "--import needs a .py file or a module"),
    ],
)
def test_what_cannot_be_imported(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_file_with_the_name_of_a_module_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "numpy.py").write_text("raise AssertionError\n")
    assert main(["--import", str(tmp_path / "numpy.py"), "doctor"]) == 2
    assert "there is a module numpy already: rename the file" in capsys.readouterr().err


def test_a_file_in_the_path_of_modules_is_the_module_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"from pathlib import Path\nPath({str(tmp_path / 'imported')!r}).touch()\n"
    (tmp_path / "own_file_in_path.py").write_text(mark)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["--import", "own_file_in_path.py", "perft", "tictactoe", "1"]) == 0
    assert (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "network.settings.widht=3",
            "network 'own-net-c': got an unexpected keyword argument 'widht'; its settings: width",
        ),
        (
            "network.filters=3",
            "network: filters is of kind 'resnet'; what 'own-net-c' is built with stands in settings",
        ),
        (
            "run.backend=core",
            "run.backend core computes residual networks; 'own-net-c' needs torch (run.backend=torch)",
        ),
        ("network.kind=resnet", "network: settings are of registered networks; kind 'resnet' has filters, blocks"),
    ],
)
def test_wrong_settings(setting: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, recipe = files(tmp_path, "own-net-c")
    assert main(["--import", code, "train", recipe, setting, "--run", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err


FIELD = Path(__file__).parents[1] / "support/field/trainers"


@pytest.mark.parametrize(
    "words",
    [
        ["--import", "dots.py", "--import", "dots_edges.py"],
        ["--import", "dots_edges.py", "--import", "dots.py"],
        ["--import=dots_edges.py,dots.py"],
        ["--import", "dots_edges.py"],
    ],
)
def test_files_that_import_each_other(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FIELD)
    for spec in ("dots-edges", "dots"):  # the folder of the file is on the path, and dots is registered once
        assert main([*words, "perft", f"{spec}(rows=1,columns=1)", "1"]) == 0
    assert capsys.readouterr().out.count("4") >= 2


def test_two_files_after_one_import(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--import", str(FIELD / "dots.py"), str(FIELD / "dots_edges.py"), "perft", "dots", "1"]) == 2
    assert "every file has its own --import" in capsys.readouterr().err

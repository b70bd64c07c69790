"""Runs by workers: the same files as by one process, whatever is killed; what fails from outside ends with one line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workers
from hauteur.cli.main import main
from hauteur.cluster.local import LocalFleet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")

WORKER = "import sys; {}; from hauteur.cluster.worker import main; main(int(sys.argv[1]))"
OTHER_VERSION = WORKER.format("import hauteur; hauteur.__version__ = '9.9'")
WITHOUT_A_BACKEND = WORKER.format("sys.modules['hauteur.networks.evaluators.core'] = None")
"""Programs of workers: of another version; one that cannot load the net."""


def checked(root: Path, *arguments: str) -> list[list[str]]:
    """Run benchmarks/workers.py; return the rows of its table, each in words. AssertionError where it finds a fault."""
    command = [sys.executable, str(root / "benchmarks" / "workers.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"
    return [line.split() for line in done.stdout.splitlines()[1:]]


def test_workers_and_the_driver_are_killed(root: Path) -> None:
    rows = checked(root, "--workers", "2", "--kills", "3", "--games", "60", "--longest", "2")
    assert [words[0] for words in rows] == ["none", "2"]
    assert all(words[3:4] == ["0"] and words[-1] == "differ" for words in rows)


@pytest.mark.slow
@pytest.mark.parametrize("lag", ["0", "2"])
def test_many_kills(root: Path, lag: str) -> None:
    rows = checked(root, "--workers", "2", "--kills", "40", "--longest", "2", "--lag", lag, "--game", "connect4")
    assert [words[2] for words in rows] == ["0", "40"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nodes_of_ray_are_killed_and_join(root: Path) -> None:
    pytest.importorskip("ray")
    rows = checked(root, "--workers", "2", "--kills", "3", "--ray", "--games", "400")
    assert rows[-1][:2] == ["ray", "2"]


def command(tmp_path: Path, *options: str) -> list[str]:
    """The command that learns tic-tac-toe for a generation."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(workers.RECIPE.format(game="tictactoe", games=60, generations=1, lag=0))
    return ["train", str(recipe), "--run", str(tmp_path / "place" / "run"), *options]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of this process alone."""
    folder = tmp_path_factory.mktemp("alone")
    assert main(command(folder)) == 0
    return folder / "place" / "run"


def assert_it_goes_on(tmp_path: Path, alone: Path) -> None:
    """The run goes on in its folder, and ends as one that was begun by this process alone."""
    assert main(command(tmp_path)) == 0
    assert workers.run_hashes(tmp_path / "place" / "run") == workers.run_hashes(alone)
    assert workers.left_behind(tmp_path / "place" / "run") == []


@pytest.mark.parametrize(
    ("program", "named"),
    [
        pytest.param(OTHER_VERSION, "the driver runs hauteur", id="version"),
        pytest.param(WITHOUT_A_BACKEND, "evaluators.core", id="net"),
    ],
)
def test_workers_that_cannot_play(
    program: str,
    named: str,
    alone: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Real processes, of another version, or without what the net is computed with."""

    def fleet(_: Any) -> LocalFleet:
        return LocalFleet(1, threads=1, command=(sys.executable, "-c", program))

    with monkeypatch.context() as patch:
        patch.setattr("hauteur.cluster.open._open_fleet", fleet)
        assert main(command(tmp_path, "--workers", "1")) == 2
    error = capfd.readouterr().err
    last = error.splitlines()[-1]
    assert last.startswith("hauteur: self-play 1, unit ")
    assert named in last
    assert_it_goes_on(tmp_path, alone)

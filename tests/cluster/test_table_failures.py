"""What can fail from outside ends with one line and status 2, and the same command goes on with the run afterwards."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cluster_tools import checks

from hauteur.cli.main import main
from hauteur.cluster.local import LocalFleet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")

WORKER = "import sys; {}; from hauteur.cluster.local_worker import main; main(int(sys.argv[1]))"
OTHER_VERSION = WORKER.format("import hauteur; hauteur.__version__ = '9.9'")
WITHOUT_A_BACKEND = WORKER.format("sys.modules['hauteur.networks.evaluators.core'] = None")
"""Programs of workers: of another version; one that cannot load the net."""

FULL = """
mount -t tmpfs -o size=300k none "$0/place" 2>/dev/null || exit 77
"$@"; echo "status $?" >&2
cp -r "$0/place/run" "$0/kept"
"""
"""Runs a command where the folder `place` has 300 KB."""


def command(tmp_path: Path, *options: str) -> list[str]:
    """The command that learns tic-tac-toe for a generation, in units of a game."""
    common = checks("cluster_common")
    selfplay = {"games": 60, "visits": 8, "shard_games": 1}
    recipe = common.recipe_of("tictactoe", selfplay=selfplay, gate={"by": "off"}, run={"generations": 1})
    file = common.write_recipe(tmp_path / "recipe.toml", recipe)
    return ["train", str(file), "--run", str(tmp_path / "place" / "run"), *options]


def assert_it_goes_on(tmp_path: Path) -> None:
    """The run goes on in its folder, and ends as one that was begun by this process alone."""
    assert main(command(tmp_path)) == 0
    assert main([*command(tmp_path)[:3], str(tmp_path / "alone")]) == 0
    common = checks("cluster_common")
    assert common.run_hashes(tmp_path / "place" / "run") == common.run_hashes(tmp_path / "alone")
    assert common.left_behind(tmp_path / "place" / "run") == []


@pytest.mark.parametrize(
    ("program", "workers", "named"),
    [
        pytest.param(OTHER_VERSION, 1, ("9.9",), id="version"),
        pytest.param(WITHOUT_A_BACKEND, 3, ("self-play 1, unit", "evaluators.core"), id="net", marks=pytest.mark.slow),
    ],
)
def test_workers_that_cannot_play(
    program: str,
    workers: int,
    named: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Real processes, of another version, or without what the net is computed with."""

    def fleet(_: Any) -> LocalFleet:
        return LocalFleet(workers, threads=1, command=(sys.executable, "-c", program))

    with monkeypatch.context() as patch:
        patch.setattr("hauteur.cluster.open._open_fleet", fleet)
        assert main(command(tmp_path, "--workers", str(workers))) == 2
    error = capfd.readouterr().err
    last = error.splitlines()[-1]
    assert last.startswith("hauteur: ")
    assert all(name in last for name in named)
    assert "Traceback" not in error
    assert_it_goes_on(tmp_path)


def test_the_disk_of_the_driver_is_full(tmp_path: Path) -> None:
    """A real one: a file system of 300 KB, in a mount namespace of its own."""
    place = tmp_path / "place"
    place.mkdir()
    words = [sys.executable, "-m", "hauteur.cli", *command(tmp_path, "--workers", "1")]
    full = ["unshare", "-m", "sh", "-c", FULL, str(tmp_path), *words]
    done = subprocess.run(full, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no file system may be mounted here")
    lines = done.stderr.splitlines()
    assert lines[-1] == "status 2"
    assert lines[-2].startswith(f"hauteur: {place / 'run'}")
    assert lines[-2].endswith(": No space left on device")
    assert "Traceback" not in done.stderr
    kept = tmp_path / "kept"
    assert 0 < len(list(kept.glob("games/*.parquet"))) < 60
    kept.rename(place / "run")  # the file system is gone with its namespace
    assert_it_goes_on(tmp_path)


def test_ray_is_not_installed(tmp_path: Path) -> None:
    """A process that finds no Ray."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name.split('.')[0] == 'ray' else find(name, package)\n"
    )
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "hauteur.cli", *command(tmp_path, "--cluster", "127.0.0.1:1")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 2
    assert done.stderr == "hauteur: --cluster needs ray, not installed here: pip install 'hauteur[ray]'\n"
    assert not (tmp_path / "place").exists()

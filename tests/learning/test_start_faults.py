"""A run that begins from games or nets: wrong input, damaged games, a process that is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import run_toys
import start_toys
from recorded_games import random_record, shard_of
from start_toys import Silent, metrics_of, tiny

from hauteur import _core
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, recipe_toml

shard, teacher_file = start_toys.shard, start_toys.teacher_file  # fixtures


def test_what_is_not_there_is_said_before_anything_is_written(tmp_path: Path, shard: Path, teacher_file: Path) -> None:
    for start, message in (
        ({"games": [str(tmp_path / "no.pgn")]}, "no.pgn: there is no such file or folder"),
        ({"games": [str(tmp_path / "*.pgn")]}, "no file of games there"),
        ({"games": [str(teacher_file)]}, "files of this kind are not read here"),
        ({"games": [str(shard)], "distil_from": str(tmp_path / "no.safetensors")}, "no.safetensors"),
    ):
        with pytest.raises((ValueError, OSError)) as caught:
            learn(tiny(start), folder=tmp_path / "run", display=Silent())
        assert message in str(caught.value)
        assert not (tmp_path / "run").exists()


def test_input_that_is_wrong_leaves_no_run_behind(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"no shard")
    book = {"opening_book": str(tmp_path / "nobook.epd"), "games": 4, "visits": 2}
    cases: list[tuple[Recipe, str]] = [
        (tiny({"games": [str(tmp_path / "bad.parquet")]}), "no game can be used: .*bad.parquet"),
        (run_toys.tiny(selfplay=book, run={"generations": 1}), "nobook.epd"),
    ]
    for recipe, message in cases:
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            learn(recipe, folder=tmp_path / "run", display=Silent())
        assert not (tmp_path / "run").exists()


def test_bad_games_are_named_and_left_out(tmp_path: Path, shard: Path) -> None:
    other = shard_of(tmp_path / "b.parquet", _core.Game("connect4"), [random_record(_core.Game("connect4"), 1)])
    display = Silent()
    learn(tiny({"games": [str(shard), str(other)]}), folder=tmp_path / "run", display=display)
    assert display.warnings == [f"left out {other}, game 1: is a game of connect4, not of tictactoe"]
    assert metrics_of(tmp_path / "run")[0]["start"]["left_out"] == 1
    with pytest.raises(ValueError, match=r"start\.games: no game can be used: .*is a game of connect4"):
        learn(tiny({"games": [str(other)]}), folder=tmp_path / "none", display=Silent())


KILLED = """
import os, signal, sys
from pathlib import Path
from hauteur.learning import context, loop, trainers
from hauteur.learning.options import start
from hauteur.learning.recipe import load_recipe
step, folder = sys.argv[1], Path(sys.argv[2])
def kill(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)
def at_call(number, function):
    calls = []
    def wrapped(*args, **options):
        calls.append(1)
        if len(calls) == number:
            kill()
        return function(*args, **options)
    return wrapped
if step == "games":
    start.write_shard = at_call(2, start.write_shard)
elif step == "shard":
    start.taught_games = at_call(2, start.taught_games)
elif step == "round":
    trainers.Learners.train = at_call(2, trainers.Learners.train)
else:
    context.save_checkpoint = at_call(5, context.save_checkpoint)
loop.learn(load_recipe(folder.parent / "recipe.toml"), folder=folder)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, shard: Path, teacher_file: Path) -> tuple[Recipe, Path]:
    """A recipe with every step of a beginning, and its run without interruption."""
    recipe = tiny(
        {"games": [str(shard)], "epochs": 2.0, "hold_out": 0.2, "distil_from": str(teacher_file)},
        run={"generations": 1},
    )
    folder = tmp_path_factory.mktemp("whole") / "run"
    learn(recipe, folder=folder, display=Silent())
    return recipe, folder


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is for systems that have it")
@pytest.mark.parametrize(
    "step", ["shard", "round", *(pytest.param(step, marks=pytest.mark.slow) for step in ("games", "checkpoint"))]
)
def test_a_killed_beginning_goes_on_where_it_was(whole: tuple[Recipe, Path], tmp_path: Path, step: str) -> None:
    recipe, finished = whole
    (tmp_path / "recipe.toml").write_text(recipe_toml(recipe))
    folder = tmp_path / "run"
    command = [sys.executable, "-c", KILLED, step, str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ)
    assert done.returncode == -signal.SIGKILL, done.stderr
    display = Silent()
    learn(recipe, folder=folder, display=display)
    assert display.warnings == []
    (_, a), (_, b) = (load_checkpoint(run / "checkpoint" / "checkpoint.safetensors") for run in (finished, folder))
    assert a.keys() == b.keys()
    assert [name for name in a if not np.array_equal(a[name], b[name])] == []
    ours, theirs = (metrics_of(run)[0]["start"] for run in (finished, folder))
    for found in (*ours["rounds"], *theirs["rounds"]):
        del found["train"]["seconds"]
    assert ours == theirs

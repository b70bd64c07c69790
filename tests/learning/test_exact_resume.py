"""A run that is killed, at any moment and inside any write, ends like one that went through: same games, same net."""

import hashlib
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from run_killer import Silent
from run_toys import games_of

from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.display import Display
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, parse_recipe, recipe_toml
from hauteur.learning.run_folder import RunFolder
from hauteur.system.lock import LOCK_FILE

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="fork and SIGKILL are for systems that have them"),
    pytest.mark.timeout(900),  # on a machine that is busy otherwise
]

GENERATIONS = 2
RECIPE: dict[str, Any] = {
    "game": "tictactoe",
    "network": {
        "filters": 4,
        "blocks": 1,
        "pooling": 1,
        "pooling_every": 1,
        "policy_channels": 2,
        "value_channels": 2,
        "value_hidden": 8,
    },
    "selfplay": {"games": 12, "visits": 16, "parallel_games": 8, "batch_size": 4, "shard_games": 6, "opening_plies": 2},
    "train": {
        "batch_size": 16,
        "samples_per_position": 1.0,
        "warmup_steps": 2,
        "weight_average": 0.9,
        "window_games": 8,
        "window": {"alpha": 0.75, "beta": 0.4},
        "extra": {"reply": 0.5, "soft_policy": 1.0, "short_term": 0.5, "value_error": 0.5},
    },
    "gate": {"games": 4, "threshold": 0.4},
    "controller": {"probe_games": 6, "max_visits": 32, "settle_generations": 1, "settle_factor": 100},
    "run": {"generations": GENERATIONS, "threads": 1},
}
"""The controller is in it too: a generation has the steps probe, self-play, train and gate; the window grows."""

WRITES_AT_LEAST = 5 * GENERATIONS
"""Of a generation: two shards, a net, the gate's decision, the checkpoint."""


def recipe() -> Recipe:
    return parse_recipe(RECIPE, "test")


def last_net(folder: Path) -> str:
    """sha256 of the last generation's net."""
    return hashlib.sha256(RunFolder(folder).net(GENERATIONS).read_bytes()).hexdigest()


def assert_same_run(folder: Path, through: Path) -> None:
    """Nothing is lost, nothing was played twice, everything is the same, and nothing is left behind."""
    numbers = [(game["generation"], game["index"]) for game in games_of(folder)]
    assert numbers == [(generation, index) for generation in range(1, GENERATIONS + 1) for index in range(12)]
    assert games_of(folder) == games_of(through)
    assert last_net(folder) == last_net(through)
    assert RunFolder(folder).best().read_bytes() == RunFolder(through).best().read_bytes()
    (state, tensors), (expected, other) = (load_checkpoint(RunFolder(path).checkpoint) for path in (folder, through))
    assert {name: values.tobytes() for name, values in tensors.items()} == {n: v.tobytes() for n, v in other.items()}
    assert (state.controller, state.best, state.games) == (expected.controller, expected.best, expected.games)
    assert [line["generation"] for line in RunFolder(folder).read_metrics()] == list(range(1, GENERATIONS + 1))
    assert [path for path in folder.rglob("*") if ".tmp" in path.name or path.name == LOCK_FILE] == []


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that goes through."""
    folder = tmp_path_factory.mktemp("through") / "run"
    learn(recipe(), folder=folder, display=Silent())
    return folder


def test_two_processes_do_not_learn_in_one_folder(through: Path) -> None:
    with RunFolder(through).locked(), pytest.raises(ValueError, match="another process is learning in this folder"):
        learn(recipe(), folder=through, display=Silent())


def killer(kind: str, folder: Path, *rest: str) -> list[str]:
    """Lets run_killer.py make the run in this folder; what it killed."""
    recipe_file = folder.parent / "recipe.toml"
    recipe_file.write_text(recipe_toml(recipe()))
    script = Path(__file__).parents[1] / "support" / "run_killer.py"
    command = [sys.executable, str(script), kind, str(recipe_file), str(folder), *rest]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed: list[str] = json.loads(done.stdout)["killed"]
    return killed


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_killed_at_random_moments(through: Path, tmp_path: Path, kills: int) -> None:
    killed = killer("random", tmp_path / "runs", "1", str(kills))
    assert len(killed) == kills
    for folder in sorted((tmp_path / "runs").iterdir()):
        assert_same_run(folder, through)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["torn", "before", "after"])
def test_killed_inside_every_write(through: Path, tmp_path: Path, first: str) -> None:
    killed = killer("writes", tmp_path / "run", first)
    assert len(killed) >= WRITES_AT_LEAST
    for part in (
        "config.toml",
        "meta.json",
        "games/",
        "nets/",
        "checkpoint/",
        "gate/",
        "metrics.jsonl",
        "best",
        "report",
    ):
        assert any(part in path for path in killed), f"no write of {part} was killed"
    assert_same_run(tmp_path / "run", through)


def test_a_controller_of_temperatures_resumes_with_the_factors_of_earlier_generations(tmp_path: Path) -> None:
    controller = {
        "by": "temperature",
        "targets": (20.0, 0.05),
        "double_visits": False,
        "probe_games": 6,
        "long_game": 20,
    }
    warm = parse_recipe({**RECIPE, "controller": {**controller, "probe_always": True}}, "test")
    learn(warm, folder=tmp_path / "through", display=Silent())

    def interrupt(row: object) -> None:
        raise KeyboardInterrupt

    for _ in range(GENERATIONS):
        with suppress(KeyboardInterrupt):
            learn(warm, folder=tmp_path / "run", display=Display(interrupt))
    assert_same_run(tmp_path / "run", tmp_path / "through")
    state, _ = load_checkpoint(RunFolder(tmp_path / "run").checkpoint)
    factors = [line["search_contempt"]["warmth"] for line in state.history]
    assert len(set(factors)) == GENERATIONS

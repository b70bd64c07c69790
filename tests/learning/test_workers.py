"""Runs whose games are played by workers: the same files, nets and decisions as by one process."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from run_killer import Silent
from thread_fleet import ThreadFleet

from hauteur.cluster.scheduler import Scheduler
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, changed_recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import tensors_digest
from hauteur.system.files import sha256_of, write_bytes

TINY_NET = {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8}
BASE: dict[str, Any] = {
    "game": "connect4",
    "network": TINY_NET,
    "selfplay": {"games": 15, "visits": 8, "parallel_games": 8, "batch_size": 4, "shard_games": 4, "opening_plies": 2},
    "train": {"batch_size": 16, "samples_per_position": 0.5, "warmup_steps": 2},
    "gate": {"games": 6, "opening_plies": 2, "threshold": 0.4},
    "run": {"generations": 2, "threads": 1},
}

VARIANTS: dict[str, dict[str, Any]] = {
    "match": {},
    "sprt": {
        "gate": {"by": "sprt", "games": 40, "sprt": {"elo0": 0, "elo1": 400}},
        "selfplay": {"playout_cap": {"full_share": 0.5, "fast_visits": 3}, "resignation": {"threshold": -0.3}},
    },
    "candidate": {"selfplay": {"episodes": "candidate-versus-best"}, "gate": {"by": "episodes"}},
    "controller": {"controller": {"probe_games": 6, "max_visits": 16}},
    "temperature": {
        "controller": {
            "by": "temperature",
            "targets": (0.5, 2.0),
            "probe_games": 6,
            "probe_always": True,
            "double_visits": False,
        },
    },
    "two nets": {
        "large": {**TINY_NET, "filters": 8},
        "selfplay": {"search": {"second_net": {"small_visits": 8, "large_visits": 4}, "reuse_tree": False}},
    },
    "opponent": {
        "game": "tictactoe",
        "selfplay": {"episodes": "best-versus-opponent"},
        "opponent": {"net": "tictactoe", "visits": 4, "colours": "swap"},
    },
    "model": {
        "selfplay": {"opponent_net": "connect4", "tree_per_side": True, "search": {"search_contempt": {"n_scl": 2}}},
    },
    "baseline": {"selfplay": {"episodes": "candidate-versus-opponent"}, "opponent": {"baseline": "mcts:20"}},
    "again": {
        "selfplay": {
            "archive": {"weight": "change"},
            "max_policy_lag": 1,
            "games": 8,
            "search": {"solver": {"lookahead": 1}},
        },
        "train": {"reanalyse": {"share": 0.2, "visits": 4}, "proven_targets": "earlier"},
        "run": {"generations": 3},
    },
    "lag 1": {"selfplay": {"max_policy_lag": 1}, "run": {"generations": 3}},
    "lag 2": {"selfplay": {"max_policy_lag": 2, "games": 6}, "run": {"generations": 4}},
}


def recipe_of(variant: str) -> Recipe:
    """The base recipe with the changes of a variant."""
    values = {name: dict(section) if isinstance(section, dict) else section for name, section in BASE.items()}
    for name, changes in VARIANTS[variant].items():
        values[name] = {**values.get(name, {}), **changes} if isinstance(changes, dict) else changes
    return parse_recipe(values, variant)


@contextmanager
def workers(count: int) -> Iterator[Scheduler]:
    """A scheduler of `count` threads."""
    scheduler = Scheduler(ThreadFleet(count))
    try:
        yield scheduler
    finally:
        scheduler.close()


def content(folder: Path) -> dict[str, str]:
    """Hashes of all that a run decides: files of games, nets, decisions of the gate, and the checkpoint's tensors."""
    paths = [path for name in ("games", "nets", "gate", "reanalysed") for path in sorted((folder / name).glob("*"))]
    _, tensors = load_checkpoint(RunFolder(folder).checkpoint)
    return {str(path.relative_to(folder)): sha256_of(path) for path in paths} | {"tensors": tensors_digest(tensors)}


NORMAL = ("sprt", "opponent", "model", "again")


@pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=() if name in NORMAL else pytest.mark.slow) for name in VARIANTS]
)
def test_workers_give_what_one_process_gives(tmp_path: Path, variant: str) -> None:
    recipe = recipe_of(variant)
    learn(recipe, folder=tmp_path / "0", display=Silent())
    for count in (1, 2) if variant == "match" else (2,):
        with workers(count) as scheduler:
            learn(recipe, folder=tmp_path / str(count), display=Silent(), scheduler=scheduler)
        assert content(tmp_path / str(count)) == content(tmp_path / "0")
    units = -(-recipe.selfplay.games // recipe.selfplay.shard_games)
    names = [f"games/gen-{g:05d}-{u:04d}.parquet" for g in range(1, recipe.run.generations + 1) for u in range(units)]
    assert [name for name in content(tmp_path / "0") if name.startswith("games/")] == names
    for line in (RunFolder(tmp_path / name).read_metrics()[-1] for name in ("0", "2")):
        assert line["cost"]["evaluations"] > 0
        assert (line["cost"]["evaluations_large"] > 0) is (variant in ("two nets", "model"))


@pytest.fixture(scope="module")
def half_played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ends when the games of its first generation are there, before it has learned."""
    folder = tmp_path_factory.mktemp("half") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hauteur.learning.steps.selfplay.read_games", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learn(recipe_of("match"), folder=folder, display=Silent())
    return folder


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("count", [0, 2])
def test_numbers_of_workers_are_those_of_all_sessions(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = changed_recipe(recipe_of("match"), ["run.generations=1"])
    with monkeypatch.context() as patch, workers(2) as scheduler:
        patch.setattr("hauteur.learning.loop.train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learn(recipe, folder=tmp_path, display=Silent(), scheduler=scheduler)
    with workers(count) if count else nullcontext() as later:
        learn(recipe, folder=tmp_path, display=Silent(), scheduler=later)
    (line,) = RunFolder(tmp_path).read_metrics()
    assert line["workers"]["units"] >= 4
    assert 0 < line["workers"]["present"] <= 2.01
    assert 0 < line["workers"]["in_flight"] <= 4.02


@pytest.mark.parametrize("count", [0, 2])
def test_units_that_are_there_and_right_are_not_played_again(half_played: Path, tmp_path: Path, count: int) -> None:
    folder = tmp_path / "run"
    display = Silent()
    shutil.copytree(half_played, folder)
    games = folder / "games"
    whole = {path.name: path.read_bytes() for path in sorted(games.iterdir())}
    damaged, foreign, kept = (games / f"gen-00001-000{number}.parquet" for number in (0, 1, 2))
    damaged.write_bytes(damaged.read_bytes()[:1000])
    foreign.write_bytes(kept.read_bytes())  # right games, but of another unit
    (games / "gen-00001-0009.parquet").write_bytes(kept.read_bytes())
    before = kept.stat()
    recipe = changed_recipe(recipe_of("match"), ["run.generations=1"])
    with workers(2) if count else nullcontext() as scheduler:
        learn(recipe, folder=folder, display=display, scheduler=scheduler)
    assert {name: (games / name).read_bytes() for name in whole} == whole
    assert (kept.stat().st_mtime_ns, kept.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    first, second, third = display.warnings
    assert f"{damaged}: not a whole Parquet file" in first
    assert second == f"{foreign}: its index is not that of unit 1 of generation 1; its games are played again"
    assert third == f"{games / 'gen-00001-0009.parquet'}: is the file of no unit of this generation, and is not used"


def test_a_full_disk_ends_the_run_which_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = changed_recipe(recipe_of("match"), ["run.generations=1"])
    display = Silent()
    learn(recipe, folder=tmp_path / "0", display=display)
    written = list[Path]()

    def full(path: Path, data: bytes) -> None:
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write_bytes(path, data)
        written.append(path)

    with workers(2) as scheduler:
        monkeypatch.setattr("hauteur.learning.step_games.write_bytes", full)
        with pytest.raises(OSError, match="No space left on device"):
            learn(recipe, folder=tmp_path / "2", display=display, scheduler=scheduler)
        monkeypatch.undo()
        learn(recipe, folder=tmp_path / "2", display=display, scheduler=scheduler)
    assert content(tmp_path / "2") == content(tmp_path / "0")
    assert display.warnings == []

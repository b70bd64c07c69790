"""Runs whose games are played by workers: the same files, nets and decisions as by one process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from run_killer import Silent
from thread_fleet import ThreadFleet

from hauteur.cluster.scheduler import Scheduler
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import tensors_digest
from hauteur.system.files import sha256_of

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
    "two nets": {
        "large": {**TINY_NET, "filters": 8},
        "selfplay": {"search": {"second_net": {"small_visits": 8, "large_visits": 4}, "reuse_tree": False}},
    },
    "opponent": {
        "game": "tictactoe",
        "selfplay": {"episodes": "best-versus-opponent"},
        "opponent": {"net": "tictactoe", "visits": 4, "colours": "swap"},
    },
    "baseline": {"selfplay": {"episodes": "candidate-versus-opponent"}, "opponent": {"baseline": "mcts:20"}},
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
    """A scheduler of so many threads."""
    scheduler = Scheduler(ThreadFleet(count))
    try:
        yield scheduler
    finally:
        scheduler.close()


def content(folder: Path) -> dict[str, str]:
    """Hashes of all that a run decides: files of games, nets, decisions of the gate, and the checkpoint's tensors."""
    paths = [path for name in ("games", "nets", "gate") for path in sorted((folder / name).iterdir())]
    _, tensors = load_checkpoint(RunFolder(folder).checkpoint)
    return {str(path.relative_to(folder)): sha256_of(path) for path in paths} | {"tensors": tensors_digest(tensors)}


SLOW = ("candidate", "baseline", "lag 2")


@pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in VARIANTS]
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
        assert (line["cost"]["evaluations_large"] > 0) is (variant == "two nets")

"""Tiny runs of tic-tac-toe, and whether two of them are the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.display import Display
from hauteur.learning.recipe import Recipe, parse_recipe

TINY: dict[str, Any] = {
    "game": "tictactoe",
    "network": {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
    "selfplay": {"games": 12, "visits": 8, "parallel_games": 6, "batch_size": 4, "shard_games": 5, "opening_plies": 2},
    "train": {"batch_size": 16, "samples_per_position": 1.0, "warmup_steps": 2},
    "gate": {"games": 4},
    "run": {"generations": 2, "threads": 1, "solved_positions": 0},
}


def tiny(**sections: dict[str, Any]) -> Recipe:
    values = {key: dict(value) if isinstance(value, dict) else value for key, value in TINY.items()}
    for name, changes in sections.items():
        values[name] = {**values.get(name, {}), **changes}
    return parse_recipe(values, "test")


class Silent(Display):
    """Keeps what would be printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.warnings: list[str] = []

    def begin(self, *given: Any) -> None:
        pass

    def resume(self, *given: Any) -> None:
        pass

    def show(self, line: str) -> None:
        self.lines.append(line)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def games_of(folder: Path) -> list[dict[str, Any]]:
    rows = [row for path in sorted((folder / "games").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["generation"], row["index"]))


def assert_same_run(first: Path, second: Path) -> None:
    """Same games, same final weights and optimiser, bit for bit."""
    assert games_of(first) == games_of(second)
    (_, a), (_, b) = (load_checkpoint(folder / "checkpoint" / "checkpoint.safetensors") for folder in (first, second))
    assert a.keys() == b.keys()
    assert [name for name in a if not np.array_equal(a[name], b[name])] == []

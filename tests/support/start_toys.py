"""A small run that begins with recorded games or with a teacher."""

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_games import random_record, shard_of
from run_toys import Silent as Silent

from hauteur import _core, networks
from hauteur.learning.recipe import NetworkSettings, Recipe, parse_recipe
from hauteur.learning.trainers import architecture_for
from hauteur.networks.modules import initialise, tensors_of

TICTACTOE = _core.Game("tictactoe")


TINY: dict[str, Any] = {
    "game": "tictactoe",
    "network": {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
    "selfplay": {"games": 8, "visits": 8, "parallel_games": 6, "batch_size": 4},
    "train": {"batch_size": 16, "samples_per_position": 1.0, "warmup_steps": 2, "learning_rate": 0.01},
    "gate": {"games": 4},
    "run": {"generations": 0, "threads": 1},
}


def tiny(start: dict[str, Any], **sections: dict[str, Any]) -> Recipe:
    values = {key: dict(value) if isinstance(value, dict) else value for key, value in TINY.items()}
    for name, changes in sections.items():
        values[name] = {**values.get(name, {}), **changes}
    return parse_recipe({**values, "start": start}, "test")


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [random_record(TICTACTOE, index) for index in range(60)]
    return shard_of(tmp_path_factory.mktemp("games") / "recorded.parquet", TICTACTOE, records)


@pytest.fixture(scope="module")
def teacher_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "teacher.safetensors"
    architecture = architecture_for(TICTACTOE, NetworkSettings(filters=8, blocks=1, value_hidden=8))
    networks.save(path, architecture, tensors_of(initialise(architecture, 5)), game="tictactoe")
    return path


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]

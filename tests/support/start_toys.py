"""A small run that begins with recorded games or with a teacher."""

import json
from pathlib import Path
from typing import Any

import pytest
import run_toys
from recorded_games import random_record, shard_of
from run_toys import Silent as Silent

from hauteur import _core, networks
from hauteur.learning.recipe import Recipe
from hauteur.learning.trainers import architecture_for
from hauteur.networks.architecture import NetworkSettings
from hauteur.networks.modules import initialise, tensors_of

TICTACTOE = _core.Game("tictactoe")


def tiny(start: dict[str, Any], **sections: dict[str, Any]) -> Recipe:
    """A tiny run that begins so, without self-play unless `sections` have it."""
    train = {"learning_rate": 0.01, **sections.get("train", {})}
    run = {"generations": 0, **sections.get("run", {})}
    return run_toys.tiny(**{**sections, "start": start, "train": train, "run": run})


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

"""The folder of a learning run: which file lies where, and how each is written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe, check_same, load_recipe, recipe_toml
from hauteur.system import hardware
from hauteur.system.files import leftovers, write_bytes, write_json
from hauteur.system.lock import locked
from hauteur.system.provenance import provenance

FOLDERS = ("games", "nets", "checkpoint", "gate")
"""Folders of every run."""

LARGE = "-large"
"""Marks the file of the large net of two."""


@dataclass(frozen=True)
class RunFolder:
    """config.toml, meta.json, games/, nets/, best.safetensors, checkpoint/, metrics.jsonl, gate/, report.html."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved recipe."""
        return self.path / "config.toml"

    @property
    def games(self) -> Path:
        """Folder of the shards of games."""
        return self.path / "games"

    @property
    def start(self) -> Path:
        """Folder of the shards of games that the run began with."""
        return self.path / "start"

    @property
    def checkpoint(self) -> Path:
        """What the run goes on from."""
        return self.path / "checkpoint" / "checkpoint.safetensors"

    @property
    def metrics(self) -> Path:
        """One JSON line a generation."""
        return self.path / "metrics.jsonl"

    @property
    def report(self) -> Path:
        """The page with the figures."""
        return self.path / "report.html"

    def best(self, *, large: bool = False) -> Path:
        """A copy of the best net; large: of the large net beside it."""
        return self.path / f"best{LARGE if large else ''}.safetensors"

    @property
    def tensorboard(self) -> Path:
        """Folder of the events for TensorBoard."""
        return self.path / "tensorboard"

    def net(self, generation: int, *, large: bool = False) -> Path:
        """The net that a generation trained; 0: the one that the run began with. large: the large net beside it."""
        return self.path / "nets" / f"gen-{generation:05d}{LARGE if large else ''}.safetensors"

    def gate(self, generation: int) -> Path:
        """The gate's decision on a generation."""
        return self.path / "gate" / f"gen-{generation:05d}.json"

    def create(self, recipe: Recipe) -> None:
        """A new folder with config.toml and meta.json; ValueError when there is a run already."""
        if self.config.exists():
            raise ValueError(f"{self.path} holds a run already; leave --fresh out to go on with it, or name another")
        left = next((path for name in FOLDERS for path in sorted((self.path / name).glob("*"))), None)
        if left is not None:
            raise ValueError(f"{self.path} holds what another run has left, such as {left.name}; name another folder")
        for name in FOLDERS:
            (self.path / name).mkdir(parents=True, exist_ok=True)
        write_json(self.path / "meta.json", run_facts(recipe))
        write_bytes(self.config, recipe_toml(recipe).encode())

    def discard(self) -> None:
        """Deletes what a run has written that has no checkpoint and no game yet; other files stay."""
        mine = [self.config, self.path / "meta.json", *self.path.glob("nets/gen-00000*.safetensors")]
        for path in (*mine, *self.start.glob("*.parquet"), self.start / "chunks.json"):
            path.unlink(missing_ok=True)
        for path in (*(self.path / name for name in (*FOLDERS, "start")), self.path):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    @property
    def has_work(self) -> bool:
        """Whether there is a checkpoint to go on from, or a game that was played."""
        return self.checkpoint.exists() or any(self.games.glob("*.parquet"))

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other processes of this machine out of the folder; ValueError when one is at work in it."""
        return locked(self.path, "learning")

    def sweep(self) -> None:
        """Deletes the files that a process which ended while it wrote them has left behind."""
        for path in leftovers(self.path):
            path.unlink(missing_ok=True)

    def stored_recipe(self) -> Recipe:
        """The recipe that the run was begun with."""
        try:
            return load_recipe(self.config)
        except FileNotFoundError:
            raise ValueError(f"{self.path} is not the folder of a run: it has no config.toml") from None

    def check_recipe(self, recipe: Recipe) -> None:
        """ValueError when the run was begun with other settings."""
        check_same(recipe, self.stored_recipe(), str(self.path))

    def read_meta(self) -> dict[str, Any]:
        """What meta.json says; ValueError when it is not a JSON object."""
        path = self.path / "meta.json"
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: not JSON: {error}") from error
        if not isinstance(facts, dict):
            raise ValueError(f"{path}: must hold a JSON object, holds {str(facts)[:40]}")
        return facts

    def write_metrics(self, history: Iterable[dict[str, Any]]) -> None:
        """Replaces metrics.jsonl."""
        write_bytes(self.metrics, "".join(json.dumps(line) + "\n" for line in history).encode())

    def read_metrics(self) -> list[dict[str, Any]]:
        """The metrics of all finished generations, from 1."""
        return [line for line in self._metric_lines() if line["generation"] > 0]

    def read_start(self) -> dict[str, Any] | None:
        """The metrics of generation 0; None when the run did not begin by learning from recorded games."""
        return next((line for line in self._metric_lines() if line["generation"] == 0), None)

    def _metric_lines(self) -> list[dict[str, Any]]:
        try:
            lines = [json.loads(line) for line in self.metrics.read_text(encoding="utf-8").splitlines()]
        except FileNotFoundError:
            return []
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.metrics}: not a file of JSON lines: {error}") from error
        wrong = next((line for line in lines if not isinstance(line, dict) or "generation" not in line), None)
        if wrong is not None:
            raise ValueError(f"{self.metrics}: every line must be a JSON object with generation, got {str(wrong)[:40]}")
        return lines


def run_facts(recipe: Recipe) -> dict[str, Any]:
    """What meta.json says: versions, machine, command, seed."""
    return {
        **provenance(),
        "seed": recipe.run.seed,
        "threads": recipe.run.threads or hardware.usable_cores(),
    }

"""Folder of a learning run: layout and writing of its files."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import FREE_ON_RESUME, Recipe, deciding_settings, load_recipe, recipe_toml
from hauteur.learning.sections import ANOTHER_RUN
from hauteur.system import host
from hauteur.system.files import read_json, write_bytes, write_json
from hauteur.system.jsonl import read_objects
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import InFolder, RunDirectory, changes

FOLDERS = ("games", "nets", "checkpoint", "gate")
"""Folders of every run."""

LARGE = "-large"
"""Marks the file of the large net of two."""

ADVICE = f"give them back their old values, or {ANOTHER_RUN}; a resumed run may change only {', '.join(FREE_ON_RESUME)}"
"""Advice about other settings."""


def named(path: Path, error: Exception) -> str:
    """Return an error as a line that names the file."""
    text = str(error)
    if str(path) in text:
        return text
    return f"{path}: {text}"


MOST_NAMED = 3
"""Runs that a message names."""


def no_run(folder: Path) -> ValueError:
    """Return the error for a folder that is none of a run; where runs lie below, it names them."""
    if not folder.is_dir():
        return ValueError(
            f"{folder}: {'is a file, expected a folder' if folder.exists() else 'there is no such folder'}"
        )
    found = [path.parent for depth in ("*", "*/*") for path in sorted(folder.glob(f"{depth}/config.toml"))]
    named = ", ".join(map(str, found[:MOST_NAMED])) + (", ..." if len(found) > MOST_NAMED else "")
    below = f"; below it are {named}" if found else ""
    return ValueError(f"{folder} is not the folder of a run: it has no config.toml{below}")


@dataclass(frozen=True)
class RunFolder(RunDirectory):
    """config.toml, meta.json, games/, nets/, best.safetensors, checkpoint/, metrics.jsonl, gate/, report.html."""

    SETTINGS = "config.toml"
    CONTENT = "a run"
    WORK = "learning"
    GROWING = ("metrics.jsonl", "progress.json", "costs.jsonl")

    config = InFolder(SETTINGS)
    """The resolved recipe."""
    games = InFolder("games")
    """Folder of the shards of games."""
    reanalysed = InFolder("reanalysed")
    """Folder of the shards of positions that were searched again; each is a game of one move."""
    start = InFolder("start")
    """Folder of the shards of games that the run began with."""
    checkpoint = InFolder("checkpoint/checkpoint.safetensors")
    metrics = InFolder("metrics.jsonl")
    """One JSON line a generation."""
    exact_play = InFolder("exact_play.json")
    """How often the best nets keep the value of solved positions, and these (hauteur.learning.exact_curve)."""
    yardstick = InFolder("yardstick.json")
    """Matches of the best nets with a fixed opponent (hauteur.learning.yardstick)."""
    costs = InFolder("costs.jsonl")
    """What each unit of games has cost (hauteur.learning.compute)."""
    progress = InFolder("progress.json")
    """How far the step is that a running process takes; gone when it ends."""
    report = InFolder("report.html")
    """The page with the figures."""

    def best(self, *, large: bool = False) -> Path:
        """A copy of the best net; large: of the best large net."""
        return self.path / f"best{LARGE if large else ''}.safetensors"

    def net(self, generation: int, *, large: bool = False) -> Path:
        """The net that a generation trained; 0: the one that the run began with. large: its large net."""
        return self.path / "nets" / f"gen-{generation:05d}{LARGE if large else ''}.safetensors"

    def gate(self, generation: int) -> Path:
        """The decision of the gate of a generation, JSON."""
        return self.path / "gate" / f"gen-{generation:05d}.json"

    def create(self, recipe: Recipe) -> None:
        """A new folder with config.toml and meta.json; ValueError when there is a run already."""
        if self.config.exists():
            raise ValueError(f"{self.path} holds a run already; leave --fresh out to go on with it, or name another")
        for name in FOLDERS:
            # Files of another run have the names that this one will give its own.
            left = min((self.path / name).glob("*"), default=None)
            if left is not None:
                raise ValueError(
                    f"{self.path} holds what another run has left, such as {left.name}; name another folder"
                )
        self._make_folders()
        meta = provenance()
        meta["seed"] = recipe.run.seed
        meta["threads"] = recipe.run.cores
        # The recipe goes last, since it makes the folder that of a run: killed before, the same command begins anew.
        text = recipe_toml(recipe)
        write_json(self.path / "meta.json", meta)
        write_bytes(self.config, text.encode())

    def _make_folders(self) -> None:
        """Make the folders of a run that are not there."""
        for name in FOLDERS:
            (self.path / name).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Hold the folder for a process that learns in it, and leave no progress.json when that ends.

        ValueError where another process learns in it. Wrong input that ends a run before it has done anything takes the
        folder away again.
        """
        with self.locked():
            was_there = self.config.exists()
            try:
                yield
            except (ValueError, FileNotFoundError):
                # Of wrong input alone: after Ctrl-C, or on a full disk, the same command goes on with what is there.
                if not was_there and not self.has_work:
                    self.discard()
                raise
            finally:
                host.disk.remove(self.progress)

    def discard(self) -> None:
        """Delete what a run has written that has no checkpoint and no game yet; other files stay."""
        nets = self.path.glob("nets/gen-00000*.safetensors")
        games = self.start.glob("*.parquet")
        for path in (*nets, *games, self.progress):
            host.disk.remove(path)
            host.disk.sync_folder(path.parent)
        # The recipe goes when these are gone for good: a folder without it is refused while it has them. What is below
        # goes after it, so that a loss of power leaves no recipe alone.
        for path in (self.config, self.path / "meta.json"):
            host.disk.remove(path)
        inside = [self.path / name for name in (*FOLDERS, "start")]
        for path in (*inside, self.path):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    @property
    def has_work(self) -> bool:
        """True where there is a checkpoint to resume from, or a played game."""
        return self.checkpoint.exists() or any(self.games.glob("*.parquet"))

    def title(self) -> str:
        """Name of the run for people: game and folder."""
        return f"{self.stored_recipe().game}: {self.path.name}"

    def is_complete(self) -> bool:
        """Whether all generations are finished, or the budget is spent."""
        lines = self._metric_lines()
        run = self.stored_recipe().run
        if not lines:
            return False
        spent = lines[-1].get("compute", {}).get("flops_total", 0)
        has_spent = 0 < run.budget_flops <= spent
        return bool(has_spent or lines[-1]["generation"] >= run.generations)

    def stored_recipe(self) -> Recipe:
        """Return the settings that the run was begun with; ValueError where the folder has no run."""
        try:
            return load_recipe(self.config)
        except FileNotFoundError:
            raise no_run(self.path) from None

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise ValueError when the run was begun with other settings."""
        before = deciding_settings(self.stored_recipe())
        now = deciding_settings(recipe)
        self.refuse(changes(before, now), ADVICE)

    def resume_with(self, recipe: Recipe) -> None:
        """Check as `check_recipe` does; keep the recipe where it has more generations than the run was begun with,
        another budget or another yardstick.

        Raise ValueError as well where work of finished generations is there but their checkpoint is not.
        """
        self.check_recipe(recipe)
        self._check_checkpoint()
        self._make_folders()  # copies of a run, by Git for instance, have no empty ones
        stored_recipe = self.stored_recipe()
        stored = stored_recipe.run
        generations = max(recipe.run.generations, stored.generations)
        is_longer = generations > stored.generations
        is_changed = recipe.run.budget_flops != stored.budget_flops or recipe.yardstick != stored_recipe.yardstick
        if is_longer or is_changed:
            run = recipe.run.model_copy(update={"generations": generations})
            longer = recipe.model_copy(update={"run": run})
            write_bytes(self.config, recipe_toml(longer).encode())

    def _check_checkpoint(self) -> None:
        """Raise ValueError where there is work of generations and no checkpoint to resume from."""
        # Without its checkpoint the run would begin at generation 1 again and write over the nets that are there.
        if self.checkpoint.exists():
            return
        # The first net is written before the first checkpoint, so it alone is no sign of lost work.
        nets = len({path.stem[:9] for path in self.path.glob("nets/gen-*.safetensors")} - {"gen-00000"})
        if nets or self._metric_lines():
            found = "metrics of generations"
            if nets:
                found = f"nets of {nets} generation{'' if nets == 1 else 's'}"
            raise ValueError(
                f"{self.path} has {found} and no checkpoint, so it cannot go on: put {self.checkpoint} back from a "
                f"copy, or {ANOTHER_RUN}"
            )

    def read_meta(self) -> dict[str, Any]:
        """Return what meta.json says; ValueError when it is not a JSON object."""
        return read_json(self.path / "meta.json")

    def damaged_files(self) -> Iterator[str]:
        """Yield a line about every net and every decision of the gate that cannot be read, such as an empty file.

        Nothing of a report is read from them, so that nobody else would see it.
        """
        from hauteur.networks.registry import describe

        nets = sorted(self.path.glob("nets/*.safetensors"))
        best = sorted(self.path.glob("best*.safetensors"))
        for path in (*nets, *best):
            try:
                describe(path)
            except (ValueError, OSError) as error:
                yield named(path, error)
        for path in sorted(self.path.glob("gate/*.json")):
            try:
                if "promoted" not in read_json(path):
                    raise ValueError(f"{path}: is no decision of a gate")
            except (ValueError, OSError) as error:
                yield named(path, error)

    def write_metrics(self, history: Iterable[dict[str, Any]]) -> None:
        """Write metrics.jsonl, a line a generation."""
        # Written whole and not appended to: a line that a kill had cut off would have to be found and mended.
        text = "".join(json.dumps(line) + "\n" for line in history)
        write_bytes(self.metrics, text.encode())

    def read_metrics(self) -> list[dict[str, Any]]:
        """Return the metrics of all finished generations, from 1, with what the best net's play was measured to be."""
        # Joined here and not in metrics.jsonl: nets may be measured after their generation, by a yardstick that was
        # added later, and the run's own numbers are the same with and without it.
        lines = [line for line in self._metric_lines() if line["generation"] > 0]
        for name, file in (("exact_play", self.exact_play), ("yardstick", self.yardstick)):
            measured = read_json(file).get("nets", {}) if file.exists() else {}
            for line in lines:
                result = measured.get(str(line.get("best")))
                if result:
                    line[name] = result
        return lines

    def read_start(self) -> dict[str, Any] | None:
        """The metrics of generation 0; None when the run did not begin by learning from recorded games."""
        return next((line for line in self._metric_lines() if line["generation"] == 0), None)

    def _metric_lines(self) -> list[dict[str, Any]]:
        """Return the lines of metrics.jsonl; none before the first generation is finished."""
        if not self.metrics.exists():
            return []
        return read_objects(self.metrics, "generation")

"""Learning runs of an experiment: several processes at a time, what they wrote, and where they may end."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.setting import Setting, Show

Lines = Sequence[Mapping[str, Any]]
"""Metrics of a run's generations, in order."""

STEP = 4
"""Generations between two looks at a goal whose distance is unknown."""


@dataclass(frozen=True)
class Goal:
    """Condition that ends a run before its last generation; such a run has a constant learning rate.

    evaluations: of the nets in its games, this many or more; ratio: (w + l)/d of a generation's games below it.
    """

    evaluations: int | None = None
    ratio: float | None = None

    def reached(self, lines: Lines) -> int | None:
        """Return the first generation at which the run may end, None where none is."""
        spent = 0
        for line in lines:
            spent += line["cost"]["evaluations"]
            ratio = line["games"]["ratio"]
            is_spent = self.evaluations is not None and spent >= self.evaluations
            if is_spent or (self.ratio is not None and ratio is not None and ratio < self.ratio):
                return int(line["generation"])
        return None

    def next_stop(self, lines: Lines) -> int:
        """Return a generation up to which the run can go before it is asked again: never far beyond the goal."""
        if self.evaluations is None or not lines:
            return len(lines) + STEP
        costs = [line["cost"]["evaluations"] for line in lines]
        return len(lines) + max(1, int((self.evaluations - sum(costs)) / max(1, *costs)))


def metrics_of(run: Path) -> Lines:
    """Read the metrics of a run's finished generations; none where the folder has none."""
    file = run / "metrics.jsonl"
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def runs_of(setting: Setting) -> dict[str, Path]:
    """Return the folders of learning runs that the setting gives as nets, by their names.

    Where names are equal, as those of the arms of an experiment in a folder for each seed, the folder above is in them.
    Raise ValueError for none, for anything but the folder of a run with a finished generation, and for equal names.
    """
    if not setting.nets:
        raise ValueError("this experiment needs folders of learning runs, --net RUN ... (hauteur train), got none")
    for path in setting.nets:
        if not metrics_of(path):
            raise ValueError(f"{path} is not the folder of a learning run with a finished generation (hauteur train)")
    paths = [path.resolve() for path in setting.nets]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}-{path.name}" for path in paths]
    found = dict(zip(names, setting.nets, strict=True))
    if len(found) < len(setting.nets):
        raise ValueError(f"the folders of the runs must have different names, got {', '.join(map(str, setting.nets))}")
    return found


def net_of(run: Path, generation: int, *, large: bool = False) -> Path:
    """The net that a generation trained; 0: the one that the run began with. large: the large net of two."""
    return run / "nets" / f"gen-{generation:05d}{'-large' if large else ''}.safetensors"


def learn_seeds(setting: Setting, recipe: Callable[[int], ht.Recipe]) -> dict[int, Path]:
    """Return the finished runs of the seeds of the setting. recipe: of a seed; earlier attempts resume."""
    seeds = {str(seed): (f"seed-{seed}", recipe(seed)) for seed in setting.seed_numbers}
    return {int(seed): folder for seed, folder in learn_beside(setting, seeds).items()}


def learn_beside(
    setting: Setting, runs: Mapping[str, tuple[str, ht.Recipe]], goal: Goal | None = None
) -> dict[str, Path]:
    """Return the folders of finished runs by their names, as many at a time as the setting has threads.

    runs: folder, in that of the setting, and recipe of each. Runs begun by an earlier attempt resume.
    """
    folders = {}
    missing = {}
    for name, (folder, recipe) in runs.items():
        path = setting.folder / folder
        folders[name] = path
        if goal is None or goal.reached(metrics_of(path)) is None:
            missing[name] = (recipe.model_dump_json(), path)
    context = multiprocessing.get_context("spawn")
    show = partial(print, flush=True)
    workers = max(1, min(setting.threads, len(missing)))
    with ProcessPoolExecutor(workers, mp_context=context, initializer=end_with_parent) as pool:
        running = {pool.submit(_learn, *task, show, goal): name for name, task in missing.items()}
        for future in as_completed(running):
            setting.show(f"{running[future]}: {future.result()} generations learned")
    return folders


def end_with_parent() -> None:
    """Let this process end when the one that started it has ended, however that was.

    Otherwise a run would go on learning after its experiment was killed, and the same command would find it locked.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        raise RuntimeError("this process was not started by another one")

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _learn(recipe: str, folder: Path, show: Show, goal: Goal | None) -> int:
    """Learn in this process; the number of finished generations. The experiment measures the nets, not the run."""
    parsed = ht.Recipe.model_validate_json(recipe)
    parsed = parsed.model_copy(update={"run": parsed.run.model_copy(update={"solved_positions": 0})})
    # A finished run needs no checkpoint and no games: its settings, metrics and nets may come from another machine.
    generations = len(metrics_of(folder))
    if generations >= parsed.run.generations and _is_of(ht.LearningRun(folder).recipe, parsed):
        return generations
    learn = partial(ht.learn, parsed, out=folder, on_generation=_shown(show, folder))
    if goal is None:
        return len(learn().metrics)
    while goal.reached(lines := metrics_of(folder)) is None and len(lines) < parsed.run.generations:
        learn(f"run.generations={min(goal.next_stop(lines), parsed.run.generations)}")
    return len(lines)


def _is_of(begun: ht.Recipe, recipe: ht.Recipe) -> bool:
    """Return whether a run was begun with this recipe, whatever its machine has settled `auto` to."""
    precision = begun.run.precision if recipe.run.precision == "auto" else recipe.run.precision
    mixed = begun.train.mixed_precision if recipe.train.mixed_precision == "auto" else recipe.train.mixed_precision
    run = recipe.run.model_copy(update={"precision": precision})
    train = recipe.train.model_copy(update={"mixed_precision": mixed})
    return begun == recipe.model_copy(update={"run": run, "train": train})


def _shown(show: Show, folder: Path) -> Callable[[object], None]:
    """Show the line of a generation, shortened, with the names of its folders."""
    name = "/".join(folder.parts[-2:])

    def show_row(row: object) -> None:
        first_columns = str(row).split("  ")[:4]
        show(f"{name}: {'  '.join(first_columns)}")

    return show_row

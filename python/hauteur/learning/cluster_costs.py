"""The constants of the model of many workers, measured on this machine with the units of a recipe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from math import log
from pathlib import Path
from statistics import fmean, median, stdev
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from hauteur import __version__
from hauteur.cluster.crew import IN_FLIGHT
from hauteur.cluster.facts import worker_facts
from hauteur.cluster.framing import message_bytes
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.model.costs import ClusterCosts
from hauteur.cluster.model.empty import empty_units
from hauteur.cluster.model.overhead import cpu_seconds_a_unit, scheduling_seconds
from hauteur.cluster.unit import Unit
from hauteur.games.registry import load_game
from hauteur.learning.planned import PlannedGames, planned_selfplay
from hauteur.learning.recipe import Recipe
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.unit_files import unit_path, write_unit
from hauteur.learning.unit_journal import UnitJournal
from hauteur.learning.units import SelfPlayJob, units_of
from hauteur.system import hardware
from hauteur.system.settings import validated

NET = 1
"""Generation of the net that plays."""
ROUNDS = 5
"""Times that each piece of the driver's work is measured; the median counts."""
EMPTY_UNITS = 300
TRAIN_STEPS = 10


@dataclass
class UnitFeed:
    """Units as a worker gets them, two at a time. clock: in seconds; ends: when each was handed in."""

    units: list[Unit]
    clock: Callable[[], float]
    flying: int = 0
    ends: list[float] = field(default_factory=list)
    contents: dict[int, bytes] = field(default_factory=dict)

    def next_unit(self) -> Unit | None:
        """Return the next unit."""
        if not self.units or self.flying == IN_FLIGHT:
            return None
        self.flying += 1
        return self.units.pop(0)

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:  # noqa: ARG002
        """Take a unit."""
        self.flying -= 1
        self.ends.append(self.clock())
        self.contents[unit.own["number"]] = content


@contextmanager
def _timed(found: list[float], clock: Callable[[], float]) -> Iterator[None]:
    began = clock()
    yield
    found.append(clock() - began)


def measured_costs(
    recipe: Recipe,
    net: Path,
    *,
    units: int,
    threads: int,
    folder: Path,
    train: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> ClusterCosts:
    """Return the constants, with units played one after another by a worker of this process.

    net: that plays; units: to play, 4 or more, an even number, because two end together; threads: of the net and of
    training; folder: on the disk that the driver would write to; train: whether training is measured too, else it takes
    no time; clock: what measures the worker, in seconds.
    """
    where, planned = _where(), _planned(recipe, units)
    planning: list[float] = []
    with _timed(planning, time.process_time):
        all_units, sources = units_of(recipe, planned, {NET: [net]}, list(planned.units))
        task_bytes = round(fmean(len(message_bytes({"unit": unit.to_json()})) for unit in all_units))
    feed, load_seconds, alone, pair = _play(all_units, sources, threads, clock)
    result_bytes = round(fmean(len(content) for content in feed.contents.values()))
    seconds = (feed.ends[-1] - feed.ends[IN_FLIGHT - 1]) / (units - IN_FLIGHT)
    with TemporaryDirectory(dir=folder) as place:
        driver, positions, buffer = _driver(recipe, planned, feed.contents, RunFolder(Path(place)))
    scheduling, per_round = scheduling_seconds()
    empty = empty_units([0.0] * EMPTY_UNITS, task_bytes=task_bytes, result_bytes=result_bytes)
    pipe, _ = cpu_seconds_a_unit(LocalFleet(1), empty, workers=1)
    gate, visits = recipe.gate, recipe.selfplay.visits
    values = {
        "measured": where,
        "unit": {
            "games": recipe.selfplay.shard_games,
            "positions": fmean(positions),
            "seconds": seconds,
            "spread": stdev(log(max(1, count)) for count in positions),
            "tail": min(10.0, max(0.0, alone / seconds - 1)),
            "task_bytes": task_bytes,
            "result_bytes": result_bytes,
        },
        "generation": {
            "games": recipe.selfplay.games,
            "gate_units": gate.games // 2 if gate.by in ("match", "sprt") else 0,
            "gate_seconds": pair * (gate.visits or visits) / visits,
            **({"train_positions_per_second": _train_rate(recipe, buffer, threads, clock)} if train else {}),
        },
        "driver": {
            "plan_seconds": planning[0] / len(all_units),
            "give_seconds": max(pipe, scheduling),
            "round_seconds": per_round,
            **driver,
        },
        "net": {"bytes": net.stat().st_size, "load_seconds": load_seconds},
    }
    return validated(ClusterCosts, values, "what was measured")


def _where() -> str:
    cores, name = hardware.usable_cores(), hardware.processor_name()
    load = f"load {os.getloadavg()[0]:.1f}, " if hasattr(os, "getloadavg") else ""
    return f"{date.today().isoformat()}, {name}, {cores} cores, {load}hauteur {__version__}"


def _planned(recipe: Recipe, units: int) -> PlannedGames:
    settings = recipe.selfplay.model_copy(update={"games": units * recipe.selfplay.shard_games})
    return planned_selfplay(load_game(recipe.game), settings, generation=NET + 1, nets=[NET], seed=recipe.run.seed)


def _play(
    units: Sequence[Unit], sources: Mapping[str, Path], threads: int, clock: Callable[[], float]
) -> tuple[UnitFeed, float, float, float]:
    """Return what was made of the units; seconds to open the net, of the first unit alone, of a pair of games."""
    opened: list[float] = []
    first = units[0]
    with _timed(opened, clock):
        job = SelfPlayJob(first, sources, threads)
    with closing(job):
        two = Unit(first.kind, "two games", first.shared, {**first.own, "plans": first.own["plans"][:2]}, first.files)
        took: list[float] = []
        for unit in (two, first):
            with _timed(took, clock):
                job.play(UnitFeed([unit], clock))
        feed = UnitFeed(list(units), clock)
        job.play(feed)
    return feed, opened[0], took[1], took[0]


def _driver(
    recipe: Recipe, planned: PlannedGames, contents: Mapping[int, bytes], folder: RunFolder
) -> tuple[dict[str, float], list[int], ReplayBuffer]:
    """Return the driver's seconds for a unit by name, each unit's positions to learn from, and the games of all."""
    folder.games.mkdir()
    journal, me = UnitJournal(recipe, folder), worker_facts(1)
    names = ("take_seconds", "write_seconds", "write_cpu_seconds", "read_seconds")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        buffer, positions = ReplayBuffer(planned.game, planned.settings.games), []
        for number, content in contents.items():
            path = unit_path(folder.games, planned.generation, number)
            path.unlink(missing_ok=True)
            with _timed(found["take_seconds"], time.process_time):
                games, _ = planned.checked(pa.BufferReader(content), number, "unit")
            positions.append(int(games.learn.sum()))
            with (
                _timed(found["write_cpu_seconds"], time.process_time),
                _timed(found["write_seconds"], time.perf_counter),
            ):
                journal.add(planned, number, "worker", me, 1.0)
                write_unit(planned, folder.games, number, content)
            with _timed(found["read_seconds"], time.process_time):
                buffer.extend([path], {path: games})
    return {name: median(seconds) for name, seconds in found.items()}, positions, buffer


def _train_rate(recipe: Recipe, buffer: ReplayBuffer, threads: int, clock: Callable[[], float]) -> float:
    """Return the new positions that training takes in a second."""
    from hauteur.learning.trainers import first_trainer

    trainer = first_trainer(load_game(recipe.game), recipe)
    took: list[float] = []
    for steps in (1, TRAIN_STEPS):
        with _timed(took, clock):
            facts = trainer.train(buffer, steps, seed=1, generation=1, generations=1, threads=threads)
    return facts.samples / took[-1] / recipe.train.samples_per_position


def rounded_values(costs: ClusterCosts) -> dict[str, Any]:
    """Return the constants that were measured, with four digits, as they are written."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(one) for name, one in value.items()}
        return float(f"{value:.4g}") if isinstance(value, float) else value

    values: dict[str, Any] = rounded(costs.model_dump(exclude_unset=True))
    return values

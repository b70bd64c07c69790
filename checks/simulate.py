"""Learning runs on a simulated machine, with faults: they end, and with the files of a run without any.

    python checks/simulate.py 7                      the run of seed 7
    python checks/simulate.py 0 --runs 10000         seeds from 0 on; --faults 50: at most so many in each
    python checks/simulate.py 0 --plant duplicate    with a bug put in, until it is found

The scheduler, the files of units, the journal of costs, checkpoints, locks and the loop of learning are those of
`hauteur train`. Simulated, in one thread and from one seed, are time, the disk (what was not synced is lost with the
power; full, slow), messages (lost, twice, late, out of order), workers (they die, hang, fail, answer wrongly, run
another version) and the driver's process (killed, asked to end, stopped, begun a second time). A run whose command has
ended, by itself or otherwise, is begun again as by its user. What a worker plays, and what training learns, are cheap
functions of what they are given.

Held: each run ends; games, nets, decisions of the gate, checkpoint and charged evaluations are those of a run of one
process without faults, so that no game is lost or there twice; no file that was written is found damaged; an error is
one of those that the faults of its command explain. A failure prints its seed, what is wrong, and the command that
repeats it; status 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hauteur import _core
from hauteur.cluster import unit as units
from hauteur.cluster.scheduler import Scheduler
from hauteur.learning import shards
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.compute import NetCompute, UnitCost
from hauteur.learning.display import Display
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, load_recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system import host
from hauteur.system.files import leftovers, sha256_of, write_bytes
from hauteur.system.jsonl import Journal
from hauteur.system.stopping import Stopped, stop
from simulated_machine import Ended, World, WorldClock, WorldDisk
from simulated_workers import SimulatedCluster, ToyJob, Turns

FAULTS = 14
"""Faults of a run at most, where nothing else is said."""
MOST_COMMANDS = 100
"""Times that a run is begun before it counts as one that does not end."""
MOST_TURNS = 50_000
"""Turns of a command before it counts as one that does not end."""
UNIT_SECONDS = 60.0
"""Time limit of a unit, in the world's seconds."""
PLAYED_AGAIN = "its games are played again"

RECIPES: tuple[dict[str, Any], ...] = (
    {},
    {"selfplay": {"max_policy_lag": 1}, "run": {"generations": 3}},
    {"gate": {"by": "sprt", "games": 40, "sprt": {"elo0": 0, "elo1": 300}}},
    {"gate": {"by": "off"}, "train": {"reanalyse": {"share": 0.5}}},
)
"""What the recipes of runs add to the base, in turn by the seed."""
BASE: dict[str, Any] = {
    "game": "tictactoe",
    "selfplay": {"games": 6, "shard_games": 2, "visits": 2, "parallel_games": 4, "batch_size": 2, "opening_plies": 2},
    "train": {"batch_size": 8, "warmup_steps": 1, "mixed_precision": "off"},
    "gate": {"games": 16, "opening_plies": 2, "threshold": 0.4},
    "run": {"generations": 2, "seed": 1, "threads": 1, "precision": "float32", "solved_positions": 0},
}
EXPECTED = {
    "No space left on device": ("disk full",),
    r"failed 3 times, at": (
        *("worker fails", "worker hangs", "other version", "wrong answer", "request lost", "answer lost"),
        *("answer late", "disk slow", "driver stopped"),
    ),
    r"10 workers ended while they had it": ("worker dies",),
    r"its \w+ is not that of unit|not a whole Parquet file": ("wrong answer",),
}
"""Errors in which a command may end, and the faults of which one must have happened in it."""


class RunError(Exception):
    """A run was not as it must be."""


class Quiet(Display):
    """Keeps warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def finished(self, line: dict[str, Any], generations: int) -> None:
        """Say nothing."""

    def show(self, line: str) -> None:
        """Say nothing."""

    def warn(self, message: str) -> None:
        """Keep a warning."""
        self.warnings.append(message)

    @contextmanager
    def progress(self, *given: Any) -> Iterator[Callable[[int], None]]:
        """Show nothing."""
        del given
        yield lambda _done: None


@dataclass
class ToyLearners:
    """A network in training whose weights are a hash of all games that it has seen, in their order."""

    weights: NDArray[np.float32]
    steps: int = 0

    trainers = (SimpleNamespace(cost=1.0, targets=None),)
    compute = (NetCompute(parameters=10, places=9, multiply_adds=90),)

    @classmethod
    def new(cls, game: _core.Game, recipe: Recipe) -> ToyLearners:
        """Return the learners that a run begins with."""
        del game, recipe
        return cls(np.zeros(8, np.float32))

    @classmethod
    def restored(cls, recipe: Recipe, folder: RunFolder, tensors: Mapping[str, Any], *, steps: int) -> ToyLearners:
        """Return the learners of a checkpoint."""
        del recipe, folder
        return cls(tensors["weights"], steps)

    def train(self, source: Any, steps: int, *, on_step: Callable[[int], None], **given: Any) -> list[Any]:
        """Learn the games of the replay buffer."""
        for step in range(3):
            on_step(min(step, steps))
        text = f"{self.weights.tolist()} {source.games.digest} {given['generation']}"
        self.weights = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint32).astype(np.float32)
        self.steps += steps
        metrics = {"policy_loss": 1.0, "value_loss": 0.5, "steps": steps}
        return [SimpleNamespace(metrics=lambda: metrics, samples=8 * steps)]

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return what a checkpoint keeps."""
        return {"weights": self.weights}

    def save(self, game: _core.Game, files: Sequence[Path], training: dict[str, Any]) -> None:
        """Write the net of a generation."""
        (path,) = files
        text = f"{game.spec} {self.weights.tolist()} {json.dumps(training)}"
        write_bytes(path, text.encode())


@cache
def recipe_of(number: int) -> Recipe:
    """Return the recipe of this number."""
    values = {name: dict(part) if isinstance(part, dict) else part for name, part in BASE.items()}
    for name, part in RECIPES[number].items():
        values[name] = {**values.get(name, {}), **part}
    return parse_recipe(values, f"recipe {number}")


class Remembered:
    """What is read of files with the same bytes is computed once: it follows from the bytes alone."""

    def __init__(self) -> None:
        self._tables: dict[bytes, Any] = {}
        self._games: dict[int, Any] = {}
        self._recipes: dict[bytes, Recipe] = {}
        self._read_table = shards.read_table
        self._checked_games = shards.checked_games

    def read_table(self, source: Any, name: str = "") -> Any:
        """Return the columns of a shard."""
        content = source.read_bytes() if isinstance(source, Path) else source.read_buffer().to_pybytes()
        if content not in self._tables:
            self._tables[content] = self._read_table(pa.BufferReader(content), name)
        return self._tables[content]

    def checked_games(self, table: Any, path: Any, game_spec: str) -> Any:
        """Return the games of a table, which is never let go of."""
        if id(table) not in self._games:
            self._games[id(table)] = self._checked_games(table, path, game_spec)
        return self._games[id(table)]

    def load_recipe(self, path: Path) -> Recipe:
        """Return the recipe of a file."""
        content = path.read_bytes()
        if content not in self._recipes:
            self._recipes[content] = load_recipe(path)
        return self._recipes[content]


@contextmanager
def toys() -> Iterator[None]:
    """Put what is cheap in the place of training, games of the driver and pages."""
    remembered = Remembered()
    page = SimpleNamespace(write=lambda path: write_bytes(path, b"a page"))
    with ExitStack() as stack:
        for name, value in (
            ("hauteur.learning.trainers.Learners", ToyLearners),
            ("hauteur.learning.units.LearningJob", ToyJob),
            ("hauteur.learning.report.page.run_report", lambda _folder: page),
            ("hauteur.learning.run_folder.provenance", dict),
            ("hauteur.learning.run_folder.load_recipe", remembered.load_recipe),
            ("hauteur.learning.shards.read_table", remembered.read_table),
            ("hauteur.learning.shards.checked_games", remembered.checked_games),
            ("hauteur.system.lock.PATIENCE", 0.0),
        ):
            stack.enter_context(patch(name, value))
        yield


@dataclass
class SimulatedRun:
    """A run, begun again until it ends."""

    seed: int
    folder: Path
    world: World
    recipe: Recipe
    display: Quiet = field(default_factory=Quiet)
    commands: int = 0

    def play(self) -> None:
        """Take the run to its end. RunError where that does not come, or with an error or warning without a cause."""
        disk = WorldDisk(self.world)
        ToyJob.world = self.world
        with host.replaced(disk, WorldClock(self.world)):
            while not self._command():
                if self.world.power_is_lost:
                    disk.lose_power()
                self.world.is_over = self.world.power_is_lost = False
                if self.commands == MOST_COMMANDS:
                    raise RunError(f"no end after {self.commands} commands")

    def _command(self) -> bool:
        """Begin the run or go on with it; return whether it has come to its end."""
        self.commands += 1
        before = self.world.counts.copy()
        try:
            with self._scheduler() as scheduler:
                learn(self.recipe, folder=self.folder, display=self.display, scheduler=scheduler)
        except (Ended, Stopped):
            return False
        except (ValueError, OSError) as error:
            self._check_error(str(error), self.world.counts - before)
            return False
        finally:
            stop.forget()
            self._check_warnings()
        return True

    @contextmanager
    def _scheduler(self) -> Iterator[Scheduler | None]:
        """Yield the scheduler of a command; None for one that plays the games itself."""
        workers = self.world.random.choice((0, 1, 2, 3, 3)) if self.seed >= 0 else 0
        if not workers:
            yield None
            return
        turns = Turns(self.world)
        turns.scheduler = Scheduler(
            SimulatedCluster(self.world, workers),
            unit_seconds=UNIT_SECONDS,
            on_note=lambda _line: None,
            clock=lambda: self.world.now,
            threads=turns,
        )
        left = MOST_TURNS

        def turn() -> None:
            nonlocal left
            left -= 1
            if not left:
                raise RunError(f"a command that goes on for {MOST_TURNS} turns")
            if self.world.fault("second driver"):
                self._begin_second_driver()
            turns.turn()

        self.world.turn = turn
        try:
            yield turns.scheduler
        finally:
            self.world.turn = lambda: None

    def _begin_second_driver(self) -> None:
        """Begin the same run in another process, which must be refused."""
        with suppress(ValueError), RunFolder(self.folder).locked():
            raise RunError("a second process may work in the folder of the run")

    def _check_error(self, error: str, happened: Counter[str]) -> None:
        """RunError where no fault of the command explains its error."""
        for pattern, kinds in EXPECTED.items():
            if re.search(pattern, error) and any(happened[kind] for kind in kinds):
                return
        raise RunError(f"an error that nothing explains: {error} (in this command: {dict(happened)})")

    def _check_warnings(self) -> None:
        """RunError where a file is damaged or missing although no worker has sent a wrong one."""
        for warning in self.display.warnings:
            if not (PLAYED_AGAIN in warning and self.world.counts["wrong answer"]):
                raise RunError(f"a warning without a cause: {warning}")


def content(folder: Path) -> dict[str, Any]:
    """Return all that a run decides: its files by their sha256, its state, what units have cost."""
    run = RunFolder(folder)
    kept = [path for name in ("games", "nets", "gate", "reanalysed") for path in sorted((folder / name).glob("*"))]
    files = {str(path.relative_to(folder)): sha256_of(path) for path in [*kept, run.best()]}
    state, tensors = load_checkpoint(run.checkpoint)
    lines = run.read_metrics()
    if lines != state.history:
        raise RunError("metrics.jsonl is not what the checkpoint says")
    kinds = {(cost.kind, cost.generation, cost.number) for cost in _costs(run).entries()}
    return {
        "files": files,
        "tensors": {name: values.tolist() for name, values in tensors.items()},
        "state": state.model_dump(exclude={"history", "seconds", "cpu_seconds"}),
        "compute": [_decided(line) for line in lines],
        "charged": sorted(kinds),
    }


def _decided(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run decides of a line of its metrics."""
    return {name: line[name] for name in ("generation", "games", "cost", "compute", "gate")}


def _costs(run: RunFolder) -> Journal[UnitCost]:
    """Return the journal of what units have cost."""
    return Journal(run.costs, UnitCost)


@cache
def expected(number: int) -> dict[str, Any]:
    """Return the content of a run of this recipe by one process without faults."""
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        run = SimulatedRun(-1, Path(folder, "run"), World(random.Random(0), left=0), recipe_of(number))
        run.play()
        return content(run.folder)


def memory() -> Path | None:
    """Return a folder in memory, where the system has one."""
    place = Path("/dev/shm")
    return place if place.is_dir() else None


def simulate(seed: int, faults: int) -> Counter[str]:
    """Play the run of a seed; return the faults that have happened. RunError where it is not as it must be."""
    number = seed % len(RECIPES)
    right = expected(number)
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        world = World(random.Random(seed), left=faults, requests=random.Random(f"requests {seed}"))
        run = SimulatedRun(seed, Path(folder, "run"), world, recipe_of(number))
        run.play()
        found = content(run.folder)
        for part, value in right.items():
            if found[part] != value:
                raise RunError(f"its {part} are not those of a run without faults: {_difference(value, found[part])}")
        if left := [*leftovers(run.folder), *run.folder.glob(".lock"), *run.folder.glob("progress.json")]:
            raise RunError(f"left behind: {left}")
    return world.counts + Counter(commands=run.commands)


def _difference(right: Any, found: Any) -> str:
    """Return where two values differ, in a line."""
    if isinstance(right, list) and isinstance(found, list):
        right = dict(enumerate(right))
        found = dict(enumerate(found))
    if isinstance(right, dict) and isinstance(found, dict):
        name = next(one for one in {**right, **found} if right.get(one) != found.get(one))
        return f"{name}: {_difference(right.get(name), found.get(name))}"
    return f"{right}, here {found}"[:600]


@contextmanager
def unsynced() -> Iterator[None]:
    """Count a unit as written before its file is on disk."""
    with patch("hauteur.learning.step_games.write_bytes", partial(write_bytes, lasting=False)):
        yield


@contextmanager
def duplicate() -> Iterator[None]:
    """Count an answer that comes a second time, or after its unit was given to another."""
    landed: dict[str, Any] = {}
    rightly = Scheduler._landed

    def wrongly(scheduler: Scheduler, name: str, key: str) -> Any:
        flight = rightly(scheduler, name, key)
        if flight is not None:
            landed[key] = flight
        return flight or landed.get(key)

    with patch.object(Scheduler, "_landed", wrongly):
        yield


@contextmanager
def version() -> Iterator[None]:
    """Accept what a worker of another version has played."""
    rightly = units.unit_of

    def wrongly(message: Mapping[str, Any], own_version: str = "") -> units.Unit:
        del own_version
        return rightly(message)

    with patch("hauteur.cluster.unit.unit_of", wrongly):
        yield


PLANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "unsynced": unsynced,
    "duplicate": duplicate,
    "version": version,
}
"""Bugs that can be put in."""


@dataclass
class Sums:
    """What was played so far."""

    runs: int = 0
    failures: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.process_time)

    def __str__(self) -> str:
        faults = sum(count for kind, count in self.counts.items() if kind != "commands")
        seconds = time.process_time() - self.began
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.counts.items()))
        return f"{self.runs:,} runs, {faults:,} faults, {self.failures} failures, {seconds:,.0f} CPU s ({kinds})"


def play(seeds: Sequence[int], given: argparse.Namespace) -> Sums:
    """Play the runs of seeds, print what fails and, every so many runs, the sums; with a plant until it is found."""
    sums = Sums()
    again = f"--faults {given.faults}" if given.plant is None else f"--faults {given.faults} --plant {given.plant}"
    for seed in seeds:
        try:
            sums.counts += simulate(seed, given.faults)
        except Exception as error:
            sums.failures += 1
            what = error if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
            print(f"seed {seed}: {what}\n    python checks/simulate.py {seed} {again}", flush=True)
        sums.runs += 1
        if given.every and sums.runs % given.every == 0:
            print(sums, flush=True)
        if given.plant is not None and sums.failures:
            break
    return sums


def main(words: Sequence[str] | None = None) -> int:
    """Play the runs of the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--faults", type=int, default=FAULTS, help="the most of a run")
    parser.add_argument("--every", type=int, default=0, help="print the sums after so many runs")
    parser.add_argument("--plant", choices=PLANTS, help="put a bug in, and play until it is found")
    given = parser.parse_args(words)
    with ExitStack() as stack:
        stack.enter_context(toys())
        for number in range(len(RECIPES)):
            expected(number)
        runs = given.runs
        if given.plant is not None:
            stack.enter_context(PLANTS[given.plant]())
            runs = max(runs, 100_000)
        sums = play(range(given.seed, given.seed + runs), given)
    print(sums)
    return int(sums.failures > 0)


if __name__ == "__main__":
    sys.exit(main())

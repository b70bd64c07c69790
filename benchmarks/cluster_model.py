"""The model of many workers against workers of this machine: the same generations, simulated and done.

    python benchmarks/cluster_model.py --workers 1 2 4 16 --lags 0 1        # units that sleep, a driver that is busy
    python benchmarks/cluster_model.py --workers 4 --life 15                # workers are killed after 15 s on average
    python benchmarks/cluster_model.py --costs mine.toml --recipe runs/connect4.toml selfplay.games=200 --workers 1 2

The first two play units that sleep; taking a result and reading a file keep the driver's processor busy for as long as
the constants say, files are brought to the disk. The third learns with `hauteur train` and constants that `hauteur
cluster measure` has written for the same recipe, without a gate. Printed, from the end of the first generation to that
of the last, measured and simulated (means of 5 seeds): positions a second; share of the workers' time without work;
seconds of the driver's processor a second; units that were retried; and the load of the machine before each row. With
--life and a lag the simulation takes over how long it took on average until a killed worker was replaced.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from cluster_common import cpu_seconds, local_workers, parser_of, train_command, write_recipe
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.model.costs import ClusterCosts, read_costs
from hauteur.cluster.model.empty import empty_units
from hauteur.cluster.model.outcome import Outcome, outcome
from hauteur.cluster.model.overhead import cpu_seconds_a_unit
from hauteur.cluster.scheduler import Batch, CheckedResult, Scheduler
from hauteur.cluster.unit import Unit
from hauteur.learning.recipe import load_recipe
from hauteur.system.files import write_bytes
from hauteur.system.settings import validated

SLEEPING: dict[str, dict[str, Any]] = {
    "unit": {"games": 1, "positions": 100, "seconds": 0.4, "spread": 0.1, "task_bytes": 4600, "result_bytes": 37_000},
    "generation": {"games": 16, "units_per_worker": 4, "gate_units": 4, "gate_seconds": 0.2, "train_seconds": 0.2},
    "driver": {"plan_seconds": 0, "take_seconds": 0.03, "read_seconds": 0.005, "round_seconds": 0},
    "net": {"bytes": 0, "load_seconds": 0},
    "link": {"latency": 0.0005},
}
"""Units of 0.4 s: the driver's processor is full with 11 workers."""
SEEDS = range(1, 6)


class Measured(NamedTuple):
    """What a fleet has done between the end of the first generation and that of the last, as `Outcome` has it.

    absent: seconds of workers that were killed and not yet replaced, in all.
    """

    positions: float
    idle: float
    driver: float
    retried: int
    kills: int = 0
    absent: float = 0.0


def busy(seconds: float) -> None:
    """Use the processor for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Killer:
    """Kills each worker after an exponential time. life: seconds on average, 0: never."""

    def __init__(self, pids: Callable[[], list[int]], life: float) -> None:
        self.kills = 0
        self._pids, self._life = pids, life
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        if life:
            self._thread.start()

    def _run(self) -> None:
        random, ends = np.random.default_rng(1), dict[int, float]()
        while not self._over.wait(0.02):
            for pid in self._pids():
                if time.monotonic() >= ends.setdefault(pid, time.monotonic() + random.exponential(self._life)):
                    ends[pid] = float("inf")
                    self.kills += 1
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End it."""
        self._over.set()
        if self._life:
            self._thread.join()


@dataclass
class SleepingRun:
    """Generations of units that sleep, in the order in which a learning run does things."""

    costs: ClusterCosts
    workers: int
    lag: int
    generations: int
    folder: Path

    def run(self, life: float) -> Measured:
        """Do them. life: of a worker, in seconds on average."""
        scheduler = Scheduler(LocalFleet(self.workers, threads=1), on_note=lambda _: None)
        while len(scheduler.workers) < self.workers:
            time.sleep(0.01)
        killer = Killer(lambda: [one.facts.process for one in scheduler.workers.values()], life)
        try:
            found = self._learn(scheduler)
        finally:
            killer.close()
            scheduler.close()
        return found._replace(kills=killer.kills)  # with a lag there is always work, and so all presence is counted

    def _learn(self, scheduler: Scheduler) -> Measured:
        random, costs, began = np.random.default_rng(1), self.costs, time.perf_counter()
        batches: dict[int, Batch] = {}
        seconds: dict[int, list[float]] = {}
        marks: list[tuple[float, float, int, float]] = []
        for generation in range(1, self.generations + 1):
            for number in range(len(batches) + 1, generation + self.lag + 1):
                factors = np.exp(costs.unit.spread * random.standard_normal(costs.units(self.workers)))
                seconds[number] = (factors / factors.mean() * costs.unit.seconds).tolist()
                batches[number] = self._start(scheduler, f"generation {number}, unit", seconds[number])
            for played in batches[generation]:
                write_bytes(self.folder / f"{played.unit.name}.bin", played.result.content)
            busy(len(seconds[generation]) * costs.driver.read_seconds)
            time.sleep(costs.train_seconds(len(seconds[generation])))
            gate = [costs.generation.gate_seconds] * min(costs.generation.gate_units, 2 * self.workers)
            for _ in self._start(scheduler, f"gate {generation}, unit", gate, first=True):
                pass
            present = scheduler.counts.present_seconds
            marks.append((time.perf_counter(), time.process_time(), self._finished(batches), present))
        counts = scheduler.counts
        span, cpu, files, there = (last - first for first, last in zip(marks[0], marks[-1], strict=True))
        gates = (self.generations - 1) * len(gate) * costs.generation.gate_seconds
        worked = files * costs.unit.seconds * (1 + counts.compared / max(1, counts.finished)) + gates
        absent = max(0.0, self.workers * (marks[-1][0] - began) - marks[-1][3])
        idle = 1 - worked / (there if self.lag else span * self.workers)
        return Measured(files * costs.unit.positions / span, idle, cpu / span, counts.retried, absent=absent)

    def _finished(self, batches: dict[int, Batch]) -> int:
        return sum(batch.counts.finished for batch in batches.values())

    def _start(self, scheduler: Scheduler, name: str, seconds: list[float], *, first: bool = False) -> Batch:
        unit = self.costs.unit
        units = empty_units(seconds, task_bytes=unit.task_bytes, result_bytes=unit.result_bytes, name=name)

        def check(unit: Unit, content: bytes) -> CheckedResult:  # noqa: ARG001 - the content is not looked at
            busy(self.costs.driver.take_seconds)
            return CheckedResult(unit.key)

        return scheduler.start(units, {}, check, first=first)


def sleeping_costs(folder: Path) -> ClusterCosts:
    """SLEEPING, with what giving a unit and writing a file takes on this machine."""
    unit = SLEEPING["unit"]
    empty = empty_units([0.0] * 200, task_bytes=unit["task_bytes"], result_bytes=unit["result_bytes"])
    give, _ = cpu_seconds_a_unit(LocalFleet(1, threads=1), empty, workers=1)
    clock, cpu = list[float](), list[float]()
    for _ in range(50):
        began, cpu_began = time.perf_counter(), time.thread_time()
        write_bytes(folder / "one.bin", bytes(unit["result_bytes"]))
        clock.append(time.perf_counter() - began)
        cpu.append(time.thread_time() - cpu_began)
    measured = {"give_seconds": give, "write_seconds": median(clock), "write_cpu_seconds": median(cpu)}
    return validated(ClusterCosts, {**SLEEPING, "driver": {**SLEEPING["driver"], **measured}}, "what was measured")


def learning_run(options: Namespace, workers: int, lag: int, folder: Path) -> tuple[Measured, float]:
    """Learn by the recipe; return what was measured, and the seconds of training of a generation."""
    generations = options.generations
    changes = ["gate.by=off", f"run.generations={generations}", f"selfplay.max_policy_lag={lag}"]
    recipe = load_recipe(options.recipe, (*options.settings, *changes))
    place = write_recipe(folder / "recipe.toml", recipe.model_dump(mode="json", exclude_none=True))
    words = train_command(place, folder / "run", "--workers", str(workers), "--worker-threads", "1")
    metrics = folder / "run" / "metrics.jsonl"
    with (folder / "printed.txt").open("w") as printed:
        process = subprocess.Popen(words, stdout=printed, stderr=printed)
        killer = Killer(lambda: local_workers(process.pid), options.life)
        marks: list[tuple[float, float, float]] = []
        seen: dict[int, float] = {}
        while process.poll() is None:
            present = local_workers(process.pid)
            seen |= {pid: max(seen.get(pid, 0.0), cpu_seconds([pid])) for pid in present}
            ended = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
            if ended > len(marks):
                gone = sum(seconds for pid, seconds in seen.items() if pid not in present)  # counted as the driver's
                marks.append((time.perf_counter(), sum(seen.values()), cpu_seconds([process.pid]) - gone))
            time.sleep(0.05)
        killer.close()
    if process.returncode:
        raise RuntimeError((folder / "printed.txt").read_text()[-2000:])
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    span, worked, driver = (last - first for first, last in zip(marks[0], marks[-1], strict=True))
    positions = sum(line["games"]["positions"] for line in lines[1:])
    retried = lines[-1]["workers"]["retried"]
    training = median(line["train"]["seconds"] for line in lines)
    return Measured(positions / span, 1 - worked / span / workers, driver / span, retried, killer.kills), training


def simulated(costs: ClusterCosts, options: Namespace, workers: int, lag: int, start: float) -> Outcome:
    """The same, simulated. start: seconds from a kill until there is another worker."""
    changes = {"lost_per_hour": 3600 / options.life if options.life else 0.0, "noticed_seconds": 0.0}
    changes |= {"replaced_seconds": 0.0, "start_seconds": start}
    costs = costs.model_copy(update={"machine": costs.machine.model_copy(update=changes)})
    return outcome(costs, workers, lag=lag, seeds=SEEDS, generations=options.generations)


def compare(options: Namespace) -> None:
    """Print a row for each number of workers and lag."""
    print("workers lag  load            positions/s    idle  driver  retried")
    for lag in options.lags:
        for workers in options.workers:
            load = os.getloadavg()[0]
            with tempfile.TemporaryDirectory(dir=options.folder, ignore_cleanup_errors=True) as name:
                folder = Path(name)
                if options.recipe is None:
                    costs = sleeping_costs(folder)
                    real = SleepingRun(costs, workers, lag, options.generations, folder).run(options.life)
                else:
                    real, training = learning_run(options, workers, lag, folder)
                    costs = read_costs(str(options.costs))
                    games = load_recipe(options.recipe, tuple(options.settings)).selfplay.games
                    changes = {"games": games, "gate_units": 0, "train_seconds": training}
                    changes["train_positions_per_second"] = 1e15
                    generation = costs.generation.model_copy(update=changes)
                    costs = costs.model_copy(update={"generation": generation})
            start = real.absent / real.kills if real.kills else 0.0
            model = simulated(costs, options, workers, lag, start)
            kills = f" after {real.kills} kills, {start:.1f} s until another was there" if options.life else ""
            print(f"{workers:7d} {lag:3d} {load:5.1f} {'measured':9s} {cells(real)}{kills}", flush=True)
            share = f" ({model.low:,.0f} to {model.high:,.0f}), measured {real.positions / model.positions:.2f} of it"
            print(f"{'':17s} {'simulated':9s} {cells(model)}{share}", flush=True)


def cells(row: Measured | Outcome) -> str:
    """The columns that both have."""
    return f"{row.positions:12,.0f} {max(0.0, row.idle):7.1%} {row.driver:7.3f} {row.retried:8.0f}"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("settings", nargs="*", help="changes to the recipe")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 16])
    parser.add_argument("--lags", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--life", type=float, default=0.0, help="seconds after which a worker is killed, on average")
    parser.add_argument("--recipe", type=Path)
    parser.add_argument("--costs", type=Path)
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk that is written to")
    compare(parser.parse_intermixed_args())


if __name__ == "__main__":
    main()

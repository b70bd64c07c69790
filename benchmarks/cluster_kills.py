"""A run in which workers, nodes and the driver are killed at random is the undisturbed run, bit for bit.

    python benchmarks/cluster_kills.py --kills 100                # local workers
    python benchmarks/cluster_kills.py --kills 100 --fleet ray    # workers on Ray's nodes of one processor each

`hauteur train` plays a small game in units of a few games. While it runs, SIGKILL hits in turns a worker, a node (Ray's
raylet, with all that runs under it; a new node joins; with local workers: all workers at once) and the driver, which is
started again with the same command, always at random moments. Where the run ends before the last kill it goes on with
more generations. At the end the same recipe is learned undisturbed by one process. Printed: the kills, how many games
there are, whether any is missing or there twice, whether all files of games, all nets and the checkpoint's tensors are
equal, what is left over. Status 1 where anything is not as it should be.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cluster_common import (
    RayNodes,
    alive,
    descendants,
    differences,
    digest_of,
    game_numbers,
    left_behind,
    local_workers,
    parser_of,
    ray_nodes,
    ray_workers,
    recipe_of,
    run_hashes,
    train,
    train_command,
    wait_for,
    write_recipe,
)

KINDS = ("worker", "node", "driver")
PATIENCE = 600.0
"""Seconds for a start on a machine that is busy otherwise."""


class KilledRun:
    """A run in its folder, whose processes are killed. options: of the command line."""

    def __init__(self, place: Path, options: Namespace, cluster: RayNodes | None) -> None:
        self.folder = place / "killed"
        self.recipe_file = place / "recipe.toml"
        self.generations = options.generations
        self.killed: Counter[str] = Counter()
        self.starts = self.extended = 0
        self._options, self._cluster = options, cluster
        self._draws = random.Random(options.seed)
        self._log = place / "log.txt"
        fleet = ["--workers", str(options.workers)]
        self._fleet = fleet if cluster is None else [*fleet, "--cluster", cluster.address]
        self._driver: subprocess.Popen[bytes] | None = None

    def recipe(self) -> dict[str, Any]:
        """The recipe, with as many generations as the run has now."""
        run = {"generations": self.generations, "seed": self._options.seed}
        selfplay = {"games": self._options.games, "visits": 8, "shard_games": 2, "parallel_games": 4, "batch_size": 4}
        lag = {"max_policy_lag": self._options.lag} if self._options.lag else {}
        return recipe_of(self._options.game, selfplay=selfplay | lag, run=run)

    def go(self) -> None:
        """Start, kill, start again, until all kills have hit, and then go on to the end."""
        first = self._start()
        while sum(self.killed.values()) < self._options.kills:
            kind = KINDS[sum(self.killed.values()) % len(KINDS)]
            if self._survives(self._draws.uniform(0.0, first)):
                self._kill(kind)
            if self._driver is None:
                self._start()
        while self._driver is not None and self._driver.poll() is None:
            time.sleep(0.1)
        self._ended()

    def _start(self) -> float:
        """Start the driver; return the seconds until its first file of games, or its end."""
        write_recipe(self.recipe_file, self.recipe())
        began, before = time.monotonic(), self._files()
        with self._log.open("ab") as log:
            command = train_command(self.recipe_file, self.folder, *self._fleet)
            driver = self._driver = subprocess.Popen(command, stdout=log, stderr=log)
        self.starts += 1
        if self.starts == 1:
            wait_for(lambda: self._files() != before or driver.poll() is not None, PATIENCE, "the first games")
        return time.monotonic() - began

    def _files(self) -> int:
        return len(list(self.folder.glob("games/*.parquet")))

    def _survives(self, seconds: float) -> bool:
        """Whether the driver still runs after so long; a run that has ended gets more generations."""
        assert self._driver is not None
        try:
            self._driver.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        self._ended()
        self.generations += 1
        self.extended += 1
        return False

    def _ended(self) -> None:
        """Note that the driver has come to its end by itself: only when the run is finished."""
        driver, self._driver = self._driver, None
        if driver is not None and driver.wait():
            raise RuntimeError(f"the driver ended with status {driver.returncode}: {self._log.read_text()[-3000:]}")

    def _kill(self, kind: str) -> None:
        actions = {"worker": self._kill_worker, "node": self._kill_node, "driver": self._kill_driver}
        if actions[kind]():
            self.killed[kind] += 1
            print(f"{sum(self.killed.values()):4d} {kind:7s} {self._files()} files", flush=True)

    def _workers(self) -> list[int]:
        if self._cluster is not None:
            return ray_workers(os.getpid())
        return [] if self._driver is None else local_workers(self._driver.pid)

    def _kill_worker(self) -> bool:
        workers = self._workers()
        return bool(workers) and sigkill(self._draws.choice(workers))

    def _kill_node(self) -> bool:
        if self._cluster is None:
            return sum(sigkill(pid) for pid in self._workers()) > 0
        self._cluster.kill(self._draws.randrange(len(self._cluster.nodes)))
        self._cluster.join()
        return True

    def _kill_driver(self) -> bool:
        """Kill the driver; its local workers must end by themselves."""
        driver = self._driver
        if driver is None or driver.poll() is not None:
            return False
        below = [] if self._cluster is not None else list(descendants(driver.pid))
        driver.kill()
        driver.wait()
        self._driver = None
        wait_for(lambda: not any(map(alive, below)), 60, "the end of the workers whose driver was killed")
        return True


def sigkill(pid: int) -> bool:
    """Kill a process; return whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def verdict(run: KilledRun, through: Path, options: Namespace) -> list[str]:
    """Print what there is; return what is wrong."""
    found, expected = run_hashes(run.folder), run_hashes(through)
    numbers, wanted = game_numbers(run.folder), run.generations * options.games
    counts = Counter(numbers)
    twice = [number for number, count in counts.items() if count > 1]
    other, left = differences(found, expected), left_behind(run.folder)
    rows = {
        "kills": ", ".join(f"{count} {kind}" for kind, count in run.killed.items()),
        "starts of the driver": run.starts,
        "generations": f"{run.generations} ({run.extended} added)",
        "units": sum(name.startswith("games/") for name in found),
        "games": f"{len(numbers)}, expected {wanted}; missing {wanted - len(counts)}, twice {len(twice)}",
        "files that differ": f"{len(other)} of {len(expected)}",
        "left over": ", ".join(left) or "nothing",
        "hash of all, killed": digest_of(found),
        "hash of all, undisturbed": digest_of(expected),
    }
    for name, value in rows.items():
        print(f"{name:26s} {value}")
    wrong = [f"differs: {name}" for name in other[:5]] + [f"left over: {name}" for name in left]
    wrong += [f"generation {generation}, game {index} is there twice" for generation, index in twice[:5]]
    return wrong + ([] if len(counts) == wanted else ["games are missing"])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--fleet", choices=("local", "ray"), default="local")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--game", default="tictactoe")
    parser.add_argument("--games", type=int, default=400, help="of a generation; a unit has 2")
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--lag", type=int, default=0, help="selfplay.max_policy_lag")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        cluster = stack.enter_context(ray_nodes(options.workers)) if options.fleet == "ray" else None
        run, began = KilledRun(place, options, cluster), time.monotonic()
        run.go()
        print(f"{'seconds with the kills':26s} {time.monotonic() - began:.0f}")
        train(write_recipe(place / "through.toml", run.recipe()), place / "through")
        wrong = verdict(run, place / "through", options)
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""Show that runs by workers come to the files of one process, however often workers, the driver or nodes are killed.

    python benchmarks/workers.py --workers 0 1 2            # the same recipe by one process and by workers
    python benchmarks/workers.py --workers 2 --kills 20     # with workers and the driver killed at random, in turn
    python benchmarks/workers.py --workers 2 --kills 4 --ray    # nodes of Ray, which join and are killed

Each row is a run: seconds of the clock, kills, and how many of its files of games, nets and decisions differ from those
of the first row, which one process plays undisturbed. Status 1 where any do, or a game is missing or there twice. For
Linux, as processes are found in /proc.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import tensors_digest
from hauteur.system.files import sha256_of

RECIPE = """
game = "{game}"
[network]
filters = 4
blocks = 1
[selfplay]
games = {games}
visits = 24
parallel_games = 8
batch_size = 8
shard_games = 4
opening_plies = 2
max_plies = 60
max_policy_lag = {lag}
[train]
batch_size = 64
warmup_steps = 2
[gate]
games = 8
threshold = 0.4
opening_plies = 2
[run]
generations = {generations}
threads = 1
"""
WORKER = "hauteur.cluster.worker"
LONGEST = 1800.0
"""Seconds that a run may take."""


def run_hashes(folder: Path) -> dict[str, str]:
    """sha256 of every file of games, net and decision of a run, and of the checkpoint's tensors."""
    run = RunFolder(folder)
    files = [path for name in ("games", "nets", "gate") for path in sorted((folder / name).iterdir())]
    _, tensors = load_checkpoint(run.checkpoint)
    return {str(path.relative_to(folder)): sha256_of(path) for path in files} | {"tensors": tensors_digest(tensors)}


def game_numbers(folder: Path) -> list[tuple[int, int]]:
    """Generation and number of every game on disk, in order."""
    columns = ["generation", "index"]
    tables = [pq.read_table(path, columns=columns).to_pylist() for path in (folder / "games").glob("*.parquet")]
    return sorted((row["generation"], row["index"]) for rows in tables for row in rows)


def left_behind(folder: Path) -> list[str]:
    """Temporary files and locks that a finished run has left."""
    return sorted(path.name for path in folder.rglob("*") if ".tmp" in path.name or path.name.endswith(".lock"))


def workers_of(driver: int) -> list[int]:
    """Processes of a driver's local workers."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == driver and WORKER in (entry / "cmdline").read_text():
                found.append(int(entry.name))
    return found


class Killer:
    """Kills a worker or the driver of a run, in turn, at random moments. done: how many kills there were."""

    def __init__(self, kills: int, seed: int, longest: float) -> None:
        self.done = 0
        self._kills = kills
        self._longest = longest
        self._random = random.Random(seed)

    def disturb(self, driver: subprocess.Popen[bytes]) -> None:
        """Kill once, unless the run ends before."""
        if self.done == self._kills:
            return
        with suppress(subprocess.TimeoutExpired):
            driver.wait(self._random.uniform(0.5, self._longest))
            return
        workers = workers_of(driver.pid)
        victim = driver.pid if self.done % 3 == 2 or not workers else self._random.choice(workers)
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            self.done += 1


class NodeKiller:
    """A cluster of Ray on this machine, a node of which is killed at random moments while another joins."""

    def __init__(self, kills: int, seed: int, longest: float, nodes: int) -> None:
        from ray.cluster_utils import Cluster

        self.done = 0
        self._kills = kills
        self._longest = longest
        self._random = random.Random(seed)
        self._cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        self._nodes = [self._cluster.add_node(num_cpus=1) for _ in range(nodes)]

    @property
    def address(self) -> str:
        """HOST:PORT of the head."""
        return str(self._cluster.address)

    def disturb(self, driver: subprocess.Popen[bytes]) -> None:
        """Kill a node, and have another join, unless the run ends before."""
        if self.done == self._kills:
            return
        with suppress(subprocess.TimeoutExpired):
            driver.wait(self._random.uniform(5.0, 5.0 + self._longest))
            return
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)
        self._nodes.append(self._cluster.add_node(num_cpus=1))
        self.done += 1

    def close(self) -> None:
        """End all nodes."""
        self._cluster.shutdown()


def learn(recipe: Path, folder: Path, options: list[str], disturb: Callable[[subprocess.Popen[bytes]], None]) -> float:
    """Learn to the end, again and again where the driver is killed; return the seconds. RuntimeError where it fails."""
    command = [sys.executable, "-m", "hauteur.cli", "train", str(recipe), "--run", str(folder), *options]
    began = time.monotonic()
    while time.monotonic() < began + LONGEST:
        with (folder.parent / f"{folder.name}.log").open("ab") as log:
            driver = subprocess.Popen(command, stdout=log, stderr=log)
            while driver.poll() is None:
                disturb(driver)
                with suppress(subprocess.TimeoutExpired):
                    driver.wait(0.2)
        if driver.returncode == 0:
            return time.monotonic() - began
        if driver.returncode != -signal.SIGKILL:
            raise RuntimeError((folder.parent / f"{folder.name}.log").read_text()[-2000:])
    raise RuntimeError(f"{folder.name}: no end after {LONGEST:.0f} s")


def row(name: str, seconds: float, kills: int, folder: Path, expected: Path) -> bool:
    """Print a row of the table; return whether the run is as the first one."""
    found = run_hashes(folder)
    right = run_hashes(expected)
    wrong = [key for key in found.keys() | right.keys() if found.get(key) != right.get(key)]
    games = game_numbers(folder)
    whole = games == game_numbers(expected) and len(set(games)) == len(games) and not left_behind(folder)
    print(f"{name:<12}{seconds:>9.1f}{kills:>7}   {len(wrong)} of {len(right)} differ{'' if whole else ', not whole'}")
    return not wrong and whole


@contextmanager
def place(folder: Path | None) -> Iterator[Path]:
    """The folder of the runs; a temporary one where none is given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="workers-") as name:
        yield Path(name)


def main(arguments: Namespace) -> int:
    """Run all rows; return the status."""
    print(f"{'workers':<12}{'seconds':>9}{'kills':>7}   files")
    with place(arguments.folder) as folder:
        recipe = folder / "recipe.toml"
        recipe.write_text(RECIPE.format(**vars(arguments)))
        alone = learn(recipe, folder / "one", [], lambda _driver: None)
        right = row("none", alone, 0, folder / "one", folder / "one")
        for count in (one for one in arguments.workers if one):
            if arguments.ray:
                nodes = NodeKiller(arguments.kills, arguments.seed, arguments.longest, count)
                options = ["--cluster", nodes.address]
                killer = nodes
                try:
                    seconds = learn(recipe, folder / f"ray-{count}", options, killer.disturb)
                finally:
                    nodes.close()
                right &= row(f"ray {count}", seconds, nodes.done, folder / f"ray-{count}", folder / "one")
                continue
            local = Killer(arguments.kills, arguments.seed, arguments.longest)
            seconds = learn(recipe, folder / str(count), ["--workers", str(count)], local.disturb)
            right &= row(str(count), seconds, local.done, folder / str(count), folder / "one")
    return 0 if right else 1


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[2], help="rows of the table")
    parser.add_argument("--kills", type=int, default=0, help="of each run with workers")
    parser.add_argument("--longest", type=float, default=4.0, help="seconds between two kills, at most")
    parser.add_argument("--ray", action="store_true", help="nodes of Ray on this machine instead of local workers")
    parser.add_argument("--game", default="tictactoe")
    parser.add_argument("--games", type=int, default=120, help="of a generation")
    parser.add_argument("--generations", type=int, default=2)
    parser.add_argument("--lag", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the runs are kept")
    sys.exit(main(parser.parse_args()))

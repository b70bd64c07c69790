"""What the checks of many machines share: small recipes, the command that learns, hashes, processes, nodes of Ray.

The processes are found in /proc, so these checks are for Linux.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import tomli_w

from hauteur.cluster.ray_control import NodeSize, end, join, start_head
from hauteur.cluster.ray_kept import KeptNode
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import tensors_digest
from hauteur.system.files import sha256_of

NET = {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8}
"""A net that is quick on any machine."""

RAYS_OWN = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


def recipe_of(game: str, **changes: Mapping[str, Any]) -> dict[str, Any]:
    """A small recipe: two generations with a gate. changes: values of its sections."""
    sections: dict[str, dict[str, Any]] = {
        "network": dict(NET),
        "selfplay": {
            "games": 24,
            "visits": 16,
            "parallel_games": 8,
            "batch_size": 8,
            "shard_games": 4,
            "opening_plies": 2,
            "max_plies": 60,
        },
        "train": {"batch_size": 64, "samples_per_position": 1.0, "warmup_steps": 2, "schedule": "constant"},
        "gate": {"games": 8, "threshold": 0.4, "opening_plies": 2},
        "run": {"generations": 2, "threads": 1},
    }
    for section, values in changes.items():
        sections.setdefault(section, {}).update(values)
    return {"game": game, **sections}


def write_recipe(path: Path, recipe: Mapping[str, Any]) -> Path:
    """Write a recipe as TOML."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomli_w.dumps(recipe))
    return path


def train_command(recipe: Path, folder: Path, *options: str) -> list[str]:
    """The command that begins or resumes a run."""
    return [sys.executable, "-m", "hauteur.cli", "train", str(recipe), "--run", str(folder), *options]


def train(recipe: Path, folder: Path, *options: str) -> str:
    """Learn to the end; return what was printed. RuntimeError with the last lines where it fails."""
    done = subprocess.run(train_command(recipe, folder, *options), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{folder.name}: status {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def run_hashes(folder: Path) -> dict[str, str]:
    """sha256 of every file of games and every net of a run, and of the checkpoint's tensors."""
    run = RunFolder(folder)
    files = [*sorted(run.games.glob("*")), *sorted((folder / "nets").glob("*")), run.best()]
    _, tensors = load_checkpoint(run.checkpoint)
    return {
        **{str(path.relative_to(folder)): sha256_of(path) for path in files},
        "checkpoint's tensors": tensors_digest(tensors),
    }


def digest_of(hashes: Mapping[str, str]) -> str:
    """One hash of all hashes, short."""
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:16]


def differences(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Names whose hashes differ, or that are on one side alone."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def game_numbers(folder: Path) -> list[tuple[int, int]]:
    """Generation and number of every game on disk, in order; a game that is there twice is named twice."""
    tables = [
        pq.read_table(path, columns=["generation", "index"]) for path in RunFolder(folder).games.glob("*.parquet")
    ]
    return sorted((row["generation"], row["index"]) for table in tables for row in table.to_pylist())


def left_behind(folder: Path) -> list[str]:
    """Temporary files and locks that a finished run has left."""
    return sorted(path.name for path in folder.rglob("*") if ".tmp" in path.name or path.name.endswith(".lock"))


# --- processes


def process_table() -> dict[int, tuple[int, str]]:
    """Parent and command line of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except (OSError, IndexError):
                continue  # it has ended
            found[int(entry.name)] = (parent, line)
    return found


def descendants(root: int) -> dict[int, str]:
    """Command lines of all processes below one."""
    table = process_table()
    found: dict[int, str] = {}
    level = [root]
    while level:
        level = [pid for pid, (parent, _) in table.items() if parent in level]
        found |= {pid: table[pid][1] for pid in level}
    return found


def local_workers(driver: int) -> list[int]:
    """Processes of a driver's local workers."""
    return sorted(pid for pid, line in descendants(driver).items() if "hauteur.cluster.local_worker" in line)


def ray_workers(root: int) -> list[int]:
    """Processes of Ray's actors below one: Ray names them `ray::CLASS`, but has processes of its own named so."""
    found = descendants(root).items()
    return sorted(pid for pid, line in found if line.startswith("ray::") and not line.startswith(RAYS_OWN))


def resident(pid: int) -> int:
    """Bytes in memory; 0 where the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def cpu_seconds(pids: list[int]) -> float:
    """Processor seconds that processes have used, those of ended children too."""
    total = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(value) for value in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    return total


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait until the condition is true, and return its value; TimeoutError naming what was waited for."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not after {seconds:.0f} s")
        time.sleep(0.05)
    return value


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- Ray


class RayNodes:
    """A cluster of Ray on this machine, as `hauteur cluster start` and `join` make it: a head without processors for
    workers, and nodes of one processor each. folder: of its own, with a short name.
    """

    def __init__(self, nodes: int, folder: Path) -> None:
        os.environ.update({"RAY_TMPDIR": str(folder), "RAY_AUTH_TOKEN_PATH": str(folder / "token")})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._head = start_head("127.0.0.1", port, NodeSize(0), dashboard=False)
        self.address = self._head.address
        self.nodes: list[KeptNode] = []
        for _ in range(nodes):
            self.join()

    def join(self) -> None:
        """Start another node."""
        self.nodes.append(join(self.address, NodeSize(1)))

    def kill(self, number: int) -> None:
        """SIGKILL a node's raylet: all that runs on the node must end by itself."""
        keeper = self.nodes.pop(number).process
        below = descendants(keeper)
        for pid in (pid for pid, line in below.items() if "raylet/raylet" in line.partition(" ")[0]):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(map(alive, [keeper, *below])), 120, "the end of all processes of a node")

    def close(self) -> None:
        """End all nodes."""
        end([node for node in [*self.nodes, self._head] if alive(node.process)])


@contextmanager
def ray_nodes(nodes: int) -> Iterator[RayNodes]:
    """A cluster of Ray, ended at the end. Its folder is a short one: the names of sockets have a limit."""
    with tempfile.TemporaryDirectory(prefix="hr", ignore_cleanup_errors=True) as folder:
        cluster = RayNodes(nodes, Path(folder))
        try:
            yield cluster
        finally:
            cluster.close()


def parser_of(text: str | None) -> ArgumentParser:
    """A parser whose help is the module's text."""
    return ArgumentParser(description=text, formatter_class=RawDescriptionHelpFormatter)

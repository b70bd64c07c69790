"""Runs of learning that are killed and stopped at random moments come to the games and nets of undisturbed ones.

    python checks/kill_runs.py --games 10000 --kills 50              rounds until both are reached
    python checks/kill_runs.py --games 1000000 --kills 1000 --folder build/kills      may be interrupted, and goes on

A round learns tic-tac-toe or Connect Four on 5x4 by a recipe of its own seed, twice: undisturbed by one process, then
by one process or by a driver with two workers, in turn. The second is disturbed at random moments: SIGKILL of the
driver, which begins again, or of a worker; SIGSTOP of either and SIGCONT a moment later. Compared are the sha256 of all
files of games, nets and decisions, the tensors of the checkpoint, and the numbers of the games. A line a round is
appended to rounds.jsonl of --folder, from which the sums are made; status 1 where anything differs. For Linux. Nodes of
Ray are killed by `benchmarks/workers.py --ray`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "support")]
checks: Any = importlib.import_module("workers")

from run_killer import PRELOADED as PRELOADED  # noqa: E402
from run_killer import Silent, forked  # noqa: E402

from hauteur.cluster.open import open_scheduler  # noqa: E402
from hauteur.cluster.options import WorkerOptions  # noqa: E402
from hauteur.learning.loop import learn  # noqa: E402
from hauteur.learning.recipe import parse_recipe  # noqa: E402

GAMES = (("tictactoe", 2500), ("connect4(columns=5,rows=4)", 800))
"""Games, and how many of each a generation has."""

GENERATIONS = 2
STOPPED = 0.25
"""Share of the disturbances that stop a process for a moment instead of killing it."""


def recipe_of(number: int) -> dict[str, Any]:
    """The recipe of a round."""
    game, games = GAMES[number % len(GAMES)]
    return {
        "game": game,
        "network": {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
        "selfplay": {
            "games": games,
            "visits": 6,
            "parallel_games": 64,
            "batch_size": 32,
            "shard_games": games // 10,
            "opening_plies": 2,
            "max_policy_lag": number // 4 % 2,
        },
        "train": {"batch_size": 64, "samples_per_position": 0.2, "warmup_steps": 2},
        "gate": {"games": 8, "threshold": 0.4, "opening_plies": 2},
        "run": {"generations": GENERATIONS, "threads": 1, "seed": number, "solved_positions": 0},
    }


def started(action: Callable[[], None], log: Path) -> int:
    """Run an action in a child of this process; return its number. What it says goes to a file."""

    def logged() -> None:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        action()

    return forked(logged)


def run(number: int, folder: Path, workers: int) -> None:
    """Learn, to the end."""
    with open_scheduler(WorkerOptions(workers=workers, threads=1 if workers else 0)) as scheduler:
        learn(parse_recipe(recipe_of(number), "round"), folder=folder, display=Silent(), scheduler=scheduler)


def ended(pid: int) -> int | None:
    """Return the status of a child that has ended; None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def finish(pid: int, seconds: float) -> int | None:
    """Wait for a child as long as that; return its status, None where it still runs."""
    end = time.monotonic() + seconds
    while (status := ended(pid)) is None and time.monotonic() < end:
        time.sleep(0.005)
    return status


def disturb(driver: int, draws: random.Random, counts: Counter[str]) -> None:
    """Kill or stop the driver or one of its workers."""
    workers = checks.workers_of(driver)
    victim, name = (draws.choice(workers), "worker") if workers and draws.random() < 0.7 else (driver, "driver")
    with suppress(ProcessLookupError):
        if draws.random() < STOPPED:
            os.kill(victim, signal.SIGSTOP)
            time.sleep(draws.uniform(0.01, 0.3))
            os.kill(victim, signal.SIGCONT)
            counts[f"stops of a {name}"] += 1
        else:
            os.kill(victim, signal.SIGKILL)
            counts[f"kills of a {name}"] += 1


def run_disturbed(number: int, folder: Path, workers: int, took: float) -> Counter[str]:
    """Learn to the end while being disturbed at random moments; return what was done. took: seconds undisturbed."""
    draws = random.Random(number)
    counts = Counter[str]()
    mean = took / 3
    log = folder.with_suffix(".log")
    while True:
        pid = started(lambda: run(number, folder, workers), log)
        while (status := finish(pid, draws.expovariate(1 / mean))) is None:
            disturb(pid, draws, counts)
            mean *= 1.1  # a run on a busy machine comes to its end too
        if status == 0:
            return counts
        if status != -signal.SIGKILL:
            raise RuntimeError(f"round {number}: status {status}: {log.read_text()[-2000:]}")


def digest(folder: Path) -> str:
    """sha256 of all that a run has made."""
    return hashlib.sha256(json.dumps(checks.run_hashes(folder), sort_keys=True).encode()).hexdigest()


def play_round(number: int, folder: Path) -> dict[str, Any]:
    """Learn twice; return what happened."""
    workers = 2 * (number // 2 % 2)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    status = finish(started(lambda: run(number, folder / "one", 0), folder / "one.log"), 3600)
    if status != 0:
        raise RuntimeError(f"round {number}: status {status}: {(folder / 'one.log').read_text()[-2000:]}")
    counts = run_disturbed(number, folder / "two", workers, time.monotonic() - began)
    games = checks.game_numbers(folder / "two")
    expected = GENERATIONS * GAMES[number % len(GAMES)][1]
    whole = len(games) == len(set(games)) == expected and not checks.left_behind(folder / "two")
    found = digest(folder / "two")
    right = digest(folder / "one")
    shown = {"round": number, "game": recipe_of(number)["game"], "workers": workers, "games": len(games), **counts}
    return {**shown, "same": found == right and whole, "sha256": found, "seconds": round(time.monotonic() - began, 1)}


def summed(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Return the sums of rounds."""
    total: Counter[str] = Counter(rounds=len(rows), differ=sum(not row["same"] for row in rows))
    for row in rows:
        total.update({key: value for key, value in row.items() if key == "games" or key[:4] in ("kill", "stop")})
    return total


def main(words: Sequence[str] | None = None) -> int:
    """Play rounds until the numbers are reached; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50, help="SIGKILL alone counts")
    parser.add_argument("--folder", type=Path, default=Path("build/kills"))
    given = parser.parse_args(words)
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "rounds.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for module in PRELOADED:
        importlib.import_module(module)
    while True:
        total = summed(rows)
        kills = sum(count for name, count in total.items() if name.startswith("kills"))
        if total["games"] >= given.games and kills >= given.kills:
            break
        rows.append(play_round(len(rows), given.folder / "round"))
        with file.open("a") as out:
            out.write(json.dumps(rows[-1]) + "\n")
        print(json.dumps(rows[-1]), flush=True)
    print(f"{kills:,} kills; " + ", ".join(f"{name} {count:,}" for name, count in sorted(total.items())))
    print("all" if not total["differ"] else "NOT ALL", "rounds have the games and nets of undisturbed runs")
    return int(total["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())

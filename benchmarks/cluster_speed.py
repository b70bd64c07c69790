"""What workers cost: the same self-play by N workers on Ray, by N local workers, and by one process with N threads.

    python benchmarks/cluster_speed.py --seconds 8 --rounds 2         # local and one process, in turns
    python benchmarks/cluster_speed.py --ways local ray --workers 2   # local workers and workers on Ray, in turns
    python benchmarks/cluster_speed.py --lags 0 1 --workers 1         # time of a generation, by lag

Printed: games and positions a second of every turn, while all workers have work; processor seconds of all processes a
thousand positions; and the ratio of the means to the first way's. With --lags: seconds of a generation of a run with
these lags in turns, from the end of its first generation.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean

from cluster_common import (
    cpu_seconds,
    descendants,
    parser_of,
    ray_nodes,
    recipe_of,
    train,
    write_recipe,
)
from cluster_work import Arrival, SelfPlayWork, arrivals, pace
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions

NET = {"filters": 32, "blocks": 4, "policy_channels": 8, "value_channels": 8, "value_hidden": 64}
UNIT = 32
"""Games of a unit: two are in flight at a worker, which plays 64 side by side."""


def all_cpu_seconds() -> float:
    """Of this process and all below it."""
    return cpu_seconds([os.getpid(), *descendants(os.getpid())])


def turns(options: Namespace) -> None:
    """Play with every way in turn."""
    workers = options.workers
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        selfplay = {"visits": options.visits, "parallel_games": 64, "batch_size": 32, "shard_games": UNIT}
        work = SelfPlayWork(place, recipe_of(options.game, network=NET, selfplay=selfplay))
        schedulers = {}
        if "local" in options.ways:
            schedulers["local"] = stack.enter_context(open_scheduler(WorkerOptions(workers)))
        if "ray" in options.ways:
            address = stack.enter_context(ray_nodes(workers)).address
            schedulers["ray"] = stack.enter_context(open_scheduler(WorkerOptions(workers, address)))

        def play(way: str, games: int) -> list[Arrival]:
            if way == "one":
                return list(work.in_this_process(games, workers))
            return list(arrivals(work.start(schedulers[way], games)))

        measure(play, options)


def measure(play: Callable[[str, int], list[Arrival]], options: Namespace) -> None:
    """Warm up, then play in turns, and print the table."""
    paces: dict[str, list[float]] = {way: [] for way in options.ways}
    games = {}
    for way in options.ways:
        play(way, 2 * UNIT * options.workers)
        began = time.monotonic()
        warm = sum(one.games for one in play(way, 4 * UNIT * options.workers)) / (time.monotonic() - began)
        games[way] = UNIT * max(6 * options.workers, int(options.seconds * warm / UNIT))
    print(f"{'round':>5s} {'way':6s} {'games/s':>9s} {'positions/s':>12s} {'CPU s / 1000 positions':>24s}")
    for turn in range(options.rounds):
        for way in options.ways:
            before = all_cpu_seconds()
            found = play(way, games[way])
            used = all_cpu_seconds() - before
            ends = 2 * options.workers * (UNIT if way == "one" else 1)
            per_second, positions = pace(found, ends, ends)
            paces[way].append(positions)
            cost = used / sum(one.positions for one in found) * 1000
            print(f"{turn + 1:5d} {way:6s} {per_second:9.2f} {positions:12.1f} {cost:24.3f}", flush=True)
    first = fmean(paces[options.ways[0]])
    for way in options.ways:
        mean = fmean(paces[way])
        print(f"{way:6s} mean {mean:.1f} positions/s, {mean / first:.3f} of {options.ways[0]}")


def lags(options: Namespace) -> None:
    """Learn with every lag in turn."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        for turn in range(options.rounds):
            for lag in options.lags:
                folder = Path(place) / f"{turn}-{lag}"
                selfplay = {"games": 64, "visits": options.visits, "parallel_games": 64, "batch_size": 32}
                recipe = recipe_of(
                    options.game,
                    network=NET,
                    selfplay=selfplay | {"shard_games": 8} | ({"max_policy_lag": lag} if lag else {}),
                    train={"samples_per_position": 4.0},
                    gate={"games": 8},
                    run={"generations": options.generations},
                )
                began, ends = time.time(), list[float]()
                train(write_recipe(Path(place) / "recipe.toml", recipe), folder, "--workers", str(options.workers))
                ends = [path.stat().st_mtime for path in sorted(folder.glob("gate/*.json"))]
                each = (ends[-1] - ends[0]) / (len(ends) - 1)
                lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
                training = fmean(line["train"]["seconds"] for line in lines)
                print(
                    f"round {turn + 1} lag {lag}: {each:.2f} s a generation (training {training:.2f} s of it), ", end=""
                )
                print(f"{ends[-1] - began:.1f} s from the start, {len(ends)} generations", flush=True)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--ways", nargs="+", choices=("one", "local", "ray"), default=["one", "local"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8, help="of a turn, about")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--visits", type=int, default=64)
    parser.add_argument("--lags", type=int, nargs="+", help="measure the time of a generation instead")
    parser.add_argument("--generations", type=int, default=6, help="of a run with --lags")
    options = parser.parse_args()
    lags(options) if options.lags else turns(options)


if __name__ == "__main__":
    main()

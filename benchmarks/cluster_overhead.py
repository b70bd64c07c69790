"""What a unit costs without its games: by local workers and by workers on Ray, in turns.

    python benchmarks/cluster_overhead.py --workers 2 --units 300 --rounds 3

Units are empty; each carries 20 kB to its worker and 60 kB back, about as 25 games of Connect Four. Printed: seconds of
the wall clock, of the driver's processor, and of all processes' processors, a thousand units.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import fmean

from cluster_common import cpu_seconds, descendants, parser_of, ray_nodes
from hauteur.cluster.model.empty import empty_units
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.cluster.played import CheckedResult
from hauteur.cluster.scheduler import Scheduler

Cost = tuple[float, float, float]


def play(scheduler: Scheduler, units: int, name: str) -> Cost:
    """Seconds of the wall, the driver and all processes, for so many empty units."""
    work = empty_units([0.0] * units, task_bytes=20_000, result_bytes=60_000, name=name)
    everybody = [os.getpid(), *descendants(os.getpid())]
    wall, own, total = time.monotonic(), time.process_time(), cpu_seconds(everybody)
    for _ in scheduler.start(work, {}, lambda unit, _: CheckedResult(unit.key)):
        pass
    return time.monotonic() - wall, time.process_time() - own, cpu_seconds(everybody) - total


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--units", type=int, default=300, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    costs: dict[str, list[Cost]] = {"local": [], "ray": []}
    with ExitStack() as stack:
        address = stack.enter_context(ray_nodes(options.workers)).address
        ways = {"local": WorkerOptions(options.workers), "ray": WorkerOptions(options.workers, address)}
        schedulers = {way: stack.enter_context(open_scheduler(one)) for way, one in ways.items()}
        print(f"{'round':>5s} {'way':6s} {'wall':>8s} {'driver':>8s} {'all':>8s}   s a thousand units")
        for turn in range(options.rounds + 1):  # the first one warms up
            for way, scheduler in schedulers.items():
                assert scheduler is not None
                found = play(scheduler, options.units, f"{way} {turn}")
                if turn:
                    costs[way].append(found)
                    print(f"{turn:5d} {way:6s} {line(found, options.units)}", flush=True)
    for way, found in costs.items():
        print(f" mean {way:6s} {line(tuple(map(fmean, zip(*found, strict=True))), options.units)}")


def line(cost: Sequence[float], units: int) -> str:
    """Seconds a thousand units."""
    return " ".join(f"{1000 * seconds / units:8.2f}" for seconds in cost)


if __name__ == "__main__":
    main()

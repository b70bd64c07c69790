"""Self-play on Ray while nodes join and leave: positions a second against the sum of the workers that are present.

    python benchmarks/cluster_elastic.py --minutes 10 --every 20
    python benchmarks/cluster_elastic.py --minutes 10 --every 20 --most 4 --batch-ms 4  # nets on devices of their own

Each node has one processor and one worker. First one worker plays alone, which is a worker's own speed. Then every 20 s
a node joins or, where there are --most, one is killed with all that runs on it. Printed: positions a second; the sum of
the workers present at each moment, times a worker's own speed; their ratio; the same a processor second of the workers,
which other work of the machine does not change; units that were played again; the longest time without a finished unit,
what the scheduler's status said then, and the longest one above 5 s without a reason there. Status 1 where the ratio is
below --least or there was one without a reason.

Workers, the start of nodes and this process share the machine's processors. With --batch-ms every batch of the network
takes so much longer, in which the processor is free, as on a device: then the processors do not limit the sum.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from cluster_common import cpu_seconds, parser_of, ray_nodes, ray_workers, recipe_of, wait_for
from cluster_work import Arrival, SelfPlayWork, arrivals
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.cluster.scheduler import Batch, Scheduler
from hauteur.system.plugins import import_named

NET = {"filters": 16, "blocks": 2, "policy_channels": 4, "value_channels": 4, "value_hidden": 32}
LONGEST_WAIT = 5.0
SAMPLE = 0.1


@dataclass
class Observer:
    """Looks at the scheduler ten times a second. present: seconds of workers; cpu: of each worker's process."""

    scheduler: Scheduler
    present: float = 0.0
    cpu: dict[int, tuple[float, float]] = field(default_factory=dict)
    last_moved: float = 0.0
    longest: float = 0.0
    waited_with: str = ""
    unexplained: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Look until `close`."""
        before = self.last_moved = time.monotonic()
        while not self._ended.wait(SAMPLE):
            now = time.monotonic()
            self.present += (now - before) * len(self.scheduler.workers)
            before = now
            for pid in ray_workers(os.getpid()):
                used = cpu_seconds([pid])
                self.cpu[pid] = (self.cpu.get(pid, (used, used))[0], used)
            status = self.scheduler.status()
            if now - self.last_moved > self.longest:
                self.longest, self.waited_with = now - self.last_moved, status
            if now - self.last_moved > LONGEST_WAIT and "; " not in status:
                self.unexplained = max(self.unexplained, now - self.last_moved)

    def close(self) -> None:
        """End."""
        self._ended.set()

    @property
    def cpu_used(self) -> float:
        """Processor seconds of all workers' processes while they were looked at."""
        return sum(last - first for first, last in self.cpu.values())


@dataclass(frozen=True)
class Stretch:
    """What was played in a stretch of time."""

    positions: int
    seconds: float
    present: float
    cpu: float
    observer: Observer


def play(batch: Batch, observer: Observer, seconds: float) -> Stretch:
    """Take results for so long."""
    thread = threading.Thread(target=observer.look)
    thread.start()
    began, found = time.monotonic(), list[Arrival]()
    for arrival in arrivals(batch):
        found.append(arrival)
        observer.last_moved = arrival.seconds
        if arrival.seconds - began > seconds:
            break
    observer.close()
    thread.join()
    took = time.monotonic() - began
    return Stretch(sum(one.positions for one in found), took, observer.present, observer.cpu_used, observer)


def check(options: Namespace) -> bool:
    """Measure; return whether something is not as it should be."""
    draws = random.Random(options.seed)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        selfplay = {"visits": 32, "parallel_games": 16, "batch_size": 16, "shard_games": 8}
        recipe = recipe_of("connect4", network=NET, selfplay=selfplay)
        if options.batch_ms:
            os.environ["HAUTEUR_BATCH_MS"] = f"{options.batch_ms:g}"
            import_named(str(Path(__file__).with_name("cluster_device.py")), "--batch-ms")
            recipe |= {"network": {"kind": "on-a-device"}}
        work = SelfPlayWork(place, recipe)
        nodes = stack.enter_context(ray_nodes(1))
        scheduler = stack.enter_context(open_scheduler(WorkerOptions(options.most, nodes.address)))
        wait_for(lambda: scheduler.workers, 300, "the first worker")
        batch = work.start(scheduler, 8 * options.units)
        play(batch, Observer(scheduler), 5)
        alone = play(batch, Observer(scheduler), options.alone)
        own, own_cpu = alone.positions / alone.present, alone.positions / alone.cpu
        print(f"one worker alone: {own:.1f} positions/s, {own_cpu:.1f} a processor second")
        ended, changes = threading.Event(), list[str]()

        def change() -> None:
            while not ended.wait(options.every):
                if len(nodes.nodes) < options.most:
                    nodes.join()
                    changes.append("joined")
                else:
                    nodes.kill(draws.randrange(len(nodes.nodes)))
                    changes.append("left")
                print(f"a node {changes[-1]}: {scheduler.status()}", flush=True)

        thread = threading.Thread(target=change)
        thread.start()
        elastic = play(batch, Observer(scheduler), options.minutes * 60)
        ended.set()
        thread.join()
        return report(elastic, own, own_cpu, changes, batch, options.least)


def report(found: Stretch, own: float, own_cpu: float, changes: list[str], batch: Batch, least: float) -> bool:
    """Print what was measured; return whether something is not as it should be."""
    reached = found.positions / (found.present * own)
    rows = {
        "nodes": f"{changes.count('joined')} joined, {changes.count('left')} left in {found.seconds:.0f} s",
        "workers present": f"{found.present / found.seconds:.2f} on average",
        "positions/s": f"{found.positions / found.seconds:.1f}",
        "sum of the workers present": f"{found.present * own / found.seconds:.1f}",
        "ratio": f"{reached:.3f}",
        "ratio a processor second": f"{found.positions / found.cpu / own_cpu:.3f}",
        "units played again": batch.counts.retried,
        "longest wait for a unit": f"{found.observer.longest:.1f} s: {found.observer.waited_with}",
        "longest one, no reason": f"{found.observer.unexplained:.1f} s (from {LONGEST_WAIT:g} s on)",
    }
    for name, value in rows.items():
        print(f"{name:28s} {value}")
    return reached < least or found.observer.unexplained > 0


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=20, help="seconds between a node that joins and one that leaves")
    parser.add_argument("--most", type=int, default=2, help="nodes")
    parser.add_argument("--alone", type=float, default=30, help="seconds in which a worker's own speed is measured")
    parser.add_argument("--units", type=int, default=20_000, help="that there are to play: enough for the whole time")
    parser.add_argument("--batch-ms", type=float, default=0, help="milliseconds that every batch takes longer")
    parser.add_argument("--least", type=float, default=0.9, help="ratio that is wanted")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(check(parser.parse_args()))


if __name__ == "__main__":
    main()

"""Memory of every process of a run whose training is slower than its workers.

    python benchmarks/cluster_pressure.py --minutes 60 --workers 2 --lag 1              # local workers
    python benchmarks/cluster_pressure.py --minutes 60 --workers 2 --lag 1 --fleet ray  # Ray, nodes of one processor

A run of Connect Four with a small net, whose training is slowed (10 times by default) in a process of this script: with
lag 1 the workers are ahead of it and have to wait. The memory of the driver, of all workers and of Ray's processes is
read every 10 s. Printed: each process' memory at the end of the warm-up (a tenth of the time, at least a minute), its
least, greatest and last one since, and the greatest change in per cent. Status 1 where a process of the run changed by
more than --limit per cent, or the run ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster_common import (
    descendants,
    local_workers,
    parser_of,
    ray_nodes,
    ray_workers,
    recipe_of,
    resident,
    train_command,
    wait_for,
    write_recipe,
)
from hauteur.learning.run_folder import RunFolder

EVERY = 10.0


@dataclass
class Memory:
    """What was seen of a process. samples: seconds and bytes."""

    name: str
    samples: list[tuple[float, int]] = field(default_factory=list)

    def row(self, warm: float) -> tuple[int, int, int, int, float] | None:
        """Bytes at the end of the warm-up, least, greatest, last; greatest change in per cent. None: not so old."""
        since = [size for seconds, size in self.samples if seconds >= warm]
        if len(since) < 2:
            return None
        change = max(abs(max(since) - since[0]), abs(since[0] - min(since))) / since[0] * 100
        return since[0], min(since), max(since), since[-1], change


def pressure_recipe(lag: int, games: int, seed: int) -> dict[str, Any]:
    """A run without an end: the window is full after two generations, and training takes about as long as self-play."""
    selfplay: dict[str, Any] = {"games": games, "visits": 32, "parallel_games": 32, "batch_size": 32, "shard_games": 4}
    return recipe_of(
        "connect4",
        selfplay=selfplay | ({"max_policy_lag": lag} if lag else {}),
        train={"samples_per_position": 4.0, "window_games": 2 * games},
        gate={"games": 10},
        run={"generations": 100_000, "seed": seed},
    )


def drive(slow: float, arguments: list[str]) -> None:
    """The command `hauteur`, in this process, with a training that takes so many times longer."""
    from hauteur.cli.start import main as hauteur
    from hauteur.learning.train import CandidateTrainer

    train = CandidateTrainer.train

    def slowed(self: CandidateTrainer, *given: Any, on_step: Any = None, **named: Any) -> Any:
        last = time.perf_counter()

        def paused(step: int) -> None:
            nonlocal last
            time.sleep((slow - 1) * (time.perf_counter() - last))
            if on_step is not None:
                on_step(step)
            last = time.perf_counter()

        return train(self, *given, on_step=paused, **named)

    CandidateTrainer.train = slowed  # type: ignore[method-assign]
    sys.argv = ["hauteur", *arguments]
    hauteur()


def watched(driver: int, options: Namespace) -> dict[int, str]:
    """The processes of the run, and what they are."""
    found = {driver: "driver"}
    if options.fleet == "local":
        return found | dict.fromkeys(local_workers(driver), "worker")
    found |= dict.fromkeys(ray_workers(os.getpid()), "worker")
    for pid, line in descendants(os.getpid()).items():
        if pid != driver:
            for name in ("gcs_server", "raylet/raylet"):
                found |= {pid: f"Ray's {name.partition('/')[0]}"} if name in line.partition(" ")[0] else {}
    return found


def generations(folder: Path) -> int:
    """Finished generations."""
    path = RunFolder(folder).metrics
    return len(path.read_text().splitlines()) if path.exists() else 0


def watch(process: subprocess.Popen[bytes], folder: Path, options: Namespace) -> dict[int, Memory]:
    """Read the memory until the time is over, or the run has ended."""
    began, found, count = time.monotonic(), dict[int, Memory](), 0
    while (now := time.monotonic() - began) < options.minutes * 60 and process.poll() is None:
        for pid, name in watched(process.pid, options).items():
            if size := resident(pid):
                found.setdefault(pid, Memory(name)).samples.append((now, size))
        if count % 6 == 0:
            sizes = [f"{one.name} {one.samples[-1][1] / 2**20:.0f}" for one in found.values()]
            print(f"{now / 60:5.1f} min  generation {generations(folder)}  MiB: {', '.join(sizes)}", flush=True)
        count += 1
        time.sleep(max(0.0, began + count * EVERY - time.monotonic()))
    return found


def table(found: dict[int, Memory], warm: float, limit: float) -> bool:
    """Print the table; return whether a process changed by more than the limit."""
    print(f"\nafter {warm / 60:.1f} min of warm-up, MiB:")
    print(f"{'process':16s} {'pid':>8s} {'then':>8s} {'least':>8s} {'most':>8s} {'last':>8s} {'change':>8s}")
    wrong = False
    for pid, one in found.items():
        row = one.row(warm)
        if row is None:
            continue
        *sizes, change = row
        print(f"{one.name:16s} {pid:8d} {' '.join(f'{size / 2**20:8.1f}' for size in sizes)} {change:7.2f}%")
        wrong |= change > limit
    return wrong


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--fleet", choices=("local", "ray"), default="local")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lag", type=int, default=1, help="selfplay.max_policy_lag")
    parser.add_argument("--slow", type=float, default=10, help="times that training takes longer")
    parser.add_argument("--games", type=int, default=200, help="of a generation")
    parser.add_argument("--limit", type=float, default=5, help="per cent that the memory of a process may change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drive", nargs="...", help="of this script itself: the arguments of hauteur")
    options = parser.parse_args()
    if options.drive:
        drive(options.slow, options.drive)
        return
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        folder, fleet = place / "run", ["--workers", str(options.workers)]
        if options.fleet == "ray":
            fleet += ["--cluster", stack.enter_context(ray_nodes(options.workers)).address]
        recipe = write_recipe(place / "recipe.toml", pressure_recipe(options.lag, options.games, options.seed))
        arguments = train_command(recipe, folder, *fleet)[3:]
        command = [sys.executable, __file__, "--slow", str(options.slow), "--drive", *arguments]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            stack.callback(process.kill)
            wait_for(lambda: generations(folder) or process.poll() is not None, 600, "the first generation")
            found = watch(process, folder, options)
            ended, played = process.poll(), generations(folder)
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
    wrong = table(found, max(60.0, options.minutes * 6), options.limit)
    print(f"\n{played} generations, training slowed {options.slow:g} times, lag {options.lag}, {' '.join(fleet)}")
    if ended is not None:
        print(f"the run ended with status {ended}")
    sys.exit(wrong or ended is not None)


if __name__ == "__main__":
    main()

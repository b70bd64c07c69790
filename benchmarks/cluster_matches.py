"""Matches, tests, tournaments, tunings and experiments have the same games by one process, local workers and Ray.

    python benchmarks/cluster_matches.py                          # 1 and 2 local workers, 2 on Ray, --cluster local
    python benchmarks/cluster_matches.py --kinds match sprt --ways 0 2 ray2
    python benchmarks/cluster_matches.py --kinds match tournament --ways 1 ray2 --kill node driver

Printed: for each command and way the hash of all games, times left out, their number, and the seconds. With --kill a
node is killed amid the way rayN, or the driver, and the same command goes on. Status 1 where a way differs, or a game
is there twice.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from cluster_common import RayNodes, digest_of, parser_of, ray_nodes

A, B = "visits=48 precision=float32", "visits=8 temperature=1 precision=float32 name=fast"
COMMANDS: dict[str, tuple[str, ...]] = {
    "match": ("match", A, B, "--game", "connect4", "--games", "96", "--seed", "3"),
    "sprt": ("sprt", A, B, "--game", "connect4", "--elo1", "200"),
    "tournament": ("tournament", A, B, "mcts:50", "--game", "connect4", "--games", "24"),
    "tune": (
        *("tune", "strength", A, "--parameter", "cpuct.init=0.5:3", "--game", "connect4"),
        *("--iterations", "3", "--games", "16", "--verification", "16"),
    ),
    "experiment": ("experiment", "cpuct", "--scale", "0.02", "--visits", "16"),
}


def options_of(way: str, address: str) -> list[str]:
    """The options of a way: 0, 1, 2 ...: local workers; rayN; local: a cluster for one command."""
    if way == "local":
        return ["--cluster", "local", "--workers", "2"]
    number = ["--workers", way.removeprefix("ray")]
    return [*number, "--cluster", address] if way.startswith("ray") else number


def games_of(folder: Path) -> dict[str, str]:
    """Every game of a folder by file and number, times left out, of a sequential test those that it counts, and its
    verdict. ValueError where a game is there twice.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("games.jsonl")):
        result = json.loads(path.with_name("result.json").read_text())
        test = result.get("sprt")
        counted = 2 * test["pairs"] if test else math.inf
        found |= {f"{path.relative_to(folder)} test": json.dumps(test)} if test else {}
        for line in path.read_text().splitlines():
            game = json.loads(line)
            game.pop("milliseconds", None)
            name = f"{path.relative_to(folder)} {game['index']}"
            if name in found:
                raise ValueError(f"{name} is there twice")
            if game["index"] < counted:
                found[name] = json.dumps(game, sort_keys=True)
    return found


def lines_of(folder: Path) -> int:
    """How many games are on disk."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("games.jsonl"))


def play(command: Sequence[str], folder: Path, amid: Callable[[subprocess.Popen[bytes]], None] | None) -> None:
    """Run a command to its end, again where it was killed. amid: what happens when the first games are there."""
    words = [sys.executable, "-m", "hauteur.cli", *command, "--out", str(folder)]
    for attempt in range(2):
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(words, stdout=output, stderr=output)
            if amid is not None and attempt == 0:
                while not lines_of(folder) and process.poll() is None:
                    time.sleep(0.05)
                amid(process)
            if process.wait() == 0:
                return
            output.seek(0)
            text = output.read().decode(errors="replace")
        if process.returncode != -signal.SIGKILL:
            raise RuntimeError(f"{' '.join(words)}: status {process.returncode}: {text[-2000:]}")


def amid_of(kill: str | None, cluster: RayNodes | None) -> Callable[[subprocess.Popen[bytes]], None] | None:
    """What is done amid a command: `node` or `driver` is killed."""
    if kill is None or cluster is None:
        return None

    def act(process: subprocess.Popen[bytes]) -> None:
        if kill == "driver":
            process.kill()
        else:
            cluster.kill(0)
            cluster.join()

    return act


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--kinds", nargs="+", choices=COMMANDS, default=tuple(COMMANDS))
    parser.add_argument("--ways", nargs="+", default=("1", "2", "ray2", "local"))
    parser.add_argument("--kill", nargs="+", choices=("node", "driver"), default=())
    options = parser.parse_args()
    wrong = False
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        most = max((int(way[3:]) for way in options.ways if way.startswith("ray")), default=0)
        cluster = stack.enter_context(ray_nodes(most)) if most else None
        address = "" if cluster is None else cluster.address
        print(f"{'command':11s} {'way':6s} {'killed':7s} {'hash of the games':18s} {'games':>6s} {'seconds':>8s}")
        for kind in options.kinds:
            first: dict[str, str] = {}
            for way in options.ways:
                for kill in (None, *(options.kill if way.startswith("ray") else ())):
                    folder, began = place / f"{kind}-{way}-{kill}", time.monotonic()
                    play([*COMMANDS[kind], *options_of(way, address)], folder, amid_of(kill, cluster))
                    found = games_of(folder)
                    first = first or found
                    same = found == first
                    wrong = wrong or not same
                    seconds = time.monotonic() - began
                    row = f"{kind:11s} {way:6s} {kill or '':7s} {digest_of(found):18s} {len(found):6d} {seconds:8.1f}"
                    print(row + ("" if same else "  differs"), flush=True)
    print("something differs" if wrong else "all equal")
    sys.exit(wrong)


if __name__ == "__main__":
    main()

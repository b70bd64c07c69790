"""hauteur bench start: how long a start takes, from an import to the first move of the UCI engine."""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import IO, NamedTuple

from hauteur.cli.commands.bench import check_positive

COMMAND = "import sys; from hauteur.cli.start import main; sys.exit(main())"
"""What the installed script `hauteur` does."""

PATIENCE = 120
"""Seconds after which a process that has not answered is ended."""


class StartTime(NamedTuple):
    """Something that is started: its name, words, lines to send, the word to wait for, and the program, this Python."""

    name: str
    words: list[str]
    lines: str = ""
    until: str = ""
    program: str = sys.executable


class Taken(NamedTuple):
    """The cost of one start: seconds until the awaited line or the end, and the process's own seconds of processor."""

    seconds: float
    cpu_seconds: float | None


def start(*, net: Path | None = None, rounds: int = 5) -> None:
    """Seconds from the start of a process to its answer, with this Python and this installation.

    One JSON line each for `import hauteur`, `hauteur --help`, the UCI engine to `uciok`, and the UCI engine to its
    first move with a chess net (one visit). `seconds` are on the clock and grow with the load of the machine;
    `cpu_seconds` are the processor's (user and system), of the process to its end.

    Parameters
    ----------
    net
        Chess net of the last line; default: the one that ships, or that HAUTEUR_NET names.
    rounds
        Starts of each kind, which take turns; the minimum, median and maximum are printed.
    """
    from hauteur import networks
    from hauteur.games import registry as games
    from hauteur.networks.bundled import net_or_shipped

    check_positive(rounds=rounds)
    chosen = Path(net_or_shipped(None if net is None else str(net), games.load_game("chess"))).resolve()
    networks.describe(chosen)  # an engine without a net would move at once
    starts = starts_of(chosen)
    for one in starts:
        measure(one)  # files are in the memory of the system afterwards
    taken: dict[str, list[Taken]] = {one.name: [] for one in starts}
    for _ in range(rounds):
        for one in starts:
            taken[one.name].append(measure(one))
    for name, results in taken.items():
        cpu = [result.cpu_seconds for result in results if result.cpu_seconds is not None]
        line = {"bench": "start", "what": name, "seconds": seconds_of([result.seconds for result in results])}
        print(json.dumps(line | ({"cpu_seconds": seconds_of(cpu)} if cpu else {})), flush=True)


def starts_of(net: Path) -> list[StartTime]:
    """Everything that is measured."""
    first_move = f"uci\nsetoption name WeightsFile value {net}\nposition startpos\ngo nodes 1\n"
    return [
        StartTime("import hauteur", ["-c", "import hauteur"]),
        StartTime("hauteur --help", ["-c", COMMAND, "--help"]),
        StartTime("hauteur uci to uciok", ["-c", COMMAND, "uci"], "uci\n", "uciok"),
        StartTime(f"hauteur uci to bestmove, {net.name}", ["-c", COMMAND, "uci"], first_move, "bestmove"),
    ]


def measure(one: StartTime) -> Taken:
    """Start it once. Raise ValueError if it fails, or says nothing of what is awaited."""
    before, began = children_seconds(), time.perf_counter()
    process = subprocess.Popen(
        [one.program, *one.words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(one.lines)
        process.stdin.flush()
        found = wait_for(one.until, process.stdout)
        seconds = time.perf_counter() - began
        _, complaint = process.communicate("quit\n" if one.lines else None, timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    seconds = seconds if one.until else time.perf_counter() - began
    if not found or (process.returncode != 0 and not one.lines):
        raise ValueError(f"{one.name} failed: {(complaint.strip().splitlines() or ['no answer'])[-1]}")
    after = children_seconds()
    return Taken(seconds, None if before is None or after is None else after - before)


def wait_for(word: str, output: IO[str]) -> bool:
    """Read lines until one begins with the word; return whether one did. No word: nothing is read."""
    return not word or any(line.startswith(word) for line in output)


def children_seconds() -> float | None:
    """Seconds of the processor of all ended processes that this one started; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of(values: list[float]) -> dict[str, float]:
    """Least, median and greatest, in milliseconds' precision."""
    found = {"min": min(values), "median": median(values), "max": max(values)}
    return {name: round(value, 3) for name, value in found.items()}

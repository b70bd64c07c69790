"""Speed of UCI programs side by side: nodes per second of the processor, and the time from start to first move.

python benchmarks/compare_engines.py ROUNDS NODES PROGRAM PROGRAM ...     (needs Linux)

A program is a text `COMMAND [ARGUMENT ...] [OPTION=VALUE ...]`; an argument with `=` begins with a dash. For instance
(lc0 is fastest on few cores without threads of its own):

OMP_NUM_THREADS=1 python benchmarks/compare_engines.py 5 10000 \\
  "lc0 --task-workers=0 Threads=1 SmartPruningFactor=0 Backend=onednn WeightsFile=maia-1700.pb.gz" \\
  "hauteur-uci Threads=1 SmartPruningFactor=0 WeightsFile=maia-1700.pb.gz Precision=float32"

In each round every program searches six positions once, each as a new game with an empty tree, and is started anew and
asked for a move of one node. A node is a visit for lc0 and hauteur, a position on the way for Stockfish: between those
only games compare.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import chess
import chess.engine

POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 2 8",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)
PATIENCE = 600.0
"""Seconds that a program may take to start, or to search."""


class Round(NamedTuple):
    """The work of one program in one round. cpu: nodes per second of the processor; clock: nodes per second; first:
    seconds from the start of the process to `bestmove`."""

    cpu: float
    clock: float
    first: float


def started(program: str) -> chess.engine.SimpleEngine:
    """Start a program, in a process group of its own, with its options set."""
    words = shlex.split(program)
    given = [word for word in words[1:] if "=" in word and not word.startswith("-")]
    command = [word for word in words if word not in given]
    engine = chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE, start_new_session=True)
    engine.configure(dict(word.split("=", 1) for word in given))
    return engine


def processor_seconds(group: int) -> float:
    """Seconds of the processor, user and system, of all processes of a group."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(program: str, engine: chess.engine.SimpleEngine, nodes: int) -> Round:
    """Search all positions with a running engine, then start the program once more."""
    group = engine.transport.get_pid()
    before = processor_seconds(group)
    began = time.perf_counter()
    done = 0
    for fen in POSITIONS:
        result = engine.play(
            chess.Board(fen), chess.engine.Limit(nodes=nodes), game=object(), info=chess.engine.INFO_BASIC
        )
        done += result.info.get("nodes", 0)
    clock = time.perf_counter() - began
    processor = processor_seconds(group) - before
    began = time.perf_counter()
    with started(program) as other:
        other.play(chess.Board(), chess.engine.Limit(nodes=1))
        first = time.perf_counter() - began
    return Round(done / max(processor, 1e-9), done / clock, first)


def shown(values: Sequence[float]) -> str:
    """Return `median [least, greatest]` with about three digits."""
    texts = [
        f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in (median(values), min(values), max(values))
    ]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def main(rounds: str, nodes: str, *programs: str) -> None:
    """Let the programs take turns; print a block a program, with its speed relative to the first one's."""
    engines = {program: started(program) for program in programs}
    found: dict[str, list[Round]] = {program: [] for program in programs}
    try:
        for program, engine in engines.items():
            measured(program, engine, max(1, int(nodes) // 10))  # opens nets, and brings files into memory
        for _ in range(int(rounds)):
            for program, engine in engines.items():
                found[program].append(measured(program, engine, int(nodes)))
    finally:
        for engine in engines.values():
            engine.close()
    for program, ones in found.items():
        ratios = [one.cpu / first.cpu for one, first in zip(ones, found[programs[0]], strict=True)]
        print(program)
        print(f"  nodes / CPU s  {shown([one.cpu for one in ones])}, of the first {shown(ratios)}")
        print(f"  nodes / s      {shown([one.clock for one in ones])}")
        print(f"  first move: s  {shown([one.first for one in ones])}")


if __name__ == "__main__":
    main(*sys.argv[1:])

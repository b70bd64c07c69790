"""Memory of the engine over a long play whose tree is used again from move to move: flat after it has warmed up.

    python tools/memory_checks.py --seconds 240 --visits 2000

Plays games of chess against itself, move after move with `position ... moves` and `go nodes`, as a chess program does,
and reads the resident memory of the engine's process after every game. Prints it over time; status 1 where the mean of
the last quarter is more than 2 % above that of the second quarter. Linux.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from time_checks import engine, opening

MOST_GROWTH = 0.02
MOST_PLIES = 60


def resident(pid: int) -> int:
    """Return the bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def main(words: Sequence[str] | None = None) -> int:
    """Play; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--visits", type=int, default=2000, help="of a move")
    parser.add_argument("--net", default="", help="empty: the engine's own")
    given = parser.parse_args(words)
    played, draws, memory, moves = engine(given.net), random.Random(1), list[int](), 0
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        played.begin()
        board = opening(draws)
        while not board.is_game_over(claim_draw=True) and len(board.move_stack) < MOST_PLIES:
            board.push(played.move(board, f"nodes {given.visits}")[0])
            moves += 1
        memory.append(resident(played.process.pid))
    quarters = [float(np.mean(part)) / 1e6 for part in np.array_split(memory, 4)]
    growth = quarters[3] / quarters[1] - 1
    print(f"{len(memory)} games, {moves:,} moves of {given.visits:,} visits in {given.seconds:.0f} s")
    print(f"resident memory by quarter, MB: {', '.join(f'{one:.1f}' for one in quarters)}; growth {growth:+.1%}")
    return int(growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())

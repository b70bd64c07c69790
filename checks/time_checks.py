"""Games of the UCI engine against itself: losses on time, how far searches overrun their time, and memory.

    python checks/time_checks.py --games 100 --control 0.1+0.01
    python checks/time_checks.py --games 100 --control 1+0 --net chess --load 4       with four busy processes beside
    python checks/time_checks.py --stops 30 --net slow.pb.gz --load 6
    python checks/time_checks.py --memory 240 --visits 2000

The clock is this program's: from before `go` is written until `bestmove` is read, so that it has what pipes and other
processes cost. Prints the moves, the losses on time, quantiles of what is left of the clock after a move, and those of
the time beyond `go movetime 50`, and of the answer to `isready`, which says what the machine itself takes. A loss is
the machine's where the engine and this program have waited for a processor, in that move, for longer than the clock was
exceeded by (run_delay of /proc/PID/task/*/schedstat; a thread that has ended is not counted any more). Of every other
loss a line says how long the move took, how much of it the engine computed, what the hypervisor has taken in that
time, and how long that side has waited in the whole game; status 1 where there is one.

--stops: one engine searches without a limit this many times and is stopped after half a second to one second; prints
quantiles of the time from `stop` to `bestmove`, and of `go movetime 1` and `go nodes 1`, which cost the net a position.

--memory: one engine plays with itself for these seconds, its tree used again from move to move; status 1 where its
resident memory in the last quarter is more than 2 % above that of the second. Linux.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np

MOST_PLIES, MOST_PLIES_OF_MEMORY, MOST_GROWTH = 300, 60, 0.02
MOVETIME = 50
"""Milliseconds of single searches."""

QUANTILES = (0.01, 0.5, 0.9, 0.99, 1.0)


HAUTEUR = (sys.executable, "-c", "from hauteur.cli.start import main_uci; main_uci()")


class Engine:
    """A UCI engine as a process. options: `NAME value VALUE`; is_quiet: without its errors."""

    def __init__(self, *options: str, words: Sequence[str] = HAUTEUR, is_quiet: bool = False) -> None:
        ends: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        ends |= {"stderr": subprocess.DEVNULL} if is_quiet else {}
        self.process = subprocess.Popen(words, text=True, bufsize=1, **ends)
        self.send("uci", *(f"setoption name {option}" for option in options))
        self.until("uciok")

    def send(self, *lines: str) -> None:
        """Write lines."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))

    def until(self, word: str) -> list[str]:
        """Read lines until one begins with this word."""
        assert self.process.stdout is not None
        found = []
        for line in self.process.stdout:
            found.append(line)
            if line.startswith(word):
                return found
        raise RuntimeError("the engine ended")

    def begin(self) -> None:
        """Begin a game."""
        self.send("ucinewgame", "isready")
        self.until("readyok")

    def computed(self) -> float:
        """Return the seconds of processor time that it has used, threads that have ended included."""
        clock = (~self.process.pid << 3) | 2  # as clock_getcpuclockid(3) makes it
        return time.clock_gettime(clock)

    def waited(self) -> float:
        """Return the seconds that its threads and this program were ready to run, and had no processor."""
        return waited_for_processors(self.process.pid) + waited_for_processors(os.getpid())

    def answer(self) -> float:
        """Return the seconds that an answer without any work takes."""
        began = time.monotonic()
        self.send("isready")
        self.until("readyok")
        return time.monotonic() - began

    def move(self, board: chess.Board, go: str) -> tuple[chess.Move, float]:
        """Return the move of a position, and the seconds that it took."""
        line = " ".join(move.uci() for move in board.move_stack)
        began = time.monotonic()
        self.send(f"position startpos moves {line}", f"go {go}")
        answer = self.until("bestmove")[-1].split()[1]
        return board.parse_uci(answer), time.monotonic() - began


def waited_for_processors(pid: int) -> float:
    """Return the seconds that the threads of a process have waited for a processor."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[1]) for task in tasks) / 1e9


def stolen() -> float:
    """Return the seconds that the hypervisor has given to others, of all processors together."""
    steal = int(Path("/proc/stat").read_text().split()[8])
    return steal / os.sysconf("SC_CLK_TCK")


@dataclass
class Lost:
    """Games lost on time, and those of them whose loss the machine explains."""

    games: int = 0
    by_machine: int = 0


def engine(net: str) -> Engine:
    """Return hauteur's engine with one thread and a net; empty: its own."""
    return Engine(*([f"WeightsFile value {net}"] if net else []), "Threads value 1")


def opening(draws: random.Random) -> chess.Board:
    """Return a position after eight random plies."""
    while True:
        board = chess.Board()
        for _ in range(8):
            board.push(draws.choice(list(board.legal_moves)))
            if board.is_game_over():
                break
        else:
            return board


def play(engines: Sequence[Engine], control: tuple[float, float], draws: random.Random, lost: Lost) -> list[float]:
    """Play a game; return what was left of the clock after every move, in seconds. A loss on time is counted."""
    board = opening(draws)
    clocks = [control[0], control[0]]
    left = list[float]()
    waits = [0.0, 0.0]
    for engine in engines:
        engine.begin()
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) < MOST_PLIES:
        side = int(not board.turn)
        white, black, more = (round(1000 * seconds) for seconds in (*clocks, control[1]))
        waited = engines[side].waited()
        computed = engines[side].computed()
        taken = stolen()
        move, seconds = engines[side].move(board, f"wtime {white} btime {black} winc {more} binc {more}")
        waited = engines[side].waited() - waited
        waits[side] += waited
        clocks[side] -= seconds
        left.append(clocks[side])
        if clocks[side] < 0:
            lost.games += 1
            if waited > -clocks[side]:
                lost.by_machine += 1
            else:
                computed = engines[side].computed() - computed
                taken = stolen() - taken
                print(f"lost by {-1000 * clocks[side]:.1f} ms: the move took {1000 * seconds:.1f} ms", end=", ")
                print(f"computed {1000 * computed:.1f}, waited {1000 * waited:.1f}", end="; ")
                print(f"{1000 * taken:.0f} ms taken by the hypervisor", end="; ")
                print(f"move {len(left)} of the game, in which this side has waited {1000 * waits[side]:.0f} ms")
            return left
        clocks[side] += control[1]
        board.push(move)
    return left


def memory(seconds: float, visits: int, net: str) -> int:
    """Play, and read the resident memory after every game; return the exit status."""
    played = engine(net)
    draws = random.Random(1)
    found = list[int]()
    moves = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        played.begin()
        board = opening(draws)
        while not board.is_game_over(claim_draw=True) and len(board.move_stack) < MOST_PLIES_OF_MEMORY:
            board.push(played.move(board, f"nodes {visits}")[0])
            moves += 1
        pages = Path(f"/proc/{played.process.pid}/statm").read_text().split()[1]
        found.append(int(pages) * resource.getpagesize())
    quarters = [float(np.mean(part)) / 1e6 for part in np.array_split(found, 4)]
    growth = quarters[3] / quarters[1] - 1
    print(f"{len(found)} games, {moves:,} moves of {visits:,} visits in {seconds:.0f} s")
    print(f"resident memory by quarter, MB: {', '.join(f'{one:.1f}' for one in quarters)}; growth {growth:+.1%}")
    return int(growth > MOST_GROWTH)


def stops(number: int, net: str) -> int:
    """Stop unlimited searches; print how long each answer took. Return the exit status."""
    searching = engine(net)
    draws = random.Random(1)
    searching.begin()
    answers = list[float]()
    shortest = list[float]()
    single = list[float]()
    for _ in range(number):
        board = opening(draws)
        searching.send(f"position fen {board.fen()}", "go infinite")
        time.sleep(draws.uniform(0.5, 1.0))
        began = time.monotonic()
        searching.send("stop")
        searching.until("bestmove")
        answers.append(time.monotonic() - began)
        shortest.append(searching.move(opening(draws), "movetime 1")[1])
        single.append(searching.move(opening(draws), "nodes 1")[1])
    print(f"load {os.getloadavg()[0]:.1f}; {number} searches")
    print(f"stop to bestmove, ms: {shown(answers)}")
    print(f"go movetime 1, ms: {shown(shortest)}")
    print(f"go nodes 1, ms: {shown(single)}")
    return 0


def busy() -> None:
    """Use a processor without end."""
    while True:
        pass


def shown(values: Sequence[float]) -> str:
    """Return quantiles in milliseconds."""
    found = np.quantile(values, QUANTILES)
    return ", ".join(f"{share:.0%} {1000 * value:.1f}" for share, value in zip(QUANTILES, found, strict=True))


def main(words: Sequence[str] | None = None) -> int:
    """Play the games; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--control", default="0.1+0.01", help="seconds and seconds a move")
    parser.add_argument("--net", default="", help="empty: the engine's own")
    parser.add_argument("--load", type=int, default=0, help="busy processes beside")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stops", type=int, default=0, help="searches to stop, instead of games by the clock")
    parser.add_argument("--memory", type=float, default=0, help="seconds, instead of games by the clock")
    parser.add_argument("--visits", type=int, default=2000, help="of a move, with --memory")
    given = parser.parse_args(words)
    if given.memory:
        return memory(given.memory, given.visits, given.net)
    base, _, more = given.control.partition("+")
    control = (float(base), float(more or 0))
    draws = random.Random(given.seed)
    others = [multiprocessing.Process(target=busy, daemon=True) for _ in range(given.load)]
    for other in others:
        other.start()
    if given.stops:
        return stops(given.stops, given.net)
    engines = engine(given.net), engine(given.net)
    left = list[float]()
    lost = Lost()
    beyond = list[float]()
    answers = list[float]()
    for game in range(given.games):
        left += play((engines[game % 2], engines[1 - game % 2]), control, draws, lost)
        beyond.append(engines[0].move(opening(draws), f"movetime {MOVETIME}")[1] - MOVETIME / 1000)
        answers += [engines[0].answer() for _ in range(5)]
    print(f"load {os.getloadavg()[0]:.1f}; {given.games} games, {len(left):,} moves, {lost.games} lost on time", end="")
    print(f", {lost.by_machine} of them the machine's")
    print(f"left of the clock, ms: least {1000 * min(left):.1f}, {shown(left)}")
    print(f"beyond movetime {MOVETIME}, ms: {shown(beyond)}")
    print(f"answer to isready, ms: {shown(answers)}")
    return int(lost.games > lost.by_machine)


if __name__ == "__main__":
    sys.exit(main())

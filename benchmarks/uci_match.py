"""Plays clocked games between hauteur and another UCI engine (or itself) and says how the clock was used.

    python benchmarks/uci_match.py --net maia-1900.pb.gz --games 10 --time 1 --increment 0.05 [--opponent stockfish]

Prints one JSON line: results from hauteur's side, losses on time, and per game the share of the available time
(initial time and increments) that hauteur used.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import mean, median

import chess
import chess.engine

OPENING_PLIES = 4
MIRRORED = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2", "1-0 time": "0-1 time", "0-1 time": "1-0 time"}
"""A result as the other side sees it."""


@dataclass
class Side:
    """One player's clock in a game."""

    left: float
    increment: float
    used: float = 0.0
    given: float = field(init=False)
    longest: float = 0.0

    def __post_init__(self) -> None:
        self.given = self.left

    def charge(self, seconds: float) -> bool:
        """Takes the time of a move; False if the clock ran out."""
        self.used += seconds
        self.longest = max(self.longest, seconds)
        self.left -= seconds
        alive = self.left >= 0.0
        self.left += self.increment
        self.given += self.increment
        return alive


@contextmanager
def opened(command: list[str], options: dict[str, str]) -> Iterator[chess.engine.SimpleEngine]:
    """An engine for the length of a block."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=300) as engine:
        engine.configure(options)
        engine.ping()
        yield engine


def opening(number: int) -> chess.Board:
    """The position after a few plies, another one for each number."""
    board = chess.Board()
    for ply in range(OPENING_PLIES):
        moves = sorted(board.legal_moves, key=lambda move: move.uci())
        board.push(moves[(11 * number + 5 * ply + number * ply) % len(moves)])
    return board


def play(engines: list[chess.engine.SimpleEngine], board: chess.Board, sides: list[Side]) -> str:
    """One game; `engines` and `sides` White's first. The result, or `0-1 time`, `1-0 time`."""
    game = object()
    while not board.is_game_over(claim_draw=True):
        index = 0 if board.turn == chess.WHITE else 1
        white, black = sides
        limit = chess.engine.Limit(
            white_clock=white.left, black_clock=black.left, white_inc=white.increment, black_inc=black.increment
        )
        began = time.perf_counter()
        move = engines[index].play(board, limit, game=game).move
        if not sides[index].charge(time.perf_counter() - began):
            return ("0-1", "1-0")[index] + " time"
        if move is None:
            raise ValueError(f"no move in {board.fen()}")
        board.push(move)
    return board.result(claim_draw=True)


def main() -> None:
    """Plays the match that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", required=True, help="net of hauteur, or `uniform`")
    parser.add_argument(
        "--opponent", default="", help="command of the other engine; default: hauteur with the same net"
    )
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--time", type=float, default=1.0, help="seconds for the game")
    parser.add_argument("--increment", type=float, default=0.05, help="seconds a move")
    parser.add_argument("--overhead", type=int, default=200, help="MoveOverheadMs")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    hauteur = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights", given.net]
    settings = {"MoveOverheadMs": str(given.overhead), "Threads": str(given.threads)}
    other = ([given.opponent], {}) if given.opponent else (hauteur, settings)
    with opened(hauteur, settings) as ours, opened(*other) as theirs:
        print(json.dumps(match(ours, theirs, given)))


def match(
    ours: chess.engine.SimpleEngine, theirs: chess.engine.SimpleEngine, given: argparse.Namespace
) -> dict[str, object]:
    """All games, colours in turn, and their summary."""
    results, shares, longest, moves = [], [], [], []
    for number in range(given.games):
        sides = [Side(given.time, given.increment) for _ in range(2)]
        seat = number % 2
        board = opening(number // 2)
        result = play([ours, theirs] if seat == 0 else [theirs, ours], board, sides)
        results.append(result if seat == 0 else MIRRORED[result])
        shares.append(sides[seat].used / sides[seat].given)
        longest.append(sides[seat].longest)
        moves.append(board.fullmove_number)
        print(
            f"game {number + 1}: {result}, hauteur {'White' if seat == 0 else 'Black'}, {moves[-1]} moves, "
            f"used {100 * shares[-1]:.0f} % of its time",
            file=sys.stderr,
        )
    return {
        "date": time.strftime("%Y-%m-%d"),
        "opponent": given.opponent or "itself",
        "time": given.time,
        "increment": given.increment,
        "games": given.games,
        "won": sum(r.startswith("1-0") for r in results),
        "drawn": results.count("1/2-1/2"),
        "lost": sum(r.startswith("0-1") for r in results),
        "lost_on_time": sum(r == "0-1 time" for r in results),
        "share_used_median": round(median(shares), 3),
        "share_used_range": [round(min(shares), 3), round(max(shares), 3)],
        "longest_move_seconds": round(max(longest), 3),
        "mean_moves": round(mean(moves), 1),
    }


if __name__ == "__main__":
    main()

"""A match of a net with an engine of another project: its options, its games, and what is printed of it.

For `checks/gomoku_judge.py` and `checks/hexhex_judge.py`, which bring the engines.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import hauteur as ht
from hauteur.system.errors import explain

EXIT_BAD_INPUT = 2


def processor_seconds() -> tuple[float, float]:
    """Return the processor time so far of this thread, and of child processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time(), children.ru_utime + children.ru_stime


@dataclass
class Judge:
    """An opponent of a net, with what its moves have cost."""

    name: str
    """Of the player."""
    moves: int = field(init=False, default=0)
    """Moves chosen so far."""
    thread_seconds: float = field(init=False, default=0.0)
    """Processor time that they took in this process."""
    child_seconds: float = field(init=False, default=0.0)
    """Processor time that they took in processes of their own."""

    def choose(self, state: ht.State) -> int:
        """Return the move of a position, and count it and its time."""
        thread_before, child_before = processor_seconds()
        move = self.move_in(state)
        thread_after, child_after = processor_seconds()
        self.thread_seconds += thread_after - thread_before
        self.child_seconds += child_after - child_before
        self.moves += 1
        return move

    def move_in(self, state: ht.State) -> int:
        """Return the move of a position."""
        raise NotImplementedError


def add_options(parser: argparse.ArgumentParser, *, visits: int, games: int, plies: int) -> None:
    """Add the options of a match, with these defaults: visits of a move, games, random plies at the start."""
    parser.add_argument("--visits", type=int, default=visits, help=f"visits of a move (default {visits})")
    parser.add_argument("--games", type=int, default=games, help=f"games, an even number (default {games})")
    parser.add_argument("--plies", type=int, default=plies, help=f"random plies of an opening (default {plies})")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random choices (default 1)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the net's player")


def judged(judge: Callable[[], Judge], given: argparse.Namespace, game: str) -> int:
    """Play the match of `given.net` with an engine and print its result; return the exit status.

    judge: makes the engine. given: the options of `add_options`, and `net`. What cannot be read or played is one line
    on stderr and status 2.
    """
    try:
        _play(judge(), given, game)
    except (ValueError, OSError, ImportError) as error:
        print(explain(error), file=sys.stderr)
        return EXIT_BAD_INPUT
    return 0


def _play(judge: Judge, given: argparse.Namespace, game: str) -> None:
    """Play the match and print its result."""
    opponent = ht.Player.from_function(judge.choose, name=judge.name)
    player = " ".join([f"net={given.net}", f"visits={given.visits}", *given.set])
    began = time.process_time()
    match = ht.play_match(
        player, opponent, game, games=given.games, seed=given.seed, random_plies=given.plies, threads=1, progress=False
    )
    of_net = time.process_time() - began - judge.thread_seconds
    moves_of_net = sum(len(one.moves.split()) for one in match.games) - judge.moves
    of_engine = judge.thread_seconds + judge.child_seconds
    cpu_seconds = {"net": of_net / max(moves_of_net, 1), "engine": of_engine / max(judge.moves, 1)}
    low, high = match.score_interval
    facts = {
        "player": match.names[0],
        "engine": judge.name,
        "visits": given.visits,
        "games": given.games,
        "seed": given.seed,
        "wins": match.wins,
        "draws": match.draws,
        "losses": match.losses,
        "cpu_seconds_a_move": cpu_seconds,
    }
    print(json.dumps(facts))
    print(f"{match.names[0]}: {match.score:.1%} [{low:.1%}, {high:.1%}] of {given.games} games")
    print(f"processor time of a move: net {cpu_seconds['net']:.3f} s, {judge.name} {cpu_seconds['engine']:.3f} s")

"""Counts the positions of a chess suite in which players choose the best move.

    python benchmarks/tactics.py SUITE.epd "net=chess visits=100" "net=chess visits=100 solver.threats=200"

SUITE is a file of EPD whose positions have `bm` (the best moves) or `am` (moves to avoid). A player is that of `hauteur
match`, also a program: "uci:stockfish nodes=1000". Printed are the positions that each player solves, with the interval
of 95 %, and its processor seconds; programs count in those of their own.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import chess

import hauteur as ht
from hauteur.matches.exact_call import opened_players
from hauteur.matches.exact_play import MoveChooser
from hauteur.matches.ratings.elo import wilson
from hauteur.players.settings import parse_player


class Problem(NamedTuple):
    """A position of a suite."""

    state: ht.State
    """The position."""
    best: frozenset[str]
    """Moves that solve it, in UCI; empty where it has moves to avoid alone."""
    avoid: frozenset[str]
    """Moves that do not solve it."""

    def is_solved_by(self, move: str) -> bool:
        """Return whether this move solves it."""
        return move not in self.avoid and (not self.best or move in self.best)


def problems_of(path: Path) -> list[Problem]:
    """Read the positions of a suite that have best moves or moves to avoid. ValueError for a line that is no EPD."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            board, operations = chess.Board.from_epd(line)
        except ValueError as error:
            raise ValueError(f"{path}: line {number} is no EPD ({error})") from None
        best, avoid = (_moves(operations.get(name)) for name in ("bm", "am"))
        if best or avoid:
            found.append(Problem(ht.position("chess", board), best, avoid))
    if not found:
        raise ValueError(f"{path}: no position has bm or am")
    return found


def _moves(value: object) -> frozenset[str]:
    """Return the moves of an operation as UCI; none where it is absent."""
    return frozenset(move.uci() for move in value) if isinstance(value, list) else frozenset()


def solved_by(player: str, problems: Sequence[Problem]) -> int:
    """Return the number of positions that a player solves."""
    game = ht.load_game("chess")
    states = [problem.state for problem in problems]
    with opened_players(game, [parse_player(player)]) as (opened,):
        actions = MoveChooser(opened, game).choose(states).tolist()
    moves = [state.uci(action) for state, action in zip(states, actions, strict=True)]
    return sum(problem.is_solved_by(move) for problem, move in zip(problems, moves, strict=True))


def main(words: Sequence[str] | None = None) -> int:
    """Print a line a player."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("players", nargs="+")
    given = parser.parse_args(words)
    try:
        problems = problems_of(given.suite)
        for player in given.players:
            begun = time.process_time()
            solved = solved_by(player, problems)
            seconds = time.process_time() - begun
            low, high = wilson(solved / len(problems), len(problems), 0.95)
            share = f"{solved / len(problems):.1%} [{low:.1%}, {high:.1%}]"
            print(f"{solved} of {len(problems)}, {share}, {seconds:.1f} CPU-s: {player}", flush=True)
    except (OSError, ValueError) as error:
        print(f"tactics: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

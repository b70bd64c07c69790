"""Counts a net's mistakes in Connect Four positions of known score, such as P. Pons's six sets, as AlphaZero.jl does.

    python benchmarks/connect4_sets.py FOLDER/Test_L* --visits 600

A line is the columns played (1 to 7) and a score, whose sign is the value for the player to move. A mistake is a move
that lowers it. Moves of the first plies take seconds each to check.
"""

import argparse
from pathlib import Path

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.matches.exact_play import FIXED_SEARCH, MoveChooser
from hauteur.matches.ratings.elo import wilson
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import resolve_net
from hauteur.players.search_player import SearchPlayer


def main() -> None:
    """Print mistakes, positions and the share with its 95 % interval, a set a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--net")
    parser.add_argument("--visits", type=int, default=600)
    arguments, game = parser.parse_args(), _core.Game("connect4")
    evaluator, solver = make_evaluator(game, resolve_net(arguments.net, game)), _core.ExactSolver(game, 24)
    chooser = MoveChooser(SearchPlayer("net", evaluator, FIXED_SEARCH, arguments.visits), game, seed=0)
    for path in arguments.sets:
        rows = [(line.split()[0], int(line.split()[1])) for line in path.read_text().splitlines()]
        states = [position_after(game.new_initial_state(), [int(c) - 1 for c in columns]) for columns, _ in rows]
        moves = zip(states, chooser.choose(states).tolist(), rows, strict=True)
        share = sum(worth >= 0 and lowers(state, move, worth, solver) for state, move, (_, worth) in moves) / len(rows)
        low, high = wilson(share, len(rows), 0.95)
        print(f"{path.name}: {share:.1%} [{low:.1%}, {high:.1%}] of {len(rows)}", flush=True)


def lowers(state: _core.State, action: int, score: int, solver: _core.ExactSolver) -> bool:
    """Return whether a move lowers the value of a position that is not lost."""
    ended = (child := state.child(action)).outcome()
    value = -max(solver.move_values(child) or ()) if ended is None else ended * (1 if state.to_move == 0 else -1)
    return value < (score > 0)


if __name__ == "__main__":
    main()

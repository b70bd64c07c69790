"""Counts a net's mistakes in Connect Four positions of known score, such as P. Pons's six sets, as AlphaZero.jl does.

    python benchmarks/connect4_sets.py FOLDER/Test_L* --visits 600

A line is the columns played (1 to 7) and a score, whose sign is the value for the player to move. A mistake is a move
that lowers it. Moves of the first plies take seconds each to check.
"""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.matches.exact_call import opened_players
from hauteur.matches.exact_play import FIXED_SEARCH, MoveChooser
from hauteur.matches.ratings.elo import wilson
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import resolve_net
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player


def main() -> None:
    """Print mistakes, positions and the share with its 95 % interval, a set a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--net")
    parser.add_argument("--visits", type=int, default=600)
    parser.add_argument(
        "--player", help="a player with its own search, such as 'net=NET visits=600 solver.exact=100000'"
    )
    parser.add_argument("--every", type=int, default=1, help="take every so many positions of a set")
    arguments = parser.parse_args()
    game = _core.Game("connect4")
    with ExitStack() as stack:
        if arguments.player is None:
            evaluator = make_evaluator(game, resolve_net(arguments.net, game))
            player: SearchPlayer | MovePlayer = SearchPlayer("net", evaluator, FIXED_SEARCH, arguments.visits)
        else:
            (player,) = stack.enter_context(opened_players(game, [parse_player(arguments.player)]))
        count_mistakes(MoveChooser(player, game, seed=0), arguments.sets, arguments.every)


def count_mistakes(chooser: MoveChooser, sets: Sequence[Path], every: int) -> None:
    """Print a line for each set. every: of how many positions one is taken."""
    game = _core.Game("connect4")
    solver = _core.ExactSolver(game, 24)
    for path in sets:
        states = []
        scores = []
        for line in path.read_text().splitlines()[::every]:
            columns, score = line.split()
            states.append(position_after(game.new_initial_state(), [int(column) - 1 for column in columns]))
            scores.append(int(score))
        mistakes = 0
        for state, move, score in zip(states, chooser.choose(states).tolist(), scores, strict=True):
            mistakes += score >= 0 and lowers(state, move, score, solver)
        share = mistakes / len(states)
        low, high = wilson(share, len(states), 0.95)
        print(f"{path.name}: {share:.1%} [{low:.1%}, {high:.1%}] of {len(states)}", flush=True)


def lowers(state: _core.State, action: int, score: int, solver: _core.ExactSolver) -> bool:
    """Return whether a move lowers the value of a position that is not lost."""
    ended = (child := state.child(action)).outcome()
    value = -max(solver.move_values(child) or ()) if ended is None else ended * (1 if state.to_move == 0 else -1)
    return value < (score > 0)


if __name__ == "__main__":
    main()

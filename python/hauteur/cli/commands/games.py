"""Commands about games themselves: count move sequences, run the laws."""

import time

from hauteur.cli.commands.options import GameArgument, Seed
from hauteur.games.registry import check_game as results_of_laws
from hauteur.games.registry import load_game


def perft(spec: GameArgument, depth: int) -> int:
    """Count the move sequences of every length up to DEPTH; checks a game's rules against known numbers.

    Parameters
    ----------
    spec
        The game, e.g. `chess`, `nogo(size=7)`, `chess(fen=...)`.
    depth
        Longest length, at least 1.
    """
    if depth < 1:
        raise ValueError(f"depth must be >= 1, got {depth}")
    state = load_game(spec).new_initial_state()
    print(f"{'depth':>5} {'sequences':>20} {'seconds':>9}")
    for length in range(1, depth + 1):
        started = time.perf_counter()
        count = state.perft(length)
        print(f"{length:5} {count:20,} {time.perf_counter() - started:9.3f}", flush=True)
    return 0


def check_game(spec: GameArgument, *, games: int = 20, seed: Seed = 0) -> int:
    """Run the laws that every game obeys along random games, and say what was played.

    Exit status: 1 a law is broken, 2 the game gives answers of a kind that is not allowed.

    Parameters
    ----------
    spec
        The game, e.g. `connect4`, `tutorial`, `nogo(size=5)`.
    games
        Number of random games.
    seed
        Seed of the random moves.
    """
    results = results_of_laws(spec, games=games, seed=seed)
    print(results)
    broken = sum(result.broken is not None for result in results)
    holding = sum(result.holds for result in results)
    unchecked = len(results) - broken - holding
    others = f", {unchecked} could not be checked" if unchecked else ""
    print(f"{spec}: {holding} of {len(results)} laws hold along {games} random games (seed {seed}){others}")
    print(results.played)
    if any(result.is_wrong_answer for result in results):
        return WRONG_ANSWER
    return 1 if broken else 0


WRONG_ANSWER = 2
"""Exit status of `hauteur check-game` where the game cannot be asked."""

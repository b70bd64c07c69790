"""Commands about games themselves: count move sequences, run the laws, play in the terminal, prove a net's play."""

import time

from hauteur import _core
from hauteur.game import check_game as results_of_laws
from hauteur.game import make


def perft(spec: str, depth: int, *, divide: bool = False) -> int:
    """Count the move sequences of every length up to DEPTH; checks a game's rules against known numbers.

    Parameters
    ----------
    spec
        The game, e.g. `chess`, `nogo(size=7)`, `chess(fen=...)`.
    depth
        Longest length, at least 1.
    divide
        Also list the sequences of length DEPTH by their first move.
    """
    if depth < 1:
        raise ValueError(f"depth must be >= 1, got {depth}")
    state = make(spec).initial_state()
    print(f"{'depth':>5} {'sequences':>20} {'seconds':>9}")
    for length in range(1, depth + 1):
        started = time.perf_counter()
        count = state.perft(length)
        print(f"{length:5} {count:20,} {time.perf_counter() - started:9.3f}", flush=True)
    if divide:
        _print_division(state, depth)
    return 0


def _print_division(state: _core.State, depth: int) -> None:
    """Sequences of length `depth` by first move."""
    print()
    for action in state.legal_actions().tolist():
        child = state.copy()
        child.play(action)
        print(f"{state.action_to_text(action):>8} {child.perft(depth - 1):,}", flush=True)


def check_game(spec: str, *, games: int = 20, seed: int = 0) -> int:
    """Run the laws that every game obeys along random games; exit status 1 if one is broken.

    Parameters
    ----------
    spec
        The game, e.g. `connect4`, `tutorial`, `openspiel:hex(board_size=5)`.
    games
        Number of random games.
    seed
        Seed of the random moves.
    """
    results = results_of_laws(spec, games=games, seed=seed)
    width = max(len(result.name) for result in results)
    for result in results:
        verdict = "ok    " if result.broken is None else "BROKEN"
        print(f"{verdict} {result.name:{width}} {result.checks:9,} checks  {result.text}")
        if result.broken is not None:
            print(f"       {result.broken}")
    broken = sum(result.broken is not None for result in results)
    print(f"{spec}: {len(results) - broken} of {len(results)} laws hold along {games} random games (seed {seed})")
    return 1 if broken else 0

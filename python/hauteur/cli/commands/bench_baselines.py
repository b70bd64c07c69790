"""hauteur bench baselines: simulations per second of the players without a network."""

import json
import time
from typing import Any

from hauteur import _core
from hauteur.cli.commands.bench import check_positive, spread

SIMULATIONS = (1000, 10_000)
"""Simulations a move that are measured."""

NODE_BYTES = {"rave": 24, "mcts": 20}


def baselines(*specs: str, simulations: tuple[int, ...] = SIMULATIONS, rounds: int = 5, seconds: float = 1.0) -> None:
    """Simulations per second of mcts, and in NoGo of rave, from the start position, on one thread.

    One JSON line a game, player and number of simulations a move. A round repeats the move with other seeds. Seconds
    are those of the processor, so that other work on the machine changes little.

    Parameters
    ----------
    specs
        Games, e.g. connect4 "nogo(size=7)"; default: nogo, which is 9x9.
    simulations
        Simulations a move; several if given several times.
    rounds
        Rounds; the minimum, median and maximum are printed.
    seconds
        Least length of a round, in processor time.
    """
    check_positive(rounds=rounds, simulations=min(simulations, default=0))
    if not 0.001 <= seconds <= 60:
        raise ValueError(f"--seconds must be 0.001 to 60, got {seconds}")
    for spec in specs or ("nogo",):
        game = _core.Game(spec)
        for player in ("rave", "mcts") if game.name == "nogo" else ("mcts",):
            for number in simulations:
                print(json.dumps(measure(game, player, number, rounds, seconds)), flush=True)


def measure(game: _core.Game, player: str, simulations: int, rounds: int, seconds: float) -> dict[str, Any]:
    """The JSON line of one player."""
    rate(game, player, simulations, seconds / 4)
    rates = [rate(game, player, simulations, seconds) for _ in range(rounds)]
    return {
        "bench": "baselines",
        "game": game.spec,
        "player": f"{player}:{simulations}",
        "simulations_per_second": spread(rates),
        "bytes_per_node": NODE_BYTES[player],
    }


def rate(game: _core.Game, player: str, simulations: int, seconds: float) -> float:
    """Simulations per second of this thread's time, in whole moves that take at least so many seconds together."""
    search = _core.rave_search if player == "rave" else _core.mcts_search
    state, moves, started = game.new_initial_state(), 0, time.thread_time()
    while (elapsed := time.thread_time() - started) < seconds or moves == 0:
        search(state, simulations, moves)
        moves += 1
    return moves * simulations / elapsed

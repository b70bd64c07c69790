"""Small units of self-play with the shipped net of tic-tac-toe; as a program, a driver of workers that is to be killed.

python unit_toys.py WORKERS: prints a line with the workers' processes once each of them plays a game without end; an
interrupt makes it play a further unit at each, and end.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import hauteur
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.unit import Finished, Joined, Unit
from hauteur.games.registry import load_game
from hauteur.learning.planned import planned_selfplay
from hauteur.learning.recipe import Recipe
from hauteur.learning.units import OtherNets, units_of

NET = Path(hauteur.__file__).parent / "networks" / "data" / "tictactoe.safetensors"


def small_units(
    count: int, *, games: int = 4, visits: int = 16, seed: int = 1, net: Path = NET
) -> tuple[list[Unit], dict[str, Path]]:
    """Units of `games` games each, and their net."""
    selfplay = {"games": count * games, "shard_games": games, "visits": visits, "batch_size": 8, "parallel_games": 8}
    recipe = Recipe.model_validate({"game": "tictactoe", "selfplay": selfplay, "run": {"seed": seed}})
    game = load_game("tictactoe")
    planned = planned_selfplay(game, recipe.selfplay, generation=1, nets=[0], seed=seed)
    return units_of(recipe, planned, {0: [net]}, OtherNets(game, recipe), range(count))


def outcomes(fleet: LocalFleet, count: int) -> list[Any]:
    """Wait for `count` results."""
    found: list[Any] = []
    while len(found) < count:
        found += [event for event in fleet.wait(0.2) if isinstance(event, Finished)]
    return found


def main(workers: int) -> None:
    """Open workers and give them games that do not end."""
    fleet = LocalFleet(workers, threads=1)
    try:
        joined: list[Joined] = []
        while len(joined) < workers:
            joined += [event for event in fleet.wait(0.2) if isinstance(event, Joined)]
        short, sources = small_units(3 * workers)
        for one, unit in zip(joined, short, strict=False):
            fleet.submit(one.worker, unit, sources)
        for one, unit in zip(joined, small_units(workers, games=1, visits=10**9)[0], strict=True):
            fleet.submit(one.worker, unit, sources)
        outcomes(fleet, workers)
        with contextlib.suppress(KeyboardInterrupt):
            print(*(one.process for one in joined), flush=True)  # whoever reads it may interrupt before this returns
            while True:
                fleet.wait(1.0)
        print("interrupted, and still there:", *sorted(fleet.names), flush=True)
    finally:
        fleet.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))

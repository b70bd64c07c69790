"""Makes the Connect Four positions with exact values that `hauteur prove connect4` judges moves by.

    python benchmarks/connect4_values.py python/hauteur/data/connect4_values.json

For every ply from 6 to 38 it takes 20 positions of uniformly random games that are not over, no two of them equal or
mirrored, and solves every legal move with `_core.Connect4Solver`. The same seed gives the same file. Takes some
minutes, nearly all of it for the earliest plies.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.seeds import stream

FIRST_PLY, LAST_PLY = 6, 38
POSITIONS_PER_PLY = 20
SEED = 4
TABLE_BITS = 23
COLUMNS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    output: Path = parser.parse_args().output
    solver = _core.Connect4Solver(TABLE_BITS)
    positions = []
    for ply in range(FIRST_PLY, LAST_PLY + 1):
        started = time.perf_counter()
        for state in random_positions(ply):
            positions.append({"moves": state.notation(), "values": solver.move_values(state).tolist()})
        print(f"ply {ply}: {time.perf_counter() - started:.1f} s", flush=True)
    write(output, positions)


def random_positions(ply: int) -> list[_core.State]:
    """Positions after `ply` uniformly random moves that are not over, no two equal or mirrored."""
    rng = stream(SEED, "connect4-values", ply)
    game = _core.Game("connect4")
    found: dict[tuple[int, int], _core.State] = {}
    while len(found) < POSITIONS_PER_PLY:
        state, twin = game.initial_state(), game.initial_state()
        for _ in range(ply):
            legal = state.legal_actions()
            if len(legal) == 0:
                break
            action = int(rng.choice(legal))
            state.play(action)
            twin.play(COLUMNS - 1 - action)
        if state.outcome() is None:
            low, high = sorted((state.key, twin.key))
            found.setdefault((low, high), state)
    return list(found.values())


def write(output: Path, positions: list[dict[str, object]]) -> None:
    """Writes the file, a position a line."""
    about = (
        f"Positions of uniformly random games, {POSITIONS_PER_PLY} a ply, seed {SEED}; values: of each legal column in "
        "ascending order, +1 the mover wins by it, 0 draw, -1 loses, by exact search"
    )
    lines = ",\n".join(json.dumps(position, separators=(",", ":")) for position in positions)
    temporary = output.with_name(output.name + ".tmp")
    temporary.write_text(f'{{"about": {json.dumps(about)},\n"positions": [\n{lines}\n]}}\n', encoding="utf-8")
    temporary.replace(output)
    matters = np.mean([len(set(position["values"])) > 1 for position in positions])  # type: ignore[call-overload]
    print(f"{len(positions)} positions, the choice matters in {matters:.0%}")


if __name__ == "__main__":
    main()

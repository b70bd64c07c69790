"""Makes the Connect Four positions with exact values that `hauteur prove connect4` measures moves by.

    python benchmarks/connect4_values.py python/hauteur/networks/data/connect4_values.json

For every ply from 8 to 30 it takes 20 quiet positions and solves every legal move with `_core.Connect4Solver`. They
come from games of random moves that neither miss nor allow a win at once, and without a threat to win at once: where
there is one, any search finds the move, so such positions hardly tell players apart. No two are equal or
mirrored. The same seed gives the same file. Takes some minutes, nearly all of it for the earliest plies.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.system.seeds import stream

FIRST_PLY, LAST_PLY = 8, 30
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
    """Quiet positions after `ply` sane random moves, no two equal or mirrored."""
    rng = stream(SEED, "connect4-values", ply)
    found: dict[tuple[int, int], _core.State] = {}
    while len(found) < POSITIONS_PER_PLY:
        state = random_position(ply, rng)
        if state is not None and not forced(state):
            low, high = sorted((state.key, mirrored(state).key))
            found.setdefault((low, high), state)
    return list(found.values())


def random_position(ply: int, rng: np.random.Generator) -> _core.State | None:
    """After `ply` random moves that give away nothing at once; None if somebody could win at once on the way."""
    state = _core.Game("connect4").new_initial_state()
    for _ in range(ply):
        moves = sane_moves(state)
        if not moves:
            return None
        state.apply(int(rng.choice(moves)))
    return state if state.outcome() is None else None


def sane_moves(state: _core.State) -> list[int]:
    """Moves after which the opponent cannot win at once; none where the mover can win at once."""
    if wins(state):
        return []
    return [action for action in state.legal_actions().tolist() if not wins(after(state, action))]


def forced(state: _core.State) -> bool:
    """Return whether one side threatens to win at once: then the right move is plain to see."""
    return bool(wins(state)) or len(sane_moves(state)) < len(state.legal_actions())


def wins(state: _core.State) -> list[int]:
    """Moves that win at once."""
    return [action for action in state.legal_actions().tolist() if after(state, action).outcome() in (1, -1)]


def after(state: _core.State, action: int) -> _core.State:
    child = state.copy()
    child.apply(action)
    return child


def mirrored(state: _core.State) -> _core.State:
    twin = _core.Game("connect4").new_initial_state()
    for column in state.notation():
        twin.apply(COLUMNS - int(column))
    return twin


def write(output: Path, positions: list[dict[str, object]]) -> None:
    """Writes the file, a position a line."""
    about = (
        f"Quiet positions of sane random games, {POSITIONS_PER_PLY} a ply, seed {SEED}; values: of each legal column, "
        "ascending, +1 the mover wins by it, 0 draw, -1 loses, by exact search"
    )
    lines = ",\n".join(json.dumps(position, separators=(",", ":")) for position in positions)
    temporary = output.with_name(output.name + ".tmp")
    temporary.write_text(f'{{"about": {json.dumps(about)},\n"positions": [\n{lines}\n]}}\n', encoding="utf-8")
    temporary.replace(output)
    matters = np.mean([len(set(position["values"])) > 1 for position in positions])  # type: ignore[call-overload]
    print(f"{len(positions)} positions, the choice matters in {matters:.0%}")


if __name__ == "__main__":
    main()

"""Makes the solved Connect Four positions that ship with the package, that `hauteur prove connect4` measures nets by.

    python benchmarks/connect4_values.py python/hauteur/networks/data/connect4.solved

The positions are those of `solved_set` with seed 0, with a greater limit on the work. The same settings give the same
file. Takes some minutes.
"""

import argparse
import time
from pathlib import Path

from hauteur import _core
from hauteur.matches.exact_play import COUNT, SolvedSet
from hauteur.system.files import write_bytes

NODES, TOTAL, TABLE_BITS = 1_000_000, 1_200_000_000, 23


def main() -> None:
    """Solve the positions and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    started = time.process_time()
    game = _core.Game("connect4")
    whole = SolvedSet.found(game, COUNT, 0, arguments.nodes, TOTAL, TABLE_BITS)
    write_bytes(arguments.output, whole.text().encode())
    plies = whole.plies
    choices = sum(one.choice_matters for one in whole.positions)
    print(f"{len(whole.positions)} positions, plies {plies.start} to {plies[-1]}, {sum(whole.unsolved)} left out")
    print(f"the choice matters in {choices}; {time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()

r"""Play a net of Hex 11x11 against HexHex, a net of another project (github.com/harbecke/HexHex), as its page plays it.

    python checks/hexhex_judge.py HEXHEX.onnx --net hex11 --visits 400 --games 100

HEXHEX.onnx is a file of that project, `app/public/11_2w4_2000.onnx`; it is computed by ONNX Runtime (`hauteur[onnx]`).
Its page takes a win within three plies where there is one. Else it takes the cell with the highest score of its net, a
mean over the board and the board turned by half, unless the opponent could then win within three plies: it takes the
first cell of that win. Games are in pairs of random openings, colours swapped, without the swap rule. Prints won and
lost games of the net, its score with interval, and processor time of a move of either side.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hauteur as ht

SIZE = 11
CELLS = SIZE * SIZE
NEIGHBOURS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, 1), (1, -1))
"""Steps of rows and columns to the six cells around a cell."""


def neighbours_of(cell: int) -> list[int]:
    """Return the cells next to a cell, which is its row times 11 plus its column."""
    row, column = divmod(cell, SIZE)
    found = []
    for down, right in NEIGHBOURS:
        if 0 <= row + down < SIZE and 0 <= column + right < SIZE:
            found.append((row + down) * SIZE + column + right)
    return found


NEXT_TO = [neighbours_of(cell) for cell in range(CELLS)]
SIDES = (
    (range(SIZE), range(CELLS - SIZE, CELLS)),
    (range(0, CELLS, SIZE), range(SIZE - 1, CELLS, SIZE)),
)
"""The cells at the two sides that each player connects: rows for the first player, columns for the second."""


def reached_from(side: range, stones: set[int]) -> set[int]:
    """Return the cells that continue a chain from a side: those at the side, and those next to stones joined to it."""
    reached = set(side)
    waiting = [cell for cell in side if cell in stones]
    joined = set(waiting)
    while waiting:
        for cell in NEXT_TO[waiting.pop()]:
            reached.add(cell)
            if cell in stones and cell not in joined:
                joined.add(cell)
                waiting.append(cell)
    return reached


def winning_cells(player: int, stones: set[int], empty: set[int]) -> set[int]:
    """Return the empty cells that connect the sides of a player at once."""
    first, last = SIDES[player]
    return reached_from(first, stones) & reached_from(last, stones) & empty


def forced_win(player: int, stones: tuple[set[int], set[int]], empty: set[int]) -> int | None:
    """Return the first move of a win within three plies of the player to move; None where there is none."""
    at_once = winning_cells(player, stones[player], empty)
    if at_once:
        return min(at_once)
    threats_of_other = winning_cells(1 - player, stones[1 - player], empty)
    for cell in sorted(empty):
        left = empty - {cell}
        if threats_of_other - {cell}:
            continue
        # Two cells that win cannot both be taken by one reply.
        if len(winning_cells(player, stones[player] | {cell}, left)) >= 2:
            return cell
    return None


def planes_of(player: int, stones: tuple[set[int], set[int]]) -> NDArray[np.float32]:
    """Return the input of HexHex for the player to move, float32 [1, 2, 13, 13].

    Its stones and those of the opponent, with a frame of each player's sides. The net connects the first row with the
    last one, so that the board is transposed for the second player.
    """
    planes = np.zeros((2, SIZE + 2, SIZE + 2), np.float32)
    for plane, owner in zip(planes, (player, 1 - player), strict=True):
        cells = np.zeros(CELLS, np.float32)
        cells[list(stones[owner])] = 1
        board = cells.reshape(SIZE, SIZE)
        plane[1:-1, 1:-1] = board if player == 0 else board.T
    planes[0, [0, -1], 1:-1] = 1
    planes[1, 1:-1, [0, -1]] = 1
    return planes[None]


class HexHex:
    """HexHex as its page plays it."""

    def __init__(self, path: Path) -> None:
        """Load the net; what ONNX Runtime raises for a file that it cannot read reaches the caller."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)
        self.input_name = self.session.get_inputs()[0].name
        self.seconds = 0.0
        """Processor time of its moves so far."""
        self.moves = 0
        """Moves that it has chosen."""

    def scores(self, player: int, stones: tuple[set[int], set[int]]) -> NDArray[np.float64]:
        """Return the score of each cell for the player to move, float64 [121]."""
        planes = planes_of(player, stones)
        turned = np.ascontiguousarray(planes[:, :, ::-1, ::-1])
        mean = (self.outputs(planes) + self.outputs(turned)[::-1]) / 2
        return mean if player == 0 else mean.reshape(SIZE, SIZE).T.reshape(-1)

    def outputs(self, planes: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return what the net says of one input, float64 [121]."""
        (found,) = self.session.run(None, {self.input_name: planes})
        return np.asarray(found, np.float64).reshape(-1)

    def choose(self, state: ht.State) -> int:
        """Return its move in a position."""
        began = time.thread_time()
        move = self.move_in(state)
        self.seconds += time.thread_time() - began
        self.moves += 1
        return move

    def move_in(self, state: ht.State) -> int:
        """Return its move in a position: a forced win, else what its net likes, unless that loses by force."""
        player = state.to_move
        stones = (set(state.moves[0::2]), set(state.moves[1::2]))
        empty = {int(action) for action in state.legal_actions()}
        win = forced_win(player, stones, empty)
        if win is not None:
            return win
        scores = self.scores(player, stones)
        best = max(sorted(empty), key=lambda cell: scores[cell])
        after = (stones[0] | {best}, stones[1]) if player == 0 else (stones[0], stones[1] | {best})
        threat = forced_win(1 - player, after, empty - {best})
        return best if threat is None else threat


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("hexhex", type=Path, help="the net of HexHex, an ONNX file")
    parser.add_argument("--net", default="hex11", help="a net of Hex 11x11: a name or a file (default hex11)")
    parser.add_argument("--visits", type=int, default=400, help="visits of a move (default 400)")
    parser.add_argument("--games", type=int, default=100, help="games, an even number (default 100)")
    parser.add_argument("--plies", type=int, default=2, help="random moves at the start of each pair of games")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the net's search")
    given = parser.parse_args(argv)
    if not given.hexhex.is_file():
        parser.error(f"{given.hexhex}: there is no such file; HexHex has it as app/public/11_2w4_2000.onnx")
    return given


def main(argv: list[str] | None = None) -> int:
    """Play the match, print its result."""
    given = parse(argv)
    hexhex = HexHex(given.hexhex)
    judge = ht.Player.from_function(hexhex.choose, name="HexHex")
    player = " ".join([f"net={given.net}", f"visits={given.visits}", *given.set])
    began = time.process_time()
    match = ht.play_match(
        player,
        judge,
        f"hex(size={SIZE})",
        games=given.games,
        seed=given.seed,
        random_plies=given.plies,
        threads=1,
        progress=False,
    )
    seconds_of_net = time.process_time() - began - hexhex.seconds
    moves_of_net = sum(len(game.moves.split()) for game in match.games) - hexhex.moves
    cpu_seconds = {"net": seconds_of_net / max(moves_of_net, 1), "HexHex": hexhex.seconds / max(hexhex.moves, 1)}
    low, high = match.score_interval
    facts = {"player": match.names[0], "games": given.games, "seed": given.seed, "wins": match.wins}
    print(json.dumps({**facts, "losses": match.losses, "cpu_seconds_a_move": cpu_seconds}))
    print(f"{match.names[0]}: {match.score:.1%} [{low:.1%}, {high:.1%}] of {given.games} games")
    print(f"processor time of a move: net {cpu_seconds['net']:.3f} s, HexHex {cpu_seconds['HexHex']:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

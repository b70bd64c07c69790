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
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hauteur as ht
from hauteur.system.errors import one_line
from judged_match import Judge, add_options, judged

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


class HexHex(Judge):
    """HexHex as its page plays it."""

    def __init__(self, path: Path) -> None:
        """Load the net; ValueError in one line for a file that ONNX Runtime cannot read, or that is another net."""
        import onnxruntime

        from hauteur.networks.evaluators.onnxruntime import ORT_ERRORS

        unreadable: tuple[type[Exception], ...] = (*ORT_ERRORS, ValueError)

        super().__init__("HexHex")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self.session = onnxruntime.InferenceSession(path, options)
            self.input_name = self.session.get_inputs()[0].name
            answers = self.outputs(planes_of(0, (set(), set()))).size
        except unreadable as error:
            raise ValueError(f"{path}: ONNX Runtime cannot compute it as HexHex: {one_line(error)[:200]}") from None
        if answers != CELLS:
            raise ValueError(f"{path}: a net of {CELLS} cells was expected, this one answers {answers} numbers")

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
    add_options(parser, visits=400, games=100, plies=2)
    given = parser.parse_args(argv)
    if not given.hexhex.is_file():
        parser.error(f"{given.hexhex}: there is no such file; HexHex has it as app/public/11_2w4_2000.onnx")
    return given


def main(argv: list[str] | None = None) -> int:
    """Play the match and print its result."""
    given = parse(argv)
    return judged(lambda: HexHex(given.hexhex), given, f"hex(size={SIZE})")


if __name__ == "__main__":
    sys.exit(main())

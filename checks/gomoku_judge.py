r"""Play a net of Gomoku against an engine that shares no code with the core: one of patterns and fours, or BSD gomoku.

    python checks/gomoku_judge.py gomoku15 --visits 100 --games 40
    python checks/gomoku_judge.py gomoku15 --set solver=off --games 40
    python checks/gomoku_judge.py gomoku15 --program PROGRAM     BSD gomoku, built by checks/bsd_gomoku; 15x15 only

The engine of patterns takes a five, blocks one, wins by continuous fours where a search of so many positions finds such
a win, breaks such a win of the opponent, and else plays the point with the best patterns: every window of five points
that only one side has stones in counts by their number. Games are in pairs of random openings, colours swapped. Prints
won, drawn and lost games of the net, its score with interval, and processor time of a move of either side.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

import hauteur as ht
from judged_match import Judge, add_options, judged

LINE = 5
OWN_WEIGHTS = np.array([1.0, 8.0, 60.0, 700.0, 100_000.0, 0.0])
"""Worth of a window by the stones of the engine in it, where the other side has none."""
OTHER_WEIGHTS = np.array([0.0, 6.0, 45.0, 500.0, 20_000.0, 0.0])
"""Worth of the same for the other side: what a stone there takes away."""
BSD_SIZE = 15
"""Size of the board that `checks/bsd_gomoku` builds."""
BSD_COLUMNS = "ABCDEFGHJKLMNOP"
"""Names of its columns."""
DEFENCES = 12
"""Best points that are tried against continuous fours of the other side."""


def windows_of(size: int) -> NDArray[np.int64]:
    """Return the points of all windows, int64 [W, 5]."""
    found = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(size):
            for column in range(size):
                last_row = row + (LINE - 1) * down
                last_column = column + (LINE - 1) * right
                if last_row < size and 0 <= last_column < size:
                    found.append([(row + step * down) * size + column + step * right for step in range(LINE)])
    return np.array(found)


@dataclass
class Engine(Judge):
    """An opponent of a net of Gomoku."""

    size: int
    """Of the board."""

    def move_in(self, state: ht.State) -> int:
        """Return the move of a position."""
        planes = state.features().reshape(2, -1)
        return self.best_move(planes[0].astype(bool), planes[1].astype(bool))

    def best_move(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> int:
        """Return the move of a position; own, other: stones of the side to move and of the other, bool [points]."""
        raise NotImplementedError


@dataclass
class BsdGomoku(Engine):
    """Chooses moves by BSD gomoku (Ralph Campbell, 1994), which is started for every move."""

    program: Path
    """As `checks/bsd_gomoku` builds it, for a board of 15 points."""

    def best_move(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> int:
        """Return the program's move: the first that it prints when it plays both sides from this position."""
        own_is_black = own.sum() == other.sum()
        black, white = (own, other) if own_is_black else (other, own)
        stones = [self.text(point) for point in np.flatnonzero(black).tolist()]
        answers = [self.text(point) for point in np.flatnonzero(white).tolist()]
        game = [""] * (len(stones) + len(answers))
        game[0::2] = stones
        game[1::2] = answers
        with NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(f"{move}\n" for move in game))
            file.flush()
            command = [str(self.program), "-b", "-c", file.name]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write("black\n")
                process.stdin.flush()
                move = process.stdout.readline().strip()
                process.kill()
        return self.point(move)

    def text(self, point: int) -> str:
        """Return the program's text of a point."""
        row, column = divmod(point, self.size)
        return f"{BSD_COLUMNS[column]}{row + 1}"

    def point(self, text: str) -> int:
        """Return the point of the program's text."""
        if text[:1] not in BSD_COLUMNS or not text[1:].isdecimal():
            raise ValueError(f"{self.program}: a move such as H8 was expected, got {text!r}")
        return (int(text[1:]) - 1) * self.size + BSD_COLUMNS.index(text[0])


@dataclass
class PatternEngine(Engine):
    """Chooses moves by patterns and continuous fours."""

    nodes: int
    """Positions that a search of continuous fours may look at."""
    windows: NDArray[np.int64] = field(init=False)
    """Points of the windows, int64 [W, 5]."""
    left: int = field(init=False, default=0)
    """Positions left to the search that runs."""

    def __post_init__(self) -> None:
        self.windows = windows_of(self.size)

    def best_move(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> int:
        """Return the move of a position."""
        for side, rival in ((own, other), (other, own)):
            fives = self.five_points(side, rival)
            if fives:
                return fives[0]
        win = self.win_by_fours(own, other)
        if win is not None:
            return win
        ranked = self.ranked_points(own, other)
        if self.win_by_fours(other, own) is None:
            return ranked[0]
        for point in ranked[:DEFENCES]:
            after = own.copy()
            after[point] = True
            if self.win_by_fours(other, after) is None:
                return point
        return ranked[0]

    def completing_points(self, own: NDArray[np.bool_], other: NDArray[np.bool_], stones: int) -> list[int]:
        """Return the empty points of the windows in which only this side has stones, and so many."""
        counts = own[self.windows].sum(axis=1)
        blocked = other[self.windows].any(axis=1)
        open_windows = self.windows[(counts == stones) & ~blocked]
        points = np.unique(open_windows)
        return [int(point) for point in points if not own[point]]

    def five_points(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[int]:
        """Return the points where a stone of this side makes five."""
        return self.completing_points(own, other, LINE - 1)

    def four_points(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[int]:
        """Return the points where a stone of this side makes a four."""
        return self.completing_points(own, other, LINE - 2)

    def win_by_fours(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> int | None:
        """Return the first move of a win by continuous fours of this side, who is to move; None where none is found."""
        self.left = self.nodes
        return self._attack(own.copy(), other.copy())

    def _attack(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> int | None:
        if self.left <= 0:
            return None
        self.left -= 1
        fives = self.five_points(own, other)
        if fives:
            return fives[0]
        points = self.four_points(own, other)
        to_block = self.five_points(other, own)
        if to_block:
            points = [point for point in points if to_block == [point]]
        for point in points:
            own[point] = True
            wins = self._four_wins(own, other)
            own[point] = False
            if wins:
                return point
        return None

    def _four_wins(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
        """Return whether this side wins by fours after a four; the other side is to move."""
        if self.five_points(other, own):
            return False
        fives = self.five_points(own, other)
        if len(fives) > 1:
            return True
        other[fives[0]] = True
        wins = self._attack(own, other) is not None
        other[fives[0]] = False
        return wins

    def ranked_points(self, own: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[int]:
        """Return the empty points by their patterns, best first."""
        mine = own[self.windows].sum(axis=1)
        theirs = other[self.windows].sum(axis=1)
        worth = np.where(theirs == 0, OWN_WEIGHTS[mine], 0.0) + np.where(mine == 0, OTHER_WEIGHTS[theirs], 0.0)
        scores = np.zeros(self.size * self.size)
        np.add.at(scores, self.windows.ravel(), np.repeat(worth, LINE))
        scores[own | other] = -1.0
        return [int(point) for point in np.argsort(-scores, kind="stable")[: int((~(own | other)).sum())]]


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("net", help="a net of Gomoku: a name or a file")
    parser.add_argument("--size", type=int, default=15, help="of the board (default 15)")
    parser.add_argument("--nodes", type=int, default=200, help="positions of the engine's search of fours")
    parser.add_argument("--program", type=Path, help="BSD gomoku instead, as checks/bsd_gomoku builds it")
    add_options(parser, visits=100, games=40, plies=4)
    given = parser.parse_args(words)
    if given.program is None:
        return given
    if given.size != BSD_SIZE:
        parser.error(f"--size {given.size}: BSD gomoku is built for a board of {BSD_SIZE} points")
    if not given.program.is_file():
        parser.error(f"--program {given.program}: there is no such file; checks/bsd_gomoku builds it")
    return given


def engine_of(given: argparse.Namespace) -> Engine:
    """Return the engine that the command line names."""
    if given.program is None:
        return PatternEngine("patterns and fours", given.size, given.nodes)
    return BsdGomoku("BSD gomoku", given.size, given.program.absolute())


def main(words: Sequence[str] | None = None) -> int:
    """Play the match and print its result."""
    given = parse(words)
    return judged(lambda: engine_of(given), given, f"gomoku(size={given.size})")


if __name__ == "__main__":
    sys.exit(main())

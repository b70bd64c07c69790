r"""Play a net of Gomoku against an engine of patterns and continuous fours, which shares no code with the core.

    python checks/gomoku_judge.py gomoku15 --visits 100 --games 40
    python checks/gomoku_judge.py gomoku15 --set solver=off --games 40

The engine takes a five, blocks one, wins by continuous fours where a search of so many positions finds such a win,
breaks such a win of the opponent, and else plays the point with the best patterns: every window of five points that
only one side has stones in counts by their number. Games are in pairs of random openings, colours swapped. Prints won,
drawn and lost games of the net, its score with interval, and processor time of a move of either side.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import hauteur as ht

LINE = 5
OWN_WEIGHTS = np.array([1.0, 8.0, 60.0, 700.0, 100_000.0, 0.0])
"""Worth of a window by the stones of the engine in it, where the other side has none."""
OTHER_WEIGHTS = np.array([0.0, 6.0, 45.0, 500.0, 20_000.0, 0.0])
"""Worth of the same for the other side: what a stone there takes away."""
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
class PatternEngine:
    """Chooses moves in Gomoku by patterns and continuous fours; nodes: positions of a search of fours."""

    size: int
    """Of the board."""
    nodes: int
    """Positions that a search of continuous fours may look at."""
    windows: NDArray[np.int64] = field(init=False)
    """Points of the windows, int64 [W, 5]."""
    left: int = field(init=False, default=0)
    """Positions left to the search that runs."""
    moves: int = field(init=False, default=0)
    """Moves chosen so far."""
    cpu_seconds: float = field(init=False, default=0.0)
    """Processor time that they took."""

    def __post_init__(self) -> None:
        self.windows = windows_of(self.size)

    def choose(self, state: ht.State) -> int:
        """Return the move of a position, and count it and its time."""
        began = time.thread_time()
        move = self.best_move(state)
        self.cpu_seconds += time.thread_time() - began
        self.moves += 1
        return move

    def best_move(self, state: ht.State) -> int:
        """Return the move of a position."""
        planes = state.features().reshape(2, -1)
        own = planes[0].astype(bool)
        other = planes[1].astype(bool)
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


def main(words: Sequence[str] | None = None) -> int:
    """Play the match and print its result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("net")
    parser.add_argument("--size", type=int, default=15)
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--plies", type=int, default=4, help="random plies of an opening")
    parser.add_argument("--nodes", type=int, default=200, help="positions of the engine's search of fours")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting of the net's player, SECTION.NAME=VALUE")
    given = parser.parse_args(words)
    engine = PatternEngine(given.size, given.nodes)
    judge = ht.Player.from_function(engine.choose, name="patterns and fours")
    player = " ".join([f"net={given.net}", f"visits={given.visits}", *given.set])
    game = f"gomoku(size={given.size})"
    began = time.process_time()
    found = ht.play_match(
        player, judge, game, games=given.games, seed=given.seed, random_plies=given.plies, threads=1, progress=False
    )
    of_net = time.process_time() - began - engine.cpu_seconds
    moves_of_net = sum(len(one.moves.split()) for one in found.games) - engine.moves
    cpu_seconds = {"net": of_net / max(moves_of_net, 1), "engine": engine.cpu_seconds / max(engine.moves, 1)}
    counts = {"wins": found.wins, "draws": found.draws, "losses": found.losses}
    low, high = found.score_interval
    facts = {"player": found.names[0], "visits": given.visits, "games": given.games, "seed": given.seed, **counts}
    print(json.dumps({**facts, "cpu_seconds_a_move": cpu_seconds}))
    print(f"{found.names[0]}: {found.score:.1%} [{low:.1%}, {high:.1%}] of {given.games} games")
    print(f"processor time of a move: net {cpu_seconds['net']:.3f} s, engine {cpu_seconds['engine']:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

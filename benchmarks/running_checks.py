"""How often the interval of a running match holds the score that it ends with: simulated matches, counted.

python benchmarks/running_checks.py [MATCHES] [SEED]     (400 1; about a minute)

Games are played as the arena plays them: several at once, the next number when one ends. How long a game takes depends
on its result, so that what has ended is no fair sample: quick wins, long draws, quick draws. Openings favour one side.
The same simulation in small is a test (tests/matches/test_running_interval.py).
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hauteur.matches.results import MatchGame, Tally

SHARES = (0.1, 0.2, 0.5, 1.0)
"""Of the games that have ended when the interval is looked at; at the end it must hold the expected score."""

QUICK = (20, 50)
SLOW = (60, 160)
"""Plies of a game, the least and the most."""

RATHER_SURE = 100_000
"""Games that give the expected score."""


@dataclass(frozen=True)
class Kind:
    """Games of two players. ahead: of A, draws: half the width of what is drawn, openings: deviation of what they
    favour, all on the scale of a game's noise; quick: results that end early, of 1, 0.5 and 0 points for A.
    """

    name: str
    ahead: float
    draws: float
    openings: float
    quick: tuple[float, ...]

    def played(self, random: np.random.Generator, games: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and the plies of games in pairs, by number."""
        lean = np.repeat(random.normal(0, self.openings, games // 2), 2) * np.tile([1, -1], games // 2)
        strength = self.ahead + lean + random.normal(0, 1, games)
        scores = np.where(strength > self.draws, 1.0, np.where(strength < -self.draws, 0.0, 0.5))
        quick = np.isin(scores, self.quick)
        return scores, np.where(quick, random.uniform(*QUICK, games), random.uniform(*SLOW, games))


KINDS = (
    Kind("long draws, equal openings", 0.2, 0.6, 0.0, (0.0, 1.0)),
    Kind("long draws, unequal openings", 0.2, 0.6, 1.5, (0.0, 1.0)),
    Kind("quick draws", 0.1, 0.6, 1.0, (0.5,)),
    Kind("quick wins of A", 0.2, 0.4, 0.5, (1.0,)),
    Kind("quick wins of A, unequal openings", 0.2, 0.4, 1.5, (1.0,)),
    Kind("openings that decide", 0.0, 0.2, 3.0, (0.0, 1.0)),
)


def ended(plies: np.ndarray, parallel: int) -> list[int]:
    """Return the numbers of the games in the order in which they end, `parallel` played at once."""
    running = [(float(length), number) for number, length in enumerate(plies[:parallel])]
    heapq.heapify(running)
    order = []
    while running:
        now, number = heapq.heappop(running)
        order.append(number)
        following = len(order) + parallel - 1
        if following < len(plies):
            heapq.heappush(running, (now + float(plies[following]), following))
    return order


def coverage(kind: Kind, games: int, parallel: int, matches: int, seed: int) -> Mapping[float, tuple[float, float]]:
    """Return by the share of the games that have ended how often the interval holds the final score, and its width."""
    random = np.random.default_rng(seed)
    expected = float(kind.played(random, RATHER_SURE)[0].mean())
    held = dict.fromkeys(SHARES, 0)
    widths = dict.fromkeys(SHARES, 0.0)
    for _ in range(matches):
        scores, plies = kind.played(random, games)
        tally = Tally(paired=True)
        order = ended(plies, parallel)
        for count, number in enumerate(order, start=1):
            one = MatchGame(index=number, a="first", score=scores[number], end="", plies=1, opening=str(number // 2))
            tally.add(one)
            for share in SHARES:
                if count == round(share * games):
                    low, high = tally.score_interval
                    held[share] += low <= (expected if share == 1.0 else float(scores.mean())) <= high
                    widths[share] += high - low
    return {share: (held[share] / matches, widths[share] / matches) for share in SHARES}


def main(matches: int = 400, seed: int = 1) -> None:
    """Print a line a kind and size."""
    print(f"{matches:,} matches each; share of intervals that hold the score at the end, and their width")
    print(f"{'games, at once':15} {'kind':34}" + "".join(f"{f'after {share:.0%}':>16}" for share in SHARES))
    for games, parallel in ((100, 64), (400, 64), (400, 200), (200, 200), (1000, 64)):
        for kind in KINDS:
            found = coverage(kind, games, parallel, matches, seed)
            cells = "".join(f"{f'{share:.1%} ({width:.2f})':>16}" for share, width in found.values())
            print(f"{games:8,} {parallel:6} {kind.name:34}{cells}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

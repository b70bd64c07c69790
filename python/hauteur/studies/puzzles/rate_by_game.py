"""The share of game positions that count, with an interval that allows for correlation within a game.

Whole games are resampled with replacement, and the spread of the resampled shares gives the interval (the bootstrap).
As that is degenerate where no position counts, the interval is never narrower than Wilson's for independent positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hauteur.matches.ratings.elo import MatchScore, score_interval
from hauteur.system.seeds import stream

Flags = Sequence[tuple[int, bool]]
"""Of each position the number of its game, and whether it counts."""

DRAWS = 2000


class Rate(NamedTuple):
    """The number of positions that count, their share, and its interval of 95 %."""

    counted: int
    share: float
    low: float
    high: float


def rate_of(flags: Flags, draws: int = DRAWS) -> Rate:
    """The share of positions that count; ValueError without positions."""
    if not flags:
        raise ValueError("a share needs one position or more, got none")
    games: dict[int, list[int]] = {}
    for game, counted in flags:
        sums = games.setdefault(game, [0, 0])
        sums[0] += counted
        sums[1] += 1
    counts = np.array([games[game] for game in sorted(games)], np.int64)
    rows, alike = np.unique(counts, axis=0, return_counts=True)
    chosen = stream(1, "games of a share").multinomial(len(counts), alike / len(counts), size=draws) @ rows
    hits, positions = counts.sum(axis=0)
    drawn = np.quantile(chosen[:, 0] / chosen[:, 1], (0.025, 0.975))
    wilson = score_interval(MatchScore(int(hits), 0, int(positions - hits)))
    return Rate(int(hits), float(hits / positions), float(min(drawn[0], wilson[0])), float(max(drawn[1], wilson[1])))

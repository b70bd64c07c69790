"""Shares of game positions, with intervals that allow for correlation within a game.

Whole games are resampled with replacement, and the spread of the resampled shares gives the interval (the bootstrap).
As that is degenerate where no position counts, the interval is never narrower than Wilson's for independent positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore, score_interval
from hauteur.system.seeds import stream

Flags = Sequence[tuple[int, bool]]
"""Of each position the number of its game, and whether it counts."""

DRAWS = 2000
LEAST_BEYOND = 10
"""Drawn values beyond an end of an interval; where there are fewer it is taken from their spread."""


class Rate(NamedTuple):
    """The number of positions that count, their share, and its interval of 95 %."""

    counted: int
    share: float
    low: float
    high: float


def rate_of(flags: Flags, draws: int = DRAWS) -> Rate:
    """The share of positions that count; ValueError without positions."""
    counts = _counts(flags)
    shares = _drawn(counts, draws, "share")
    hits, positions = counts.sum(axis=0)
    drawn = np.quantile(shares[:, 0] / shares[:, 1], (0.025, 0.975))
    wilson = score_interval(MatchScore(int(hits), 0, int(positions - hits)))
    low, high = float(min(drawn[0], wilson[0])), float(max(drawn[1], wilson[1]))
    return Rate(int(hits), float(hits / positions), low, high)


def ratio_of(one: Flags, other: Flags, draws: int = DRAWS, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the ratio of the share of counted positions of one to that of the other, and its interval.

    Half a position is added to both counts to keep the ratio finite. Never narrower than for independent positions: the
    logarithm of the ratio plus or minus z sqrt(1 / a + 1 / b) for counts a and b.
    """
    found = [_counts(one), _counts(other)]
    drawn = [_drawn(counts, draws, f"ratio {number}") for number, counts in enumerate(found)]
    tail = (1 - confidence) / 2
    ratios = _ratio(drawn[0], drawn[1])
    whole = [counts.sum(axis=0, keepdims=True).astype(np.float64) for counts in found]
    ratio = float(_ratio(whole[0], whole[1])[0])
    low, high = np.quantile(ratios, (tail, 1 - tail))
    error = math.sqrt(sum(1 / (float(counts[0, 0]) + 0.5) for counts in whole))
    if tail * draws < LEAST_BEYOND:  # the drawn ones do not reach so far out
        error = max(error, float(np.log(ratios).std()))
    factor = math.exp(-NormalDist().inv_cdf(tail) * error)
    return ratio, min(float(low), ratio / factor), max(float(high), ratio * factor)


def _ratio(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of the shares of two arrays [D, 2] of counted and all positions."""
    return np.asarray((one[:, 0] + 0.5) / one[:, 1] / ((other[:, 0] + 0.5) / other[:, 1]), np.float64)


def _counts(flags: Flags) -> NDArray[np.int64]:
    """Counted and all positions of every game, [G, 2]."""
    if not flags:
        raise ValueError("a share needs one position or more, got none")
    games: dict[int, list[int]] = {}
    for game, counted in flags:
        sums = games.setdefault(game, [0, 0])
        sums[0] += counted
        sums[1] += 1
    return np.array([games[game] for game in sorted(games)], np.int64)


def _drawn(counts: NDArray[np.int64], draws: int, purpose: str) -> NDArray[np.float64]:
    """The same sums over as many games drawn with replacement, [D, 2]; games that are alike are drawn together."""
    rows, alike = np.unique(counts, axis=0, return_counts=True)
    chosen = stream(1, f"games of a {purpose}").multinomial(len(counts), alike / len(counts), size=draws)
    return np.asarray(chosen @ rows, np.float64)

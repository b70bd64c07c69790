"""Intervals of scores where games are not independent: repeated openings, and matches whose games have not all ended.

Many games are played at once and short ones end first, which may be won more often than long ones: what has ended is
not a fair sample, and pairs of short games are alike. The games with the first c numbers are a fair sample, whatever
their length. Those of them that have not ended can bring anything from no point to a whole one: the interval reaches
from the lower end with all of them lost to the upper end with all of them won. c is chosen for the narrowest interval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from statistics import NormalDist

import numpy as np

from hauteur._core import t_quantile
from hauteur.matches.ratings.elo import MatchScore, Pairs, pair_variance_ratio, variance_ratio, wilson

LEAST_OPENINGS = 8
"""Fewer openings are no sample of openings: the score is then one from these, and its units are the games or pairs."""


def opening_interval(openings: Collection[MatchScore], confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the score of all games by the results from each opening; of fewer than two, 0 to 1.

    The variance is that of a ratio of sums over openings, sum (points - score games)^2 G / (G - 1) over G openings
    (W. G. Cochran, Sampling Techniques, 1977, section 6.4), with Student's quantile, in Wilson's formula.
    """
    count = len(openings)
    games = sum(one.games for one in openings)
    score = math.fsum(one.score * one.games for one in openings) / games if games else 0.5
    if count < 2:
        return 0.0, 1.0
    if score in (0.0, 1.0):
        return wilson(score, count, confidence)
    squares = math.fsum(((one.score - score) * one.games) ** 2 for one in openings) * count / (count - 1)
    ratio = squares / (games * score * (1 - score))
    inner = (1 + confidence) / 2
    ratio *= (t_quantile(inner, count - 1) / NormalDist().inv_cdf(inner)) ** 2
    return wilson(score, games / ratio if ratio else math.inf, confidence)


def running_interval(scores: Mapping[int, float], pairs: Pairs, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the score of a match from the games that have ended, which holds their own score too.

    scores: 1, 0.5 or 0 by the number of the game; all games begin in the order of their numbers. pairs: the complete
    ones. The variance is the greater of the pairs' and of the games': the pairs that are complete early are alike.
    """
    if not scores:
        return 0.0, 1.0
    by_number = np.full(max(scores) + 1, np.nan)
    by_number[list(scores)] = list(scores.values())
    ended = _record(by_number)
    from_pairs = pair_variance_ratio(pairs) if pairs.pairs else 0.0
    count = _narrowest(by_number, max(from_pairs, variance_ratio(ended)), ended.score, confidence)
    first = _record(by_number[:count])
    missing = count - first.games
    ends = (
        wilson(one.score, count / max(from_pairs, variance_ratio(one)), confidence)
        for one in (
            MatchScore(first.wins, first.draws, first.losses + missing),
            MatchScore(first.wins + missing, first.draws, first.losses),
        )
    )
    (low, _), (_, high) = ends
    return min(low, ended.score), max(high, ended.score)


def _record(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> MatchScore:
    """The results of the games that have ended; the others are not a number."""
    return MatchScore(*(int(np.count_nonzero(scores == value)) for value in (1.0, 0.5, 0.0)))


def _narrowest(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]], ratio: float, score: float, confidence: float
) -> int:
    """How many of the first numbers give the narrowest interval: few without gaps, or many with some."""
    counts = np.arange(1, len(scores) + 1)
    gaps = np.cumsum(np.isnan(scores))
    p = min(max(score, 0.5 / len(scores)), 1 - 0.5 / len(scores))  # an even score's own variance is never 0
    deviation = math.sqrt(ratio * p * (1 - p))
    widths = gaps / counts + 2 * NormalDist().inv_cdf((1 + confidence) / 2) * deviation / np.sqrt(counts)
    return int(counts[np.argmin(widths)])

"""The interval of a score where openings repeat: games from one opening are alike, so the openings are the units."""

from __future__ import annotations

import math
from collections.abc import Collection
from statistics import NormalDist

from hauteur._core import t_quantile
from hauteur.matches.ratings.elo import MatchScore, wilson

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

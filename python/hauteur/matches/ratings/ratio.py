"""The ratio (w + l)/d of games, its interval, and a line through ratios at several settings.

A setting is one positive number x, such as N_scl of search-contempt. Near the requested ratio

    ln((w + l)/d) = level + slope ln x

is fitted by least squares, which the controller of learning uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore

Floats = NDArray[np.float64]


def decisive_ratio(record: MatchScore) -> float | None:
    """(w + l)/d; None without draws."""
    return (record.wins + record.losses) / record.draws if record.draws else None


def decisive_ratio_interval(record: MatchScore, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of (w + l)/d: Wilson's of the share of draws p, mapped to (1 - p)/p.

    (0, inf) without games; the upper end is infinite without draws. Assumes independent games: not pairs from the same
    opening.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    n = record.games
    if n == 0:
        return 0.0, math.inf
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = record.draws / n
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    few, many = (share / (1 + z * z / n) for share in (middle - half, middle + half))
    return (0.0 if p == 1 else 1 / many - 1, math.inf if p == 0 else 1 / few - 1)


@dataclass(frozen=True)
class MeasuredRatio:
    """Games at one x."""

    x: float
    record: MatchScore

    @property
    def decisive(self) -> float:
        """Decisive games and a half, so that no logarithm is infinite."""
        return self.record.wins + self.record.losses + 0.5

    @property
    def drawn(self) -> float:
        """Drawn games and a half."""
        return self.record.draws + 0.5

    @property
    def log_ratio(self) -> float:
        """ln((w + l)/d) of these counts, which is finite."""
        return math.log(self.decisive / self.drawn)

    @property
    def precision(self) -> float:
        """1 / variance of the log ratio; it grows with the games, and is small where one kind hardly occurs."""
        return 1 / (1 / self.decisive + 1 / self.drawn)


@dataclass(frozen=True)
class RatioLine:
    """ln((w + l)/d) = level + slope (ln x - centre), and the variances of level and slope, which are independent."""

    level: float
    slope: float
    centre: float
    level_variance: float
    slope_variance: float

    def ratio_at(self, x: float) -> float:
        """The ratio that the line has at x."""
        return math.exp(self.level + self.slope * (math.log(x) - self.centre))

    def x_for(self, ratio: float) -> float:
        """Return the x at which the line has this ratio."""
        return math.exp(min(max(self.centre + (math.log(ratio) - self.level) / self.slope, -50.0), 50.0))

    def x_interval(self, ratio: float, confidence: float = 0.95) -> tuple[float, float]:
        """Fieller's interval of that place: the x at which the line may have this ratio; (0, inf) where it bounds none.

        With u = ln x - centre and t = ln ratio it is where (level + slope u - t)^2 <= z^2 var(level + slope u).
        """
        z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
        gap = self.level - math.log(ratio)
        a, b, c = self.slope**2 - z2 * self.slope_variance, self.slope * gap, gap**2 - z2 * self.level_variance
        if a <= 0 or b * b < a * c:
            return 0.0, math.inf
        root = math.sqrt(b * b - a * c)
        low, high = (min(max(self.centre + (-b + side * root) / a, -50.0), 50.0) for side in (-1, 1))
        return math.exp(low), math.exp(high)


def weighted_line(
    measured: Sequence[MeasuredRatio], weights: Sequence[float], *, slope: float, spread: float
) -> RatioLine:
    """Return the line of least squares through the log ratios, each weighted by its precision times its weight.

    The slope is drawn to `slope` as by an observation of standard deviation `spread`. ValueError for no measurement.
    """
    if not measured:
        raise ValueError("a line needs one measurement or more, got none")
    xs, ys = ([math.log(one.x) for one in measured], [one.log_ratio for one in measured])
    precisions = [weight * one.precision for weight, one in zip(weights, measured, strict=True)]
    return least_squares(np.array(xs), np.array(ys), np.array(precisions), slope, spread)


def least_squares(xs: Floats, ys: Floats, weights: Floats, slope: float, spread: float) -> RatioLine:
    """Return y = level + slope (x - centre) by weighted least squares, with a normal prior of the slope.

    Around the weighted mean of x the estimates of level and slope are independent.
    """
    total, prior = weights.sum(), spread**-2
    centre, level = (weights * xs).sum() / total, (weights * ys).sum() / total
    square = prior + (weights * (xs - centre) ** 2).sum()
    product = prior * slope + (weights * (xs - centre) * (ys - level)).sum()
    return RatioLine(float(level), float(product / square), float(centre), float(1 / total), float(1 / square))

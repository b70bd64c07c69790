"""The ratio (w + l)/d of games, and a line through ratios at several settings.

A setting is one positive number x, such as N_scl of search-contempt. Near the requested ratio

    ln((w + l)/d) = level + slope ln x

is fitted by least squares, which the controller of learning uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hauteur.matches.ratings.elo import MatchScore


def decisive_ratio(record: MatchScore) -> float | None:
    """(w + l)/d; None without draws."""
    return (record.wins + record.losses) / record.draws if record.draws else None


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
    """ln((w + l)/d) = level + slope (ln x - centre)."""

    level: float
    slope: float
    centre: float

    def x_for(self, ratio: float) -> float:
        """Return the x at which the line has this ratio."""
        return math.exp(min(max(self.centre + (math.log(ratio) - self.level) / self.slope, -50.0), 50.0))


def weighted_line(
    measured: Sequence[MeasuredRatio], weights: Sequence[float], *, slope: float, spread: float
) -> RatioLine:
    """Return the line of least squares through the log ratios, each weighted by its precision times its weight.

    The slope is drawn to `slope` as by an observation of standard deviation `spread`. ValueError for no measurement.
    """
    if not measured:
        raise ValueError("a line needs one measurement or more, got none")
    xs = np.array([math.log(one.x) for one in measured])
    ys = np.array([one.log_ratio for one in measured])
    precisions = np.array([weight * one.precision for weight, one in zip(weights, measured, strict=True)])
    total, prior = precisions.sum(), spread**-2
    centre, level = (precisions * xs).sum() / total, (precisions * ys).sum() / total
    square = prior + (precisions * (xs - centre) ** 2).sum()
    product = prior * slope + (precisions * (xs - centre) * (ys - level)).sum()
    return RatioLine(float(level), float(product / square), float(centre))

"""Measured quantities with their intervals, for claims: means, shares, ratios and differences of independent units."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import elo_of_score
from hauteur.matches.results import Tally
from hauteur.system.seeds import stream
from hauteur.system.student import t_quantile

DRAWS = 4000
"""Of a bootstrap."""

BISECTIONS = 60
TINY = 1e-9


@dataclass(frozen=True)
class Mean:
    """The mean of independent values, with Student's interval."""

    samples: Sequence[float]

    @property
    def value(self) -> float:
        """The mean."""
        return math.fsum(self.samples) / len(self.samples) if self.samples else math.nan

    @property
    def units(self) -> int:
        """Number of values."""
        return len(self.samples)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Mean plus or minus t s / sqrt(n); without bounds for fewer than two values."""
        count = len(self.samples)
        if count < 2:
            return -math.inf, math.inf
        mean = self.value
        variance = math.fsum((one - mean) ** 2 for one in self.samples) / (count - 1)
        half = t_quantile((1 + confidence) / 2, count - 1) * math.sqrt(variance / count)
        return mean - half, mean + half


@dataclass(frozen=True)
class Share:
    """A share of independent trials, with the exact interval (Clopper and Pearson, Biometrika 26, 1934, 404-413)."""

    counted: int
    units: int

    def __post_init__(self) -> None:
        if not 0 <= self.counted <= self.units:
            raise ValueError(f"a share needs 0 to {self.units} counted trials, got {self.counted}")

    @property
    def value(self) -> float:
        """The share; not a number without trials."""
        return self.counted / self.units if self.units else math.nan

    def interval(self, confidence: float) -> tuple[float, float]:
        """Shares at which as many, or as few, trials have the chance (1 - confidence) / 2."""
        if not self.units:
            return 0.0, 1.0
        tail = (1 - confidence) / 2
        low = _root(lambda p: 1 - _at_most(self.counted - 1, self.units, p) < tail) if self.counted else 0.0
        high = _root(lambda p: _at_most(self.counted, self.units, p) > tail) if self.counted < self.units else 1.0
        return low, high


def _root(is_below: Callable[[float], bool]) -> float:
    """Return the share up to which `is_below` is true."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _at_most(counted: int, trials: int, share: float) -> float:
    """Return the chance of at most so many of the trials."""
    if share in (0.0, 1.0):
        return float(share == 0.0 or counted >= trials)
    terms = np.arange(counted + 1)
    logs = _log_choose(trials)[: counted + 1] + terms * math.log(share) + (trials - terms) * math.log1p(-share)
    return float(np.exp(logs).sum())


def _log_choose(trials: int) -> NDArray[np.float64]:
    """Return the logarithms of the binomial coefficients of a number of trials."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    return np.asarray(factorials[-1] - factorials - factorials[::-1], np.float64)


@dataclass(frozen=True)
class MatchElo:
    """The Elo difference of a match, with the interval of its pairs of games."""

    tally: Tally

    @property
    def value(self) -> float:
        """The difference; infinite where every game was won or lost."""
        return elo_of_score(self.tally.record.score)

    @property
    def units(self) -> int:
        """Number of games."""
        return self.tally.record.games

    def interval(self, confidence: float) -> tuple[float, float]:
        """Wilson's interval with the variance of pairs, as Elo."""
        low, high = self.tally.interval(confidence)
        return (
            elo_of_score(low) if low > TINY else -math.inf,
            elo_of_score(high) if high < 1 - TINY else math.inf,
        )


@dataclass(frozen=True)
class Resampled:
    """A statistic of groups that are independent of each other, such as games with several positions each.

    groups: rows of every sample, [G, K], one row a group; statistic: of the sums, [D, K] to [D]. The interval is that
    of the groups drawn again (percentiles of the bootstrap), in every sample for itself.
    """

    samples: tuple[NDArray[np.float64], ...]
    statistic: Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]

    @property
    def value(self) -> float:
        """The statistic of all groups."""
        return float(self.statistic([sample.sum(axis=0, keepdims=True) for sample in self.samples])[0])

    @property
    def units(self) -> int:
        """Groups of the smallest sample."""
        return min(len(sample) for sample in self.samples)

    @cached_property
    def _drawn(self) -> NDArray[np.float64]:
        drawn = []
        for number, sample in enumerate(self.samples):
            # A group is drawn 0, 1, 2, ... times, independently of the others (the Poisson bootstrap); groups that
            # are alike are drawn together.
            rows, alike = np.unique(sample, axis=0, return_counts=True)
            counts = stream(1, f"bootstrap {number}").poisson(alike, (DRAWS, len(rows)))
            drawn.append(counts @ rows)
        return np.sort(self.statistic(drawn))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Quantiles of the drawn statistics."""
        tail = (1 - confidence) / 2
        low, high = np.quantile(self._drawn, (tail, 1 - tail))
        return float(low), float(high)


@dataclass(frozen=True)
class Interval:
    """A quantity whose interval another function gives. ends: from a confidence."""

    value: float
    units: int
    ends: Callable[[float], tuple[float, float]]

    def interval(self, confidence: float) -> tuple[float, float]:
        """What that function returns."""
        return self.ends(confidence)


def differences(before: Mapping[int, float], after: Mapping[int, float]) -> Mean:
    """Return the mean difference of values with the same numbers, such as games from the same openings."""
    if before.keys() != after.keys():
        raise ValueError(f"differences need the same numbers on both sides, got {len(before)} and {len(after)}")
    return Mean([after[number] - before[number] for number in sorted(before)])

"""Measured quantities with their intervals, for claims: of independent units, such as games, openings or seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

from scipy import special

import hauteur as ht
from hauteur_experiments.verdict import SMALLEST_ELO, Inequality, Measured, Side, finite

FEW = 8
"""Fewer values have no Student's interval: where outcomes are skewed it errs in 11 to 33 % instead of 5 %."""

TINY = 1e-9
MOST_LOG = 700.0
"""The greatest logarithm of a number."""

LEAST_GAMES = 200
"""Games of a match below which nothing is concluded of an Elo difference."""

MOST_ELO = 1200.0
"""For a match in which every game was won, where differences are added."""

CLOSE = 2 * SMALLEST_ELO
"""Elo that half the interval of a difference may be, where it shows that two results agree."""


def z_of(confidence: float) -> float:
    """Return the normal quantile of a two-sided interval."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_of(confidence: float, freedom: int) -> float:
    """Return Student's quantile of a two-sided interval."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


@dataclass(frozen=True)
class Interval:
    """A quantity whose interval another function gives. ends: from a confidence."""

    value: float
    units: int
    ends: Callable[[float], tuple[float, float]]

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return what that function returns."""
        return self.ends(confidence)


def normal(value: float, error: float, units: int) -> Interval:
    """Return a quantity with a normal interval of this standard error."""
    return Interval(
        value, units, lambda confidence: (value - z_of(confidence) * error, value + z_of(confidence) * error)
    )


def exponential(logs: Measured) -> Interval:
    """Return a quantity whose logarithm was measured; infinite where that is above MOST_LOG."""

    def ends(confidence: float) -> tuple[float, float]:
        low, high = (math.exp(end) if end < MOST_LOG else math.inf for end in logs.interval(confidence))
        return low, high

    return Interval(math.exp(min(logs.value, MOST_LOG)), logs.units, ends)


# -- means and shares --------------------------------------------------------------------------------------------------


def subset_interval(samples: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the exact interval of the middle of differences of pairs, without bounds for too few of them.

    Pairs that are alike but for their names have differences of arbitrary signs: the middle is below the k-th least of
    the 2^n - 1 means of subsets with chance k / 2^n (J. A. Hartigan, J. Amer. Statist. Assoc. 64, 1969, 1303-1317).
    """
    means = []
    for size in range(1, len(samples) + 1):
        for subset in combinations(samples, size):
            means.append(math.fsum(subset) / len(subset))
    means.sort()
    place = math.floor((1 - confidence) / 2 * 2 ** len(samples) + TINY)
    if place == 0:
        return -math.inf, math.inf
    return means[place - 1], means[-place]


@dataclass(frozen=True)
class Mean:
    """The mean of independent values, with Student's interval; of fewer than FEW the exact one of a permutation test.

    Five values or fewer decide nothing with an error of 2.5 % on a side.
    """

    samples: Sequence[float]

    @property
    def value(self) -> float:
        """The mean."""
        if self.samples:
            return math.fsum(self.samples) / len(self.samples)
        return math.nan

    @property
    def units(self) -> int:
        """Number of values."""
        return len(self.samples)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Mean plus or minus t s / sqrt(n), or means of subsets; without bounds for too few values."""
        count = len(self.samples)
        mean = self.value
        if count < FEW:
            return subset_interval(self.samples, confidence)
        variance = math.fsum((one - mean) ** 2 for one in self.samples) / (count - 1)
        half = t_of(confidence, count - 1) * math.sqrt(variance / count)
        return mean - half, mean + half


@dataclass(frozen=True)
class ClusterMean:
    """The mean of values in groups that are alike, such as games from one opening: the groups are the units.

    groups: of each value. The variance is that of a ratio of sums over groups (W. G. Cochran, Sampling Techniques,
    1977, section 6.4), with Student's quantile.
    """

    samples: Sequence[float]
    groups: Sequence[Hashable]

    @property
    def value(self) -> float:
        """The mean of all values."""
        return Mean(self.samples).value

    @property
    def units(self) -> int:
        """Number of groups."""
        return len(set(self.groups))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Mean plus or minus t times the error by groups; without bounds for fewer than FEW groups."""
        if self.units < FEW:
            return -math.inf, math.inf
        half = t_of(confidence, self.units - 1) * self.error
        return self.value - half, self.value + half

    @property
    def error(self) -> float:
        """Standard error; 0 for one group."""
        mean = self.value
        sums = dict.fromkeys(self.groups, 0.0)
        for group, one in zip(self.groups, self.samples, strict=True):
            sums[group] += one - mean
        squares = math.fsum(total**2 for total in sums.values()) * self.units / max(1, self.units - 1)
        return math.sqrt(squares) / len(self.samples)


def by_opening(samples: Sequence[float], openings: Sequence[Hashable]) -> Mean | ClusterMean:
    """Return the mean of values of games: of groups where openings repeat, else, and of one opening, of games."""
    if 1 < len(set(openings)) < len(openings):
        return ClusterMean(samples, openings)
    return Mean(samples)


def differences(before: Mapping[int, float], after: Mapping[int, float]) -> Mean:
    """Return the mean difference of values with the same numbers, such as seeds."""
    if before.keys() != after.keys():
        raise ValueError(f"differences need the same numbers on both sides, got {len(before)} and {len(after)}")
    return Mean([after[number] - before[number] for number in sorted(before)])


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
        if self.units:
            return self.counted / self.units
        return math.nan

    def interval(self, confidence: float) -> tuple[float, float]:
        """Shares at which as many, or as few, trials have the chance (1 - confidence) / 2."""
        if not self.units:
            return 0.0, 1.0
        tail = (1 - confidence) / 2
        others = self.units - self.counted
        low = special.betaincinv(self.counted, others + 1, tail) if self.counted else 0.0
        high = special.betaincinv(self.counted + 1, others, 1 - tail) if others else 1.0
        return float(low), float(high)


# -- matches -----------------------------------------------------------------------------------------------------------


def elo_of_score(score: float) -> float:
    """Return 400 log10(score / (1 - score)); infinite at 0 and 1."""
    if score < TINY or score > 1 - TINY:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


class Record(NamedTuple):
    """Wins, draws and losses, of a published match or of self-play (of White)."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, tally: ht.Tally) -> Record:
        """The counts of a match."""
        return cls(tally.record.wins, tally.record.draws, tally.record.losses)

    @property
    def games(self) -> int:
        """All games."""
        return sum(self)

    @property
    def score(self) -> float:
        """Share of the points; 0.5 without games."""
        if not self.games:
            return 0.5
        return (self.wins + self.draws / 2) / self.games

    @property
    def elo(self) -> float:
        """The difference of the score."""
        return elo_of_score(self.score)

    def score_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's interval, with the variance of these games over that of won or lost ones."""
        if not self.games:
            return 0.0, 1.0
        n = self.games + 1  # half a win and half a loss more, so that no variance is 0
        p = (self.wins + 0.5 + self.draws / 2) / n
        ratio = ((self.wins + 0.5 + self.draws / 4) / n - p * p) / (p * (1 - p))
        return wilson(self.score, self.games / ratio, confidence)

    def elo_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The same as Elo."""
        low, high = self.score_interval(confidence)
        return elo_of_score(low), elo_of_score(high)

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


def wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share p of n (not always whole) independent trials."""
    z = z_of(confidence)
    widened = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / widened
    variance = p * (1 - p) / n + z * z / (4 * n * n)
    half = z / widened * math.sqrt(variance)
    # Rounding must not exclude p.
    low = min(p, middle - half)
    high = max(p, middle + half)
    return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class MatchElo:
    """The Elo difference of a match, with the interval of its pairs of games."""

    tally: ht.Tally

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
        return elo_of_score(low), elo_of_score(high)


def elo_above(what: str, measured: Measured, matters: float = SMALLEST_ELO, *, side: Side = "above") -> Inequality:
    """Return that a difference is above, below or at 0. matters: Elo, of either sign."""
    signed = -abs(matters) if side == "below" else abs(matters)
    return Inequality(what, measured, 0.0, side, LEAST_GAMES, unit="Elo", matters=signed)


def contrast(*parts: tuple[float, Measured]) -> Interval:
    """Return a weighted sum of independent differences (in Elo or less), such as a mean, or one beyond another.

    parts: weight and difference; infinite ones count MOST_ELO. units: of the part with the fewest. An end is as far
    from the sum as the root of the squared distances of the parts' ends.
    """

    def clipped(elo: float) -> float:
        return min(MOST_ELO, max(-MOST_ELO, elo))

    total = math.fsum(weight * clipped(part.value) for weight, part in parts)

    def ends(confidence: float) -> tuple[float, float]:
        below = []
        above = []
        for weight, part in parts:
            value = clipped(part.value)
            reaches = [weight * (clipped(end) - value) for end in part.interval(confidence)]
            below.append(min(reaches))
            above.append(max(reaches))
        return total - math.hypot(*below), total + math.hypot(*above)

    units = min(part.units for _, part in parts)
    return Interval(total, units, ends)


def elo_text(elo: Measured) -> str:
    """A difference with its interval of 95 %, such as `+12 [-3, +27]`."""
    low, high = elo.interval(0.95)
    return f"{elo.value:+.0f} [{low:+.0f}, {high:+.0f}]"


def elo_columns(elo: Measured | None, name: str = "elo") -> dict[str, float | None]:
    """A difference and the ends of its interval of 95 % as NAME, NAME_low, NAME_high; None where there is none."""
    if elo is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = elo.interval(0.95)
    return {name: finite(elo.value), f"{name}_low": finite(low), f"{name}_high": finite(high)}


# -- positions ---------------------------------------------------------------------------------------------------------

Flags = Sequence[tuple[int, bool]]
"""Of each position the number of its game, and whether it counts."""


def rate_of(flags: Flags) -> Interval:
    """The share of positions that count, by games, since positions of a game are alike; units: games.

    As that has no width where no position counts, the interval is never narrower than that of independent positions.
    """
    mean = _by_game(flags)
    share = Share(sum(counted for _, counted in flags), len(flags))

    def ends(confidence: float) -> tuple[float, float]:
        low, high = mean.interval(confidence)
        least, most = share.interval(confidence)
        return max(0.0, min(low, least)), min(1.0, max(high, most))

    return Interval(mean.value, mean.units, ends)


def rate_ratio(one: Flags, other: Flags) -> Interval:
    """The ratio of the share of counted positions of one to that of the other; units: games of the fewer.

    Half a position is added to both counts to keep the ratio finite. The variance of its logarithm is that of both
    shares by games, relative to their squares, and of each at least 1 / count, that of independent positions.
    """
    rates = []
    for flags in (one, other):
        mean = _by_game(flags)
        count = sum(counted for _, counted in flags) + 0.5
        variance = max(1 / count, (mean.error * len(flags) / count) ** 2)
        rates.append((count / len(flags), variance, mean.units))
    (a, a_variance, a_games), (b, b_variance, b_games) = rates
    error = math.sqrt(a_variance + b_variance)
    return exponential(normal(math.log(a / b), error, min(a_games, b_games)))


def _by_game(flags: Flags) -> ClusterMean:
    counted = [float(is_counted) for _, is_counted in flags]
    games = [game for game, _ in flags]
    return ClusterMean(counted, games)


def columns(rows: Sequence[Mapping[str, Any]], *names: str) -> str:
    """Rows as aligned columns of text; a value that is not known is -."""

    def shown(value: Any) -> str:
        if value is None:
            return "-"
        return f"{value:.3g}" if isinstance(value, float) else f"{value}"

    lines = [names]
    for row in rows:
        lines.append(tuple(shown(row[name]) for name in names))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = [text.rjust(width) for text, width in zip(line, widths, strict=True)]
        texts.append("  ".join(cells))
    return "\n".join(texts)

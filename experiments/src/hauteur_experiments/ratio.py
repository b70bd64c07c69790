"""The ratio (w + l)/d of games: intervals, its slope over a setting, and the setting at which it has a target value.

The setting is one positive number x, such as N_scl or a factor on temperatures. Near the target ratio

    ln((w + l)/d) = level + slope ln x

is fitted by least squares. `tune_ratio` plays games where the line says that the ratio is, one set after another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hauteur_experiments.measured import Interval, Record, exponential, normal, wilson, z_of
from hauteur_experiments.verdict import Inequality, Measured

EQUAL_WITHIN = 1.5
"""Ratios (w + l)/d are equal where one is less than this factor above the other."""

Measure = Callable[[float, int], Record]
"""(x, games) -> the results of the first `games` games at x. Asked for more games at an x, those before count again."""

SLOPE_SPREAD = 0.5
"""Standard deviation of a line's slope before there is data, when it is 1 (rising) or -1."""

FLATTEST_SLOPE = 0.2
"""A line is never taken for flatter: the place of the target would have no bound."""

REACH = 3.0
"""Games count less the farther their x is from the target; those at a factor REACH count 1/e."""

LARGEST_STEP = 4.0
"""Greatest factor between the x that were played and the next."""


def decisive_ratio(record: Record) -> float | None:
    """(w + l)/d; None without draws."""
    if not record.draws:
        return None
    return (record.wins + record.losses) / record.draws


def ratio_of(record: Record) -> Interval:
    """Return (w + l)/d as a measured quantity: Wilson's interval of the share of draws p, mapped to (1 - p)/p.

    (0, inf) without games; not a number, with an infinite upper end, without draws. Assumes independent games: not
    pairs from the same opening.
    """

    def ends(confidence: float) -> tuple[float, float]:
        if not record.games:
            return 0.0, math.inf
        few, many = wilson(record.draws / record.games, record.games, confidence)
        low = 1 / many - 1 if record.wins + record.losses else 0.0
        high = 1 / few - 1 if record.draws else math.inf
        return low, high

    ratio = decisive_ratio(record)
    return Interval(math.nan if ratio is None else ratio, record.games, ends)


def ratio_text(record: Record) -> str:
    """White's results and their ratio with its interval."""
    ratio = ratio_of(record)
    low, high = ratio.interval(0.95)
    value = f"{ratio.value:.2f}" if record.draws else "without draws"
    return f"{record.wins}/{record.draws}/{record.losses}, {value} [{low:.2f}, {high:.2f}]"


def ratio_factor(of: Record, to: Record) -> Interval:
    """Return the factor of the first ratio over the second as a measured quantity.

    The odds ratio of decisive games, with half a game added to every count; the interval is Woolf's.
    """
    counts = []
    for record in (of, to):
        counts += [record.wins + record.losses + 0.5, record.draws + 0.5]
    decisive_of, drawn_of, decisive_to, drawn_to = counts
    logarithm = math.log(decisive_of / drawn_of) - math.log(decisive_to / drawn_to)
    error = math.sqrt(sum(1 / count for count in counts))
    logs = normal(logarithm, error, min(of.games, to.games))
    return exponential(logs)


def equal_within(what: str, factor: Measured, least: int, of: str) -> tuple[Inequality, Inequality]:
    """Return that a factor between two ratios (w + l)/d is nearly 1. least, of: units that may decide."""
    low = 1 / EQUAL_WITHIN
    high = EQUAL_WITHIN
    return (
        Inequality(what, factor, low, "above", least, of=of, matters=low),
        Inequality("the same", factor, high, "below", least, of=of, matters=high),
    )


@dataclass(frozen=True)
class RatioSearch:
    """Target, bounds and games of the search for a setting x."""

    target: float
    """Ratio that is wanted, above 0."""
    low: float
    """Lower bound of x, above 0."""
    high: float
    """Upper bound of x."""
    starts: tuple[float, ...]
    """Values of x that are played first."""
    rising: bool
    """The ratio rises with x."""
    whole: bool = False
    """x is a whole number."""
    games: int = 40
    """Games of a set at one x."""
    more: int = 3
    """Sets after those at the starts."""

    def allowed(self, x: float) -> float:
        """The nearest x that may be played."""
        x = min(max(x, self.low), self.high)
        if not self.whole:
            return x
        return min(max(float(round(x)), math.ceil(self.low)), math.floor(self.high))


@dataclass(frozen=True)
class MeasuredRatio:
    """Games at one x."""

    x: float
    record: Record

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
        """1 / variance of the log ratio."""
        return 1 / (1 / self.decisive + 1 / self.drawn)


@dataclass(frozen=True)
class RatioLine:
    """ln((w + l)/d) = level + slope (ln x - centre); level and slope are independent."""

    level: float
    """Log ratio at the centre."""
    slope: float
    """Change of the log ratio with ln x."""
    centre: float
    """Weighted mean of ln x."""
    level_variance: float
    """Variance of the level."""
    slope_variance: float
    """Variance of the slope."""

    def ratio_at(self, x: float) -> float:
        """The ratio that the line has at x."""
        return math.exp(self.level + self.slope * (math.log(x) - self.centre))

    def x_for(self, ratio: float) -> float:
        """Return the x at which the line has this ratio."""
        log_x = self.centre + (math.log(ratio) - self.level) / self.slope
        return math.exp(min(max(log_x, -50.0), 50.0))

    def x_interval(self, ratio: float, confidence: float = 0.95) -> tuple[float, float]:
        """Fieller's interval of that place: the x at which the line may have this ratio; (0, inf) where it bounds none.

        With u = ln x - centre and t = ln ratio it is where (level + slope u - t)^2 <= z^2 var(level + slope u).
        """
        z2 = z_of(confidence) ** 2
        gap = self.level - math.log(ratio)
        a = self.slope**2 - z2 * self.slope_variance
        b = self.slope * gap
        c = gap**2 - z2 * self.level_variance
        if a <= 0 or b * b < a * c:
            return 0.0, math.inf
        root = math.sqrt(b * b - a * c)
        ends = []
        for side in (-1, 1):
            end = self.centre + (-b + side * root) / a
            ends.append(math.exp(min(max(end, -50.0), 50.0)))
        low, high = ends
        return low, high


Reached = Literal["found", "low", "high"]
"""Where the target ratio is: within the bounds of x, or not reached at the low or the high one."""


@dataclass(frozen=True)
class TunedRatio:
    """Result of a search for a setting x."""

    x: float
    """The setting."""
    interval: tuple[float, float]
    """Its 95 % interval, within the bounds."""
    ratio: float
    """Ratio of the line at x; the target if it was reached within the bounds."""
    reached: Reached
    """Whether the target was reached within the bounds, or at which end it was not."""
    measured: tuple[MeasuredRatio, ...]
    """All games, in the order in which the values of x were first played."""

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.x:.4g} [{low:.3g}, {high:.3g}]"


def tune_ratio(measure: Measure, search: RatioSearch) -> TunedRatio:
    """Find the x with the target (w + l)/d, by games of `measure`: first at the starts, then on the fitted line."""
    seen: dict[float, Record] = {}
    for start in search.starts:
        x = search.allowed(start)
        seen[x] = measure(x, search.games)
    for _ in range(search.more):
        place = _line(seen, search).x_for(search.target)
        lowest = min(seen) / LARGEST_STEP
        highest = max(seen) * LARGEST_STEP
        x = search.allowed(min(max(place, lowest), highest))
        before = seen[x].games if x in seen else 0
        seen[x] = measure(x, before + search.games)
    line = _line(seen, search)
    place = line.x_for(search.target)
    reached: Reached = "found"
    if place < search.low:
        reached = "low"
    elif place > search.high:
        reached = "high"
    low, high = line.x_interval(search.target)
    low = min(max(low, search.low), search.high)
    high = min(max(high, search.low), search.high)
    x = search.allowed(place)
    return TunedRatio(x, (low, high), line.ratio_at(x), reached, _measured(seen))


def _measured(seen: dict[float, Record]) -> tuple[MeasuredRatio, ...]:
    return tuple(MeasuredRatio(x, record) for x, record in seen.items())


def _line(seen: dict[float, Record], search: RatioSearch) -> RatioLine:
    return fit_ratio(_measured(seen), search.target, rising=search.rising)


def fit_ratio(measured: Sequence[MeasuredRatio], target: float, *, rising: bool) -> RatioLine:
    """Fit the line near the target ratio, with less weight far from that ratio.

    The slope is shrunk to +-1 as by an observation of standard deviation SLOPE_SPREAD, and is at least FLATTEST_SLOPE
    steep. Raise ValueError without games.
    """
    sign = 1 if rising else -1
    weights = [1.0] * len(measured)
    xs = [one.x for one in measured]
    for _ in range(4):  # the weights need the place, the place the weights
        line = ratio_line(measured, weights, slope=float(sign), spread=SLOPE_SPREAD)
        line = replace(line, slope=sign * max(sign * line.slope, FLATTEST_SLOPE))
        place = min(max(line.x_for(target), min(xs)), max(xs))  # beyond what was measured its end counts in full
        weights = [math.exp(-((math.log(x / place) / math.log(REACH)) ** 2)) for x in xs]
    return line


def ratio_slope(measured: Sequence[MeasuredRatio]) -> Interval:
    """The slope of ln((w + l)/d) over ln x through all measurements alike; ValueError for fewer than two places."""
    if len({one.x for one in measured}) < 2:
        raise ValueError(f"a slope needs two places or more, got {sorted({one.x for one in measured})}")
    line = ratio_line(measured, [1.0] * len(measured), slope=0.0, spread=1e3)
    return normal(line.slope, math.sqrt(line.slope_variance), min(one.record.games for one in measured))


def ratio_line(
    measured: Sequence[MeasuredRatio],
    weights: Sequence[float],
    *,
    slope: float,
    spread: float,
) -> RatioLine:
    """Return the line of least squares through the log ratios, each weighted by its precision times its weight.

    The slope is drawn to `slope` as by an observation of standard deviation `spread`. Around the weighted mean of ln x
    the estimates of level and slope are independent. ValueError for no measurement.
    """
    if not measured:
        raise ValueError("a line needs one measurement or more, got none")
    xs = np.array([math.log(one.x) for one in measured])
    ys = np.array([one.log_ratio for one in measured])
    precisions = np.array([weight * one.precision for weight, one in zip(weights, measured, strict=True)])
    total = precisions.sum()
    prior = spread**-2
    centre = (precisions * xs).sum() / total
    level = (precisions * ys).sum() / total
    square = prior + (precisions * (xs - centre) ** 2).sum()
    product = prior * slope + (precisions * (xs - centre) * (ys - level)).sum()
    return RatioLine(
        float(level),
        float(product / square),
        float(centre),
        float(1 / total),
        float(1 / square),
    )

"""The ratio (w + l)/d of games: its interval, and the search for the setting at which it has a wanted value.

The setting is one positive number x, such as N_scl of search-contempt or a factor on a schedule of temperatures. The
games at x are decisive with a chance that rises (or falls) with x, so that near the wanted ratio

    ln((w + l)/d) = level + slope ln x,

which is a logistic regression; its first step is a line of least squares, which the controller of learning uses.
`tune_ratio` plays games where the line says that the ratio is, until it knows x well enough or has no more games to
play. It plays nothing itself: it is given a function that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.ratio import (
    MeasuredRatio,
    RatioLine,
    decisive_ratio_interval,
    least_squares,
    weighted_line,
)

Measure = Callable[[float, int], MatchScore]
"""(x, games) -> the results of the first `games` games at x. Asked for more games at an x, those before count again."""

SLOPE_SPREAD = 0.5
"""Standard deviation of a line's slope before there is data, when it is 1 (rising) or -1."""

FLATTEST_SLOPE = 0.2
"""A line is never taken for flatter: the place of the wanted ratio would have no bound."""

REACH = 3.0
"""Games count less the farther their x is from where the line is wanted; those at a factor REACH count 1/e."""

LARGEST_STEP = 4.0
"""Greatest factor between the x that were played and the next."""


@dataclass(frozen=True)
class RatioSearch:
    """Target, bounds and games of the search.

    wanted: target ratio (above 0); low, high: bounds of x (above 0); starts: x played first; rising: the ratio rises
    with x; whole: x is a whole number; games: per batch at an x; most_games: in total; precision: the search ends once
    the interval of x is narrower than this factor.
    """

    wanted: float
    low: float
    high: float
    starts: tuple[float, ...]
    rising: bool
    whole: bool = False
    games: int = 40
    most_games: int = 400
    precision: float = 1.5

    def __post_init__(self) -> None:
        if not (0 < self.wanted < math.inf and 0 < self.low <= self.high < math.inf):
            raise ValueError(
                f"the ratio and the bounds of x must be above 0 and finite, low at most high; got {self.wanted:g}, "
                f"{self.low:g} to {self.high:g}"
            )
        if not self.starts or not all(self.low <= x <= self.high for x in self.starts):
            raise ValueError(f"the first x must be {self.low:g} to {self.high:g}, got {list(self.starts)}")
        if not 1 <= self.games <= self.most_games:
            raise ValueError(f"games must be 1 to {self.most_games} (the most in all), got {self.games}")
        if not self.precision > 1:
            raise ValueError(f"precision is a factor above 1, got {self.precision:g}")

    @property
    def sign(self) -> int:
        """Sign of the slope: 1 where the ratio rises with x, else -1."""
        return 1 if self.rising else -1

    def allowed(self, x: float) -> float:
        """The nearest x that may be played."""
        x = min(max(x, self.low), self.high)
        return min(max(float(round(x)), math.ceil(self.low)), math.floor(self.high)) if self.whole else x


Reached = Literal["found", "low", "high"]
"""Where the wanted ratio is: within the bounds of x, or not reached at the low or the high one."""


@dataclass(frozen=True)
class TunedRatio:
    """Result of a search.

    x: the setting; interval: its 95 % interval, within the bounds; ratio: of the line at x, the target if `reached`
    within the bounds; measured: all games, in the order in which the x were first played.
    """

    x: float
    interval: tuple[float, float]
    ratio: float
    reached: Reached
    measured: tuple[MeasuredRatio, ...]

    @property
    def games(self) -> int:
        """Games in all."""
        return sum(one.record.games for one in self.measured)


def tune_ratio(measure: Measure, search: RatioSearch) -> TunedRatio:
    """Find the x with the target (w + l)/d, by games of `measure`: first at the starts, then on the fitted line.

    Every start is played once, even if together they exceed most_games.
    """
    seen: dict[float, MatchScore] = {}
    for x in (search.allowed(start) for start in search.starts):
        seen[x] = measure(x, search.games)
    while (spent := sum(record.games for record in seen.values())) + search.games <= search.most_games:
        if _known(seen, search):
            break
        x = _next(seen, search)
        before = seen[x].games if x in seen else 0
        seen[x] = measure(x, before + search.games)
        if sum(record.games for record in seen.values()) <= spent:
            raise ValueError(f"asked for {before + search.games} games at {x:g}, got {seen[x].games}")
    return _tuned(seen, search)


def fit_ratio(measured: Sequence[MeasuredRatio], wanted: float, *, rising: bool) -> RatioLine:
    """Fit the line near the target ratio: logistic regression, with less weight far from that ratio.

    The slope is shrunk to +-1 as by an observation of standard deviation SLOPE_SPREAD, and is at least FLATTEST_SLOPE
    steep. Raise ValueError without games.
    """
    line = _weighted_fit(measured, [1.0] * len(measured), 1 if rising else -1)
    for _ in range(3):  # the weights need the place, the place the weights
        place = _near(line.x_for(wanted), measured)
        weights = [math.exp(-((math.log(one.x / place) / math.log(REACH)) ** 2)) for one in measured]
        line = _weighted_fit(measured, weights, 1 if rising else -1)
    return line


def ratio_slope(measured: Sequence[MeasuredRatio], confidence: float = 0.95) -> tuple[float, float, float]:
    """The slope of ln((w + l)/d) over ln x through all measurements alike, and its confidence interval.

    ValueError for fewer than two places.
    """
    if len({one.x for one in measured}) < 2:
        raise ValueError(f"a slope needs two places or more, got {sorted({one.x for one in measured})}")
    line = logistic_line(measured, [1.0] * len(measured), slope=0.0, spread=1e3)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(line.slope_variance)
    return line.slope, line.slope - half, line.slope + half


def ratio_factor(of: MatchScore, to: MatchScore, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the factor of the first ratio over the second, and its confidence interval.

    The odds ratio of decisive games, with half a game added to every count; the interval is Woolf's.
    """
    counts = [count + 0.5 for record in (of, to) for count in (record.wins + record.losses, record.draws)]
    logarithm = math.log(counts[0] / counts[1]) - math.log(counts[2] / counts[3])
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(sum(1 / count for count in counts))
    return math.exp(logarithm), math.exp(logarithm - half), math.exp(logarithm + half)


def _near(x: float, measured: Sequence[MeasuredRatio]) -> float:
    """x, or the end of what was measured where x is beyond it: there the games of the end count in full."""
    return min(max(x, min(one.x for one in measured)), max(one.x for one in measured))


def _weighted_fit(measured: Sequence[MeasuredRatio], weights: Sequence[float], sign: int) -> RatioLine:
    """The line with the prior of the slope, made steep enough."""
    line = logistic_line(measured, weights, slope=float(sign), spread=SLOPE_SPREAD)
    return replace(line, slope=sign * max(sign * line.slope, FLATTEST_SLOPE))


def logistic_line(
    measured: Sequence[MeasuredRatio], weights: Sequence[float], *, slope: float, spread: float
) -> RatioLine:
    """Return the line of logistic regression: least squares again and again, with the weights of the line before.

    Iteratively reweighted least squares (McCullagh and Nelder 1989, section 2.5), from the line through the log ratios.
    """
    xs = np.array([math.log(one.x) for one in measured])
    sizes = np.array(weights) * [one.decisive + one.drawn for one in measured]
    shares = np.array([one.decisive / (one.decisive + one.drawn) for one in measured])
    line = weighted_line(measured, weights, slope=slope, spread=spread)
    logits = line.level + line.slope * (xs - line.centre)
    for _ in range(50):
        chances = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        variances = chances * (1 - chances)
        line = least_squares(xs, logits + (shares - chances) / variances, sizes * variances, slope, spread)
        step = line.level + line.slope * (xs - line.centre) - logits
        logits = logits + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return line


def _line(seen: dict[float, MatchScore], search: RatioSearch) -> RatioLine:
    return fit_ratio([MeasuredRatio(x, record) for x, record in seen.items()], search.wanted, rising=search.rising)


def _next(seen: dict[float, MatchScore], search: RatioSearch) -> float:
    """Return the next x to play: the line's x of the target ratio, not too far outside the x played."""
    x = _line(seen, search).x_for(search.wanted)
    return search.allowed(min(max(x, min(seen) / LARGEST_STEP), max(seen) * LARGEST_STEP))


def _known(seen: dict[float, MatchScore], search: RatioSearch) -> bool:
    """Return whether x is known well enough, or the target ratio is significantly beyond a played bound."""
    if _is_beyond(seen, search, search.allowed(search.low), search.sign):
        return True
    if _is_beyond(seen, search, search.allowed(search.high), -search.sign):
        return True
    low, high = _line(seen, search).x_interval(search.wanted)
    return (not search.whole or _next(seen, search) in seen) and high <= search.precision * low


def _is_beyond(seen: dict[float, MatchScore], search: RatioSearch, bound: float, side: int) -> bool:
    """Return whether the ratio at this bound is, at 99 %, above (side 1) or below (side -1) the target."""
    if bound not in seen:
        return False
    low, high = decisive_ratio_interval(seen[bound], 0.99)
    return low > search.wanted if side == 1 else high < search.wanted


def _tuned(seen: dict[float, MatchScore], search: RatioSearch) -> TunedRatio:
    line = _line(seen, search)
    wanted = line.x_for(search.wanted)
    reached: Reached = "low" if wanted < search.low else "high" if wanted > search.high else "found"
    low, high = (min(max(end, search.low), search.high) for end in line.x_interval(search.wanted))
    x = search.allowed(wanted)
    measured = tuple(MeasuredRatio(place, record) for place, record in seen.items())
    return TunedRatio(x, (low, high), line.ratio_at(x), reached, measured)

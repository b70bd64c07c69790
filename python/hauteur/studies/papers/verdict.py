"""Whether a statement of a paper holds: one rule for all experiments, fixed before the games are played.

A claim is one inequality on a measured quantity, or several of which all, or any one, must be true. An inequality is
shown where a confidence interval lies wholly on its side of the bound, and refuted where it lies wholly on the other.
The error is that of a claim whose quantities are at their bounds: at most LEVEL for a false "holds" and at most LEVEL
for a false "does not hold", however many inequalities, and cells of a table, are tested beside each other:

- all must be true: each is tested at LEVEL (intersection-union test; R. L. Berger, Technometrics 24, 1982, 295-300),
  and the claim is refuted by one that is refuted at LEVEL / k (Bonferroni);
- any one may be true: one must be shown at LEVEL / k, and all refuted at LEVEL.

Below the smallest number of independent units that was stated for it, a claim is open whatever was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, Protocol

Verdict = Literal["holds", "does not hold", "open"]
Side = Literal["above", "below"]

LEVEL = 0.025
"""Greatest chance of a false "holds", and of a false "does not hold": one end of an interval of 95 %."""

POWER = 0.8
"""Chance of a verdict at the number of units, and at the difference, that are printed beside it."""

MOST_UNITS = 10_000_000
"""More independent units than anybody will play."""


class Measured(Protocol):
    """A quantity and what it was measured with. units: independent ones, such as pairs of games, games or seeds."""

    @property
    def value(self) -> float: ...
    @property
    def units(self) -> int: ...
    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval that contains the truth with at least this chance, 0 to 1."""
        ...


@dataclass(frozen=True)
class Inequality:
    """A measured quantity is above, or below, a bound.

    what: the quantity, in words; unit: of the quantity, such as "Elo"; of: what its independent units are; least: so
    many of them, or more, may decide.
    """

    what: str
    measured: Measured
    bound: float
    side: Side
    least: int
    unit: str = ""
    of: str = "games"

    def __post_init__(self) -> None:
        if self.least < 2:
            raise ValueError(f"{self.what}: the smallest number of {self.of} that may decide must be >= 2")

    def shown(self, level: float) -> bool:
        """Return whether it is true, with at most this chance of an error."""
        low, high = self.measured.interval(1 - 2 * level)
        return self._may_decide and (low > self.bound if self.side == "above" else high < self.bound)

    def refuted(self, level: float) -> bool:
        """Return whether it is false, with at most this chance of an error."""
        low, high = self.measured.interval(1 - 2 * level)
        return self._may_decide and (high < self.bound if self.side == "above" else low > self.bound)

    @property
    def _may_decide(self) -> bool:
        return self.measured.units >= self.least

    @property
    def quantity(self) -> str:
        """The quantity with its interval of 95 %."""
        value, low, high = (_rounded(one) for one in (self.measured.value, *self.measured.interval(1 - 2 * LEVEL)))
        return f"{self.what} {value} [{low}, {high}]{self.unit and ' ' + self.unit}"

    @property
    def text(self) -> str:
        """The quantity with its interval of 95 % and its number of units."""
        return f"{self.quantity}, {self.measured.units:,} {self.of}"


def _rounded(value: float) -> str:
    """A number with three digits, or more before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.3g}"


@dataclass(frozen=True)
class Claim:
    """A statement of a source as inequalities. needs: how many of them must be true; cells: claims of one table, which
    are tested beside each other.
    """

    inequalities: tuple[Inequality, ...]
    needs: Literal["all", "any"] = "all"
    cells: int = 1

    def __post_init__(self) -> None:
        if not self.inequalities or self.cells < 1:
            raise ValueError("a claim needs an inequality, and is one cell or more of a table")

    @property
    def verdict(self) -> Verdict:
        """What the measurements allow to conclude."""
        each, together = LEVEL / self.cells, LEVEL / self.cells / len(self.inequalities)
        every, one = (each, together) if self.needs == "all" else (together, each)
        shown = [inequality.shown(every) for inequality in self.inequalities]
        refuted = [inequality.refuted(one) for inequality in self.inequalities]
        if self.needs == "all":
            return "holds" if all(shown) else "does not hold" if any(refuted) else "open"
        return "holds" if any(shown) else "does not hold" if all(refuted) else "open"

    @property
    def missing(self) -> int | None:
        """Units that each inequality would need to be decided, if what was measured is the truth; None: decided.

        MOST_UNITS stands for that many or more.
        """
        if self.verdict != "open":
            return None
        level = LEVEL / self.cells / len(self.inequalities)
        return max(needed(inequality, level) for inequality in self.inequalities)

    @property
    def quantities(self) -> str:
        """The measured quantities with their intervals."""
        return "; ".join(inequality.quantity for inequality in self.inequalities)

    @property
    def units_text(self) -> str:
        """What was measured with: the number of units of the quantity that has the fewest."""
        least = min(self.inequalities, key=lambda inequality: inequality.measured.units)
        return f"{least.measured.units:,} {least.of}"

    @property
    def text(self) -> str:
        """The measured quantities, and where the claim is open what would close it."""
        texts = "; ".join(inequality.text for inequality in self.inequalities)
        missing = self.missing
        if missing is None:
            return texts
        few = [one for one in self.inequalities if one.measured.units < one.least]
        if few:
            return f"{texts}; too few: {few[0].least:,} {few[0].of} or more may decide"
        count = f"{MOST_UNITS:,} or more" if missing >= MOST_UNITS else f"about {missing:,}"
        return f"{texts}; {count} {self.inequalities[0].of} would decide"


def needed(inequality: Inequality, level: float = LEVEL) -> int:
    """Return the units that would decide an inequality with chance POWER, if the measured value is the truth."""
    distance = abs(inequality.measured.value - inequality.bound)
    error = standard_error(inequality.measured)
    if not math.isfinite(error) or distance * math.sqrt(MOST_UNITS) <= error:
        return MOST_UNITS
    wanted = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    units = math.ceil(inequality.measured.units * (wanted * error / distance) ** 2)
    return min(MOST_UNITS, max(inequality.least, units))


def detectable(inequality: Inequality, level: float = LEVEL) -> float:
    """Return the distance from the bound that these units would decide with chance POWER."""
    wanted = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    return wanted * standard_error(inequality.measured)


def standard_error(measured: Measured) -> float:
    """Return half the interval of one standard deviation."""
    low, high = measured.interval(2 * NormalDist().cdf(1.0) - 1)
    return (high - low) / 2

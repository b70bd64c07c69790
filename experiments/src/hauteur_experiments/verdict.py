"""The verdict on a statement of a paper: one rule for all experiments, fixed before the games are played.

A claim is one inequality on a measured quantity, or several of which all, or any one, must be true. An inequality is
shown where a confidence interval lies wholly on its side of the bound, and refuted where it lies wholly on the other.
It names the smallest effect that matters: where the interval lies below that, there is no such effect. The error is at
most LEVEL for a false "holds" where the quantities are at their bounds, for a false "does not hold" there, and for a
false "no such effect" where they are at the smallest effects that matter, however many inequalities, and cells of a
table, are tested beside each other, and however often a claim is looked at while its games come in:

- all must be true: each is tested at LEVEL (intersection-union test; R. L. Berger, Technometrics 24, 1982, 295-300),
  and the claim is denied by one that is denied at LEVEL / k (Bonferroni);
- any one may be true: one must be shown at LEVEL / k, and all denied at LEVEL.

Below the smallest number of independent units that was stated for it, a claim is open whatever was measured.

A claim that is tested again as games come in errs more often than one that is tested once. Here up to LOOKS looks at
equal steps of the planned size are paid for by the bounds of O'Brien and Fleming (Biometrics 35, 1979, 549-556): at
step k a quantity must be z sqrt(LOOKS / k) standard errors from its bound. z is 2.072 for an error of 2.5 % on a side
(C. Jennison, B. W. Turnbull, Group Sequential Methods, 2000, table 2.3), and for other errors from the same recursion
(P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Statist. Soc. A 132, 1969, 235-244).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Literal, Protocol, TypedDict

import numpy as np

Verdict = Literal["holds", "does not hold", "no such effect", "open"]
Side = Literal["above", "below", "at"]
Test = Literal["sign", "size"]
"""What a claim is tested for: that an effect has the sign that the source states, or the size."""

LEVEL = 0.025
"""Greatest chance of each kind of false verdict: one end of an interval of 95 %."""

SMALLEST_ELO = 15.0
"""Smallest effect that matters where the source has no figure; else half of the source's."""

SMALLEST_POINTS = 100 * (1 / (1 + 10 ** (-SMALLEST_ELO / 400)) - 0.5)
"""The same in percentage points of an even score."""

MOST_OF_RUNS = 0.75
"""Share of the runs that matters, of a statement that is to hold in more than half of them."""

LEAST_SEEDS = 6
"""Seeds below which nothing is concluded: six of six are more than half of all with an error of 1.6 %."""

POWER = 0.8
"""Chance of a verdict at the number of units, and at the difference, that are printed beside it."""

MOST_UNITS = 10_000_000
"""More independent units than will be played."""

NO_EFFECT = (0.0, 0.5, 1.0)
"""Bounds at which there is no effect: of a difference, of a share, and of a factor. Any other bound is a size."""


LOOKS = 8
BEYOND_ONE_LOOK = (0.141, 0.1122, 0.0915, 0.0759, 0.0638, 0.0542, 0.0465, 0.0401, 0.0347, 0.0303)
"""Standard errors that the last of LOOKS looks needs more than a single one would, for errors of 5 %, 2.5 %, 1.25 % and
so on, each half of the one before; by the recursion of Armitage et al. in steps of 0.05. Between them by lines, which
is 0.001 too much at most, and below the last as there."""


@dataclass(frozen=True)
class Look:
    """When a verdict is taken. share: of the planned size that was played, 1 at the end; extensions: how often more was
    played after a verdict at the end.
    """

    share: float = 1.0
    extensions: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or self.extensions < 0 or (self.extensions and self.share < 1):
            raise ValueError(f"a look is at a share above 0 to 1, or an extension of the end, got {self}")

    def level(self, level: float) -> float:
        """Return the chance of an error at this look alone, of that of all looks together.

        A verdict at the end alone uses less than the looks before it would have used in all. The rest pays for
        extensions: half of it for the first, and for each that follows half of what was left.
        """
        if self.extensions:
            return (level - END.level(level)) / 2.0**self.extensions
        step = math.floor(self.share * LOOKS + 1e-9)
        if not step:
            return 0.0
        return NormalDist().cdf(-final_z(level) * math.sqrt(LOOKS / step))


END = Look()
"""The whole planned size, for the first time."""


def final_z(level: float) -> float:
    """Return the standard errors from the bound that are shown at the last look, for this error of all looks."""
    halvings = math.log2(0.05 / level)
    places = range(len(BEYOND_ONE_LOOK))
    beyond = float(np.interp(halvings, places, BEYOND_ONE_LOOK))
    return NormalDist().inv_cdf(1 - level) + beyond


class Number(TypedDict):
    """A measured quantity and its interval of 95 %, as JSON has it; an end is None where there is no bound."""

    what: str
    value: float | None
    low: float | None
    high: float | None


class Measured(Protocol):
    """A quantity and what it was measured with. units: independent ones, such as pairs of games, games or seeds."""

    @property
    def value(self) -> float: ...
    @property
    def units(self) -> int: ...
    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval that contains the truth with at least this chance, 0 to 1."""
        ...


def number_of(what: str, measured: Measured) -> Number:
    """Return a quantity as JSON has it."""
    low, high = measured.interval(1 - 2 * LEVEL)
    return Number(what=what, value=finite(measured.value), low=finite(low), high=finite(high))


def finite(value: float) -> float | None:
    """Return the value as JSON can hold it: None where it is infinite or not a number."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Inequality:
    """A measured quantity is above, or below, a bound; or "at" it: compatible with it, and known well."""

    what: str
    """The quantity in words."""
    measured: Measured
    """The measured value with its error."""
    bound: float
    """The bound."""
    side: Side
    """Side of the bound that the claim is on."""
    least: int
    """Minimum of independent units that may decide."""
    unit: str = ""
    """Unit of the quantity, such as "Elo"."""
    of: str = "games"
    """What its independent units are."""
    matters: float = field(kw_only=True)
    """The quantity at the smallest effect that matters, on the bound's side, or the bound itself where the bound is an
    effect; for "at" the bound plus the largest allowed half width of an interval."""
    source: float | None = field(default=None, kw_only=True)
    """The source's value of the quantity; None: it has none."""
    here: Measured | None = field(default=None, kw_only=True)
    """The value measured here, where `measured` is its difference from the source's value."""
    given: tuple[str, Measured] | None = field(default=None, kw_only=True)
    """A quantity, with its words, by which the cell of this one was chosen."""

    def __post_init__(self) -> None:
        if self.least < 2:
            raise ValueError(f"{self.what}: the smallest number of {self.of} that may decide must be >= 2")
        if self._sign * (self.matters - self.bound) < 0 or (self.side == "at" and self.matters == self.bound):
            raise ValueError(f"{self.what}: what matters is {self.side} {self.bound:g}, got {self.matters:g}")

    def shown(self, level: float) -> bool:
        """Return whether it is true, with at most this chance of an error.

        "at" is shown by the interval of 95 %, at the end alone; one that is twice `matters` away is not, with LEVEL.
        """
        if not self._may_decide:
            return False
        chance = LEVEL if self.side == "at" else level
        low, high = self.measured.interval(1 - 2 * chance)
        if self.side == "above":
            return low > self.bound
        if self.side == "below":
            return high < self.bound
        is_narrow = (high - low) / 2 <= self.matters - self.bound
        return is_narrow and low <= self.bound <= high

    def refuted(self, level: float) -> bool:
        """Return whether it is false, with at most this chance of an error."""
        if not self._may_decide:
            return False
        chance = level if self.side == "at" else 2 * level
        low, high = self.measured.interval(1 - chance)
        is_above = low > self.bound and self.side != "above"
        is_below = high < self.bound and self.side != "below"
        return is_above or is_below

    def without_effect(self, level: float) -> bool:
        """Return whether an effect that matters is excluded, with at most this chance of an error."""
        low, high = self.measured.interval(1 - 2 * level)
        if self.side == "at" or not self._may_decide:
            return False
        if self.side == "above":
            return high < self.matters
        return low > self.matters

    @property
    def _may_decide(self) -> bool:
        return self.measured.units >= self.least

    @property
    def _sign(self) -> int:
        return -1 if self.side == "below" else 1

    @property
    def ours(self) -> str:
        """What was measured here with its interval of 95 %, whatever it is compared with."""
        return self._with_interval(self.here or self.measured)

    @property
    def times(self) -> float | None:
        """How many times the source's value ours is; None where the source has none."""
        if not self.source:
            return None
        return (self.here or self.measured).value / self.source

    @property
    def quantity(self) -> str:
        """The quantity with its interval of 95 %; where it was compared with the source's, the difference beside it."""
        less = "" if self.here is None else f" (less the source's: {self._with_interval(self.measured)})"
        given = "" if self.given is None else f" ({self.given[0]} {self._with_interval(self.given[1])})"
        return f"{self.what} {self.ours}{less}{given}"

    @property
    def numbers(self) -> list[Number]:
        """The quantities of the text as numbers: what was given, what was measured here, the difference."""
        found = [] if self.given is None else [number_of(*self.given)]
        found.append(number_of(self.what, self.here or self.measured))
        if self.here is not None:
            found.append(number_of(f"{self.what}, less the source's", self.measured))
        return found

    @property
    def test(self) -> Test:
        """What it tests: where its bound is no effect the sign, else the size."""
        if self.side != "at" and self.bound in NO_EFFECT:
            return "sign"
        return "size"

    def margin(self, border: float) -> float:
        """How far the quantity is on its side of a border, in standard errors; "at": how near, as a negative number."""
        distance = self.measured.value - border
        error = standard_error(self.measured)
        signed = -abs(distance) if self.side == "at" else self._sign * distance
        if 0 < error < math.inf:
            return signed / error
        return signed

    def _with_interval(self, measured: Measured) -> str:
        value, low, high = (_rounded(one) for one in (measured.value, *measured.interval(1 - 2 * LEVEL)))
        return f"{value} [{low}, {high}]{self.unit and ' ' + self.unit}"

    @property
    def text(self) -> str:
        """The quantity with its interval of 95 %, what would matter, and its number of units."""
        matters = ""
        if self.side != "at" and self.matters != self.bound:
            matters = f" (what matters: {_rounded(self.matters)})"
        return f"{self.quantity}{matters}, {self.measured.units:,} {self.of}"

    def needed_to_show(self, level: float) -> int:
        """Return the units that would show it, if the measured value is the truth."""
        if self.side == "at":
            half = standard_error(self.measured) * _Z_95
            distance = self.matters - self.bound
            return _units(self.measured.units * (half / distance) ** 2, self.least)
        right = self._sign * (self.measured.value - self.bound) > 0
        return needed(self, self.bound, level) if right else MOST_UNITS

    def needed_to_deny(self, level: float) -> int:
        """Return the units that would refute it or exclude an effect, if the measured value is the truth."""
        if self.side == "at":
            return needed(self, self.bound, level / 2)
        beyond = self._sign * (self.measured.value - self.matters) >= 0
        return MOST_UNITS if beyond else needed(self, self.matters, level)


_Z_95 = NormalDist().inv_cdf(1 - LEVEL)


def _rounded(value: float) -> str:
    """A number with three digits, or more before the point."""
    if 1000 <= abs(value) < math.inf:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@dataclass(frozen=True)
class Claim:
    """A statement of a source as inequalities."""

    inequalities: tuple[Inequality, ...]
    """The inequalities."""
    needs: Literal["all", "any"] = "all"
    """How many of them must be true."""
    cells: int = 1
    """Claims of one table, which are tested together."""
    premise: tuple[Inequality, ...] = ()
    """Inequalities that must be shown too, or the claim is open."""
    look: Look = END
    """Interim look, or the end, at which it is judged."""

    def __post_init__(self) -> None:
        if not self.inequalities or self.cells < 1:
            raise ValueError("a claim needs an inequality, and is one cell or more of a table")

    def at(self, look: Look) -> Claim:
        """The claim for its verdict at a look."""
        return replace(self, look=look)

    @property
    def verdict(self) -> Verdict:
        """Tell what the measurements allow to conclude."""
        show, deny = (self.look.level(level) for level in self._levels)
        if not show or not deny:
            return "open"
        of_premise = self.look.level(LEVEL / self.cells)
        if not all(one.shown(of_premise) for one in self.premise):
            return "open"
        every, some = (all, any) if self.needs == "all" else (any, all)
        is_last_look = self.look.share == 1
        if every(one.shown(show) and (one.side != "at" or is_last_look) for one in self.inequalities):
            return "holds"
        if some(one.refuted(deny) for one in self.inequalities):
            return "does not hold"
        if some(one.without_effect(deny) for one in self.inequalities):
            return "no such effect"
        return "open"

    @property
    def test(self) -> Test:
        """What it is tested for: the sign, where all its inequalities are of one."""
        if any(one.test == "size" for one in self.inequalities):
            return "size"
        return "sign"

    @property
    def decisive(self) -> Inequality:
        """The inequality that decides it: of those that must all be true the one that is the least so, of those of
        which any is enough the one that is the most so; where there is no such effect, by what matters.
        """
        none = self.verdict == "no such effect"
        choose = min if self.needs == "all" else max
        return choose(self.inequalities, key=lambda one: one.margin(one.matters if none else one.bound))

    @property
    def on_the_other_side(self) -> bool:
        """Return whether an effect is excluded by an interval of 95 % wholly on the other side of the bound."""
        low, high = self.decisive.measured.interval(1 - 2 * LEVEL)
        bound = self.decisive.bound
        above = self.decisive.side == "above"
        return self.verdict == "no such effect" and (high < bound if above else low > bound)

    @property
    def lacks_premise(self) -> bool:
        """Return whether it would be decided if its premise were shown."""
        return bool(self.premise) and self.verdict == "open" and replace(self, premise=()).verdict != "open"

    @property
    def _levels(self) -> tuple[float, float]:
        """Errors that an inequality may make where it is shown, and where it is denied, all looks together."""
        each = LEVEL / self.cells
        together = LEVEL / self.cells / len(self.inequalities)
        if self.needs == "all":
            return (each, together)
        return (together, each)

    @property
    def missing(self) -> int | None:
        """Units with which the claim would be decided, one way or the other, if what was measured is the truth.

        Where any inequality is enough, the best one decides. None: it is decided; MOST_UNITS: that many or more.
        """
        if self.verdict != "open":
            return None
        show, deny = self._levels
        every, some = (max, min) if self.needs == "all" else (min, max)
        shown = every(one.needed_to_show(show) for one in self.inequalities)
        denied = some(one.needed_to_deny(deny) for one in self.inequalities)
        before = [one.needed_to_show(LEVEL / self.cells) for one in self.premise]
        return max(min(shown, denied), *before, 0)

    @property
    def quantities(self) -> str:
        """The measured quantities with their intervals."""
        return "; ".join(one.quantity for one in (*self.inequalities, *self.premise))

    @property
    def numbers(self) -> list[Number]:
        """The same as numbers."""
        return [number for one in (*self.inequalities, *self.premise) for number in one.numbers]

    @property
    def units_text(self) -> str:
        """Tell what was measured with: the number of units of the quantity that has the fewest."""
        least = min(self.inequalities, key=lambda inequality: inequality.measured.units)
        return f"{least.measured.units:,} {least.of}"

    @property
    def text(self) -> str:
        """The measured quantities, and where the claim is open what would close it."""
        texts = "; ".join(inequality.text for inequality in self.inequalities)
        if self.premise:
            texts += f"; premise: {'; '.join(one.text for one in self.premise)}"
        missing = self.missing
        if missing is None:
            return texts
        few = [one for one in (*self.inequalities, *self.premise) if one.measured.units < one.least]
        if few:
            return f"{texts}; too few: {few[0].least:,} {few[0].of} or more may decide"
        count = f"{MOST_UNITS:,} or more" if missing >= MOST_UNITS else f"about {missing:,}"
        return f"{texts}; {count} {self.inequalities[0].of} would decide"


def of_most_seeds(what: str, share: Measured) -> Inequality:
    """Return that a share of the seeds is more than half."""
    return Inequality(what, share, 0.5, "above", LEAST_SEEDS, of="seeds", matters=MOST_OF_RUNS)


def needed(inequality: Inequality, border: float, level: float = LEVEL) -> int:
    """Return the units that would tell the quantity from a border with chance POWER at the last look, if the measured
    value is the truth.
    """
    distance = abs(inequality.measured.value - border)
    error = standard_error(inequality.measured)
    if not math.isfinite(error) or distance * math.sqrt(MOST_UNITS) <= error:
        return MOST_UNITS
    errors = final_z(level) + NormalDist().inv_cdf(POWER)
    return _units(inequality.measured.units * (errors * error / distance) ** 2, inequality.least)


def _units(number: float, least: int) -> int:
    if not math.isfinite(number):
        return MOST_UNITS
    return min(MOST_UNITS, max(least, math.ceil(number)))


def standard_error(measured: Measured) -> float:
    """Return half the interval of one standard deviation."""
    low, high = measured.interval(2 * NormalDist().cdf(1.0) - 1)
    return (high - low) / 2

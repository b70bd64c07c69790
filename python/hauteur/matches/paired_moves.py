"""Two players in the same solved positions: whose moves keep more values, by pairs.

Most positions say nothing of a difference, since both players keep their value, or neither does. Those that only one of
them keeps decide, so that pairs find differences that two separate shares with their intervals cannot.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

Z_95 = NormalDist().inv_cdf(0.975)
"""Standard deviations on each side of the middle that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class PairedMoves:
    """In how many positions both players, one of them or none kept the value."""

    both: int
    first_alone: int
    """Positions whose value only the first player kept."""
    second_alone: int
    """Positions whose value only the second player kept."""
    neither: int

    @classmethod
    def of(cls, first: Sequence[bool], second: Sequence[bool]) -> "PairedMoves":
        """Count two players' results in the same positions, in the same order; ValueError for other lengths."""
        pairs = list(zip(first, second, strict=True))
        return cls(
            both=pairs.count((True, True)),
            first_alone=pairs.count((True, False)),
            second_alone=pairs.count((False, True)),
            neither=pairs.count((False, False)),
        )

    @property
    def positions(self) -> int:
        """All positions."""
        return self.both + self.first_alone + self.second_alone + self.neither

    @property
    def difference(self) -> float:
        """Share of the values that the second player keeps, less that of the first; -1 to 1, 0 without positions."""
        if not self.positions:
            return 0.0
        return (self.second_alone - self.first_alone) / self.positions

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the difference (Agresti and Min, Statistics in Medicine 24, 2005: half a pair of each kind
        is added).
        """
        first = self.first_alone + 0.5
        second = self.second_alone + 0.5
        count = self.positions + 2
        middle = (second - first) / count
        variance = (first + second - (second - first) ** 2 / count) / count**2
        error = Z_95 * math.sqrt(variance)
        return (max(-1.0, middle - error), min(1.0, middle + error))

    @property
    def p_value(self) -> float:
        """Probability of a split of the deciding positions that is at least as uneven, if both players are as good:
        McNemar's exact test, two-sided.
        """
        decided = self.first_alone + self.second_alone
        fewer = min(self.first_alone, self.second_alone)
        tail = sum(math.comb(decided, count) for count in range(fewer + 1))
        return min(1.0, float(Fraction(2 * tail, 1 << decided)))

    def to_json(self) -> dict[str, Any]:
        """Return counts, difference, interval and p."""
        return {
            "both": self.both,
            "first_alone": self.first_alone,
            "second_alone": self.second_alone,
            "neither": self.neither,
            "difference": self.difference,
            "interval_95": list(self.interval),
            "p": self.p_value,
        }

"""Glicko ratings (Glickman 1999, "Parameter estimation in large dynamic paired comparison experiments"): one player's
rating with its deviation, updated by the results of a rating period.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

START = 1500.0
"""Rating of a player of whom nothing is known ..."""
MOST_DEVIATION = 350.0
"""... and its deviation, which is the largest one."""
LEAST_DEVIATION = 30.0
"""Deviations do not fall below this, so that a rating goes on moving, as Glickman advises."""

_Q = math.log(10) / 400


@dataclass(frozen=True)
class GlickoRating:
    """A rating on the scale of Elo and its standard deviation."""

    rating: float = START
    deviation: float = MOST_DEVIATION

    def expected(self, opponent: GlickoRating) -> float:
        """Return the expected score against an opponent: 1 / (1 + 10^(-g(RD) (r - r_opponent) / 400))."""
        return 1 / (1 + 10 ** (-_weight(opponent.deviation) * (self.rating - opponent.rating) / 400))

    def after(self, results: Iterable[tuple[GlickoRating, float]]) -> GlickoRating:
        """Return the rating after a period with these opponents and scores (0 to 1).

        >>> from hauteur.matches.ratings.glicko import GlickoRating
        >>> after = GlickoRating().after([(GlickoRating(1500, 50), 1.0)])
        >>> round(after.rating), round(after.deviation)
        (1675, 248)
        """
        certainty, surprise = 1 / self.deviation**2, 0.0
        for opponent, score in results:
            weight, expected = _weight(opponent.deviation), self.expected(opponent)
            certainty += (_Q * weight) ** 2 * expected * (1 - expected)
            surprise += weight * (score - expected)
        deviation = max(certainty**-0.5, LEAST_DEVIATION)
        return GlickoRating(self.rating + _Q / certainty * surprise, deviation)


def _weight(deviation: float) -> float:
    """Return g(RD): how much a result says against an opponent whose rating is known to so much."""
    return 1 / math.sqrt(1 + 3 * (_Q * deviation / math.pi) ** 2)

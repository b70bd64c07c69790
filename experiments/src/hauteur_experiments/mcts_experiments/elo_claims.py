"""Claims on the Elo difference of a match, and on what is left of it beyond a control."""

from __future__ import annotations

import math

from hauteur_experiments.measured import Interval
from hauteur_experiments.verdict import SMALLEST_ELO, Inequality, Measured, Side

LEAST_GAMES = 200
"""Games of a match below which nothing is concluded."""


CLOSE = 2 * SMALLEST_ELO
"""Elo that half the interval of a difference may be, where it shows that two results agree."""


def elo_inequality(what: str, measured: Measured, side: Side = "above", matters: float = SMALLEST_ELO) -> Inequality:
    """Return that a difference is above, below or at 0. matters: Elo, of either sign."""
    wanted = -abs(matters) if side == "below" else abs(matters)
    return Inequality(what, measured, 0.0, side, LEAST_GAMES, unit="Elo", matters=wanted)


def beyond(one: Measured, other: Measured) -> Interval:
    """The difference of two independent results, such as matches against the same opponent; units: of the first one
    where the other is a source's.
    """

    def ends(confidence: float) -> tuple[float, float]:
        (low, high), (least, most) = one.interval(confidence), other.interval(confidence)
        below = math.hypot(one.value - low, most - other.value)
        above = math.hypot(high - one.value, other.value - least)
        return one.value - other.value - below, one.value - other.value + above

    return Interval(one.value - other.value, min(one.units, other.units), ends)

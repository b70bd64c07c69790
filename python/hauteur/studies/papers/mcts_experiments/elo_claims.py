"""Claims on the Elo difference of a match, and on what is left of it beyond a control."""

from __future__ import annotations

import math

from hauteur.studies.papers.measured import Interval, MatchElo
from hauteur.studies.papers.verdict import Inequality, Measured, Side

LEAST_GAMES = 200
"""Games of a match below which nothing is concluded."""


def elo_inequality(what: str, measured: Measured, bound: float, side: Side) -> Inequality:
    """Return that a difference is above or below a bound, in Elo."""
    return Inequality(what, measured, bound, side, LEAST_GAMES, unit="Elo")


def beyond(one: MatchElo, other: MatchElo) -> Interval:
    """The difference of two matches against the same opponent."""

    def ends(confidence: float) -> tuple[float, float]:
        (low, high), (least, most) = one.interval(confidence), other.interval(confidence)
        below = math.hypot(one.value - low, most - other.value)
        above = math.hypot(high - one.value, other.value - least)
        return one.value - other.value - below, one.value - other.value + above

    return Interval(one.value - other.value, min(one.units, other.units), ends)

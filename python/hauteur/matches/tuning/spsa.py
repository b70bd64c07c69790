"""SPSA: the maximum of a function of several numbers that can only be compared with noise, as matches compare players.

Spall, "An overview of the simultaneous perturbation method for efficient optimization" (1998), as chess programmers use
it. An iteration moves all parameters a little, each to a random side, and in one match lets the point there play the
point opposite; all parameters then move towards the side that did better:

    p = theta + c_k d        m = theta - c_k d        d_i = +-1
    theta_i <- theta_i + a_k r d_i / c_k              r = share of points of p - share of points of m

    a_k ~ ((1 + A) / (k + 1 + A)) ^ 0.602    c_k ~ (k + 1) ^ -0.101    A = iterations / 10

Why not an optimiser from a package: those are given a function's value at a point, so each point would play some third
player. Here the two points play each other: the same noise shows twice the difference, which is worth four times the
games, and there is nothing to be modelled. The one thing to be chosen, how large the steps are, is chosen below for
places from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur.system.seeds import stream

ALPHA, GAMMA = 0.602, 0.101
"""Spall's exponents of a_k and c_k."""

Place = NDArray[np.float64]
"""A point: a coordinate from 0 to 1 for each parameter."""

Compare = Callable[[int, Place, Place], float]
"""(iteration, p, m) -> r, from -1 (m won every game) to 1."""


@dataclass(frozen=True)
class Schedule:
    """Settings of SPSA.

    spread: c_0, how far the two points are from the middle, in shares of the range; step: how far every parameter moves
    in the first iteration if one side wins all games. In a simulation of matches (30 to 200 iterations of 20 to 40
    games, one to three parameters, 50 to 200 Elo from the best to the bounds) 0.2 and 0.3 lost 1 to 5 Elo at the end.
    """

    iterations: int
    spread: float = 0.2
    step: float = 0.3

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= 1_000_000:
            raise ValueError(f"iterations must be 1 to 1,000,000, got {self.iterations}")
        for name, value, most in (("spread", self.spread, 0.5), ("step", self.step, 10.0)):
            if not 0 < value <= most:
                raise ValueError(f"{name} must be above 0 and at most {most:g}, got {value:g}")

    def spread_at(self, iteration: int) -> float:
        """c_k, in shares of the range."""
        return self.spread / math.pow(iteration + 1, GAMMA)

    def step_at(self, iteration: int) -> float:
        """a_k / c_k: how far parameters move for r = 1."""
        late = self.iterations / 10
        return (
            self.step * math.pow((1 + late) / (iteration + 1 + late), ALPHA) * self.spread / self.spread_at(iteration)
        )


@dataclass(frozen=True)
class Iteration:
    """One iteration: the two points, r, and where the parameters are afterwards."""

    number: int
    plus: Place
    minus: Place
    result: float
    place: Place


def spsa(
    compare: Compare,
    start: Sequence[float],
    schedule: Schedule,
    *,
    seed: int,
    least_spread: Callable[[Place], Sequence[float]] | None = None,
) -> Iterator[Iteration]:
    """Yield the iterations from `start`, each after its comparison.

    A function of start, schedule, seed and the results of `compare`: restarted after an interruption, it requests the
    same comparisons. least_spread: lower bound of c_k for each parameter at a place, for rounded values. Near a bound
    the two points move inwards together.
    """
    place = np.clip(np.array(start, np.float64), 0, 1)
    for number in range(schedule.iterations):
        spread = np.full(len(place), schedule.spread_at(number))
        if least_spread is not None:
            spread = np.minimum(np.maximum(spread, least_spread(place)), 0.5)
        side = stream(seed, "spsa", number).choice([-1.0, 1.0], len(place))
        middle = np.clip(place, spread, 1 - spread)
        plus, minus = middle + spread * side, middle - spread * side
        result = compare(number, plus, minus)
        place = np.clip(place + schedule.step_at(number) * result * side, 0, 1)
        yield Iteration(number, plus, minus, result, place)


def settled(iterations: Sequence[Iteration]) -> Place:
    """The mean place of the second half of the iterations, which is nearer to the maximum than the last one is."""
    half = iterations[len(iterations) // 2 :]
    mean: Place = np.mean([one.place for one in half], axis=0)
    return mean

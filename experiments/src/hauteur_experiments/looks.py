"""Looks at an experiment that goes on: what a verdict before the end, and one after more games than planned, must show.

A claim that is tested again as games come in errs more often than one that is tested once. Here up to LOOKS looks at
equal steps of the planned size are paid for by the bounds of O'Brien and Fleming (Biometrics 35, 1979, 549-556): at
step k a quantity must be z sqrt(LOOKS / k) standard errors from its bound. z is 2.072 for an error of 2.5 % on a side
(C. Jennison, B. W. Turnbull, Group Sequential Methods, 2000, table 2.3); it is computed for other errors by the same
recursion (P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Statist. Soc. A 132, 1969, 235-244).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LOOKS = 8
POINTS, STEP = 600, 0.05
"""Of the numeric integration, from a bound downwards; half the step changes z by less than 1e-4."""


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
        return NormalDist().cdf(-final_z(level) * math.sqrt(LOOKS / step)) if step else 0.0


END = Look()
"""The whole planned size, for the first time."""


@cache
def final_z(level: float) -> float:
    """Return the standard errors from the bound that are shown at the last look, for this error of all looks."""
    wanted = math.log(level)
    before, z = (NormalDist().inv_cdf(1 - level) + more for more in (0.0, 0.1))
    there = math.log(_crossing(before)) - wanted
    for _ in range(20):  # the secant: the logarithm of the chance is nearly straight
        here = math.log(_crossing(z)) - wanted
        if abs(here) < 1e-10:
            break
        before, there, z = z, here, z - here * (z - before) / (here - there)
    return z


def _crossing(z: float) -> float:
    """The chance that a sum of LOOKS standard normal steps is z sqrt(LOOKS) or more after any of them."""
    bound = z * math.sqrt(LOOKS)
    below = STEP * np.arange(POINTS)
    density = np.exp(-((bound - below) ** 2) / 2) / math.sqrt(2 * math.pi)
    beyond, steps = _kernels()
    crossed = NormalDist().cdf(-bound)
    for _ in range(LOOKS - 1):
        crossed += float(density @ beyond)
        density = steps @ density
    return crossed


@cache
def _kernels() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the chances that a step from each point leads beyond the bound, and to each point, with the weights."""
    below = STEP * np.arange(POINTS)
    weights = np.full(POINTS, STEP)
    weights[[0, -1]] /= 2
    beyond = np.array([NormalDist().cdf(-place) for place in below.tolist()])
    steps = np.exp(-((below[:, None] - below[None, :]) ** 2) / 2) / math.sqrt(2 * math.pi)
    return beyond * weights, steps * weights

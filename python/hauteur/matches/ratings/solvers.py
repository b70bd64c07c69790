"""The two equations that ratings solve: a root of a falling function, and the minimum of a smooth one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_STEPS = 200
_SHORTEST_STEP = 2.0**-40
_LONGEST_STEP = 4.0
"""Of any parameter in one step of `minimum`: far ahead, exponential functions overflow."""


def falling_root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """The root between `low` and `high` of a falling function of value and slope, by Newton's steps.

    The interval narrows with every step; a step that would leave it is replaced by the middle (Press et al., Numerical
    Recipes, section 9.4). Raises ValueError unless the function is >= 0 at `low` and <= 0 at `high`.
    """
    if function(low)[0] < 0 or function(high)[0] > 0:
        raise ValueError(f"the function has no root between {low} and {high}")
    x = (low + high) / 2
    for _ in range(_MOST_STEPS):
        value, slope = function(x)
        low, high = (x, high) if value > 0 else (low, x)
        step = x - value / slope if slope < 0 else low
        following = step if low < step < high else (low + high) / 2
        if value == 0 or abs(following - x) <= 4e-16 * max(abs(low), abs(high)):
            break
        x = following
    return x


def minimum(
    function: Callable[[Floats], tuple[float, Floats, Floats]], start: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """The minimum of a function of value, gradient [n] and Hessian [n, n], and the Hessian there.

    Newton's steps, with the absolute values of the Hessian's eigenvalues where it is not positive (Nocedal and Wright,
    Numerical Optimization, section 3.4), halved until the value falls. tolerance: of the largest component of the
    gradient. Raises RuntimeError where no step lowers the value and the gradient is above 1,000 tolerances.
    """
    x = start
    value, gradient, hessian = function(x)
    for _ in range(_MOST_STEPS):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            return x, hessian
        step = -_newton(gradient, hessian)
        step *= min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        length = 1.0
        while length >= _SHORTEST_STEP:
            found = function(x + length * step)
            if found[0] <= value + 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break  # the value cannot fall any more in this arithmetic
        x, (value, gradient, hessian) = x + length * step, found
    if not np.isfinite(x).all() or np.abs(gradient).max(initial=0.0) > 1000 * tolerance:
        raise RuntimeError(f"no minimum was found: the gradient is still {np.abs(gradient).max(initial=0.0):.3g}")
    return x, hessian


def _newton(gradient: Floats, hessian: Floats) -> Floats:
    """The Hessian's absolute inverse times the gradient."""
    values, vectors = np.linalg.eigh(hessian)
    sizes = np.maximum(np.abs(values), 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0))))
    return np.asarray(vectors @ ((vectors.T @ gradient) / sizes))

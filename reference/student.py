"""Quantiles of Student's distribution, step by step as the core computes them: the same numbers on every machine."""

import math
from collections.abc import Callable

EXACT_FREEDOM = 200
"""Degrees of freedom up to which the distribution of t is summed exactly."""
BISECTIONS = 64
FAR = 10.0
"""Where the normal distribution is taken to have ended."""


def t_quantile(confidence: float, freedom: int) -> float:
    """t with P(T <= t) = confidence (0.5 to 1) for Student's distribution of `freedom` >= 1 degrees.

    Up to 200 degrees by bisection of the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4; beyond them by the
    expansion 26.7.5 around the normal quantile, which is right to 1e-7 there.
    """
    inner = 2.0 * confidence - 1.0
    if freedom > EXACT_FREEDOM:
        return expanded_quantile(normal_quantile(inner), float(freedom))
    angle = bisect(math.pi / 2.0, lambda angle: central_share(angle, freedom) < inner)
    return math.tan(angle) * math.sqrt(freedom)


def central_share(angle: float, freedom: int) -> float:
    """P(|T| <= t) where t = tan(angle) sqrt(freedom)."""
    sine = math.sin(angle)
    cosine = math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * float(power - 1) / float(power)
    return 2.0 / math.pi * (angle + sine * total) if odd else sine * total


def normal_quantile(inner: float) -> float:
    """z with P(|Z| <= z) = inner for the normal distribution."""
    return bisect(FAR, lambda z: 2.0 * normal_half(z) < inner)


def normal_half(z: float) -> float:
    """P(0 <= Z <= z) = phi(z) (z + z^3 / 3 + z^5 / (3 5) + ...)   (Abramowitz and Stegun 26.2.11)."""
    term = z
    total = 0.0
    factor = 1.0
    while total + term != total:
        total += term
        factor += 2.0
        term *= z * z / factor
    return total * math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)


def expanded_quantile(z: float, freedom: float) -> float:
    """The quantile of t by powers of 1 / freedom (Abramowitz and Stegun 26.7.5)."""
    s = z * z
    first = z * (s + 1.0) / 4.0
    second = z * ((5.0 * s + 16.0) * s + 3.0) / 96.0
    third = z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0
    fourth = z * ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0
    return z + (first + (second + (third + fourth / freedom) / freedom) / freedom) / freedom


def bisect(most: float, is_below: Callable[[float], bool]) -> float:
    """The least x in 0 to `most` for which `is_below` does not hold; it holds up to some x and not after."""
    low = 0.0
    high = most
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2.0

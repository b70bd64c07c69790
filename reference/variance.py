"""Empirical variance (places 1, 3 and 5): Welford's sums of the results behind an edge, and what selection makes.

Videodr0me's lc0 fork, `variance-scaling` (half_normal); Auer et al. 2002 (ucb1_tuned); lc0's pull request 791
(std_bonus, stderr_bonus); KataGo's dynamic c_puct (node_scaled_cpuct).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from hauteur.mcts.params import Variance


class Moments(NamedTuple):
    """n values: their mean Q and the sum M of their squared deviations."""

    n: float
    q: float
    m: float


def deviations_after(deviations: float, visits: int, delta: float, step: float, *, is_mean: bool) -> float:
    """M after visit number `visits`, whose value is `delta` from the mean, which moves by `step`.

    Plain mean (Welford 1962): M += (v - Q) (v - Q'). Other steps: the weighted population variance times n,
    M = n (1 - a) (M / (n - 1) + a (v - Q)^2).
    """
    if is_mean:
        return deviations + delta * (delta - step * delta)
    before = deviations / (visits - 1.0) if visits > 1 else 0.0
    return visits * (1.0 - step) * (before + step * delta * delta)


def merged(a: Moments, b: Moments) -> Moments:
    """Two sets of values together (Chan et al. 1979)."""
    n = a.n + b.n
    gap = b.q - a.q
    return Moments(n, a.q + gap * b.n / n, a.m + b.m + gap * gap * a.n * b.n / n)


def without(samples: Moments, value: float) -> Moments:
    """The same values less one of them; M stays >= 0."""
    if samples.n <= 1:
        return Moments(0.0, 0.0, 0.0)
    q = samples.q - (value - samples.q) / (samples.n - 1.0)
    return Moments(samples.n - 1.0, q, max(samples.m - (value - samples.q) * (value - q), 0.0))


def of_samples(rule: Variance, visits: int, deviations: float, default: float) -> float:
    """sigma^2 of n values: M / (n - 1), or `default` where n <= 1; with a prior (w m + n s) / (w + n)."""
    seen = deviations / (visits - 1.0) if visits > 1 else default
    if rule.prior_weight == 0.0:
        return seen
    n = float(visits) if visits > 1 else 0.0
    return (rule.prior_weight * rule.prior_mean + n * seen) / (rule.prior_weight + n)


def of_shares(wl: float, d: float) -> float:
    """sigma^2 of a result with this expectation: W + L - (W - L)^2, at least 0."""
    return max(1.0 - d - wl * wl, 0.0)


def bonus(rule: Variance, *, child_visits: int, visits: int, variance: float, draw: Callable[[], float]) -> float:
    """Return the bonus to Q(s, a); C = `child_visits` of the node, n = max(N(s, a), 1), z = `draw()` ~ N(0, 1).

    half_normal: scale |z| sigma; std_bonus: scale sigma; stderr_bonus: scale sigma / sqrt(n);
    ucb1_tuned: scale sqrt(ln C / n min(1, sigma^2 + 4 sqrt(2 ln C / n))), for values in [-1, 1].
    """
    n = float(max(visits, 1))
    match rule.mode:
        case "half_normal":
            return rule.scale * abs(draw()) * math.sqrt(variance)
        case "std_bonus":
            return rule.scale * math.sqrt(variance)
        case "stderr_bonus":
            return rule.scale * math.sqrt(variance / n)
        case "ucb1_tuned":
            rate = math.log(child_visits) / n
            return rule.scale * math.sqrt(rate * min(variance + 4.0 * math.sqrt(2.0 * rate), 1.0))
        case _:
            return 0.0


def cpuct_factor(rule: Variance, variance: float) -> float:
    """Return the c_puct factor of a node: node_scaled_cpuct 1 + scale (sigma / sqrt(prior_mean) - 1), at least 0."""
    if rule.mode != "node_scaled_cpuct":
        return 1.0
    return max(1.0 + rule.scale * (math.sqrt(variance / rule.prior_mean) - 1.0), 0.0)

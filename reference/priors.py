"""Input of the network, and priors and values from its answers."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State
from hauteur.mcts.params import SearchParams
from reference.tree import Value


def shown_features(state: State, params: SearchParams) -> NDArray[np.float32]:
    """Return the features as the network gets them, float32 [C, H, W]."""
    features = state.features()
    plane = state.game.colour_plane
    if params.swap_colors and plane is not None:
        features[plane] = 1.0 - features[plane]
    return features


def make_priors(state: State, logits: NDArray[np.float32], params: SearchParams) -> list[tuple[int, float]]:
    """P(s, .) = softmax(logits / temperature) over the legal actions in float64, then rounded to 16 bit.

    As (action, prior), highest prior first, equal ones by action.
    """
    actions = [int(action) for action in state.legal_actions()]
    greatest = max(float(logits[action]) for action in actions)
    exp = lc0_exp if params.arithmetic == "lc0" else math.exp
    weights = [exp((float(logits[action]) - greatest) / params.policy_temperature) for action in actions]
    total = sum_in_order(weights)
    priors = [round_prior(weight / total) for weight in weights]
    return sorted(zip(actions, priors, strict=True), key=lambda pair: -pair[1])


def lc0_exp(x: float) -> float:
    """lc0's exp, in float32: 2^(k + f) ~ 2^k (1 + f (0.6602339 + 0.33976606 f)), k whole, 0 <= f < 1; within 0.4 %."""
    power = np.float32(math.log2(math.e)) * np.float32(x)
    if power < -126:
        return 0.0
    k = np.floor(power)
    f = power - k
    mantissa = np.float32(1) + f * (np.float32(0.6602339) + np.float32(0.33976606) * f)
    return math.ldexp(float(mantissa), int(k))


def lc0_ln(x: float) -> float:
    """lc0's ln, in float32: log2(2^k (1 + f)) ~ f (1.3465552 - 0.34655523 f) - 127 + (k + 127); within 0.006."""
    half, exponent = np.frexp(np.float32(x))
    f = 2 * half - np.float32(1)
    below = f * (np.float32(1.3465552) - np.float32(0.34655523) * f) - np.float32(127)
    return float(np.float32(math.log(2)) * (below + np.float32(exponent + 126)))


def round_prior(prior: float) -> float:
    """A prior as stored, in 16 bit: exponents 2^-31 to 1, 11 bits of mantissa, rounded half up; less is 2^-31."""
    offset = 3 << 28
    bits = int(np.float32(prior).view(np.uint32))
    stored = max(bits + (1 << 11) - offset, 0) >> 12
    return float(np.uint32((stored << 12) | offset).view(np.float32))


def retemper(priors: Sequence[float], exponent: float) -> list[float]:
    """Priors at another temperature: P'(a) ~ P(a)^exponent, exponent = policy temperature / root policy temperature."""
    # A root where the game is over has none.
    top = max(priors, default=0.0)
    # Of a cold root no power would be above 0.
    unit = top if math.pow(top, exponent) < sys.float_info.min else 1.0
    weights = [math.pow(prior / unit, exponent) for prior in priors]
    total = sum_in_order(weights)
    return [weight / total for weight in weights]


def mix_noise(priors: Sequence[float], eta: NDArray[np.float64], epsilon: float) -> list[float]:
    """P'(a) = (1 - epsilon) P(a) + epsilon eta(a), eta ~ Dir(alpha)   (AGZ, Methods, "Self-play"; AZ)."""
    return [(1.0 - epsilon) * prior + epsilon * noise for prior, noise in zip(priors, eta.tolist(), strict=True)]


def network_value(wdl: NDArray[np.float32]) -> Value:
    """V of the leaf's mover from the network's shares of win, draw and loss."""
    win, draw, loss = (float(share) for share in wdl)
    return Value(min(max(win - loss, -1.0), 1.0), min(max(draw, 0.0), 1.0))


def sum_in_order(terms: Sequence[float]) -> float:
    """The sum from left to right, each step rounded (`sum` of Python 3.12 and later compensates the rounding)."""
    total = 0.0
    for term in terms:
        total += term
    return total

"""Weights as whole numbers of 8 bits, so that the sums that they are used in change least.

Rounding each weight to the nearest is not best: the errors of one input's weight can be made up for by the weights of
inputs that go with it. GPTQ (Frantar et al. 2023, arXiv:2210.17323) rounds one input after the other and moves the
error on to those that are left, by the inputs' second moments on calibration positions.
"""

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.lc0_layers import Floats

Doubles = NDArray[np.float64]

_DAMPING = 0.01
"""Added to the second moments, as a share of their mean: keeps the inverse stable."""

_LARGEST = 127
_TRIED = np.linspace(1.0, 0.6, 21)
"""Shares of the largest weight that are tried as the end of the range."""


def patches(x: Floats, kernel: int) -> Floats:
    """Return what a padded convolution sums over: [N, C, H, W] to [N H W, kernel kernel C]."""
    count, channels, height, width = x.shape
    pad = kernel // 2
    padded = np.pad(x.transpose(0, 2, 3, 1), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    found = np.empty((count, height, width, kernel * kernel, channels), np.float32)
    for place in range(kernel * kernel):
        y, x0 = divmod(place, kernel)
        found[:, :, :, place] = padded[:, y : y + height, x0 : x0 + width]
    return found.reshape(count * height * width, -1)


def step_sizes(weights: Doubles) -> Doubles:
    """The step of each output's weights [outputs, inputs]: that with the least squared error of rounding to nearest."""
    largest = np.maximum(np.abs(weights).max(axis=1), 1e-12)
    steps = np.stack([largest * share / _LARGEST for share in _TRIED])
    errors = np.stack([((_nearest(weights, step[:, None]) - weights) ** 2).sum(axis=1) for step in steps])
    return np.asarray(steps[errors.argmin(axis=0), np.arange(len(weights))])


def rounded(weights: Doubles, moments: Doubles) -> tuple[NDArray[np.int8], Floats]:
    """Whole numbers -127 to 127, int8 [outputs, inputs], and the step of each output, float32 [outputs].

    weights: [outputs, inputs]; moments: sums of products of the inputs over many positions, [inputs, inputs].
    """
    steps = step_sizes(weights)
    order = np.argsort(-np.diag(moments), kind="stable")
    left = weights[:, order].T.copy()  # [inputs, outputs]: a row is an input's weights
    factors = _elimination(moments[np.ix_(order, order)])
    found = np.empty_like(left)
    for i in range(len(left)):
        found[i] = np.clip(np.round(left[i] / steps), -_LARGEST, _LARGEST)
        error = (left[i] - found[i] * steps) / factors[i, i]
        left[i + 1 :] -= factors[i, i + 1 :, None] * error
    whole = np.empty(weights.shape, np.int8)
    whole[:, order] = found.T
    return whole, steps.astype(np.float32)


def _elimination(moments: Doubles) -> Doubles:
    """Cholesky's upper factor of the inverse of the damped moments."""
    damped = moments.astype(np.float64)
    mean = float(np.diag(damped).mean()) or 1.0
    damped[np.diag_indices_from(damped)] += _DAMPING * mean
    return np.asarray(np.linalg.cholesky(np.linalg.inv(damped)).T)


def _nearest(weights: Doubles, steps: Doubles) -> Doubles:
    return np.asarray(np.clip(np.round(weights / steps), -_LARGEST, _LARGEST) * steps)

"""Policy surprise: how far a search's policy target is from the network's prior.

Wu, KataGo's methods ("Policy Surprise Weighting"); hauteur.learning.replay draws positions by it.
"""

import numpy as np
from numpy.typing import NDArray

LEAST_PRIOR = 1e-9
"""What a prior of less counts as."""


def policy_surprise(targets: NDArray[np.uint32], priors: NDArray[np.float32]) -> NDArray[np.float32]:
    """KL(target || prior) = sum_a target(a) ln(target(a) / prior(a)) of T positions, float32 [T], in nats, >= 0.

    targets uint32 [T, A]: as counts; priors float32 [T, A]: the net's, without the root's noise. 0 where no action has
    a count.
    """
    rows, actions = np.nonzero(targets)
    counts = targets[rows, actions].astype(np.float64)
    shares = counts / np.bincount(rows, counts, len(targets))[rows]
    terms = shares * np.log(shares / np.maximum(priors[rows, actions], LEAST_PRIOR))
    return np.maximum(np.bincount(rows, terms, len(targets)), 0.0).astype(np.float32)

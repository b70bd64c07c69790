"""Policy surprise: how far a search's policy target is from the network's prior, and drawing the surprising more often.

Wu, KataGo's methods ("Policy Surprise Weighting"): a part of a game's weight in training is spread evenly over its
positions, the rest in proportion to KL(policy target || prior), so that what the network got wrong is seen more often.
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


def drawing_weights(surprise: NDArray[np.float32], game: NDArray[np.int64], share: float) -> NDArray[np.float64]:
    """Weights by which P positions are drawn, float64 [P]; those of a game sum to the number n of its positions.

    weight_i = (1 - share) + share n KL_i / sum_j KL_j over the positions j of the same game.

    surprise float32 [P]: KL_i, NaN (not known) counts as 0; game int64 [P]: number of the game, 0 or more. A game
    without any surprise is drawn evenly.
    """
    kl = np.nan_to_num(surprise.astype(np.float64), nan=0.0)
    n, total = np.bincount(game)[game], np.bincount(game, kl)[game]
    relative = np.divide(n * kl, total, out=np.ones_like(kl), where=total > 0)
    return np.asarray((1 - share) + share * relative)

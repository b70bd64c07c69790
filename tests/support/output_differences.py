"""How far apart the answers of two evaluators are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.networks.evaluators.base import Floats

Answers = tuple[Floats, Floats]


def legal_policy(state: _core.State, logits: Floats) -> NDArray[np.float64]:
    """Probabilities of the legal actions, in their order: softmax of one row of logits over them."""
    legal = logits[state.legal_actions()].astype(np.float64)
    weights = np.exp(legal - legal.max())
    return np.asarray(weights / weights.sum())


def largest_difference(positions: Sequence[_core.State], ours: Answers, theirs: Answers) -> float:
    """The largest difference of two evaluators' answers for the same positions: of the probability of a legal move, or
    of Q = win - loss. All answers must be finite, and every row of wdl sum to 1 (within 0.01).
    """
    for logits, wdl in (ours, theirs):
        assert np.isfinite(logits).all()
        assert np.abs(wdl.sum(axis=1) - 1).max() <= 0.01
    pairs = zip(positions, ours[0], theirs[0], strict=True)
    policy = max(float(np.abs(legal_policy(state, a) - legal_policy(state, b)).max()) for state, a, b in pairs)
    return max(policy, float(np.abs((ours[1] - theirs[1]) @ np.array([1, 0, -1])).max()))

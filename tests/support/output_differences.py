"""How far apart the answers of two evaluators are."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class OutputDifferences:
    """|dP| over all legal moves of all positions (P: probabilities), |dQ| over the positions (Q = win - loss)."""

    policy_max: float
    policy_mean: float
    value_max: float
    value_mean: float

    @property
    def largest(self) -> float:
        """The larger one of the two maxima."""
        return max(self.policy_max, self.value_max)

    def __str__(self) -> str:
        return (
            f"|dP| max {self.policy_max:.2g}, mean {self.policy_mean:.2g}; "
            f"|dQ| max {self.value_max:.2g}, mean {self.value_mean:.2g}"
        )


def differences(positions: Sequence[_core.State], ours: Answers, theirs: Answers) -> OutputDifferences:
    """Return the differences between two evaluators' answers for the same positions. Raise ValueError if not finite."""
    for answers in (ours, theirs):
        check_finite(answers)
    pairs = zip(positions, ours[0], theirs[0], strict=True)
    policy = np.concatenate([np.abs(legal_policy(state, a) - legal_policy(state, b)) for state, a, b in pairs])
    value = np.abs((ours[1][:, 0] - ours[1][:, 2]) - (theirs[1][:, 0] - theirs[1][:, 2]))
    return OutputDifferences(float(policy.max()), float(policy.mean()), float(value.max()), float(value.mean()))


def check_finite(answers: Answers) -> None:
    """Raise ValueError unless all answers are finite numbers and every row of wdl sums to 1 (within 0.01)."""
    logits, wdl = answers
    for name, values in (("policy logits", logits), ("wdl", wdl)):
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(bad):
            raise ValueError(f"{name} of {len(bad)} of {len(values)} positions are not finite, first at row {bad[0]}")
    sums = wdl.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > 0.01)
    if len(wrong):
        raise ValueError(f"wdl of row {wrong[0]} sums to {sums[wrong[0]]:.4f}, expected 1")

"""Policy posterior (Grill et al., "Monte-Carlo tree search as regularized policy optimization", ICML 2020)."""

import math

from hauteur.mcts.params import Posterior
from reference.gumbel import Knowledge, softmax
from reference.priors import sum_in_order

HALVINGS = 64


def posterior(rule: Posterior, node: Knowledge) -> list[float]:
    """pi-bar(a) = lambda pi(a) / (alpha - q(a)), lambda = c sqrt(N) / (actions + N), alpha so that the sum is 1."""
    policy = softmax(node.logits)
    q = node.completed_q()
    visits = float(sum(node.visits))
    if not visits:
        return policy
    scale = rule.c * math.sqrt(visits) / (len(policy) + visits)

    def shares(alpha: float) -> list[float]:
        return [scale * pi / (alpha - value) if pi > 0.0 else 0.0 for pi, value in zip(policy, q, strict=True)]

    low = max(value + scale * pi for pi, value in zip(policy, q, strict=True))
    high = max(q) + scale
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if sum_in_order(shares(middle)) > 1.0 else (low, middle)
    found = shares(high)
    total = sum_in_order(found)
    return [share / total for share in found]

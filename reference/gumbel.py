"""Gumbel root, the equations (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).

`halving.py` has sequential halving itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hauteur._core import random_u64
from hauteur.mcts.params import Gumbel
from reference.priors import sum_in_order

MOST_DOUBLINGS = 15


@dataclass(frozen=True)
class Knowledge:
    """A node's knowledge of its edges: logits(a) up to a constant, N(a), q(a) in [-1, 1] (None: unknown); and v."""

    logits: Sequence[float]
    visits: Sequence[int]
    q: Sequence[float | None]
    value: float

    def completed_q(self) -> list[float]:
        """q(a), and v_mix where it is unknown (appendix D of the paper); pi = softmax(logits).

        v_mix = (v + sum_b N(b) / sum_{N(b) > 0} pi(b) sum_{N(a) > 0} pi(a) q(a)) / (1 + sum_b N(b))
        """
        seen = [
            (n, pi, q)
            for n, pi, q in zip(self.visits, softmax(self.logits), self.q, strict=True)
            if n and q is not None
        ]
        mixed = self.value
        if seen:
            total = float(sum(n for n, _, _ in seen))
            share = sum_in_order([pi for _, pi, _ in seen])
            weighted = sum_in_order([pi * q for _, pi, q in seen])
            mixed = (self.value + total / share * weighted) / (1.0 + total)
        return [mixed if q is None else q for q in self.q]


def sigma(rule: Gumbel, node: Knowledge) -> list[float]:
    """sigma(q) = (c_visit + max_b N(b)) c_scale q of every completed Q, taken from [-1, 1] to [0, 1] first."""
    scale = (rule.c_visit + max(node.visits)) * rule.c_scale
    return [scale * ((q + 1.0) / 2.0) for q in node.completed_q()]


def improved_policy(rule: Gumbel, node: Knowledge) -> list[float]:
    """pi' = softmax(logits + sigma(completed Q)): the policy target."""
    return softmax([logit + raised for logit, raised in zip(node.logits, sigma(rule, node), strict=True)])


def phase_visits(budget: int, considered: int, remaining: int) -> int:
    """Visits of each remaining action in one phase: max(1, floor(n / (ceil(log2 m) remaining)))."""
    phases = max(1, (considered - 1).bit_length())
    return max(1, budget // (phases * remaining))


def endless_phase_visits(number: int, considered: int, remaining: int) -> int:
    """The same without a budget: twice as many in each phase as in the one before, twice as many in each halving."""
    return considered // remaining << min(number, MOST_DOUBLINGS)


def draw(key: int, counter: int) -> float:
    """g ~ Gumbel(0, 1) from one draw: -ln(-ln u), u = its upper 52 bits and a half, so that 0 < u < 1."""
    u = ((random_u64(key, counter) >> 12) + 0.5) / 2.0**52
    return -math.log(-math.log(u))


def softmax(logits: Sequence[float]) -> list[float]:
    """exp(x) over its sum."""
    greatest = max(logits)
    weights = [math.exp(logit - greatest) for logit in logits]
    total = sum_in_order(weights)
    return [weight / total for weight in weights]

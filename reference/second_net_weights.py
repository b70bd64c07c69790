"""Several nets: the weight of each in the value and in the prior of a node.

Equations (3) and (4) of the paper, for two nets: V = alpha V_S + (1 - alpha) V_L, P = beta p_S + (1 - beta) p_L. A net
after the second one takes its share from all before it, so the weights sum to 1; where some of the nets do not know a
node, those of the others are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from hauteur.mcts.params import SecondNet
from reference.tree import Value


@dataclass(frozen=True)
class FurtherNet:
    """A net after the second one: VISITS:ALPHA:BETA:PRIORITY in `SecondNet.more`."""

    visits: int
    """Turns a move."""
    alpha: float
    """Share of the value."""
    beta: float
    """Share of the prior."""
    priority: str
    """The leaf that it sees next."""


def further_nets(rule: SecondNet) -> list[FurtherNet]:
    """Return the nets after the second one, the smaller first."""
    nets = []
    for place, word in enumerate(rule.more.replace(",", " ").split()):
        parts = word.split(":")
        # Left out: all nets have the same share of the value, and the largest one has the prior.
        alpha = float(parts[1]) if len(parts) > 1 else 1.0 / (place + 3)
        beta = float(parts[2]) if len(parts) > 2 else 1.0
        priority = parts[3] if len(parts) > 3 else rule.priority
        nets.append(FurtherNet(int(parts[0]), alpha, beta, priority))
    return nets


def weights(first: float, shares: Sequence[float]) -> list[float]:
    """Return the weights of all nets, of which there are two without `shares`."""
    found = [first, 1.0 - first]
    for share in shares:
        found = [*(weight * (1.0 - share) for weight in found), share]
    return found


def alphas(rule: SecondNet) -> list[float]:
    """Return the weights of the nets in a value."""
    return weights(rule.alpha, [net.alpha for net in further_nets(rule)])


def betas(rule: SecondNet) -> list[float]:
    """Return the weights of the nets in a prior."""
    return weights(rule.beta, [net.beta for net in further_nets(rule)])


def shares(every: Sequence[float], nets: Collection[int]) -> dict[int, float]:
    """Return the weights of some nets, at least one, when the others are silent; without any the largest has all."""
    if len(nets) == len(every):
        return dict(enumerate(every))
    total = reduce(add, [every[net] for net in sorted(nets)])
    if len(nets) == 1 or total == 0.0:
        return {net: float(net == max(nets)) for net in nets}
    return {net: every[net] / total for net in sorted(nets)}


def mixed_value(rule: SecondNet, values: dict[int, Value]) -> Value:
    """The sum of alpha_i v_i of the nets that have said something; D in float32."""
    by_net = shares(alphas(rule), values)
    said = sorted(values)
    wl = reduce(add, [by_net[net] * values[net].wl for net in said])
    d = reduce(add, [by_net[net] * values[net].d for net in said])
    return Value(wl, float(np.float32(d)))


def mixed_prior(rule: SecondNet, priors: dict[int, float]) -> float:
    """The sum of beta_i p_i of the nets that know a node."""
    by_net = shares(betas(rule), priors)
    return reduce(add, [by_net[net] * priors[net] for net in sorted(priors)])

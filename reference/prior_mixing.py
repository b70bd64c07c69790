"""Prior mixing (place 2): priors are mixed with the uniform policy, less with depth.

Videodr0me's lc0 fork, `policy-compression`: p' = (P + c_d) / (1 + k c_d) is the mixture with
lambda = k c_d / (1 + k c_d).
"""

import math

from hauteur.mcts.params import PriorMixing


def uniform_share(rule: PriorMixing, *, depth: int, edges: int, gap: float) -> float:
    """lambda of a node at `depth` (1 = root) with k = `edges` legal moves; `gap` = |V(s) - Q(s)|.

    share: lambda = share decay^(d - 1); dynamic: min(share, kappa gap / 2);
    legacy: c_d = c^(1 + (d - 1) D); legacy_dynamic: c_d = c gap / 2, both as lambda = k c_d / (1 + k c_d).
    """
    steps = float(depth - 1)
    match rule.mode:
        case "share":
            return rule.share * math.pow(rule.decay, steps)
        case "dynamic":
            return min(rule.kappa * gap / 2.0, rule.share)
        case "legacy":
            c = math.pow(rule.compression, 1.0 + steps * rule.compression_decay)
        case _:
            c = rule.compression * gap / 2.0
    return edges * c / (1.0 + edges * c)


def mixed(prior: float, share: float, edges: int) -> float:
    """P' = (1 - lambda) P + lambda / k."""
    return (1.0 - share) * prior + share / edges

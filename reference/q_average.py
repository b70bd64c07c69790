"""Q moving average (place 4): later results count more in the mean of a node.

Videodr0me's lc0 fork, `backpropagate-gamma` and `-beta`; `limited` and `floor` after its README. Sufficiency:
Gudmundsson and Bjornsson, IJCAI 2013.
"""

import math

from hauteur.mcts.params import QAverage


def step_size(rule: QAverage, visits: int) -> float:
    """Return the share by which visit number `visits` moves the mean; n = visits - 1 before it.

    mean 1 / (n + 1); power 1 / (n^gamma + 1); linear 1 / (beta n + 1); combined 1 / ((beta n)^gamma + 1);
    floor max(1 / (n + 1), min_step); limited 1 / (beta min(n, limit) + max(n - limit, 0) + 1).
    """
    n = float(visits - 1)
    match rule.mode:
        case "mean":
            return 1.0 / visits
        case "power":
            return 1.0 / (math.pow(n, rule.gamma) + 1.0)
        case "linear":
            return 1.0 / (rule.beta * n + 1.0)
        case "combined":
            return 1.0 / (math.pow(rule.beta * n, rule.gamma) + 1.0)
        case "floor":
            return max(1.0 / visits, rule.min_step)
        case _:
            return 1.0 / (rule.beta * min(n, rule.limit) + max(n - rule.limit, 0.0) + 1.0)

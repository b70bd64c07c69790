"""Tree balance (place 3, additive forms place 1): edges behind which there are few replies are explored more.

Videodr0me's lc0 fork, `tree-balance`, `tree-scale-left`, `tree-scale-right`; the normalised form is ours.
"""

import math

from hauteur.mcts.params import TreeBalance


def factor(rule: TreeBalance, replies: int, mean: float) -> float:
    """f of U for B = `replies` moves behind the edge (0: the game is over); `mean` = CB over all edges of the node.

    normalised: (CB / B)^many where B > CB, else ^few, clipped to 1 / clip ... clip; 1 where the game is over.
    legacy: b = CB / B / scale (1 / scale where the game is over), b^left below 1, b^right above it;
    capped: min(b, 1)^left.
    """
    match rule.mode:
        case "normalised" if replies == 0:
            return 1.0
        case "normalised":
            exponent = rule.many if replies > mean else rule.few
            return min(max(math.pow(mean / replies, exponent), 1.0 / rule.clip), rule.clip)
        case "legacy" | "capped":
            b = (1.0 if replies == 0 else mean / replies) / rule.scale
            if b < 1.0:
                return math.pow(b, rule.left)
            return math.pow(b, rule.right) if rule.mode == "legacy" else 1.0
        case _:
            return 1.0


def bonus(rule: TreeBalance, replies: int, mean: float, visits: int) -> float:
    """Return the bonus of the additive forms to Q while N(s, a) <= until: (CB - B - scale) left, or that / CB."""
    if replies == 0 or (rule.until is not None and visits > rule.until):
        return 0.0
    match rule.mode:
        case "additive":
            return (mean - replies - rule.scale) * rule.left
        case "additive_relative":
            return (mean - replies - rule.scale) / mean * rule.left
        case _:
            return 0.0

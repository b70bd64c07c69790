"""Easy early visits (place 3): the denominator of U grows later.

Videodr0me's lc0 fork, `easy-early-visits`; the continuous form is ours.
"""

from hauteur.mcts.params import EarlyVisits


def denominator(rule: EarlyVisits, begun: int) -> float:
    """Return the divisor of P in U; `begun` = N(s, a) + F(s, a).

    continuous: 1 without visits, N + F + 1 - ease with; legacy: max(N + F, ease).
    """
    if rule.mode == "legacy":
        return max(float(begun), rule.ease)
    return 1.0 if begun == 0 else begun + 1.0 - rule.ease


def edge_divisor(rule: EarlyVisits, _: float, begun: int) -> float:
    """Place 3, in the place of 1 + N(s, a) + F(s, a)."""
    return denominator(rule, begun)

"""Initial trust (place 1): the value of an edge with few visits is drawn towards first-play urgency.

Videodr0me's lc0 fork, "don't trust initial visits".
"""

from hauteur.mcts.params import InitialTrust


def trusted(rule: InitialTrust, q: float, visits: int, unvisited_q: float) -> float:
    """(w Q_fpu + N Q) / (w + N) while N < until, Q from then on; N >= 1."""
    if visits >= rule.until:
        return q
    return (rule.weight * unvisited_q + visits * q) / (rule.weight + visits)

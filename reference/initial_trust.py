"""Initial trust (place 1): the value of an edge with few visits is drawn towards first-play urgency.

Videodr0me's lc0 fork, "don't trust initial visits".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur.mcts.params import InitialTrust
from reference.tree import Edge

if TYPE_CHECKING:
    from reference.scores import Scores


def trusted(rule: InitialTrust, q: float, visits: int, unvisited_q: float) -> float:
    """(w Q_fpu + N Q) / (w + N) while N < until, Q from then on; N >= 1."""
    if visits >= rule.until:
        return q
    return (rule.weight * unvisited_q + visits * q) / (rule.weight + visits)


def edge_value(rule: InitialTrust, q: float, edge: Edge, scores: Scores) -> float:
    """Place 1, for an edge with visits behind which the game goes on."""
    return trusted(rule, q, edge.visits, scores.unvisited_q) if edge.visits and not edge.is_end else q

"""Final choice by the lower confidence bound of Q (place 6), after Leela Zero's pull request 2290 (2019).

Of the moves with enough visits the one is played whose value is, with some confidence, at least the greatest.
"""

import math
from collections.abc import Collection

from hauteur.mcts.params import LowerBound, SearchParams
from reference.scores import edge_value, settled
from reference.student import t_quantile
from reference.tree import Edge, Node


def lower_bounds(node: Node, params: SearchParams, only: Collection[int]) -> dict[int, float] | None:
    """Return the bound of every candidate action of a root, -inf of the others; None while the rule is off.

    only: actions that the search may take, empty = all.
    """
    rule = params.lower_bound
    if rule is None:
        return None
    visits = {edge.action: edge.visits if not only or edge.action in only else 0 for edge in node.edges}
    least = rule.min_share * max(visits.values())

    def of(edge: Edge) -> float:
        if not visits[edge.action] or visits[edge.action] < least:
            return -math.inf
        assert edge.child is not None
        certain = settled(node, edge, params)
        q = edge_value(node, edge, params)
        return bound(rule, q, edge.visits, edge.child.deviations) if certain is None else certain

    return {edge.action: of(edge) for edge in node.edges}


def bound(rule: LowerBound, q: float, visits: int, deviations: float) -> float:
    """Q - t sigma / sqrt(n), sigma^2 = M / (n - 1), t of n - 1 degrees; -inf where one value shows no spread."""
    if rule.confidence == 0.5:
        return q
    if visits < 2:
        return -math.inf
    variance = deviations / (visits - 1)
    return q - t_quantile(rule.confidence, visits - 1) * math.sqrt(variance) / math.sqrt(visits)

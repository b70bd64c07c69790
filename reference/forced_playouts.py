"""Forced playouts with policy target pruning (Wu, "Accelerating Self-Play Learning in Go", 2019, section 3.2).

At the root alone: where its edge is selected, and in the policy target. n_forced(c) is `forced`, PUCT(c) `Scores`.
"""

import math
from collections.abc import Collection, Mapping

from hauteur.mcts.params import ForcedPlayouts, SearchParams
from reference import solver
from reference.scores import Scores, edge_value
from reference.tree import Edge, Node


def forced(rule: ForcedPlayouts, prior: float, child_visits: int) -> float:
    """n_forced(c) = (k P(c) sum_c' N(c'))^(1/2); P as the root selects with it, noise included."""
    return math.sqrt(rule.k * prior * child_visits)


def forced_edge(
    rule: ForcedPlayouts, root: Node, params: SearchParams, used: Mapping[int, float], only: Collection[int]
) -> Edge | None:
    """The first edge that has visits, but fewer than are forced; None where PUCT decides.

    used: the root's priors by action; only: actions that the search may take, empty = all. Visits in flight count;
    edges whose result is proven are not forced.
    """
    for edge in root.edges:
        lacks = edge.visits > 0 and edge.visits + edge.in_flight < forced(rule, used[edge.action], root.visits - 1)
        proven = params.solver is not None and solver.edge_bounds(root, edge).is_proven
        if lacks and not proven and (not only or edge.action in only):
            return edge
    return None


def pruned_visits(rule: ForcedPlayouts, scores: Scores, used: Mapping[int, float]) -> dict[int, int]:
    """Visits of the root's actions for the policy target.

    c* is the edge with the most visits, among equals with the higher Q, then the higher prior. Every other edge loses
    up to n_forced visits, as long as PUCT(c) < PUCT(c*) at its current Q; an edge left with one visit gets none.
    """
    root = scores.node
    visits = {edge.action: edge.visits for edge in root.edges}
    seen = [edge for edge in root.edges if edge.visits]
    if not seen:
        return visits
    most = max(seen, key=lambda edge: (edge.visits, edge_value(root, edge, scores.params), used[edge.action]))
    best = scores.at(most, most.visits)
    for edge in seen:
        if edge is not most:
            left = edge.visits
            least = edge.visits - int(forced(rule, used[edge.action], root.visits - 1))
            while left > max(least, 0) and scores.at(edge, left - 1) < best:
                left -= 1
            visits[edge.action] = left if left > 1 else 0
    return visits

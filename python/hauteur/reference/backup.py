"""What a visit leaves behind at every node on its way (place 5), and which action is played in the end (place 6)."""

from __future__ import annotations

import math

import numpy as np

from hauteur.config import SearchParams
from hauteur.reference import solver
from hauteur.reference.scores import edge_value, step_size, utility
from hauteur.reference.tree import Edge, Node, Value
from hauteur.reference.variance import deviations_after


def update_node(node: Node, value: Value, params: SearchParams) -> None:
    """Place 5, the node's state after a visit: N += 1, mean += step * (value - mean), F -= 1 (AGZ, Methods, "Backup").

    W - L in float64; D in float32, as the core keeps it.
    """
    node.visits += 1
    node.in_flight -= 1
    step, delta = step_size(node.visits, params), value.wl - node.value.wl
    is_mean = params.q_average is None
    node.deviations = deviations_after(node.deviations, node.visits, delta, step, is_mean=is_mean)
    d = np.float32(node.value.d) + (np.float32(value.d) - np.float32(node.value.d)) * np.float32(step)
    node.value = Value(node.value.wl + delta * step, float(d))


def final_choice(node: Node, params: SearchParams) -> Edge:
    """Place 6, the action to play: most visits, then higher Q, then higher prior; proven results come first or last."""

    def merit(edge: Edge) -> tuple[int, float, float]:
        return edge.visits, edge_value(node, edge, params) if edge.visits else -math.inf, edge.prior

    if params.solver is None:
        return max(node.edges, key=merit)
    bounds = {edge.action: solver.edge_bounds(node, edge) for edge in node.edges}
    best = max(node.edges, key=lambda edge: (solver.rank(bounds[edge.action]), *merit(edge)))
    draws = [edge for edge in node.edges if bounds[edge.action].lower == bounds[edge.action].upper == 0]
    if not draws or best in draws or solver.rank(bounds[best.action]):
        return best
    takes = solver.takes_draw(params.solver, merit(best)[1], utility(Value(0.0, 1.0), node.mover, params))
    return max(draws, key=merit) if takes else best

"""Backup: the changes that a visit makes at every node on its way (place 5), and the final choice (place 6)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from hauteur.mcts.params import SearchParams
from reference import solver
from reference.scores import edge_value, step_size, utility
from reference.tree import Edge, Node, Value
from reference.variance import deviations_after


def update_node(node: Node, value: Value, params: SearchParams, step: float | None = None) -> None:
    """Place 5, the node's state after a visit: N += 1, mean += step * (value - mean), F -= 1 (AGZ, Methods, "Backup").

    W - L in float64; D in float32, as the core keeps it. step: what a rule written in Python says.
    """
    node.visits += 1
    node.in_flight -= 1
    is_mean = params.q_average is None and step is None
    delta = value.wl - node.value.wl
    step = step_size(node.visits, params) if step is None else step
    node.deviations = deviations_after(node.deviations, node.visits, delta, step, is_mean=is_mean)
    d = np.float32(node.value.d) + (np.float32(value.d) - np.float32(node.value.d)) * np.float32(step)
    node.value = Value(node.value.wl + delta * step, float(d))


def final_choice(
    node: Node, params: SearchParams, *, only: Collection[int] = (), scores: Mapping[int, float] | None = None
) -> Edge:
    """Place 6, the action to play: greatest score of a rule of choice, most visits, higher Q, higher prior.

    only: actions that the search may take, empty = all; scores: by action, from the rule of choice if there is one.
    Proven results come first or last (solver).
    """
    allowed = [edge for edge in node.edges if not only or edge.action in only]

    def merit(edge: Edge) -> tuple[float, int, float, float]:
        q = edge_value(node, edge, params) if edge.visits else -math.inf
        return scores[edge.action] if scores else 0.0, edge.visits, q, edge.prior

    if params.solver is None:
        return max(allowed, key=merit)
    bounds = {edge.action: solver.edge_bounds(node, edge) for edge in allowed}
    best = max(allowed, key=lambda edge: (solver.rank(bounds[edge.action]), *merit(edge)))
    draws = [edge for edge in allowed if bounds[edge.action].lower == bounds[edge.action].upper == 0]
    if not draws or best in draws or solver.rank(bounds[best.action]):
        return best
    takes = solver.takes_draw(params.solver, merit(best)[2], utility(Value(0.0, 1.0), node.mover, params))
    return max(draws, key=merit) if takes else best

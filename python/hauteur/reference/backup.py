"""What a visit leaves behind at every node on its way (place 5), and which action is played in the end (place 6)."""

from __future__ import annotations

import math

import numpy as np

from hauteur.config import SearchParams
from hauteur.reference.scores import edge_value, step_size
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
    """Place 6, the action to play: most visits, then higher Q, then higher prior."""

    def merit(edge: Edge) -> tuple[int, float, float]:
        return edge.visits, edge_value(node, edge, params) if edge.visits else -math.inf, edge.prior

    return max(node.edges, key=merit)

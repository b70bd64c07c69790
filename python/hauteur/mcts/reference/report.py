"""What a reference search reports of its tree, with the keys and in the order of the core's reports."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.mcts.reference import solver
from hauteur.mcts.reference.scores import Scores, edge_value, root_spread, utility
from hauteur.mcts.reference.search import Search
from hauteur.mcts.reference.tree import OPEN, Edge, Node, Value

EdgeFacts = dict[str, Any]
"""An edge, with the keys of `_core.Forest.root_edges`."""

COLUMNS = {
    "action": np.uint16,
    "visits": np.uint32,
    "large_visits": np.uint32,
    "prior": np.float32,
    "q": np.float64,
    "reported_wdl": np.float32,
    "value": np.float64,
    "score": np.float64,
    "terminal": np.bool_,
    "lower": np.int8,
    "upper": np.int8,
    "plies": np.int32,
    "frozen": np.float64,
    "replies": np.uint32,
    "node_visits": np.uint32,
    "node_frozen": np.bool_,
}
"""The columns of `branches`, and their types."""


def root_edges(search: Search) -> list[EdgeFacts]:
    """Return the root's edges, the one to play first, then by visits, Q and prior."""
    if not search.root.edges:
        return []
    best = search.best_action()
    return sorted(_edges(search, _root_scores(search)), key=lambda edge: edge["action"] != best)


def edges_behind(search: Search, line: Sequence[int]) -> list[EdgeFacts] | None:
    """Return the edges of the position behind a line of actions, by visits, Q and prior; None where it was not seen."""
    scores = _root_scores(search)
    for depth, action in enumerate(line, 2):
        edge = next((edge for edge in scores.node.edges if edge.action == action), None)
        if edge is None or edge.child is None:
            return None
        spread = scores.spread_behind(edge)
        scores = _scores(search, edge.child, depth=depth, spread=spread)
    return _edges(search, scores) if scores.node.edges else None


def branches(search: Search, count: int) -> dict[str, NDArray[Any]]:
    """Return the most visited nodes below the root, parents before children, as the columns of the core's forest."""
    found: list[tuple[int, EdgeFacts]] = []
    waiting: list[tuple[int, int, int, tuple[int, ...], EdgeFacts]] = []

    def push(row: int, line: tuple[int, ...]) -> None:
        for edge in edges_behind(search, line) or ():
            if edge["visits"]:
                met = next(order)
                heapq.heappush(waiting, (-edge["visits"], met, row, (*line, edge["action"]), edge))

    order = itertools.count()
    push(-1, ())
    while waiting and len(found) < count:
        *_, parent, line, edge = heapq.heappop(waiting)
        push(len(found), line)
        found.append((parent, edge))
    empty = {"reported_wdl": (math.nan,) * 3, "value": math.nan, "frozen": math.nan, "plies": -1}
    filled = [{name: empty.get(name) if value is None else value for name, value in edge.items()} for _, edge in found]
    columns: dict[str, NDArray[Any]] = {
        name: np.array([edge[name] for edge in filled], kind) for name, kind in COLUMNS.items()
    }
    columns["reported_wdl"] = columns["reported_wdl"].reshape(-1, 3)
    return {"parent": np.array([parent for parent, _ in found], np.int32), **columns}


def principal_variation(search: Search, action: int | None = None, max_length: int = 64) -> list[int]:
    """Return the most visited line, beginning with `action`, else with the action to play."""
    if action is None and search.root.visits > 1:
        action = search.best_action()
    node: Node | None = search.root
    line: list[int] = []
    while node is not None and len(line) < max_length:
        first = action if not line else None
        edge = _line_edge(search, node) if first is None else _edge_of(node, first)
        if edge is None:
            return [*line, *([] if first is None else [first])]
        line.append(edge.action)
        node = edge.child if edge.child and not edge.child.exact else None
    return line


def sizes(search: Search) -> dict[str, float]:
    """Return the number of nodes and edges and the depth of the deepest node, in plies; bytes are not counted."""
    nodes = edges = deepest = 0
    level = [search.root]
    while level:
        nodes, edges = nodes + len(level), edges + sum(len(node.edges) for node in level)
        level = [edge.child for node in level for edge in node.edges if edge.child]
        deepest += bool(level)
    found = {"nodes": nodes, "edges": edges, "depth_max": deepest, "bytes": 0, "full": 0}
    return {name: float(value) for name, value in found.items()}


def shares(value: Value) -> tuple[float, float, float]:
    """Win, draw and loss of a value."""
    return (1 - value.d + value.wl) / 2, value.d, (1 - value.d - value.wl) / 2


def _root_scores(search: Search) -> Scores:
    return _scores(search, search.root, depth=1, spread=root_spread(search.root, search.params))


def _scores(search: Search, node: Node, *, depth: int, spread: float) -> Scores:
    """The scores of a node, without noise."""
    return Scores(
        node,
        search.params,
        at_root=node is search.root,
        depth=depth,
        spread=spread,
        draw=lambda: 0.0,
        rules=search.rules,
    )


def _edges(search: Search, scores: Scores) -> list[EdgeFacts]:
    node = scores.node
    weights = {id(edge): weight for edge, weight in node.frozen} if node.frozen else None
    found = []
    for edge, prior in zip(node.edges, scores.priors, strict=True):
        facts = _facts(search, scores, edge, prior)
        facts["frozen"] = None if weights is None else weights.get(id(edge), 0.0)
        found.append(facts)
    return sorted(found, key=lambda facts: (-facts["visits"], -facts["q"] if facts["wdl"] else 0.0, -facts["prior"]))


def _facts(search: Search, scores: Scores, edge: Edge, prior: float) -> EdgeFacts:
    """One edge of a node, for its mover."""
    node, child, params = scores.node, edge.child, search.params
    bounds = solver.edge_bounds(node, edge) if params.solver else OPEN
    selected, u = scores.terms(edge, prior)
    value = None
    if child is not None and edge.visits:
        value = edge.value.seen_by(node.mover, child.mover)
    elif bounds.is_proven:
        value = bounds.value
    q = edge_value(node, edge, params) if edge.visits else utility(value, node.mover, params) if value else selected
    seen = child if child is not None and child.edges and not child.exact else None
    return {
        "action": edge.action,
        "visits": edge.visits,
        "large_visits": 0,
        "in_flight": edge.in_flight,
        "prior": edge.prior,
        "q": q,
        "wdl": None if value is None else shares(value),
        "reported_wdl": None if value is None else shares(value),
        "u": u,
        "score": selected + u,
        "value": None if seen is None else seen.network.seen_by(node.mover, seen.mover).wl,
        "terminal": child is not None and child.exact is not None,
        "lower": bounds.lower,
        "upper": bounds.upper,
        "plies": bounds.plies if bounds.is_proven else None,
        "node_visits": 0 if seen is None else seen.visits,
        "node_frozen": seen is not None and bool(seen.frozen),
        "replies": 0 if child is None else sum(reply.visits > 0 for reply in child.edges),
    }


def _edge_of(node: Node, action: int) -> Edge | None:
    return next((edge for edge in node.edges if edge.action == action), None)


def _line_edge(search: Search, node: Node) -> Edge | None:
    """The edge by which the principal variation goes on: a proven win, then most visits, higher value, higher prior."""

    def rank(edge: Edge) -> tuple[int, int, float, float]:
        proven = solver.rank(solver.edge_bounds(node, edge)) if search.params.solver else 0
        wl = edge.value.seen_by(node.mover, edge.child.mover).wl if edge.child else 0.0
        return proven, edge.visits, wl, edge.prior

    known = [e for e in node.edges if e.visits or (search.params.solver and solver.edge_bounds(node, e).is_proven)]
    return max(known, key=rank, default=None)

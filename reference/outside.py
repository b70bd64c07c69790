"""Rules written in Python as the reference calls them: with the arrays that the core has for many trees, for one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from hauteur.mcts.own_rules import Floats, RuleChain
from reference.draws import Draws
from reference.tree import Edge, Leaf, Node, Value


def show_node(
    rules: RuleChain,
    node: Node,
    *,
    depth: int = 0,
    via: int = -1,
    only: Collection[int] = (),
    draws: Draws | None = None,
) -> None:
    """Show a node and its edges; depth: plies below the root; via: place of the edge that was taken one depth above."""
    width = len(rules.columns)
    edges = node.edges
    facts = [
        node.visits,
        node.value.wl,
        float(node.value.d),
        node.network.wl,
        1.0 if node.mover == 0 else -1.0,
        *kept(node, width),
    ]
    shown = np.array([_facts(node, edge, only, width) for edge in edges], np.float64).reshape(len(edges), -1).T
    found = [[getattr(draws, kind)() for _ in edges] for kind in rules.draws] if draws else [[0.0] * len(edges)] * 0
    rules.show_nodes(
        depth,
        np.zeros(1, np.int64),
        np.array([0, len(edges)]),
        np.array([via]),
        np.array(facts, np.float64)[:, None],
        np.array([edge.action for edge in edges], np.uint16),
        np.vstack([shown, *np.array(found, np.float64).reshape(-1, len(edges))]),
    )


def show_way(rules: RuleChain, leaf: Leaf, value: Value, steps: Sequence[float]) -> None:
    """Show the way of a visit before it is backed up, from the leaf to the root. steps: by node, from the leaf on."""
    nodes = leaf.path[::-1]
    viewers = [above.mover for above in nodes[1:]] + [nodes[-1].mover]
    facts = []
    for node, viewer, step in zip(nodes, viewers, steps, strict=True):
        seen = value.seen_by(viewer, leaf.node.mover)
        mean = node.value.seen_by(viewer, node.mover)
        facts.append([node.visits + 1, seen.wl, float(seen.d), mean.wl, 1.0 if viewer == 0 else -1.0, step])
    rules.show_ways(np.zeros(1, np.int64), np.array([0, len(nodes)]), np.array(facts, np.float64).T.copy())


def keep(rules: RuleChain, leaf: Leaf) -> None:
    """Let the rules change what they keep of the positions on the way that was shown."""
    width = len(rules.columns)
    nodes = leaf.path[::-1]
    columns = np.array([kept(node, width) for node in nodes], np.float64).reshape(len(nodes), width).T.copy()
    rules.after_backup(columns)
    for node, values in zip(nodes, columns.T, strict=True):
        node.kept = values.copy()


def kept(node: Node | None, width: int) -> Floats:
    """The columns of a node; zeros before it was visited."""
    return np.zeros(width) if node is None or node.kept is None else node.kept


def _facts(node: Node, edge: Edge, only: Collection[int], width: int) -> list[float]:
    child = edge.child
    mean = edge.value.seen_by(node.mover, child.mover) if child else edge.value
    ended = child is not None and child.exact is not None and edge.visits > 0
    return [
        edge.visits,
        edge.in_flight,
        mean.wl,
        float(mean.d),
        edge.prior,
        float(ended),
        float(edge.bounds.is_proven),
        float(not only or edge.action in only),
        *kept(child, width),
    ]

"""The nodes of a tree with their figures, as two trees are compared by them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from hauteur.mcts.search_tree import SearchTree
from hauteur.mcts.tree_source import Edge

MOST_NODES = 50_000
"""Nodes of a tree that are read, the most visited first."""

Line = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreePlace:
    """A node behind a line of actions from the root; q and prior are for the player who chose the last of them."""

    line: Line
    visits: int
    edge: Edge
    """The edge that leads here, with the keys of `_core.Forest.edges_behind`."""
    children: tuple[Edge, ...]
    """Its edges with visits, or with a proof; the most visited first."""

    @property
    def q(self) -> float:
        """Mean value of the visits."""
        return float(self.edge["q"])

    @property
    def proven(self) -> int | None:
        """The proven result, None without a proof."""
        return proven_result(self.edge)

    @property
    def is_repeat(self) -> bool:
        """Return whether visits end here although the game goes on, and no network was asked: a repeat that counts."""
        return self.visits > 0 and not self.edge["terminal"] and self.edge["value"] is None and not self.children

    @property
    def weights(self) -> dict[int, float] | None:
        """The weights that replies are drawn by, of a node frozen by search-contempt."""
        if not self.children or self.children[0].get("frozen") is None:
            return None
        return {int(edge["action"]): float(edge["frozen"]) for edge in self.children}


@dataclass(frozen=True)
class TreeNodes:
    """The nodes that were read, by line; complete: whether these are all of the tree."""

    nodes: dict[Line, TreePlace]
    complete: bool


def read_nodes(tree: SearchTree, most: int = MOST_NODES, *, proofs: bool = False) -> TreeNodes:
    """Read the nodes of a tree that have visits, the most visited `most` of them; proofs: those proven without, too."""
    found: dict[Line, TreePlace] = {}
    waiting: list[tuple[int, int, Line, Edge]] = [(0, 0, (), tree.source.root())]
    added = 0
    while waiting and len(found) < most:
        *_, line, edge = heapq.heappop(waiting)
        is_leaf = bool(line) and not edge["replies"]
        wanted = None if proofs or not line else int(edge["replies"])
        children = () if is_leaf else tuple(filter(_counts, tree.source.edges(line, wanted)))
        found[line] = TreePlace(line, int(edge["visits"]), edge, children)
        for child in children:
            added += 1
            heapq.heappush(waiting, (-int(child["visits"]), added, (*line, int(child["action"])), child))
    return TreeNodes(found, complete=not waiting)


def proven_result(edge: Edge) -> int | None:
    """Return the proven result behind an edge, None without a proof."""
    return int(edge["lower"]) if edge["lower"] == edge["upper"] else None


def _counts(edge: Edge) -> bool:
    return bool(edge["visits"]) or edge["lower"] == edge["upper"]

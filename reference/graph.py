"""Graph search: a position that is reached by two orders of moves is one node.

After KataGo's "Monte-Carlo Graph Search from First Principles" (docs/GraphSearch.md) and lc0's `dag`. Edges have visits
and values of their own. With V(s) the network's value, N(s, a) the visits that went by an edge, and Q(s, a) the value
that the node behind had when the edge was last visited, for the player to move at s:

    N(s) = 1 + sum_a N(s, a)        Q(s) = (V(s) + sum_a N(s, a) Q(s, a)) / N(s)

A visit that takes an edge with fewer visits than the node behind has, N(s, a) < N(s'), ends there: the edge takes
Q(s') and the network is not asked. A node is found by its position (`State.position_key`) and its ply, so no line meets
a node twice. What rests on the way (draws by repetition or by the fifty-move rule) belongs to an edge, never to a node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hauteur._core import State
from hauteur.mcts.params import SearchParams
from reference import repetition
from reference.backup import update_node
from reference.scores import choose, root_spread
from reference.search import Search
from reference.solver import node_bounds, tightened
from reference.tree import (
    NO_VALUE,
    OPEN,
    GraphEdge,
    Leaf,
    Node,
    Value,
    change_in_flight,
    make_node,
    reachable,
)


@dataclass(frozen=True)
class GraphLeaf(Leaf):
    """The path of a descent, and the edges that were taken."""

    edges: tuple[GraphEdge, ...] = ()


class GraphSearch(Search):
    """One search in which equal positions of the same ply are one node."""

    edge_type = GraphEdge

    def __init__(self, state: State, params: SearchParams, seed: int = 0) -> None:
        """`seed` keys the random draws, like that of `Forest.add`."""
        assert params.graph
        self.nodes: dict[tuple[int, int], Node] = {}
        """The nodes that are no ends of the game, by position and ply."""
        super().__init__(state, params, seed)

    # -- descent -------------------------------------------------------------------------------------------------------

    def _select(self) -> GraphLeaf:
        """Walk from the root to a leaf, to a node with more visits than the edge to it, or past a proven edge."""
        self._grown_for = self.root.mover if self.root.edges else self._grown_for
        state = self.root.state.copy()
        path = [self.root]
        edges = list[GraphEdge]()
        spread = root_spread(self.root, self.params)
        while path[-1].edges and not (edges and (edges[-1].bounds.is_proven or edges[-1].visits < path[-1].visits)):
            edge, spread = self._choose(path[-1], len(path), spread)
            assert isinstance(edge, GraphEdge)
            state.apply(edge.action)
            path.append(self._node_behind(edge, state, depth=len(path)))
            edges.append(edge)
        leaf = GraphLeaf(tuple(path), tuple(edges))
        change_in_flight(leaf, +1)
        return leaf

    def _node_behind(self, edge: GraphEdge, state: State, *, depth: int) -> Node:
        """The node that `edge` leads to by the present way, whose position is `state`: an end, or that of the position.

        The way decides until the first visit of the edge.
        """
        if edge.child and (edge.visits or edge.in_flight or edge.child.exact):
            return edge.child
        fresh = end_or_node(state)
        if self.params.repetition and not fresh.exact:
            repetition.score_repeat(self.params.repetition, fresh, depth=depth)
        edge.child = fresh
        if not fresh.exact:
            edge.child = self.nodes.setdefault((state.position_key, state.ply), fresh)
            if not (edge.child.edges or edge.child.in_flight):
                edge.child.state = fresh.state
        return edge.child

    def _is_closed(self, node: Node) -> bool:
        """Return whether a visit ends at a node with edges: `_select` goes on from all others."""
        return node is not self.root and bool(node.edges)

    # -- backup --------------------------------------------------------------------------------------------------------

    def _end_visit(self, leaf: Leaf) -> None:
        """The edge at the end of the path takes the value of the node behind, and what is proven of it."""
        if self.params.solver:
            self._spread_bounds(leaf)
        self._climb(leaf, leaf.node.value, caught_up=True)

    def _back_up(self, leaf: Leaf, value: Value) -> None:
        self._climb(leaf, value, caught_up=False)

    def _climb(self, leaf: Leaf, value: Value, *, caught_up: bool) -> None:
        """Visit the edges of the path from its end, and the nodes above them with what that adds to their sums."""
        if leaf.node.visits and not leaf.node.exact:
            leaf.node.in_flight -= 1
        else:
            update_node(leaf.node, value, self.params)
        child = leaf.node
        for node, edge in reversed(list(zip(leaf.path[:-1], leaf.edges, strict=True))):
            value = value.seen_by(node.mover, child.mover)
            value = self._visit_edge(node, edge, child, value, caught_up=caught_up)
            update_node(node, value, self.params)
            child = node
            caught_up = False

    def _visit_edge(self, node: Node, edge: GraphEdge, child: Node, value: Value, *, caught_up: bool) -> Value:
        """Count a visit of an edge, which brought `value` for the mover of `node`; return what goes up in its place."""
        visits = edge.visits
        before = edge.value.seen_by(node.mover, child.mover)
        edge.visits, edge.in_flight = edge.visits + 1, edge.in_flight - 1
        edge.value = edge.bounds.value if edge.bounds.is_proven else child.exact or child.value
        now = edge.value.seen_by(node.mover, child.mover)
        if edge.bounds.is_proven:
            corrects = self.params.solver is not None and self.params.solver.retro_fix
            return added(now, visits, before) if corrects else now
        if not child.exact and not caught_up and child.visits == edge.visits:
            return value  # all visits of the node came by this edge, so it is as in a tree
        return added(now, visits, before)

    def _spread_bounds(self, leaf: Leaf) -> None:
        """Give edges what is proven of the nodes behind, from the end of a path to the first that learns nothing."""
        for edge, child in reversed(list(zip(leaf.edges, leaf.path[1:], strict=True))):
            proven = child.bounds if child.exact else node_bounds(child, in_support=self._proofs_in_support())
            learnt = tightened(edge.bounds, proven)
            if learnt is None:
                return
            edge.bounds = learnt
        self._bound_root()

    def _look_ahead(self, node: Node) -> None:
        """Every edge behind which the game is over, by whatever way, counts as chosen, without a visit."""
        for edge in list(node.edges):
            state = node.state.copy()
            state.apply(edge.action)
            child = end_or_node(state)
            if child.exact and child.bounds.is_proven:
                assert isinstance(edge, GraphEdge)
                edge.child = child
                edge.value = child.exact
                edge.bounds = child.bounds
                choose(node, edge)

    # -- the root ------------------------------------------------------------------------------------------------------

    def advance(self, action: int) -> None:
        """Play `action`: the node behind it becomes the root, with all that it leads to if `reuse_tree` is set."""
        for edge in self.root.edges if not self.waiting else ():
            if edge.action == action and edge.child:
                # What other moves have found of a position is kept only if this move was visited.
                edge.child = edge.child if edge.visits else None
                if edge.child:
                    edge.child.state = self.root.state.copy()
                    edge.child.state.apply(action)
        super().advance(action)

    def _plant(self, root: Node) -> None:
        """Make `root` the root, and keep the nodes that it leads to."""
        super()._plant(root)
        self.nodes = {(node.state.position_key, node.state.ply): node for node in reachable(self.root)}

    def _reopen_repeats(self) -> None:
        """Make repeats that count no longer edges without visits; the nodes above are the means of their edges again.

        No edge has more visits than the node behind it. An exact value rests on no repeat.
        """
        rule = self.params.repetition
        if rule is None:
            return
        changed: set[Node] = set()
        for node in reversed(reachable(self.root)):
            depth = node.state.ply - self.root.state.ply
            for edge in node.edges[: node.num_chosen]:
                assert isinstance(edge, GraphEdge)
                child = edge.child
                if child and child.repeated_after and not repetition.counts(rule, depth + 1, child.repeated_after):
                    edge.child = None
                    edge.visits = 0
                    edge.value = NO_VALUE
                elif child in changed and edge.visits and not edge.bounds.is_proven:
                    edge.visits = min(edge.visits, child.visits)
                    edge.value = child.value
                else:
                    continue
                changed.add(node)
            if node in changed:
                node.visits = 1 + sum(edge.visits for edge in node.edges)
                node.value = repetition.plain_mean(node)


def end_or_node(state: State) -> Node:
    """A new node for a copy of `state`. A result that rests on what was played before is a value and no proof."""
    node = make_node(state.copy())
    if node.exact and state.outcome_depends_on_path:
        node.bounds = OPEN
    return node


def added(now: Value, visits: int, before: Value) -> Value:
    """Return what one more visit of an edge adds to the sum of its node, where the N visits before had another value.

    (N + 1) now - N before; D in float32, as the core keeps it.
    """
    d = now.d + visits * (now.d - before.d)
    return Value(now.wl + visits * (now.wl - before.wl), float(np.float32(d)))

"""Solver (certainty propagation): proven bounds of results, how they climb, and backup in a tree that has them.

After MCTS-Solver (Winands, Björnsson, Saito, "Monte-Carlo Tree Search Solver", CG 2008), with bounds as in lc0, and
`certainty-prop` of Videodr0me's lc0 fork. Bounds of a node are for its own mover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from hauteur.mcts.params import SearchParams, Solver
from reference import search_contempt
from reference.tree import OPEN, Bounds, Edge, Node, Value, behind

PREFERRED_DRAW = 1
"""Rank of a proven draw that is preferred to all that is open."""
FAR = 65_535
"""More plies than any game has."""


# -- bounds ------------------------------------------------------------------------------------------------------------


def edge_bounds(node: Node, edge: Edge) -> Bounds:
    """Return the proven bounds of an edge, for the mover of `node`; plies include the edge's own move."""
    if edge.child is None:
        return OPEN
    bounds = edge.bounds
    plies = bounds.plies + 1
    if edge.child.mover == node.mover:
        return Bounds(bounds.lower, bounds.upper, plies)
    return Bounds(-bounds.upper, -bounds.lower, plies)


def node_bounds(node: Node, only: Collection[int] = (), *, in_support: bool = False) -> Bounds:
    """Bounds of a node: lower = max of the edges' lower, upper = max of their upper; `only`: actions that count.

    in_support: at a frozen node (search-contempt) edges that are never drawn count as open.

    A win is as near as its nearest edge, a loss as far as its farthest, a draw as near as its nearest drawn edge.
    """
    counting = [edge for edge in node.edges if not only or edge.action in only]
    drawn = search_contempt.support(node) if in_support and node.frozen else node.edges
    edges = [edge_bounds(node, edge) if edge in drawn else OPEN for edge in counting]
    lower = max(edge.lower for edge in edges)
    upper = max(edge.upper for edge in edges)
    if lower == 1:
        return Bounds(1, 1, min(edge.plies for edge in edges if edge.lower == 1))
    if upper == -1:
        return Bounds(-1, -1, max(edge.plies for edge in edges))
    if lower == upper == 0:
        return Bounds(0, 0, min(edge.plies for edge in edges if edge.lower == edge.upper == 0))
    return Bounds(lower, upper)


def tightened(old: Bounds, new: Bounds) -> Bounds | None:
    """Return the intersection of both bounds; None if it is empty or the new ones add nothing."""
    lower = max(old.lower, new.lower)
    upper = min(old.upper, new.upper)
    if (lower, upper) == (old.lower, old.upper) or lower > upper:
        return None
    return Bounds(lower, upper, new.plies)


def spread_bounds(path: Sequence[Node], only: Collection[int], *, in_support: bool = False) -> None:
    """Propagate proofs from the end of a path towards the root; stop at the first node that learns nothing.

    The root, path[0], takes its bounds from the edges that it may choose, and is never closed by them.
    """
    for node in reversed(path[1:]):
        if node.edges:
            learnt = tightened(node.bounds, node_bounds(node, in_support=in_support))
            if learnt is None:
                return
            node.bounds = learnt
    if path[0].edges:
        path[0].bounds = node_bounds(path[0], only)


def is_decided(root: Node, params: SearchParams, only: Collection[int]) -> bool:
    """Return whether nothing is left to find out: a win is proven, or the result of every move that may be chosen."""
    if not (params.solver and params.solver.root_excludes_proven and root.edges and root.bounds.is_proven):
        return False
    allowed = [edge for edge in root.edges if not only or edge.action in only]
    return root.bounds.lower != 0 or all(edge_bounds(root, edge).is_proven for edge in allowed)


# -- expansion ---------------------------------------------------------------------------------------------------------


def prove_finished(node: Node, choose: Callable[[Node, Edge], Edge]) -> None:
    """Look one ply ahead: every edge behind which the game is over counts as chosen, without a visit."""
    for edge in list(node.edges):
        child = behind(node, edge)
        if child.exact is None:
            edge.child = None
        else:
            child.value = child.exact
            choose(node, edge)


def forced_move(node: Node, params: SearchParams) -> int | None:
    """Return the only legal move of a new node to extend immediately, or None."""
    if params.solver is None or not params.solver.auto_extend:
        return None
    legal = node.state.legal_actions()
    return int(legal[0]) if len(legal) == 1 else None


# -- selection ---------------------------------------------------------------------------------------------------------


class EdgePlace(NamedTuple):
    """The place at which an edge is met."""

    at_root: bool
    depth: int
    child_visits: int


def proven_terms(
    rule: Solver, q: float, u: float, *, result: int, visits: int, place: EdgePlace
) -> tuple[float, float]:
    """Place 1 and 3 of a proven edge: Q and U from its exact Q and the U of PUCT.

    At a root that excludes proven edges: Q - 50 + 0.4 N(s, a) / max(sum_b N(s, b), 1) and U = 0.
    """
    if place.at_root and rule.root_excludes_proven:
        return q - 50.0 + 0.4 * visits / place.child_visits, 0.0
    match rule.lost_child_mode:
        case "avoid" if result < 0:
            return q - 50.0, u
        case "damp":
            return q, u * (0.0001 if result == 0 else 0.5)
        case "damp_by_depth":
            return q, u / (1.0 + math.exp(-1.7 * (place.depth - 4)))
        case _:
            return q, u


# -- backup ------------------------------------------------------------------------------------------------------------


class Climb:
    """A value on its way to the root, and the corrections to the sums of earlier visits (W - L, D)."""

    def __init__(self, value: Value, owner: int, params: SearchParams) -> None:
        assert params.solver is not None
        self.rule: Solver = params.solver
        self.corrects = params.solver.retro_fix and params.q_average is None
        self.value = value
        self.owner = owner
        self.wl = self.d = 0.0

    def turn_to(self, player: int) -> None:
        """Sees value and correction as `player` does."""
        self.value = self.value.seen_by(player, self.owner)
        self.wl = self.wl if player == self.owner else -self.wl
        self.owner = player

    def pass_proven(self, node: Node) -> None:
        """Count another visit of a proven node: its exact value replaces what earlier visits returned.

        The sums of all nodes above gain N (v - Q), as if every visit had returned v.
        """
        exact = node.bounds.value
        self.wl = (exact.wl - node.value.wl) * node.visits if self.corrects else 0.0
        change = np.float32(exact.d) - np.float32(node.value.d)
        self.d = float(change) * node.visits if self.corrects else 0.0
        self.value = node.value = exact
        node.visits += 1
        node.in_flight -= 1

    def meet(self, node: Node) -> None:
        """Corrects the earlier visits of an open node, then clamps the value to its bounds."""
        bounds = node.bounds if self.rule.clamp_to_bounds else OPEN
        if (self.wl or self.d) and node.visits:
            self._correct(node, bounds)
        self.value = clamp(bounds, self.value)

    def _correct(self, node: Node, bounds: Bounds) -> None:
        free = node.value.wl + self.wl / node.visits
        wl = min(max(free, float(bounds.lower)), float(bounds.upper))
        if wl != free:
            self.wl = (wl - node.value.wl) * node.visits
        d = min(max(node.value.d + self.d / node.visits, 0.0), 1.0 - abs(wl))
        node.value = Value(wl, float(np.float32(d)))


def clamp(bounds: Bounds, value: Value) -> Value:
    """The value, not outside of the bounds."""
    if bounds.is_proven:
        return bounds.value
    return Value(min(max(value.wl, float(bounds.lower)), float(bounds.upper)), value.d)


def value_forced(path: Sequence[Node], value: Value, owner: int) -> None:
    """Forced nodes right above the end of a path take the value that came from there as their own."""
    for node in reversed(path[:-1]):
        if not node.forced:
            return
        node.network = value.seen_by(node.mover, owner)


def reopen(root: Node) -> None:
    """Visits and value of a proven node that became the root are those of its edges again."""
    own = 0 if root.forced else 1
    visits = own
    wl = root.network.wl * own
    d = root.network.d * own
    for edge in root.edges[: root.num_chosen]:
        assert edge.child is not None
        seen = edge.child.value.seen_by(root.mover, edge.child.mover)
        visits += edge.visits
        wl += seen.wl * edge.visits
        d += seen.d * edge.visits
    root.visits = visits
    root.value = Value(wl / max(visits, 1), float(np.float32(d / max(visits, 1))))


# -- final choice ------------------------------------------------------------------------------------------------------


def rank(bounds: Bounds) -> int:
    """Return the rank of a proven result: short wins first, all above 1; long losses first, all below 0.

    0 where nothing or a draw is proven.
    """
    nearness = FAR - max(bounds.plies, 1)
    if bounds.lower == 1:
        return PREFERRED_DRAW + 1 + nearness
    return -1 - nearness if bounds.upper == -1 else 0


def takes_draw(rule: Solver, leader_q: float, draw_q: float) -> bool:
    """Return whether a proven draw is played in place of a leader whose result is open."""
    return rule.draw_preference == "always" or (rule.draw_preference == "q_based" and leader_q < draw_q)

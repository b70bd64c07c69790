"""The tree of the reference search: nodes, edges, values, and the few ways they come into being."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State


class Value(NamedTuple):
    """A result, or the expectation of one, for some player: wl = W - L in [-1, 1], d = D in [0, 1]."""

    wl: float
    d: float

    def seen_by(self, viewer: int, owner: int) -> Value:
        """Return this value of player `owner` from the point of view of player `viewer`."""
        return self if viewer == owner else Value(-self.wl, self.d)


NO_VALUE = Value(0.0, 0.0)


class Bounds(NamedTuple):
    """Proven bounds of a result for some player (solver): at least `lower`, at most `upper` (-1, 0, 1)."""

    lower: int = -1
    upper: int = 1
    plies: int = 0
    """To the end of the game, once the bounds meet: the shortest win, the longest loss that was found."""

    @property
    def is_proven(self) -> bool:
        """The result is certain."""
        return self.lower == self.upper

    @property
    def value(self) -> Value:
        """The value of a certain result."""
        return Value(float(self.lower), float(self.lower == 0))


OPEN = Bounds()


@dataclass(eq=False)
class Node:
    """A position in the tree with its statistics, which are for its own mover."""

    state: State
    mover: int
    exact: Value | None
    """Value of a finished game; such a node has no edges, and the network is never asked about it."""
    edges: list[Edge] = field(default_factory=list)
    """Empty until the network has answered. Chosen edges stand first, in the order of their first choice, then
    the others by prior, highest first. (Without root noise and restrictions both orders are one: by prior.)"""
    num_chosen: int = 0
    visits: int = 0
    in_flight: int = 0
    value: Value = field(default=NO_VALUE)
    """Mean of all visits."""
    frozen: list[tuple[Edge, float]] = field(default_factory=list)
    """Edges and their frozen weights; empty while the node is not frozen (search-contempt)."""
    deviations: float = 0.0
    """M: sum of the squared deviations of all visits' W - L (variance)."""
    answer: tuple[list[tuple[int, float]], Value] | None = None
    """The answer of the network about the position, priors and value; None where it was not asked."""
    network: Value = field(default=NO_VALUE)
    """V(s): the network's value, as the search takes it (WDL contempt)."""
    bounds: Bounds = OPEN
    """Proven bounds of the result (solver)."""
    forced: bool = False
    """The network was not asked: the only move was played on the spot (solver). Such a node has no visit of its own."""
    repeated_after: int = 0
    """Plies since the earlier occurrence, where a repeat counts as a result (`exact`); else 0."""
    kept: NDArray[np.float64] | None = None
    """The columns of rules written in Python."""
    kept_by: dict[str, float] = field(default_factory=dict)
    """Values that rules keep of the edge that leads here, at a root of the root itself, by name (`hooks.py`)."""

    @property
    def q(self) -> float:
        """Q(s): the mean W - L of all visits for the mover, -1 to 1; 0 before the first."""
        return self.value.wl


@dataclass(eq=False)
class Edge:
    """An action at a node, its stored prior, and the node behind it, which is made when the edge is first chosen."""

    action: int
    prior: float
    child: Node | None = None
    replies: int = 0
    """Legal moves behind it, 0 where the game is over (tree balance)."""

    @property
    def visits(self) -> int:
        """N(s, a): completed visits."""
        return self.child.visits if self.child else 0

    @property
    def in_flight(self) -> int:
        """F(s, a): visits that went this way and wait for an answer."""
        return self.child.in_flight if self.child else 0

    @property
    def value(self) -> Value:
        """The mean of the visits, for the mover of the node behind."""
        return self.child.value if self.child else NO_VALUE

    @property
    def bounds(self) -> Bounds:
        """Tell what is proven of the node behind, for its mover (solver)."""
        return self.child.bounds if self.child else OPEN

    @property
    def is_end(self) -> bool:
        """The game is known to be over behind it."""
        return self.child is not None and self.child.exact is not None and self.visits > 0

    @property
    def kept(self) -> dict[str, float]:
        """Tell what rules keep of the edge, by name; nothing before the first visit."""
        return self.child.kept_by if self.child else {}


@dataclass(eq=False)
class GraphEdge(Edge):
    """An edge with statistics of its own, since the node behind it may have other edges that lead to it."""

    visits: int = 0
    in_flight: int = 0
    value: Value = NO_VALUE
    """The value that the node behind had when this edge was last visited, for the mover there."""
    bounds: Bounds = OPEN
    """Proven bounds of the node behind, as far as this edge has learnt it, for the mover there (solver)."""


@dataclass(frozen=True)
class Leaf:
    """The path of a descent: the nodes from the root to the leaf, both included."""

    path: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """The leaf itself."""
        return self.path[-1]

    @property
    def edges(self) -> tuple[GraphEdge, ...]:
        """The edges taken, where they have statistics of their own (graph search)."""
        return ()


def make_node(state: State) -> Node:
    """A new node for `state`, which it keeps."""
    outcome = state.outcome()
    exact = None if outcome is None else Value(float(outcome), float(outcome == 0)).seen_by(state.to_move, 0)
    bounds = OPEN if exact is None else Bounds(round(exact.wl), round(exact.wl))
    return Node(state, state.to_move, exact, bounds=bounds)


def behind(node: Node, edge: Edge) -> Node:
    """Make the node that `edge` of `node` leads to."""
    state = node.state.copy()
    state.apply(edge.action)
    edge.child = make_node(state)
    return edge.child


def count_replies(node: Node, edge: Edge) -> int:
    """Legal moves behind an edge; 0 where the game is over."""
    state = node.state.copy()
    state.apply(edge.action)
    return 0 if state.outcome() is not None else len(state.legal_actions())


def change_in_flight(leaf: Leaf, change: int) -> None:
    """Count the visit to `leaf` as in flight (+1), or take it back (-1)."""
    for node in leaf.path:
        node.in_flight += change
    for edge in leaf.edges:
        edge.in_flight += change


def reachable(root: Node) -> list[Node]:
    """The nodes with edges from a root down, those nearest to it first, each once."""
    found = {root: None} if root.edges else {}
    nodes = list(found)
    for node in nodes:
        below = [edge.child for edge in node.edges if edge.child and edge.child.edges and edge.child not in found]
        nodes += dict.fromkeys(below)
        found.update(dict.fromkeys(below))
    return nodes

"""The tree of several nets: nodes with the statistics of all, and taking visits back.

N_S, W_S / N_S are `node.visits` and `node.value`, N_L, W_L / N_L those of `node.larger[net]`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hauteur.mcts.params import Repetition
from reference.repetition import Lost, counts, mean_without
from reference.second_net_turns import SMALL, Net
from reference.tree import NO_VALUE, Edge, Leaf, Node, Value, make_node


@dataclass(eq=False)
class LargeTally:
    """The findings of a larger net's turns below a node, for its mover."""

    visits: int = 0
    in_flight: int = 0
    value: Value = NO_VALUE


@dataclass(eq=False)
class TwoNode(Node):
    """A node with the statistics of all nets. `Node.visits`, `.in_flight` and `.value` are the small net's."""

    larger: defaultdict[Net, LargeTally] = field(default_factory=lambda: defaultdict(LargeTally))
    """What the turns of each larger net have found."""
    answers: dict[Net, tuple[dict[int, float], Value]] = field(default_factory=dict)
    """p and v by each net that knows the node; v in float32, as the core keeps it."""
    entered: dict[Net, int] = field(default_factory=dict)
    """Number of its entry to the frontier of each larger net, from 1."""

    def tally(self, net: Net) -> LargeTally | Node:
        """Visits, visits in flight and mean of this net's turns."""
        return self if net == SMALL else self.larger[net]

    @property
    def children(self) -> list[TwoNode]:
        """The nodes behind edges that were chosen, in the order of the edges."""
        return [edge.child for edge in self.edges if isinstance(edge.child, TwoNode)]


@dataclass(frozen=True)
class TwoLeaf(Leaf):
    """The end of a turn of a net."""

    path: tuple[TwoNode, ...]
    net: Net

    @property
    def node(self) -> TwoNode:
        """The leaf itself."""
        return self.path[-1]


def two_node(node: TwoNode, edge: Edge) -> TwoNode:
    """Make the node that an edge leads to."""
    state = node.state.copy()
    state.apply(edge.action)
    plain = make_node(state)
    return TwoNode(plain.state, plain.mover, plain.exact)


def update_large(tally: LargeTally, value: Value) -> None:
    """A larger net's turn has a result: N_L += 1, mean += (value - mean) / N_L; W - L in float64, D in float32."""
    tally.visits += 1
    tally.in_flight -= 1
    step = 1.0 / tally.visits
    d = np.float32(tally.value.d) + (np.float32(value.d) - np.float32(tally.value.d)) * np.float32(step)
    tally.value = Value(tally.value.wl + (value.wl - tally.value.wl) * step, float(d))


def shift_means(path: Sequence[TwoNode], change: Value) -> None:
    """Change the sum of the small values of all nodes on a path by `change`, seen by the last one's mover."""
    if change == NO_VALUE:
        return
    for node in path:
        wl = change.seen_by(node.mover, path[-1].mover).wl / node.visits
        d = np.float32(node.value.d) + np.float32(change.d) / np.float32(node.visits)
        node.value = Value(node.value.wl + wl, float(d))


def mark(leaf: TwoLeaf, change: int) -> None:
    """Count a turn as in flight (+1), or take it back (-1)."""
    for node in leaf.path:
        node.tally(leaf.net).in_flight += change


def reopen_large(root: TwoNode, rule: Repetition | None, net: Net) -> None:
    """Take back a larger net's visits of such repeats in the tree of a new root, before `repetition.reopen`."""
    if rule and rule.mode == "inline_value":
        take_large_back(root.larger[net], large_lost(root, 0, rule, net))


def large_lost(node: TwoNode, depth: int, rule: Repetition, net: Net) -> Lost:
    """Take back a larger net's visits of repeats that no longer count, from everything below a node; return them."""
    lost = Lost()
    for child in node.children:
        if child.repeated_after and counts(rule, depth + 1, child.repeated_after):
            continue
        if child.repeated_after:
            large = child.larger[net]
            gone = Lost(large.visits, large.value.wl, 0.0, large.value.d)
        else:
            gone = large_lost(child, depth + 1, rule, net)
            take_large_back(child.larger[net], gone)
        lost = lost.and_also(gone.seen_by(node.mover, child.mover))
    return lost


def take_large_back(large: LargeTally, lost: Lost) -> None:
    """A larger net's visits and mean of a node without some visits."""
    if lost.visits == large.visits:
        large.visits = 0
        large.value = NO_VALUE
    elif lost.visits:
        large.value = mean_without(large.visits, large.value, lost)
        large.visits -= lost.visits

"""Repetition scoring: a position that occurs for the second time counts as the draw that it would come to.

A repeat that counts is a node with an exact value (`Node.exact`) which remembers how many plies ago the position
occurred (`Node.repeated_after`). When the root has moved past the first occurrence its visits are taken back
(`reopen`). The rule is that of lc0's pull request 1375; `legacy_certain` is that of Videodr0me's fork.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hauteur.mcts.params import Repetition
from reference.tree import Bounds, Node, Value, make_node
from reference.variance import Moments, merged

LEAST_DEPTH = 4
"""Plies below the root before a repeat can count: no position of chess comes back sooner."""


class Lost(NamedTuple):
    """Visits that are taken back: their number, and mean and squared deviations of their values for some player."""

    visits: int = 0
    wl: float = 0.0
    deviations: float = 0.0
    d: float = 0.0

    def seen_by(self, viewer: int, owner: int) -> Lost:
        """The same of player `owner` from the point of view of player `viewer`."""
        return self if viewer == owner else self._replace(wl=-self.wl)

    def and_also(self, other: Lost) -> Lost:
        """Both sets together (Chan et al. 1979)."""
        if not self.visits or not other.visits:
            return self if self.visits else other
        here = Moments(float(self.visits), self.wl, self.deviations)
        there = Moments(float(other.visits), other.wl, other.deviations)
        _, wl, deviations = merged(here, there)
        d = self.d + (other.d - self.d) * there.n / (here.n + there.n)
        return Lost(self.visits + other.visits, wl, deviations, d)


def counts(rule: Repetition, depth: int, plies_since: int) -> bool:
    """Return whether a position `depth` plies below the root counts as a repeat of one `plies_since` plies before.

    inline_value: depth >= 4 and plies_since <= depth, so both occurrences are at or below the root (lc0);
    legacy_certain: always.
    """
    return rule.mode == "legacy_certain" or (depth >= LEAST_DEPTH and plies_since <= depth)


def score_repeat(rule: Repetition, node: Node, *, depth: int) -> None:
    """Give a new leaf, `depth` plies below the root, the exact value of a repeat, if it is one that counts."""
    repeat = node.state.repetition()
    if depth > 0 and repeat and counts(rule, depth, repeat[1]):
        result = repeat[2]
        node.exact = Value(float(result), float(result == 0)).seen_by(node.mover, 0)
        node.repeated_after = repeat[1]
        if rule.mode == "legacy_certain":
            node.bounds = Bounds(round(node.exact.wl), round(node.exact.wl))


def reopen(root: Node, rule: Repetition, *, averaged: bool) -> None:
    """Take back all visits of repeats that no longer count in the tree of a new root, from all nodes above too."""
    take_back(root, _reopen_edges(root, 0, rule, averaged=averaged), averaged=averaged)


def _reopen_edges(node: Node, depth: int, rule: Repetition, *, averaged: bool) -> Lost:
    """Take back visits from everything below the edges of a node; return them, for the node's mover.

    The value of a proven node depends on no repeat: nothing is taken from it, nor because of it from the nodes above.
    """
    lost = Lost()
    for edge in node.edges[: node.num_chosen]:
        child = edge.child
        if child is None or (child.repeated_after and counts(rule, depth + 1, child.repeated_after)):
            continue
        if child.repeated_after:
            edge.child = make_node(child.state)
            gone = Lost(child.visits, child.value.wl, 0.0, child.value.d)
        else:
            gone = _reopen_edges(child, depth + 1, rule, averaged=averaged)
            gone = Lost() if child.bounds.is_proven else gone
            take_back(child, gone, averaged=averaged)
        lost = lost.and_also(gone.seen_by(node.mover, child.mover))
    return lost


def take_back(node: Node, lost: Lost, *, averaged: bool) -> None:
    """Remove from a node k of its n visits, with mean q and squared deviations m: the inverse of merging two sets.

    N' = n - k; Q' = Q - k (q - Q) / (n - k); M' = M - m - (q - Q')^2 k (n - k) / n.

    averaged: means have their own step sizes (Q average), so the effect of a visit is not recoverable. Then Q' is the
    plain mean of the node's own evaluation and its edges, and M' keeps the variance.
    """
    if not lost.visits:
        return
    before = node.visits
    node.visits = node.visits - lost.visits
    if not node.visits:
        node.value = Value(0.0, 0.0)
        node.deviations = 0.0
    elif averaged:
        node.value, node.deviations = plain_mean(node), node.deviations * node.visits / before
    else:
        n = float(before)
        k = float(lost.visits)
        node.value = mean_without(before, node.value, lost)
        gap = lost.wl - node.value.wl
        node.deviations = max(node.deviations - lost.deviations - gap * gap * k * (n - k) / n, 0.0)


def mean_without(visits: int, mean: Value, lost: Lost) -> Value:
    """Return Q' = Q - k (q - Q) / (n - k), the mean left of n = `visits` visits."""
    n = float(visits)
    k = float(lost.visits)
    wl = min(max(mean.wl - k * (lost.wl - mean.wl) / (n - k), -1.0), 1.0)
    d = min(max(mean.d - k * (lost.d - mean.d) / (n - k), 0.0), 1.0)
    return Value(wl, float(np.float32(d)))


def plain_mean(node: Node) -> Value:
    """The mean of a node's own evaluation, unless it was forced, and of the visits of its edges."""
    wl, d = Value(0.0, 0.0) if node.forced else node.network
    for edge in node.edges[: node.num_chosen]:
        if edge.child:
            seen = edge.value.seen_by(node.mover, edge.child.mover)
            wl = wl + edge.visits * seen.wl
            d = d + edge.visits * seen.d
    return Value(wl / node.visits, float(np.float32(d / node.visits)))

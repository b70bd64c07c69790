"""Sequential halving at a root with Gumbel (Danihelka et al. 2022, algorithm 2).

A halving begins with the m allowed actions of greatest g(a) + logits(a). In a phase all remaining actions get equally
many visits; then the half with the greater g(a) + logits(a) + sigma(completed Q(a)) continues, until two are left. The
visits of a halving are those since it began: visits of a re-used tree count in Q but take no turns. It begins at a new
root, and anew when the limit of visits or the restriction of the root changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from hauteur.mcts.params import Gumbel, SearchParams
from reference.gumbel import Knowledge, draw, endless_phase_visits, improved_policy, phase_visits, sigma
from reference.scores import edge_value, settled, utility
from reference.solver import edge_bounds
from reference.tree import Edge, Node


@dataclass
class Halving:
    """The halving of one root; `only`: actions allowed, empty = all."""

    root: Node
    rule: Gumbel
    params: SearchParams
    keys: dict[int, float]
    """g(a) + logits(a) by action."""
    only: Collection[int] = ()
    limit: int | None = None
    """The limit of visits that it began with; None: it has not begun."""
    remaining: list[Edge] = field(default_factory=list)
    began: dict[int, int] = field(default_factory=dict)
    """Visits of each action when it began, those in flight included."""
    considered: int = 0
    """m."""
    budget: int | None = None
    """n, the visits that are shared; None: there is no limit."""
    number: int = 0
    """How many halvings went before, without a limit."""
    level: int = 0
    """New visits of each that remains when the phase is over."""

    def waits(self, limit: int, begun: int) -> bool:
        """Begin and halve when due; return true while that needs answers in flight.

        limit: root visits at which the search ends, 0 = never; begun: root visits begun.
        """
        if self.limit != limit:
            self._begin(limit, begun, number=0)
        while not any(self._new_visits(edge) < self.level for edge in self._open(self.remaining)):
            if self._open(self.remaining) and self._repeats():
                self._add_phase()
            elif self.root.in_flight:
                return True
            elif not self._open(self.remaining):
                self._begin(limit, begun, number=self.number)
            elif len(self.remaining) > 2:
                self._halve()
            else:
                self._begin(limit, begun, number=self.number + 1)
        return False

    def next_edge(self) -> Edge:
        """Return the remaining edge with the fewest new visits, among equals the one with the greatest score."""
        left = self._open(self.remaining)
        fewest = min(self._new_visits(edge) for edge in left)
        scores = self._scores()
        return greatest([e for e in left if self._new_visits(e) == fewest], 1, lambda edge: scores[edge.action])[0]

    def choice(self) -> dict[int, float]:
        """Place 6, g(a) + logits(a) + sigma(completed Q(a)) of the actions that remain, -inf of the others."""
        remaining = self.remaining or self._considered(len(self.root.edges))
        scores = self._scores()
        return {e.action: scores[e.action] if e in remaining else -math.inf for e in self.root.edges}

    def policy(self) -> dict[int, float]:
        """The policy target of every action."""
        shares = improved_policy(self.rule, knowledge(self.root, self.params))
        return {edge.action: share for edge, share in zip(self.root.edges, shares, strict=True)}

    def _begin(self, limit: int, begun: int, *, number: int) -> None:
        self.limit = limit
        self.number = number
        self.level = 0
        self.budget = max(1, limit - begun) if limit else None
        self.remaining = self._considered(self.budget or len(self.root.edges))
        self.considered = len(self.remaining)
        self.began = {edge.action: edge.visits + edge.in_flight for edge in self.root.edges}
        self._add_phase()

    def _add_phase(self) -> None:
        remaining = len(self.remaining)
        if self.budget is None:
            self.level += endless_phase_visits(self.number, self.considered, remaining)
        else:
            self.level += phase_visits(self.budget, self.considered, remaining)

    def _repeats(self) -> bool:
        """The next phase compares the same actions."""
        return len(self.remaining) <= 2 and (self.budget is not None or self.considered <= 2)

    def _halve(self) -> None:
        scores = self._scores()
        half = max(2, len(self.remaining) // 2)
        self.remaining = greatest(self.remaining, half, lambda edge: scores[edge.action])
        self._add_phase()

    def _considered(self, most: int) -> list[Edge]:
        """The up to m (and up to `most`) open edges with the greatest g(a) + logits(a)."""
        open_edges = self._open(self.root.edges)
        return greatest(open_edges, min(self.rule.considered, most), lambda edge: self.keys[edge.action])

    def _open(self, edges: Sequence[Edge]) -> list[Edge]:
        """Return the edges open to visits: no proven ones where the solver excludes them, if there are others."""
        allowed = [edge for edge in self.root.edges if not self.only or edge.action in self.only]
        if self.params.solver and self.params.solver.root_excludes_proven:
            allowed = [edge for edge in allowed if not edge_bounds(self.root, edge).is_proven] or allowed
        return [edge for edge in edges if edge in allowed]

    def _new_visits(self, edge: Edge) -> int:
        return edge.visits + edge.in_flight - self.began[edge.action]

    def _scores(self) -> dict[int, float]:
        raised = sigma(self.rule, knowledge(self.root, self.params))
        return {e.action: self.keys[e.action] + s for e, s in zip(self.root.edges, raised, strict=True)}


def sample_keys(root: Node, params: SearchParams, rule: Gumbel, key: int) -> dict[int, float]:
    """g(a) + logits(a), in float32, of every action; g ~ Gumbel(0, 1) times `noise`, drawn by generator `key`.

    logits = T ln P are those of the network up to a constant, over the root's own policy temperature if it has one.
    """
    temperature = params.policy_temperature / (params.root_policy_temperature or 1.0)
    found = {}
    for k, edge in enumerate(root.edges):
        noise = rule.noise * draw(key, k) if rule.noise > 0.0 else 0.0
        found[edge.action] = float(np.float32(noise + temperature * math.log(edge.prior)))
    return found


def knowledge(node: Node, params: SearchParams) -> Knowledge:
    """Return a node's knowledge of its edges."""
    return Knowledge(
        logits=[params.policy_temperature * math.log(edge.prior) for edge in node.edges],
        visits=[edge.visits for edge in node.edges],
        q=[known_value(node, edge, params) for edge in node.edges],
        value=utility(node.network, node.mover, params),
    )


def known_value(node: Node, edge: Edge, params: SearchParams) -> float | None:
    """Q of an edge whose result is certain or that has visits."""
    certain = settled(node, edge, params)
    return edge_value(node, edge, params) if certain is None and edge.visits else certain


def improved_edge(node: Node, params: SearchParams, rule: Gumbel) -> Edge:
    """The edge below the root with the greatest pi'(a) - (N(a) + F(a)) / (1 + sum_b (N(b) + F(b)))."""
    policy = improved_policy(rule, knowledge(node, params))
    begun = [float(edge.visits + edge.in_flight) for edge in node.edges]
    whole = 1.0 + sum(begun)
    gaps = [share - n / whole for share, n in zip(policy, begun, strict=True)]
    return node.edges[max(range(len(gaps)), key=gaps.__getitem__)]


def greatest(edges: Sequence[Edge], count: int, score: Callable[[Edge], float]) -> list[Edge]:
    """The `count` edges with the greatest scores, among equals the first, in their order."""
    chosen = sorted(edges, key=score, reverse=True)[:count]
    return [edge for edge in edges if any(edge is other for other in chosen)]

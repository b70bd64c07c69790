"""Selection: the score Q + U of every edge of a node, with every rule at its place (places 1, 2 and 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hauteur.mcts.own_rules import RuleChain
from hauteur.mcts.params import Cpuct, Fpu, SearchParams
from reference import (
    prior_mixing,
    q_average,
    solver,
    tree_balance,
    variance,
)
from reference.draws import Draws
from reference.hooks import acts_of
from reference.outside import show_node
from reference.priors import lc0_ln, sum_in_order
from reference.tree import Edge, Node, Value

NO_RULES = RuleChain()


@dataclass
class Scores:
    """The scores of one node's edges as a descent meets it.

    used: priors by action in the place of the stored ones (root); depth: 1 at the root; spread: sigma^2 of the node's
    values (variance); draws: those of the tree. rules: those written in Python; only: actions allowed, empty = all;
    via: the place of the edge that led here, in the node above (-1: no rule was asked there).
    """

    node: Node
    params: SearchParams
    at_root: bool = False
    used: Mapping[int, float] | None = None
    depth: int = 1
    spread: float = 0.0
    draws: Draws | None = None
    rules: RuleChain = NO_RULES
    only: Collection[int] = ()
    via: int = -1
    picked: int = -1
    """The edge that a rule written in Python takes in the place of the one with the largest score; -1: none."""

    def __post_init__(self) -> None:
        self.acts = acts_of(self.params)
        self.priors = [self._prior(edge) for edge in self.node.edges]
        self.unvisited_q = first_play_urgency(self.node, self.priors, self.params, at_root=self.at_root)
        self.exploration = self._exploration()
        self.mean_replies, self.level = self._balance()
        self.share = self._uniform_share()

    def all(self) -> list[float]:
        """PUCT: Q(s, a) + U(s, a) of every edge (AGZ, Methods, "Select"; AZ).

        U(s, a) = c_puct(N(s)) sqrt(max(sum_b N(s, b), 1)) P(s, a) / (1 + N(s, a) + F(s, a))

        F is ours: visits in flight count as visits here (virtual visits), and not in Q (no virtual loss).
        """
        edges = self.node.edges
        terms = self._ruled_terms() if self.rules.rules else [self.free_terms(k) for k in range(len(edges))]
        return [sum_in_order(self.proven_terms(edge, *pair)) for edge, pair in zip(edges, terms, strict=True)]

    def _ruled_terms(self) -> list[tuple[float, float]]:
        """Q and U of every edge as rules written in Python leave them."""
        rules = self.rules
        edges = self.node.edges
        q, u = np.array([self.free_terms(k) for k in range(len(edges))], np.float64).T.copy()
        show_node(rules, self.node, depth=self.depth - 1, via=self.via, only=self.only, draws=self.draws)
        if "prior" in rules.places:
            mixed = [self._mixed(k) for k in range(len(edges))]
            priors = rules.priors(np.array(mixed, np.float64)).tolist()
            u = np.array([self.bonus(edge, p) for edge, p in zip(edges, priors, strict=True)], np.float64)
        q, u, picks = rules.terms(q, u)
        self.picked = -1 if picks is None else int(picks[0])
        return list(zip(q.tolist(), u.tolist(), strict=True))

    def _prior(self, edge: Edge) -> float:
        """The prior that the node has for an edge, before mixing."""
        rule = self.params.solver
        if rule and rule.lost_child_mode == "zero_prior" and solver.edge_bounds(self.node, edge).upper == -1:
            return 0.0
        return edge_prior(edge, self.used)

    def free_terms(self, k: int) -> tuple[float, float]:
        """Q(s, a) and U(s, a) by the rules; Q of a proven edge is its exact value (solver)."""
        edge = self.node.edges[k]
        proven = self.params.solver and (bounds := solver.edge_bounds(self.node, edge)).is_proven
        q = utility(bounds.value, self.node.mover, self.params) if proven else self.value(edge)
        return q, self.bonus(edge, self._mixed(k))

    def proven_terms(self, edge: Edge, q: float, u: float) -> tuple[float, float]:
        """Q(s, a) and U(s, a) with what a proof makes of them (solver)."""
        rule = self.params.solver
        bounds = solver.edge_bounds(self.node, edge)
        if rule is None or not bounds.is_proven:
            return q, u
        place = solver.EdgePlace(self.at_root, self.depth, max(self.node.visits - 1, 1))
        exact = utility(bounds.value, self.node.mover, self.params)
        return solver.proven_terms(rule, exact, u, result=bounds.lower, visits=edge.visits, place=place)

    def value(self, edge: Edge) -> float:
        """Place 1: Q(s, a) with what the rules make of it."""
        params = self.params
        q = edge_value(self.node, edge, params) if edge.visits else self.unvisited_q
        for _, act, rule in self.acts["edge_value"]:
            q = act(rule, q, edge, self)
        if params.tree_balance:
            q += tree_balance.bonus(params.tree_balance, edge.replies, self.mean_replies, edge.visits)
        if params.variance and params.variance.mode != "node_scaled_cpuct":
            q = min(max(q + self._spread_bonus(edge), -1.0), 1.0)
        return q

    def at(self, edge: Edge, visits: int) -> float:
        """Q(s, a) + U(s, a) with Q itself and U as if the edge had this many visits; without random draws."""
        k = self.node.edges.index(edge)
        q, _ = self.proven_terms(edge, *self.free_terms(k))
        return q + self.bonus(edge, self._mixed(k), visits)

    def _mixed(self, k: int) -> float:
        """Place 2: the prior that counts in U."""
        mixing = self.params.prior_mixing
        prior = self.priors[k]
        prior = prior_mixing.mixed(prior, self.share, len(self.node.edges)) if mixing else prior
        for _, act, rule in self.acts["edge_prior"]:
            prior = act(rule, prior, self.node.edges[k], self)
        return prior

    def bonus(self, edge: Edge, prior: float, visits: int | None = None) -> float:
        """Place 3: U(s, a) with this prior; `visits` in the place of N(s, a)."""
        params = self.params
        begun = (edge.visits if visits is None else visits) + edge.in_flight
        below: float = 1 + begun
        for _, act, rule in self.acts["edge_divisor"]:
            below = act(rule, below, begun)
        u = self.exploration * prior / below
        if params.tree_balance:
            u *= tree_balance.factor(params.tree_balance, edge.replies, self.mean_replies) / self.level
        for _, act, rule in self.acts["edge_bonus"]:
            u = act(rule, u, edge, self)
        return u

    def spread_behind(self, edge: Edge) -> float:
        """sigma^2 of the position behind an edge; that of the node itself where one visit or none shows nothing."""
        rule = self.params.variance
        if rule is None or is_terminal(edge):
            return 0.0
        if self.params.solver and solver.edge_bounds(self.node, edge).is_proven:
            return 0.0
        if rule.source == "wdl":
            return variance.of_shares(*edge.value) if edge.child and edge.visits else self.spread
        deviations = edge.child.deviations if edge.child else 0.0
        return variance.of_samples(rule, edge.visits, deviations, self.spread)

    def _spread_bonus(self, edge: Edge) -> float:
        assert self.params.variance is not None
        return variance.bonus(
            self.params.variance,
            child_visits=max(self.node.visits - 1, 1),
            visits=edge.visits,
            variance=self.spread_behind(edge),
            draw=self.draws.normal if self.draws else lambda: 0.0,
        )

    def _exploration(self) -> float:
        factor = exploration_factor(self.node, self.params, at_root=self.at_root)
        if self.params.variance:
            factor *= variance.cpuct_factor(self.params.variance, self.spread)
        if self.params.q_average and self._suffices():
            factor *= 0.0
        return factor

    def _suffices(self) -> bool:
        """Return whether a visited edge's Q exceeds the sufficient value."""
        enough = self.params.q_average.sufficient if self.params.q_average else None
        visited = [edge for edge in self.node.edges if edge.visits]
        return enough is not None and any(edge_value(self.node, edge, self.params) > enough for edge in visited)

    def _balance(self) -> tuple[float, float]:
        """Mean number of replies, and the mean factor under the priors where factors are normalised."""
        rule = self.params.tree_balance
        edges = self.node.edges
        if rule is None:
            return 0.0, 1.0
        mean = sum(edge.replies for edge in edges) / len(edges)
        if rule.mode != "normalised" or not rule.normalise:
            return mean, 1.0
        factors = [tree_balance.factor(rule, edge.replies, mean) for edge in edges]
        level = sum_in_order([prior * f for prior, f in zip(self.priors, factors, strict=True)])
        return mean, level or 1.0  # 0 where the solver took all priors: there is nothing to divide then

    def _uniform_share(self) -> float:
        rule = self.params.prior_mixing
        if rule is None:
            return 0.0
        v, q = (utility(value, self.node.mover, self.params) for value in (self.node.network, self.node.value))
        return prior_mixing.uniform_share(rule, depth=self.depth, edges=len(self.node.edges), gap=abs(v - q))


def root_spread(node: Node, params: SearchParams) -> float:
    """sigma^2 of a root's values."""
    rule = params.variance
    if rule is None:
        return 0.0
    if rule.source == "wdl":
        return variance.of_shares(*node.value)
    return variance.of_samples(rule, node.visits, node.deviations, 0.0)


def best_edge(scores: Scores) -> Edge:
    """The allowed edge with the largest score, among equals the first in order, unless a rule has picked one."""
    edges = scores.node.edges
    found = scores.all()
    allowed = [k for k, edge in enumerate(edges) if not scores.only or edge.action in scores.only]
    return edges[max(allowed, key=found.__getitem__) if scores.picked < 0 else scores.picked]


def select_edge(node: Node, params: SearchParams) -> Edge:
    """The edge of an inner node that plain PUCT takes; it counts as chosen from now on."""
    return choose(node, best_edge(Scores(node, params)))


def choose(node: Node, edge: Edge) -> Edge:
    """Choose an edge of a node; on its first choice, move it behind the edges chosen before."""
    k = next(k for k, other in enumerate(node.edges) if other is edge)
    if k >= node.num_chosen:
        node.edges.insert(node.num_chosen, node.edges.pop(k))
        node.num_chosen += 1
    return edge


def edge_scores(node: Node, params: SearchParams) -> list[float]:
    """Q + U of every edge of an inner node without random draws."""
    return Scores(node, params).all()


def is_terminal(edge: Edge) -> bool:
    """Return whether the game is known to be over behind the edge."""
    return edge.is_end


def settled(node: Node, edge: Edge, params: SearchParams) -> float | None:
    """Q(s, a) where it is certain: the game is over behind the edge, or its result is proven."""
    if params.solver and (bounds := solver.edge_bounds(node, edge)).is_proven:
        return utility(bounds.value, node.mover, params)
    return edge_value(node, edge, params) if is_terminal(edge) else None


def edge_value(node: Node, edge: Edge, params: SearchParams) -> float:
    """Place 1, the value of an edge with visits: Q(s, a) = W - L + draw utility * D of its child."""
    assert edge.child is not None
    return utility(edge.value.seen_by(node.mover, edge.child.mover), node.mover, params)


def first_play_urgency(node: Node, priors: Sequence[float], params: SearchParams, *, at_root: bool) -> float:
    """Place 1 for an edge without visits, by the root's own setting where there is one.

    reduction: Q(s) - value * sqrt(sum of P(s, b) over edges b with N(s, b) > 0), Q(s) the mean of s for its mover
    (lc0); parent_value: the same with V(s), the network's own value; absolute: value (AGZ has 0).
    """
    fpu: Fpu = (params.root_fpu if at_root else None) or params.fpu
    if fpu.kind == "absolute":
        return fpu.value
    visited = sum_in_order([prior for edge, prior in zip(node.edges, priors, strict=True) if edge.visits])
    base = node.network if fpu.kind == "parent_value" else node.value
    return utility(base, node.mover, params) - fpu.value * math.sqrt(visited)


def utility(value: Value, viewer: int, params: SearchParams) -> float:
    """Q of a value that `viewer` sees: W - L + draw utility * D; a draw is worth `draw_score` to the first player."""
    return value.wl + (params.draw_score if viewer == 0 else -params.draw_score) * float(value.d)


def edge_prior(edge: Edge, used: Mapping[int, float] | None = None) -> float:
    """Place 2, the prior that selection uses: the stored one, at a root its own (`retemper`, `mix_noise`)."""
    return used[edge.action] if used else edge.prior


def exploration_factor(node: Node, params: SearchParams, *, at_root: bool) -> float:
    """Place 3, what multiplies P(s, a) / (1 + N(s, a) + F(s, a)): c_puct(N(s)) sqrt(max(sum_b N(s, b), 1)).

    sum_b N(s, b) = N(s) - 1: completed visits only, and all of them but the node's own evaluation.
    """
    cpuct: Cpuct = (params.root_cpuct if at_root else None) or params.cpuct
    ln = lc0_ln if params.arithmetic == "lc0" else math.log
    return c_puct(cpuct, node.visits, ln) * math.sqrt(max(node.visits - 1, 1))


def c_puct(cpuct: Cpuct, visits: int, ln: Callable[[float], float] = math.log) -> float:
    """c_puct(N) = init + factor * ln((N + base) / base), N = completed visits of the node, its own evaluation included.

    AZ, pseudocode, C(s), with a free factor (1 there) and (N + base) in the place of (1 + N + base), as in lc0.
    """
    return cpuct.init + cpuct.factor * ln((visits + cpuct.base) / cpuct.base)


def step_size(visits: int, params: SearchParams) -> float:
    """Place 4, how far visit number `visits` moves the mean: 1 / visits, so that the mean is the plain average."""
    if params.q_average:
        return q_average.step_size(params.q_average, visits)
    return 1.0 / visits

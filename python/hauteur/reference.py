"""The search in plain Python, one tree and one evaluation at a time: the executable specification of the core.

Read from top to bottom: `Search.visit` is one visit (select, evaluate, expand, backup); `gather` and `apply` are the
same visit cut in two, so that several leaves can wait for the network together. Below them stand the rules as small
pure functions with their equations; the six places where a search rule may act are marked `Place 1` to `Place 6`.

Symbols of the papers -> names here: s -> node, a -> edge, N(s) -> `node.visits`, N(s, a) -> `edge.visits`, F(s, a) ->
`edge.in_flight`, P(s, a) -> `edge.prior`, Q(s, a) -> `edge_value`, V -> `network_value`; for the player to move at s.

The compiled core does the same arithmetic in the same order and precision, so both make the same visits to the last
one. Tests and documentation import this module; nothing else does.

AGZ = Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017);
AZ = Silver et al., "A general reinforcement learning algorithm that masters chess, shogi and Go through self-play",
Science 362 (2018), whose supplement has the pseudocode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State, dirichlet, random_u64
from hauteur.config import Cpuct, Fpu, SearchParams

Evaluator: TypeAlias = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]
"""features [B, C, H, W] -> policy logits [B, A] and win, draw, loss of the mover [B, 3]."""

MAX_FREE_VISITS = 4096
"""Visits that need no network before one `gather` hands control back."""


class Value(NamedTuple):
    """A result, or the expectation of one, for some player: wl = W - L in [-1, 1], d = D in [0, 1]."""

    wl: float
    d: float

    def seen_by(self, viewer: int, owner: int) -> Value:
        """This value of player `owner` from the point of view of player `viewer`."""
        return self if viewer == owner else Value(-self.wl, self.d)


NO_VALUE = Value(0.0, 0.0)


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


@dataclass(eq=False)
class Edge:
    """An action at a node, its stored prior, and the node behind it, which is made when the edge is first chosen."""

    action: int
    prior: float
    child: Node | None = None

    @property
    def visits(self) -> int:
        """N(s, a): completed visits."""
        return self.child.visits if self.child else 0

    @property
    def in_flight(self) -> int:
        """F(s, a): visits that went this way and wait for an answer."""
        return self.child.in_flight if self.child else 0


@dataclass(frozen=True)
class Leaf:
    """Where a descent ended: the nodes from the root to the leaf, both included."""

    path: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """The leaf itself."""
        return self.path[-1]


class Search:
    """One tree: a root position, and all that visits have found out below it."""

    def __init__(self, state: State, params: SearchParams, seed: int = 0) -> None:
        """`seed` keys the random draws of this tree, like that of `Forest.add`."""
        self.params = params
        self.visit_limit = 0
        """Root visits, own evaluation included, at which no more are wanted; 0 = no limit."""
        self.cache: dict[int, tuple[list[tuple[int, float]], Value]] = {}
        """Answers of the network, as priors and value, by `State.key`: by all that the network sees."""
        self._key = random_u64(seed, 0)
        self._roots = 0
        self._waiting: list[Leaf] = []
        self._only: frozenset[int] = frozenset()
        self._used_priors: dict[int, float] = {}
        self._plant(make_node(state.copy()))

    # -- visits --------------------------------------------------------------------------------------------------------

    def run(self, evaluator: Evaluator, visits: int) -> None:
        """Visits the tree, one evaluation at a time, until its root has `visits` visits."""
        self.visit_limit = visits
        while self.wants_visit():
            self.visit(evaluator)

    def visit(self, evaluator: Evaluator) -> None:
        """Asks the network about one leaf (visits that end at a finished game or a cached position need no asking)."""
        for leaf in self.gather(1):
            self.apply([leaf], *evaluator(leaf.node.state.encode()[None]))

    def wants_visit(self) -> bool:
        """Whether another visit may begin: there are moves at the root, and the limit leaves room beyond what waits."""
        begun = self.root.visits + len(self._waiting)
        return self._can_move and (self.visit_limit == 0 or begun < self.visit_limit)

    def gather(self, rows: int) -> list[Leaf]:
        """Selects up to `rows` leaves for the network; a leaf whose value is known already is backed up at once.

        A descent that ends at a leaf which waits already is a collision: it stays in flight till the end of this call,
        so that the next descents avoid it, and is taken back then. After `max_collisions` of them the call ends.
        """
        leaves: list[Leaf] = []
        collisions: list[Leaf] = []
        free_visits = 0
        while len(leaves) < rows and self.wants_visit() and free_visits < MAX_FREE_VISITS:
            leaf = self._select()
            known = self._known_answer(leaf)
            if leaf.node.in_flight > 1:
                collisions.append(leaf)
                if leaf.node is self.root or len(collisions) == self.params.max_collisions:
                    break
            elif known:
                self._expand_and_backup(leaf, *known)
                free_visits += 1
            else:
                self._waiting.append(leaf)
                leaves.append(leaf)
        for leaf in collisions:
            change_in_flight(leaf, -1)
        return leaves

    def apply(self, leaves: Sequence[Leaf], policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Takes the network's answers: raw logits [B, A]; win, draw, loss of the leaf's mover [B, 3]."""
        answers = [
            (make_priors(leaf.node.state, logits, self.params), network_value(shares))
            for leaf, logits, shares in zip(leaves, policy_logits, wdl, strict=True)
        ]
        for leaf, answer in zip(leaves, answers, strict=True):
            self._waiting.remove(leaf)
            self._expand_and_backup(leaf, *answer)
            if self.params.cache_size:
                self.cache.setdefault(leaf.node.state.key, answer)

    def cancel(self, leaves: Sequence[Leaf]) -> None:
        """Takes the visits of waiting leaves back."""
        for leaf in leaves:
            self._waiting.remove(leaf)
            change_in_flight(leaf, -1)

    def _select(self) -> Leaf:
        """Walks from the root to a leaf along the edges with the largest scores, and marks the way as in flight."""
        path = [self.root]
        while path[-1].edges:
            edge = self._choose(path[-1])
            path.append(edge.child or behind(path[-1], edge))
        leaf = Leaf(tuple(path))
        change_in_flight(leaf, +1)
        return leaf

    def _choose(self, node: Node) -> Edge:
        """The edge of `node` that this visit takes."""
        if node is self.root:
            return select_edge(node, self.params, at_root=True, used=self._used_priors, only=self._only)
        return select_edge(node, self.params)

    def _known_answer(self, leaf: Leaf) -> tuple[list[tuple[int, float]], Value] | None:
        """Edges and value of a leaf that needs no network: a finished game, or a cached position."""
        if leaf.node.exact:
            return [], leaf.node.exact
        return self.cache.get(leaf.node.state.key)

    def _expand_and_backup(self, leaf: Leaf, priors: list[tuple[int, float]], value: Value) -> None:
        """Gives the leaf its edges, and moves the mean of every node on the way towards the leaf's value."""
        leaf.node.edges = [Edge(action, prior) for action, prior in priors]
        if leaf.node is self.root:
            self._dress_root()
        for node in leaf.path:
            update_node(node, value.seen_by(node.mover, leaf.node.mover))

    # -- the root ------------------------------------------------------------------------------------------------------

    def advance(self, action: int) -> None:
        """Plays `action`: the position behind it becomes the root, with its subtree if `reuse_tree` is set."""
        if self._waiting:
            raise ValueError(f"{len(self._waiting)} rows in flight: apply or cancel them first")
        child = next((edge.child for edge in self.root.edges if edge.action == action), None)
        if child and child.edges and self.params.reuse_tree:
            self._plant(child)
            return
        state = self.root.state.copy()
        state.play(action)
        self._plant(make_node(state))

    def restrict_root(self, actions: Sequence[int]) -> None:
        """Only these actions are chosen at the root, until the next `advance`; empty = all."""
        self._only = frozenset(actions)
        self._order_root()

    def root_visits(self) -> dict[int, int]:
        """N(root, a) of every action."""
        return {edge.action: edge.visits for edge in self.root.edges}

    def root_q(self) -> dict[int, float]:
        """Q(root, a) of every visited action, for the root's mover."""
        return {edge.action: edge_value(self.root, edge, self.params) for edge in self.root.edges if edge.visits}

    def _plant(self, root: Node) -> None:
        """Makes `root` the root. A game drawn by rule may be searched on: the end does not count at a root."""
        root.exact = None
        self.root = root
        self._can_move = len(root.state.legal_actions()) > 0
        self._only = frozenset()
        self._dress_root()

    def _dress_root(self) -> None:
        """Sets the priors that the root selects with, once for every root; the stored priors stay what they are."""
        if not self.root.edges:
            return
        priors = [edge.prior for edge in self.root.edges]
        temperature, noise = self.params.root_policy_temperature, self.params.dirichlet
        if temperature is not None:
            priors = retemper(priors, self.params.policy_temperature / temperature)
        if noise and noise.epsilon > 0:
            eta = dirichlet(random_u64(self._key, self._roots), 0, noise.alpha, len(priors))
            priors = mix_noise(priors, eta, noise.epsilon)
        actions = [edge.action for edge in self.root.edges]
        self._used_priors = dict(zip(actions, np.array(priors, np.float32).tolist(), strict=True))
        self._roots += 1
        self._order_root()

    def _order_root(self) -> None:
        """Puts the root's edges that were never chosen in the order of the priors in use, forbidden ones last."""

        def rank(edge: Edge) -> float:
            return -self._used_priors[edge.action] if not self._only or edge.action in self._only else 1.0

        chosen = self.root.num_chosen
        self.root.edges[chosen:] = sorted(self.root.edges[chosen:], key=rank)


# -- rules -------------------------------------------------------------------------------------------------------------


def select_edge(
    node: Node,
    params: SearchParams,
    *,
    at_root: bool = False,
    used: Mapping[int, float] | None = None,
    only: Collection[int] = (),
) -> Edge:
    """The edge with the largest score, among equals the first in order; it counts as chosen from now on.

    `used`: priors by action in the place of the stored ones; `only`: actions that may be chosen, empty = all.
    """
    scores = edge_scores(node, params, at_root=at_root, used=used)
    allowed = [k for k, edge in enumerate(node.edges) if not only or edge.action in only]
    return choose(node, max(allowed, key=scores.__getitem__))


def edge_scores(
    node: Node, params: SearchParams, *, at_root: bool = False, used: Mapping[int, float] | None = None
) -> list[float]:
    """PUCT: Q(s, a) + U(s, a) of every edge (AGZ, Methods, "Select"; AZ).

    U(s, a) = c_puct(N(s)) sqrt(max(sum_b N(s, b), 1)) P(s, a) / (1 + N(s, a) + F(s, a))

    F is ours: visits in flight count as visits here (virtual visits), and not in Q (no virtual loss).
    """
    priors = [edge_prior(edge, used) for edge in node.edges]
    unvisited_q = first_play_urgency(node, priors, params, at_root=at_root)
    exploration = exploration_factor(node, params, at_root=at_root)
    return [
        (edge_value(node, edge, params) if edge.visits else unvisited_q)
        + exploration * prior / (1 + edge.visits + edge.in_flight)
        for edge, prior in zip(node.edges, priors, strict=True)
    ]


def choose(node: Node, k: int) -> Edge:
    """Edge k of a node; if it was never chosen before it moves behind those that were."""
    if k >= node.num_chosen:
        node.edges.insert(node.num_chosen, node.edges.pop(k))
        k = node.num_chosen
        node.num_chosen += 1
    return node.edges[k]


def edge_value(node: Node, edge: Edge, params: SearchParams) -> float:
    """Place 1, the value of an edge with visits: Q(s, a) = W - L + draw utility * D of its child."""
    assert edge.child is not None
    return utility(edge.child.value.seen_by(node.mover, edge.child.mover), node.mover, params)


def first_play_urgency(node: Node, priors: Sequence[float], params: SearchParams, *, at_root: bool) -> float:
    """Place 1 for an edge without visits, by the root's own setting where there is one.

    reduction: Q(s) - value * sqrt(sum of P(s, b) over edges b with N(s, b) > 0), Q(s) the mean of s for its mover
    (lc0); absolute: value (AGZ has 0).
    """
    fpu: Fpu = (params.root_fpu if at_root else None) or params.fpu
    if fpu.kind == "absolute":
        return fpu.value
    visited = sum_in_order([prior for edge, prior in zip(node.edges, priors, strict=True) if edge.visits])
    return utility(node.value, node.mover, params) - fpu.value * math.sqrt(visited)


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


def step_size(visits: int) -> float:
    """Place 4, how far visit number `visits` moves the mean: 1 / visits, so that the mean is the plain average."""
    return 1.0 / visits


def update_node(node: Node, value: Value) -> None:
    """Place 5, the node's state after a visit: N += 1, mean += step * (value - mean), F -= 1 (AGZ, Methods, "Backup").

    W - L in float64; D in float32, as the core keeps it.
    """
    node.visits += 1
    node.in_flight -= 1
    step = step_size(node.visits)
    wl = node.value.wl + (value.wl - node.value.wl) * step
    d = np.float32(node.value.d) + (np.float32(value.d) - np.float32(node.value.d)) * np.float32(step)
    node.value = Value(wl, float(d))


def final_choice(node: Node, params: SearchParams) -> Edge:
    """Place 6, the action to play: most visits, then higher Q, then higher prior."""

    def merit(edge: Edge) -> tuple[int, float, float]:
        return edge.visits, edge_value(node, edge, params) if edge.visits else -math.inf, edge.prior

    return max(node.edges, key=merit)


# -- priors and values -------------------------------------------------------------------------------------------------


def make_priors(state: State, logits: NDArray[np.float32], params: SearchParams) -> list[tuple[int, float]]:
    """P(s, .) = softmax(logits / temperature) over the legal actions in float64, then rounded to 16 bit.

    As (action, prior), highest prior first, equal ones by action.
    """
    actions = [int(action) for action in state.legal_actions()]
    greatest = max(float(logits[action]) for action in actions)
    exp = lc0_exp if params.arithmetic == "lc0" else math.exp
    weights = [exp((float(logits[action]) - greatest) / params.policy_temperature) for action in actions]
    total = sum_in_order(weights)
    priors = [round_prior(weight / total) for weight in weights]
    return sorted(zip(actions, priors, strict=True), key=lambda pair: -pair[1])


def lc0_exp(x: float) -> float:
    """lc0's exp, in float32: 2^(k + f) ~ 2^k (1 + f (0.6602339 + 0.33976606 f)), k whole, 0 <= f < 1; within 0.4 %."""
    power = np.float32(math.log2(math.e)) * np.float32(x)
    if power < -126:
        return 0.0
    k = np.floor(power)
    f = power - k
    mantissa = np.float32(1) + f * (np.float32(0.6602339) + np.float32(0.33976606) * f)
    return math.ldexp(float(mantissa), int(k))


def lc0_ln(x: float) -> float:
    """lc0's ln, in float32: log2(2^k (1 + f)) ~ k + f (1.3465552 - 0.34655523 f), k whole, 0 <= f < 1; within 0.006."""
    half, exponent = np.frexp(np.float32(x))
    k, f = np.float32(exponent - 1), 2 * half - np.float32(1)
    return float(np.float32(math.log(2)) * (f * (np.float32(1.3465552) - np.float32(0.34655523) * f) + k))


def round_prior(prior: float) -> float:
    """A prior as it is stored, in 16 bit: exponents 2^-31 to 1, 11 bits of mantissa, rounded half up; less is 2^-31."""
    offset = 3 << 28
    bits = int(np.float32(prior).view(np.uint32))
    stored = max(bits + (1 << 11) - offset, 0) >> 12
    return float(np.uint32((stored << 12) | offset).view(np.float32))


def retemper(priors: Sequence[float], exponent: float) -> list[float]:
    """Priors at another temperature: P'(a) ~ P(a)^exponent, exponent = policy temperature / root policy temperature."""
    weights = [math.pow(prior, exponent) for prior in priors]
    total = sum_in_order(weights)
    return [weight / total for weight in weights]


def mix_noise(priors: Sequence[float], eta: NDArray[np.float64], epsilon: float) -> list[float]:
    """P'(a) = (1 - epsilon) P(a) + epsilon eta(a), eta ~ Dir(alpha)   (AGZ, Methods, "Self-play"; AZ)."""
    return [(1.0 - epsilon) * prior + epsilon * noise for prior, noise in zip(priors, eta.tolist(), strict=True)]


def network_value(wdl: NDArray[np.float32]) -> Value:
    """V of the leaf's mover from the network's shares of win, draw and loss."""
    win, draw, loss = (float(share) for share in wdl)
    return Value(min(max(win - loss, -1.0), 1.0), min(max(draw, 0.0), 1.0))


def sum_in_order(terms: Sequence[float]) -> float:
    """The sum from left to right, each step rounded (`sum` of Python 3.12 and later compensates the rounding)."""
    total = 0.0
    for term in terms:
        total += term
    return total


# -- nodes -------------------------------------------------------------------------------------------------------------


def make_node(state: State) -> Node:
    """A new node for `state`, which it keeps."""
    outcome = state.outcome()
    exact = None if outcome is None else Value(float(outcome), float(outcome == 0)).seen_by(state.to_move, 0)
    return Node(state, state.to_move, exact)


def behind(node: Node, edge: Edge) -> Node:
    """Makes the node that `edge` of `node` leads to."""
    state = node.state.copy()
    state.play(edge.action)
    edge.child = make_node(state)
    return edge.child


def change_in_flight(leaf: Leaf, change: int) -> None:
    """Counts the visit to `leaf` as in flight (+1), or takes it back (-1)."""
    for node in leaf.path:
        node.in_flight += change

"""Several nets in one tree, MPV-MCTS: a small net searches, larger ones correct the most visited nodes.

Lan, Li, Wei, Wu, "Multiple Policy Value Monte Carlo Tree Search", IJCAI 2019, where the two nets have a tree each that
share what they know of a state; one tree with two statistics a node is the same (section 5 there). N_S, W_S / N_S are
`node.visits` and `node.value`, N_L, W_L / N_L those of `node.larger[net]`. Of more than two nets the paper says that
the smallest one alone selects by PUCT.

The node for a larger net is found by looking at all of them; the core keeps a queue for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State, random_u64
from hauteur.mcts.params import SearchParams, SecondNet
from reference.backup import update_node
from reference.priors import make_priors, network_value, shown_features, sum_in_order
from reference.scores import Scores, choose, edge_value, utility
from reference.search import MAX_FREE_VISITS, Evaluator, Search, stored
from reference.second_net_tree import (
    TwoLeaf,
    TwoNode,
    mark,
    reopen_large,
    shift_means,
    two_node,
    update_large,
)
from reference.second_net_turns import LARGE, SMALL, TURN_STREAM, Net, budgets, next_net
from reference.second_net_weights import alphas, further_nets, mixed_prior, mixed_value
from reference.tree import NO_VALUE, Edge, Leaf, Node, Value, count_replies


@dataclass(eq=False)
class Seen(Node):
    """A node as the turn of one net sees it: that net's visits, the value by all."""

    valued: bool = False
    """True if there is a value."""


def node_value(node: TwoNode, net: Net, rule: SecondNet) -> Value | None:
    """V(s) = sum of alpha_i V_i(s), eq. (3), where V_i are the means over each net's turns.

    Only nets with visits count, and without any there is no value. A net that has the whole weight searches its own
    tree as if the others were not there. Reading B (`states`): the small mean is one of mixed values.
    """
    every = alphas(rule)
    has_all = all(other == net or weight == 0.0 for other, weight in enumerate(every))
    visited = [other for other in range(len(every)) if node.tally(other).visits]
    counted = [other for other in visited if other == net or not has_all]
    if rule.values == "states" and SMALL in counted:
        return node.value
    return mixed_value(rule, {other: node.tally(other).value for other in counted}) if counted else None


def node_prior(node: TwoNode, action: int, rule: SecondNet) -> float:
    """P(s, a) = sum of beta_i p_i(s, a), eq. (4), of the nets that know the node."""
    return mixed_prior(rule, {net: priors[action] for net, (priors, _) in node.answers.items()})


class TwoNetScores(Scores):
    """Scores of a node as one net's turn sees it: an edge without visits of this net may have a value by the other."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fpu = (self.params.root_fpu if self.at_root else None) or self.params.fpu
        if fpu.kind != "absolute":
            base = self.node.network if fpu.kind == "parent_value" else self.node.value
            pairs = zip(self.node.edges, self.priors, strict=True)
            visited = sum_in_order([prior for edge, prior in pairs if is_valued(edge)])
            self.unvisited_q = utility(base, self.node.mover, self.params) - fpu.value * math.sqrt(visited)

    def value(self, edge: Edge) -> float:
        """Place 1. Rules that count visits find none on an edge that has only the other net's value."""
        if edge.visits or not is_valued(edge):
            return super().value(edge)
        first_play = self.unvisited_q
        self.unvisited_q = edge_value(self.node, edge, self.params)
        q = super().value(edge)
        self.unvisited_q = first_play
        return q

    def best(self, only: frozenset[int]) -> int:
        """Index of the edge with the largest score; among equals the greatest prior, then the first action wins."""
        scores = self.all()
        allowed = [k for k, edge in enumerate(self.node.edges) if not only or edge.action in only]
        return max(allowed, key=lambda k: (scores[k], self.priors[k], -self.node.edges[k].action))


def is_valued(edge: Edge) -> bool:
    """Return whether this turn has a value behind the edge."""
    return isinstance(edge.child, Seen) and edge.child.valued


class TwoNetSearch(Search):
    """One tree for two nets or more. The visit limit counts the root's small visits."""

    root: TwoNode

    def __init__(self, state: State, params: SearchParams, seed: int = 0) -> None:
        """Require a section `second_net` in `params` that uses all its nets."""
        assert params.second_net
        assert params.second_net.small_visits > 0
        assert params.second_net.large_visits > 0
        self.rule = params.second_net
        self.nets = range(len(budgets(self.rule)))
        """The nets, the smallest first."""
        further = [net.priority for net in further_nets(self.rule)]
        self.priorities: list[str] = ["own_puct", self.rule.priority, *further]
        """By net: how its next leaf is chosen."""
        self._turns = 0
        self._entries = dict.fromkeys(self.nets, 0)
        self.caches: dict[Net, dict[int, tuple[list[tuple[int, float]], Value]]] = {net: {} for net in self.nets}
        super().__init__(state, params, seed)

    # -- turns ---------------------------------------------------------------------------------------------------------

    def run_all(self, evaluators: Sequence[Evaluator], visits: int) -> None:
        """Search, one evaluation at a time, until the root has `visits` small visits and others in proportion."""
        self.visit_limit = visits
        while (net := self.next_net()) is not None:
            for leaf in self.gather(1, net):
                self.apply([leaf], *evaluators[net](shown_features(leaf.node.state, self.params)[None]))

    def next_net(self) -> Net | None:
        """Return the net of the next turn; None when no turn may begin."""
        if not self._can_move:
            return None
        kept = self._favours_right_side()
        begun = [kept * self.root.tally(net).visits + self._count_waiting(net) for net in self.nets]
        word = random_u64(random_u64(self._key, TURN_STREAM), self._turns)
        return next_net(self.rule, begun, self.visit_limit, (word >> 11) / 2.0**53)

    def wants_visit(self) -> bool:
        """Return whether another turn may begin."""
        return self.next_net() is not None

    def gather(self, rows: int, net: Net = SMALL) -> list[Leaf]:
        """Select up to `rows` leaves for this net, as long as its turns come next; collisions as with one net."""
        if self.next_net() == net:
            self._settle_contempt()
        leaves: list[Leaf] = []
        collisions: list[TwoLeaf] = []
        free_visits = 0
        while len(leaves) < rows and self.next_net() == net and free_visits < MAX_FREE_VISITS:
            leaf = self._select_for(net)
            if leaf is None:
                break
            mark(leaf, +1)
            known = self._known_to(leaf.node, net)
            if leaf.node.tally(net).in_flight > 1:
                collisions.append(leaf)
                if leaf.node is self.root or len(collisions) == self.params.max_collisions:
                    break
                continue
            self._turns += 1
            if known:
                self._take_answer(leaf, *known)
                free_visits += 1
            else:
                self.waiting.append(leaf)
                leaves.append(leaf)
        for leaf in collisions:
            mark(leaf, -1)
        return leaves

    def apply(self, leaves: Sequence[Leaf], policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Take the answers of the net that the leaves were gathered for."""
        for leaf, logits, shares in zip(leaves, policy_logits, wdl, strict=True):
            assert isinstance(leaf, TwoLeaf)
            self.waiting.remove(leaf)
            answer = make_priors(leaf.node.state, logits, self.params), network_value(shares)
            self._take_answer(leaf, *answer)
            if self.params.cache_size:
                self.caches[leaf.net].setdefault(leaf.node.state.key, answer)

    def cancel(self, leaves: Sequence[Leaf]) -> None:
        """Take the turns of waiting leaves back."""
        for leaf in leaves:
            assert isinstance(leaf, TwoLeaf)
            self.waiting.remove(leaf)
            mark(leaf, -1)
            self._turns -= 1

    def _count_waiting(self, net: Net) -> int:
        return sum(isinstance(leaf, TwoLeaf) and leaf.net == net for leaf in self.waiting)

    # -- selection -----------------------------------------------------------------------------------------------------

    def _select_for(self, net: Net) -> TwoLeaf | None:
        """The leaf of this net's next turn; None when a larger net should wait for its own answers first.

        Larger net: of the nodes that it does not know, but knows the parent of, the one with the greatest N_S, among
        equals the first to come there. Where none has N_S > 0, the leaf that PUCT reaches with the net's own visits.
        """
        if self.priorities[net] == "own_puct" or net not in self.root.answers:
            return self._descend(net)
        if frontier := list(self._frontier(self.root, (), net)):
            return TwoLeaf(max(frontier, key=lambda path: self._priority(path, net)), net)
        return None if self._count_waiting(net) else self._descend(net)

    def _frontier(self, node: TwoNode, above: tuple[TwoNode, ...], net: Net) -> Iterator[tuple[TwoNode, ...]]:
        """The paths to all nodes that a larger net may take."""
        path = (*above, node)
        for child in node.children if net in node.answers else []:
            yield from self._frontier(child, path, net)
            free = net not in child.answers and child.exact is None and not child.larger[net].in_flight
            if free and child.visits:
                yield (*path, child)

    def _priority(self, path: tuple[TwoNode, ...], net: Net) -> tuple[float, int]:
        """N_S, with `parent_bonus` that of the parent in part, then first in, first out."""
        bonus = self.rule.parent_bonus if self.priorities[net] == "parent_bonus" else 0.0
        return path[-1].visits + bonus * path[-2].visits, -path[-1].entered[net]

    def _descend(self, net: Net) -> TwoLeaf:
        """PUCT with the visits of this net, to the first node that it does not know."""
        path = [self.root]
        self._grown_for = self.root.mover if net in self.root.answers else self._grown_for
        while net in path[-1].answers:
            node = path[-1]
            drawn = self._draw_frozen(node) if net == SMALL and node is not self.root else None
            edge = choose(node, drawn or node.edges[self._best(node, net, len(path))])
            if not isinstance(edge.child, TwoNode):
                edge.child = two_node(node, edge)
            path.append(edge.child)
        return self._scored(TwoLeaf(tuple(path), net))

    def _best(self, node: TwoNode, net: Net, depth: int) -> int:
        at_root = node is self.root
        used = self._used_priors if at_root else None
        scores = TwoNetScores(self._seen_with_edges(node, net), self.params, at_root=at_root, used=used, depth=depth)
        return scores.best(self._only if at_root else frozenset())

    def _seen_with_edges(self, node: TwoNode, net: Net) -> Seen:
        """Return a node as seen by a turn of this net, with its edges and the nodes behind them."""
        seen = self._seen(node, net)
        for edge in node.edges:
            child = self._seen(edge.child, net) if isinstance(edge.child, TwoNode) else None
            prior = node_prior(node, edge.action, self.rule)
            seen.edges.append(Edge(edge.action, prior, child, edge.replies))
        return seen

    def _seen(self, node: TwoNode, net: Net) -> Seen:
        value = node_value(node, net, self.rule)
        own = node.tally(net)
        seen = Seen(node.state, node.mover, node.exact, network=node.network, valued=value is not None)
        seen.visits = own.visits
        seen.in_flight = own.in_flight
        seen.value = value or NO_VALUE
        return seen

    # -- answers -------------------------------------------------------------------------------------------------------

    def _known_to(self, node: TwoNode, net: Net) -> tuple[list[tuple[int, float]], Value] | None:
        if node.exact and not node.answers:
            return [], node.exact
        return self.caches[net].get(node.state.key)

    def _take_answer(self, leaf: TwoLeaf, priors: list[tuple[int, float]], value: Value) -> None:
        """Give the leaf its net's answer, and move the mean of every node on the path."""
        path = leaf.path
        node = leaf.node
        net = leaf.net
        counted = value
        if node.exact is None or node.answers:
            counted = self._learn(path, net, priors, value)
        for above in path:
            seen = counted.seen_by(above.mover, node.mover)
            if net == SMALL:
                update_node(above, seen, self.params)
            else:
                update_large(above.larger[net], seen)
        if net == SMALL:
            self._note_small_turn(path)

    def _learn(self, path: Sequence[TwoNode], net: Net, priors: list[tuple[int, float]], value: Value) -> Value:
        """Keep an answer. Returns the value to back up: in reading B a further answer changes what the first counts."""
        node = path[-1]
        is_new = not path[-1].answers
        if is_new:
            node.edges = [Edge(action, prior) for action, prior in priors]
            node.network = stored(value)
        before = dict(node.answers)
        node.answers[net] = dict(priors), stored(value)
        if before:
            node.network = stored(mixed_value(self.rule, {each: said for each, (_, said) in node.answers.items()}))
        if node is self.root:
            self._dress_root() if is_new else self._mix_root_priors()
        else:
            self._sort_unvisited(node)
        if self.params.tree_balance:
            for edge in node.edges:
                edge.replies = count_replies(node, edge)
        said = {each: value for each, (_, value) in before.items()}
        if net != SMALL:
            if SMALL in before:
                shift_means(path, self._correction({**said, net: value}, mixed_value(self.rule, said)))
            for child in node.children:
                self._enter(child, net)
            return value
        if before:
            change = self._correction({**said, net: value}, value)
            return Value(value.wl + change.wl, float(np.float32(value.d) + np.float32(change.d)))
        return value

    def _correction(self, values: dict[Net, Value], counted: Value) -> Value:
        """Return the sum of alpha_i v_i minus the value counted so far (reading B; else zero)."""
        if self.rule.values == "means":
            return NO_VALUE
        mixed = mixed_value(self.rule, values)
        return Value(mixed.wl - counted.wl, float(np.float32(mixed.d) - np.float32(counted.d)))

    def _sort_unvisited(self, node: TwoNode) -> None:
        """Put the edges that were never chosen in the order of P, equal ones by action."""

        def rank(edge: Edge) -> tuple[float, int]:
            return -node_prior(node, edge.action, self.rule), edge.action

        node.edges[node.num_chosen :] = sorted(node.edges[node.num_chosen :], key=rank)

    # -- the frontiers -------------------------------------------------------------------------------------------------

    def _note_small_turn(self, path: Sequence[TwoNode]) -> None:
        """The first node of a small turn's path that a larger net does not know is on its frontier from now on."""
        for net in self.nets[1:]:
            crossing = next((node for node in path if net not in node.answers), None)
            if crossing and crossing is not self.root:
                self._enter(crossing, net)

    def _enter(self, node: TwoNode, net: Net) -> None:
        if node.visits and node.exact is None and net not in node.answers and net not in node.entered:
            self._entries[net] += 1
            node.entered[net] = self._entries[net]

    # -- the root ------------------------------------------------------------------------------------------------------

    def root_q(self) -> dict[int, float]:
        """Q(root, a) by all nets of every action with a value, for the root's mover."""
        root = self._seen_with_edges(self.root, SMALL) if self.root.answers else Seen(self.root.state, 0, None)
        return {edge.action: edge_value(root, edge, self.params) for edge in root.edges if is_valued(edge)}

    def root_visits_of(self, net: Net = LARGE) -> dict[int, int]:
        """The visits of a net's turns to every action."""
        children = {edge.action: edge.child for edge in self.root.edges}
        return {a: child.tally(net).visits if isinstance(child, TwoNode) else 0 for a, child in children.items()}

    def root_mixed_priors(self) -> dict[int, float]:
        """P(root, a) without noise."""
        return {edge.action: node_prior(self.root, edge.action, self.rule) for edge in self.root.edges}

    def _reopen_repeats(self) -> None:
        for net in self.nets[1:]:
            reopen_large(self.root, self.params.repetition, net)
        super()._reopen_repeats()

    def _has_tree(self, node: Node) -> bool:
        return isinstance(node, TwoNode) and bool(node.answers)

    def _plant(self, root: Node) -> None:
        """Make `root` the root; a node without statistics gets them."""
        super()._plant(root if isinstance(root, TwoNode) else TwoNode(root.state, root.mover, root.exact))

    def _dress_root(self) -> None:
        """Draw the noise of a new root, and set its priors."""
        if not self.root.edges:
            return
        self._draw_root_noise()
        self._roots += 1
        self._mix_root_priors()

    def _own_priors(self) -> list[float]:
        return [node_prior(self.root, edge.action, self.rule) for edge in self.root.edges]

    def _order_root(self) -> None:
        """Put the root's edges that were never chosen in the order of the priors in use, forbidden ones last."""

        def rank(edge: Edge) -> tuple[float, int]:
            allowed = not self._only or edge.action in self._only
            return -self._used_priors[edge.action] if allowed else 1.0, edge.action

        self.root.edges[self.root.num_chosen :] = sorted(self.root.edges[self.root.num_chosen :], key=rank)

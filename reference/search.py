"""One search: visits, and the root. `Search.visit` is one visit (select, evaluate, expand, backup); `gather` and
`apply` are the same visit cut in two, so that several leaves can wait for the network together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State
from hauteur.mcts.own_rules import Rule, RuleChain
from hauteur.mcts.params import ForcedPlayouts, SearchParams
from reference import repetition, search_contempt, wdl_contempt
from reference.backup import final_choice, update_node
from reference.draws import Draws
from reference.forced_playouts import forced_edge, pruned_visits
from reference.halving import improved_edge, knowledge
from reference.hooks import acts_of
from reference.lower_bound import lower_bounds
from reference.outside import keep, show_node, show_way
from reference.positions import index_positions, with_position_of
from reference.posterior import posterior
from reference.priors import make_priors, network_value, shown_features, sum_in_order
from reference.root import RootedTree
from reference.scores import Scores, best_edge, choose, edge_value, root_spread, step_size
from reference.solver import (
    Climb,
    forced_move,
    is_decided,
    prove_finished,
    spread_bounds,
    value_forced,
)
from reference.tree import Edge, Leaf, Node, Value, behind, change_in_flight, count_replies, make_node

Evaluator: TypeAlias = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]
"""features [B, C, H, W] -> policy logits [B, A] and win, draw, loss of the mover [B, 3]."""

AnyLeaf = TypeVar("AnyLeaf", bound=Leaf)

MAX_FREE_VISITS = 4096
"""Visits that need no network before one `gather` hands control back."""


class Search(RootedTree):
    """One tree: a root position, and all that visits have found out below it."""

    edge_type: type[Edge] = Edge

    def __init__(self, state: State, params: SearchParams, seed: int = 0, rules: Sequence[Rule] = ()) -> None:
        """`seed` keys the random draws of this tree, like that of `Forest.add`; `rules`: those written in Python."""
        super().__init__(state, params, seed)
        self.rules = RuleChain(rules)
        self._via = -1
        """Place of the edge that the present descent has taken last, in the node that rules were shown."""
        self.visit_limit = 0
        """Root visits, own evaluation included, at which the search ends; 0 = no limit."""
        self.cache: dict[int, tuple[list[tuple[int, float]], Value]] = {}
        """Answers of the network, as priors and value, by `State.key`: by all that the network sees."""
        self.draws = Draws(self._key)
        self.waiting: list[Leaf] = []
        """The leaves that wait for the network."""
        self.followers: list[Leaf] = []
        """The leaves that wait for the answer to another leaf with their position."""

    # -- visits --------------------------------------------------------------------------------------------------------

    def run(self, evaluator: Evaluator, visits: int) -> None:
        """Visit the tree, one evaluation at a time, until its root has `visits` visits."""
        self.visit_limit = visits
        while self.wants_visit():
            self.visit(evaluator)

    def visit(self, evaluator: Evaluator) -> None:
        """Query the network about one leaf (visits that end at a finished game or a cached position need no query)."""
        for leaf in self.gather(1):
            self.apply([leaf], *evaluator(shown_features(leaf.node.state, self.params)[None]))

    def wants_visit(self) -> bool:
        """Return whether a visit may begin: undecided root with moves, limit above the visits done and in flight."""
        relative = self._proofs_in_support() and self._is_grown_for_other()
        if is_decided(self.root, self.params, self._only) and not relative:
            return False
        begun = len(self.waiting) + len(self.followers) + (self.root.visits if self._favours_right_side() else 0)
        return self._can_move and (self.visit_limit == 0 or begun < self.visit_limit)

    def gather(self, rows: int) -> list[Leaf]:
        """Select up to `rows` leaves for the network; a leaf whose value is known already is backed up at once.

        A descent that ends at a leaf which waits already is a collision: it stays in flight till the end of this call,
        so that the next descents avoid it, and is taken back then. After `max_collisions` of them the call ends.
        """
        if self.wants_visit():
            self._settle_contempt()
        leaves: list[Leaf] = []
        collisions: list[Leaf] = []
        begun = free_visits = 0
        while begun < rows and self._may_descend() and free_visits < MAX_FREE_VISITS:
            leaf = self._select()
            if self._is_closed(leaf.node):
                self._end_visit(leaf)
                free_visits += 1
                continue
            if leaf.node.in_flight == 1:
                leaf = self._extended(leaf)
            known = self._known_answer(leaf)
            if leaf.node.in_flight > 1:
                collisions.append(leaf)
                if leaf.node is self.root or len(collisions) == self.params.max_collisions:
                    break
            elif known:
                self._expand_and_backup(leaf, *known)
                free_visits += 1
            elif self._shares_positions and with_position_of(leaf, self.waiting):
                self.followers.append(leaf)
                free_visits += 1
            else:
                self.waiting.append(leaf)
                begun += 1
                if self._needs_network(leaf):
                    leaves.append(leaf)
        for leaf in collisions:
            change_in_flight(leaf, -1)
        return leaves

    def apply(self, leaves: Sequence[Leaf], policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Take the network's answers: raw logits [B, A]; win, draw, loss of the leaf's mover [B, 3]."""
        answers = [
            (make_priors(leaf.node.state, logits, self.params), network_value(shares))
            for leaf, logits, shares in zip(leaves, policy_logits, wdl, strict=True)
        ]
        for leaf, answer in zip(leaves, answers, strict=True):
            self.waiting.remove(leaf)
            self._expand_and_backup(leaf, *answer)
            if self.params.cache_size:
                self.cache.setdefault(leaf.node.state.key, answer)
            for follower in self._take_followers(leaf):
                known = self.positions[follower.node.state.position_key].answer
                assert known is not None, "a node is found by its position once it has an answer"
                self._expand_and_backup(follower, *known)

    def cancel(self, leaves: Sequence[Leaf]) -> None:
        """Take the visits of waiting leaves back."""
        for leaf in leaves:
            self.waiting.remove(leaf)
            for taken_back in [leaf, *self._take_followers(leaf)]:
                change_in_flight(taken_back, -1)

    def _take_followers(self, leaf: Leaf) -> list[Leaf]:
        """Return the leaves that waited for the answer to this one, which wait no longer."""
        taken = with_position_of(leaf, self.followers)
        self.followers = [follower for follower in self.followers if follower not in taken]
        return taken

    def _needs_network(self, leaf: Leaf) -> bool:  # noqa: ARG002
        """Return whether a leaf that begins to wait needs a row of the network now (a model of the opponent may do)."""
        return True

    def _may_descend(self) -> bool:
        """Return whether a descent may begin now: with Gumbel not while the end of a phase waits for answers."""
        if not self.wants_visit():
            return False
        begun = self.root.visits + len(self.waiting) + len(self.followers)
        return self._halving is None or not self._halving.waits(self.visit_limit, begun)

    def _select(self) -> Leaf:
        """Walks from the root to a leaf along the edges with the largest scores, and marks the way as in flight."""
        self._grown_for = self.root.mover if self.root.edges else self._grown_for
        path = [self.root]
        spread = root_spread(self.root, self.params)
        while path[-1].edges and not self._is_closed(path[-1]):
            edge, spread = self._choose(path[-1], len(path), spread)
            path.append(edge.child or behind(path[-1], edge))
        leaf = Leaf(tuple(path))
        change_in_flight(leaf, +1)
        return self._scored(leaf)

    def _scored(self, leaf: AnyLeaf) -> AnyLeaf:
        """The leaf; if it is a repeat that counts, it has its exact value."""
        rule = self.params.repetition
        if rule and not leaf.node.exact and not leaf.node.edges:
            repetition.score_repeat(rule, leaf.node, depth=len(leaf.path) - 1)
        return leaf

    def _is_closed(self, node: Node) -> bool:
        """Return whether visits end at a node with edges, as its result is proven. The root is never closed."""
        return self.params.solver is not None and node is not self.root and bool(node.edges) and node.bounds.is_proven

    def _extended(self, leaf: Leaf) -> Leaf:
        """The leaf, or where its only move, and the only replies to it, lead."""
        while leaf.node is not self.root and not leaf.node.exact:
            action = forced_move(leaf.node, self.params)
            if action is None:
                break
            leaf.node.edges = [Edge(action, 1.0)]
            leaf.node.forced = True
            self._count_replies(leaf.node)
            child = behind(leaf.node, choose(leaf.node, leaf.node.edges[0]))
            child.in_flight = 1
            leaf = self._scored(Leaf((*leaf.path, child)))
        return leaf

    def _choose(self, node: Node, depth: int, spread: float) -> tuple[Edge, float]:
        """The edge of `node` that this visit takes, and sigma^2 of the values behind it."""
        at_root = node is self.root
        ruled = self._edge_by_rule(node)
        scores = Scores(
            node,
            self.params,
            at_root=at_root,
            used=self._used_priors if at_root else None,
            depth=depth,
            spread=spread,
            draws=self.draws,
            rules=self.rules,
            only=self._only if at_root else (),
            via=-1 if at_root else self._via,
        )
        edge = ruled or best_edge(scores)
        self._via = -1 if ruled else next(k for k, other in enumerate(node.edges) if other is edge)
        return choose(node, edge), scores.spread_behind(edge)

    def _edge_by_rule(self, node: Node) -> Edge | None:
        """The edge that a rule in the place of PUCT takes, if there is one."""
        if node is self.root:
            rule = self._forcing()
            forced = forced_edge(rule, node, self.params, self._used_priors, self._only) if rule else None
            return self._halving.next_edge() if self._halving else forced
        return self._draw_frozen(node) or self._improved_edge(node)

    def _improved_edge(self, node: Node) -> Edge | None:
        """The edge that follows the improved policy, where Gumbel takes it below the root."""
        if self.params.gumbel and self.params.gumbel.below_root == "improved_policy":
            return improved_edge(node, self.params, self.params.gumbel)
        return None

    def _draw_frozen(self, node: Node) -> Edge | None:
        """The edge that search-contempt draws at a node below the root; None where PUCT decides."""
        rule = self.params.search_contempt
        return search_contempt.draw_edge(rule, node, self.root.mover, self.draws) if rule else None

    def _known_answer(self, leaf: Leaf) -> tuple[list[tuple[int, float]], Value] | None:
        """Edges and value of a leaf that needs no network: a finished game, or a cached position."""
        if leaf.node.exact:
            return [], leaf.node.exact
        known = self.cache.get(leaf.node.state.key)
        if known or not self._shares_positions:
            return known
        first = self.positions.get(leaf.node.state.position_key)
        return first.answer if first else None

    @property
    def _shares_positions(self) -> bool:
        """Return whether one answer serves all nodes of the tree with the same position."""
        return self.params.cache_key == "position"

    def _plant(self, root: Node) -> None:
        """Make `root` the root, and find the nodes below it by their positions, those nearest to the root first."""
        super()._plant(root)
        self.positions = index_positions(root) if self._shares_positions else {}
        """The first node with an answer by `State.position_key`, where one answer serves all of them."""

    def _expand_and_backup(self, leaf: Leaf, priors: list[tuple[int, float]], value: Value) -> None:
        """Give the leaf its edges, and move the mean of every node on the way towards the leaf's value."""
        if self._shares_positions and not leaf.node.exact:
            leaf.node.answer = priors, value if self.params.wdl_contempt else stored(value)
            self.positions.setdefault(leaf.node.state.position_key, leaf.node)
        if not leaf.node.exact:
            value = wdl_contempt.shifted(value, sign=self._contempt_sign(leaf.node.mover), params=self.params)
        leaf.node.edges = [self.edge_type(action, prior) for action, prior in priors]
        leaf.node.network = stored(value)
        self._count_replies(leaf.node)
        if self.params.solver and self.params.solver.lookahead:
            self._look_ahead(leaf.node)
        if leaf.node is self.root:
            self._dress_root()
        if self.params.solver:
            value_forced(leaf.path, leaf.node.network, leaf.node.mover)
            self._spread_bounds(leaf)
        self._back_up(leaf, value)

    def _end_visit(self, leaf: Leaf) -> None:
        """Back up the visit that has ended at a node with edges, whose result is proven."""
        self._back_up(leaf, leaf.node.bounds.value)

    def _look_ahead(self, node: Node) -> None:
        """Look one ply ahead from a new node (solver)."""
        prove_finished(node, choose)

    def _spread_bounds(self, leaf: Leaf) -> None:
        """Carry what is proven at a leaf towards the root (solver)."""
        spread_bounds(leaf.path, self._only, in_support=self._proofs_in_support())

    def _back_up(self, leaf: Leaf, value: Value) -> None:
        """Move the mean of every node on the way towards a value of the leaf's mover."""
        self._keep_of_rules(leaf, value)
        if self.params.solver:
            self._back_up_bounded(leaf, value)
            return
        steps: list[float | None] = [None] * len(leaf.path)
        if {"step_size", "after_backup"} & {*self.rules.places}:
            show_way(self.rules, leaf, value, [step_size(node.visits + 1, self.params) for node in reversed(leaf.path)])
            steps = list(self.rules.steps()[::-1]) if "step_size" in self.rules.places else steps
        for node, step in zip(leaf.path, steps, strict=True):
            update_node(node, value.seen_by(node.mover, leaf.node.mover), self.params, step)
        if "after_backup" in self.rules.places:
            keep(self.rules, leaf)

    def _keep_of_rules(self, leaf: Leaf, value: Value) -> None:
        """Place 5: let rules change what they keep of the edges on the way, as those who chose them see the visit."""
        acts = acts_of(self.params)["after_backup"]
        for above, node in zip((leaf.path[0], *leaf.path), leaf.path, strict=False):
            seen = value.seen_by(above.mover, leaf.node.mover).wl
            mean = node.value.seen_by(above.mover, node.mover).wl
            for name, act, rule in acts:
                node.kept_by[name] = act(rule, node.kept_by.get(name, 0.0), node.visits + 1, seen, mean)

    def _back_up_bounded(self, leaf: Leaf, value: Value) -> None:
        """Backup where nodes may be proven (solver)."""
        climb = Climb(value, leaf.node.mover, self.params)
        for node in reversed(leaf.path):
            climb.turn_to(node.mover)
            if node.bounds.is_proven and node is not self.root:
                climb.pass_proven(node)
            else:
                climb.meet(node)
                update_node(node, climb.value, self.params)

    def _count_replies(self, node: Node) -> None:
        """Count the replies behind the edges of a new node, for tree balance."""
        if self.params.tree_balance:
            for edge in node.edges:
                edge.replies = count_replies(node, edge)

    # -- the root ------------------------------------------------------------------------------------------------------

    def advance(self, action: int) -> None:
        """Play `action`: the position behind it becomes the root, with its subtree if `reuse_tree` is set."""
        if self.waiting:
            raise ValueError(f"{len(self.waiting)} rows in flight: apply or cancel them first")
        child = next((edge.child for edge in self.root.edges if edge.action == action), None)
        if child and self._has_tree(child) and self.params.reuse_tree:
            self._plant(child)
            self._reopen_repeats()
            return
        state = self.root.state.copy()
        state.apply(action)
        self._plant(make_node(state))

    def _reopen_repeats(self) -> None:
        """Take back the visits of repeats that count no longer."""
        if self.params.repetition and self.params.repetition.mode == "inline_value":
            averaged = self.params.q_average is not None or "step_size" in self.rules.places
            repetition.reopen(self.root, self.params.repetition, averaged=averaged)

    def _has_tree(self, node: Node) -> bool:
        """Return whether a node behind an edge has a tree to keep."""
        return bool(node.edges) and node.visits > 0

    def best_action(self) -> int | None:
        """Place 6, the action to play; None before the root was evaluated, or where there is none."""
        if not self.root.edges:
            return None
        scores = self._choice_scores()
        return final_choice(self.root, self.params, only=self._only, scores=scores).action

    def _choice_scores(self) -> Mapping[int, float] | None:
        """By what the action is chosen, if a rule says so."""
        if "final_score" in self.rules.places:
            show_node(self.rules, self.root, only=self._only)
            found = self.rules.final_scores().tolist()
            return {edge.action: score for edge, score in zip(self.root.edges, found, strict=True)}
        return self._halving.choice() if self._halving else lower_bounds(self.root, self.params, self._only)

    def policy_target(self) -> dict[int, float]:
        """Return the policy target: shares of visits, the priors before the first; with Gumbel or the posterior theirs.

        With forced playouts the visits are pruned; a proven win gets the whole share.
        """
        if self.params.solver and self.root.edges and self.root.bounds.lower == 1:
            win = self.best_action()
            return {edge.action: float(edge.action == win) for edge in self.root.edges}
        if self._halving:
            return self._halving.policy()
        if self.params.posterior and self.root.edges:
            shares = posterior(self.params.posterior, knowledge(self.root, self.params))
            return {edge.action: share for edge, share in zip(self.root.edges, shares, strict=True)}
        rule = self._forcing()
        visits = self._pruned_visits(rule) if rule and self.root.edges else self.root_visits()
        weights = visits if any(visits.values()) else {edge.action: edge.prior for edge in self.root.edges}
        total = sum_in_order(list(weights.values()))
        return {action: weight / total for action, weight in weights.items()}

    def _forcing(self) -> ForcedPlayouts | None:
        """The rule of forced playouts, unless the root is searched as in play."""
        return None if self._quiet else self.params.forced_playouts

    def _pruned_visits(self, rule: ForcedPlayouts) -> dict[int, int]:
        """Return the visits of the root's actions without the forced ones; rules in Python have no say in that."""
        spread = root_spread(self.root, self.params)
        scores = Scores(self.root, self.params, at_root=True, used=self._used_priors, spread=spread)
        return pruned_visits(rule, scores, self._used_priors)

    def root_visits(self) -> dict[int, int]:
        """N(root, a) of every action."""
        return {edge.action: edge.visits for edge in self.root.edges}

    def root_q(self) -> dict[int, float]:
        """Q(root, a) of every visited action, for the root's mover."""
        return {edge.action: edge_value(self.root, edge, self.params) for edge in self.root.edges if edge.visits}

    def _proofs_in_support(self) -> bool:
        """Return whether frozen nodes take proofs only from the edges that may be drawn."""
        rule = self.params.search_contempt
        return rule is not None and rule.proofs_respect_contempt


def stored(value: Value) -> Value:
    """The network's own value of a node as the core keeps it, in float32."""
    return Value(float(np.float32(value.wl)), value.d)

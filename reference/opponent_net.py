"""A model of the opponent: a second network M gives the priors of the nodes where the root player's opponent moves.

At such a node s, at most `plies` below the root, P_r(s, a) = softmax(logits_M(s) / T_M). Values everywhere, and priors
where the root's player moves, are those of the own network. Search-contempt says how these nodes are visited; with
n_scl = 0 every visit draws from P_r, so that Q is the expectation over the replies of the model (expectimax).

A leaf there waits twice: for the own network, whose value it takes, and then for the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State
from hauteur.mcts.params import OpponentNet, SearchParams
from reference import search_contempt
from reference.priors import make_priors, network_value, shown_features
from reference.search import Evaluator, Search
from reference.tree import Edge, Leaf, Node, Value

Priors = list[tuple[int, float]]


class ModelledSearch(Search):
    """One tree, searched with the own network and a model of the opponent."""

    def __init__(self, state: State, params: SearchParams, seed: int = 0) -> None:
        """Require a section `opponent_net` in `params`."""
        assert params.opponent_net
        self.rule: OpponentNet = params.opponent_net
        self.for_model: list[Leaf] = []
        """The leaves that have their value and wait for the model, in no batch, oldest first."""
        self.values: dict[Leaf, Value] = {}
        """What the own network says of the leaves that wait for the model."""
        self.model_cache: dict[int, Priors] = {}
        self._depth = 0
        if self.rule.plies is not None:  # nodes deeper than that would have other priors below another root
            params = params.model_copy(update={"reuse_tree": False})
        super().__init__(state, params, seed)

    def run_with(self, own: Evaluator, model: Evaluator, visits: int) -> None:
        """Search, one evaluation at a time, until the root has `visits` visits."""
        self.visit_limit = visits
        while self.wants_visit() or self.for_model:
            for leaf in self.gather(1):
                self.apply([leaf], *own(shown_features(leaf.node.state, self.params)[None]))
            for leaf in self.gather_for_model(1):
                self.apply_model([leaf], model(leaf.node.state.features()[None])[0])

    def models(self, leaf: Leaf) -> bool:
        """Return whether the model gives the priors of a leaf."""
        depth = len(leaf.path) - 1
        return depth > 0 and self._reaches(depth) and leaf.node.mover != self.root.mover

    def _reaches(self, depth: int) -> bool:
        return self.rule.plies is None or depth <= self.rule.plies

    # -- leaves --------------------------------------------------------------------------------------------------------

    def _known_answer(self, leaf: Leaf) -> tuple[Priors, Value] | None:
        """Both networks must know the position, or a node with an answer must be shared."""
        if leaf.node.exact or not self.models(leaf):
            return super()._known_answer(leaf)
        key = leaf.node.state.key
        own = self.cache.get(key)
        priors = self.model_cache.get(key)
        if own:
            return (priors, own[1]) if priors else None
        first = self.positions.get(leaf.node.state.position_key) if self._shares_positions else None
        return first.answer if first else None

    def _needs_network(self, leaf: Leaf) -> bool:
        """A leaf whose value is known waits for the model alone."""
        known = self.cache.get(leaf.node.state.key) if self.models(leaf) else None
        if known:
            self._wait_for_model(leaf, known[1])
        return not known

    def apply(self, leaves: Sequence[Leaf], policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Take the own network's answers; leaves that the model gives priors to wait on."""
        for leaf, logits, shares in zip(leaves, policy_logits, wdl, strict=True):
            if not self.models(leaf):
                super().apply([leaf], logits[None], shares[None])
                continue
            priors = make_priors(leaf.node.state, logits, self.params)
            value = network_value(shares)
            if self.params.cache_size:
                self.cache.setdefault(leaf.node.state.key, (priors, value))
            self._wait_for_model(leaf, value)

    def gather_for_model(self, rows: int) -> list[Leaf]:
        """Return up to `rows` leaves for the model; those whose priors are known by now are expanded and backed up."""
        leaves: list[Leaf] = []
        while self.for_model and len(leaves) < rows:
            leaf = self.for_model.pop(0)
            if known := self.model_cache.get(leaf.node.state.key):
                self._end_wait(leaf, known)
            else:
                leaves.append(leaf)
        return leaves

    def apply_model(self, leaves: Sequence[Leaf], policy_logits: NDArray[np.float32]) -> None:
        """Take the model's answers, raw logits [B, A]: P_r(s, .) = softmax(logits / T_M)."""
        tempered = self.params.model_copy(update={"policy_temperature": self.rule.temperature})
        for leaf, logits in zip(leaves, policy_logits, strict=True):
            priors = make_priors(leaf.node.state, logits, tempered)
            if self.params.cache_size:
                self.model_cache.setdefault(leaf.node.state.key, priors)
            self._end_wait(leaf, priors)

    def cancel(self, leaves: Sequence[Leaf]) -> None:
        """Take the visits of waiting leaves back."""
        for leaf in leaves:
            self.values.pop(leaf, None)
        super().cancel(leaves)

    def cancel_for_model(self) -> None:
        """Take back the visits that wait for the model and are in no batch."""
        waiting = self.for_model
        self.for_model = []
        self.cancel(waiting[::-1])

    def _wait_for_model(self, leaf: Leaf, value: Value) -> None:
        self.values[leaf] = value
        self.for_model.append(leaf)

    def _end_wait(self, leaf: Leaf, priors: Priors) -> None:
        self.waiting.remove(leaf)
        self._expand_and_backup(leaf, priors, self.values.pop(leaf))
        for follower in self._take_followers(leaf):
            known = self.positions[follower.node.state.position_key].answer
            assert known is not None, "a node is found by its position once it has an answer"
            self._expand_and_backup(follower, *known)

    # -- draws ---------------------------------------------------------------------------------------------------------

    def _choose(self, node: Node, depth: int, spread: float) -> tuple[Edge, float]:
        self._depth = depth - 1
        return super()._choose(node, depth, spread)

    def _draw_frozen(self, node: Node) -> Edge | None:
        """The edge drawn at an opponent node that the model reaches: a share of the draws of search-contempt."""
        rule = self.params.search_contempt
        if rule is None or not self._reaches(self._depth) or not search_contempt.acts_at(rule, node, self.root.mover):
            return None
        if rule.n_scl != 0 and not node.frozen:
            node.frozen = search_contempt.freeze(rule, node)
        ratio = search_contempt.ratio_at(rule, node.visits) * self.rule.share
        if ratio < 1.0 and self.draws.uniform() >= ratio:
            return None
        if rule.n_scl == 0:
            return draw_by_prior(node.edges, self.draws.uniform())
        return search_contempt.draw(node.frozen, self.draws.uniform())


def draw_by_prior(edges: Sequence[Edge], uniform: float) -> Edge:
    """Pr(a) = P_r(s, a) / sum_b P_r(s, b): the first edge at which u times the whole is used up."""
    whole = 0.0
    for edge in edges:
        whole += edge.prior
    rest = uniform * whole
    for edge in edges:
        rest -= edge.prior
        if rest < 0.0:
            return edge
    return next(edge for edge in reversed(edges) if edge.prior > 0.0)

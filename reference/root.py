"""The root of a search: what is done to it alone, before visits choose among its edges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hauteur._core import State, dirichlet, random_u64
from hauteur.mcts.params import SearchParams
from reference import wdl_contempt
from reference.halving import Halving, sample_keys
from reference.priors import mix_noise, retemper
from reference.solver import node_bounds, reopen
from reference.tree import OPEN, Edge, Node, make_node


class RootedTree:
    """A tree by its root: which actions are allowed there, the priors in use, noise, and for whom it was grown."""

    root: Node

    def __init__(self, state: State, params: SearchParams, seed: int = 0) -> None:
        """`seed` keys the random draws of this tree, like that of `Forest.add`."""
        self.params = params.without_neutral_rules()
        self._key = random_u64(seed, 0)
        self._roots = 0
        self._grown_for: int | None = None
        self._only: frozenset[int] = frozenset()
        self._quiet = False
        self.root_noise: dict[int, float] = {}
        """eta by action, drawn once for this root."""
        self._used_priors: dict[int, float] = {}
        self._favoured: int | None = None
        """The player whom the tree's values favour (WDL contempt)."""
        self._halving: Halving | None = None
        self._plant(make_node(state.copy()))

    def restrict_root(self, actions: Sequence[int]) -> None:
        """Only these actions are chosen at the root, until the next `advance`; empty = all."""
        self._settle_contempt()
        self._only = frozenset(actions)
        if self._halving:
            self._halving = Halving(self.root, self._halving.rule, self.params, self._halving.keys, self._only)
        self._order_root()
        self._bound_root()

    def _wanted_side(self) -> int | None:
        """The player whom values should favour in a search from this root."""
        rule = self.params.wdl_contempt
        return wdl_contempt.contempt_side(rule, self.root.mover) if rule else None

    def _contempt_sign(self, player: int) -> float:
        """Return +1 for the player whom values favour, -1 for the other, 0 if they favour neither."""
        return 0.0 if self._favoured is None else 1.0 if player == self._favoured else -1.0

    def _favours_right_side(self) -> bool:
        """Return whether the tree was grown for the side of this root, as far as sides differ."""
        return not self._is_grown_for_other() and self._favoured == self._wanted_side()

    def _settle_contempt(self) -> None:
        """Restart, before a search, a tree that was grown for another side than that of this root."""
        favoured = self._wanted_side()
        only = self._only
        if not self._favours_right_side():
            self._plant(make_node(self.root.state.copy()))
            self._favoured = favoured
            self._only = only

    def _is_grown_for_other(self) -> bool:
        """Return whether nodes froze, or have a model's priors, for the other player at the root."""
        rule = self.params.search_contempt or self.params.opponent_net
        grown_for = self._grown_for
        return rule is not None and grown_for is not None and bool(self.root.edges) and self.root.mover != grown_for

    def _plant(self, root: Node) -> None:
        """Make `root` the root. A game drawn by rule may be searched on: the end does not count at a root."""
        root.exact = None
        if self.params.solver and root.edges and root.bounds.is_proven:
            reopen(root)
        root.frozen = []
        self.root = root
        self._grown_for = self._grown_for if root.edges else None
        self._can_move = len(root.state.legal_actions()) > 0
        self._only = frozenset()
        self._halving = None
        self._dress_root()
        self._bound_root()

    def _bound_root(self) -> None:
        """Take the root's bounds from the edges that it may choose."""
        self.root.bounds = node_bounds(self.root, self._only) if self.root.edges else OPEN

    def _dress_root(self) -> None:
        """Set the priors that the root selects with, once for every root; the stored priors stay what they are."""
        if not self.root.edges:
            return
        self._draw_root_noise()
        if self.params.gumbel:
            keys = sample_keys(self.root, self.params, self.params.gumbel, random_u64(self._key, self._roots))
            self._halving = Halving(self.root, self.params.gumbel, self.params, keys, self._only)
        self._roots += 1
        self._mix_root_priors()

    def _draw_root_noise(self) -> None:
        noise = self.params.dirichlet
        self.root_noise = {}
        if noise and noise.epsilon > 0:
            eta = dirichlet(random_u64(self._key, self._roots), 0, noise.alpha, len(self.root.edges))
            self.root_noise = dict(zip([edge.action for edge in self.root.edges], eta.tolist(), strict=True))

    def _mix_root_priors(self) -> None:
        """Set the priors that the root selects with from the answers received; the noise is unchanged."""
        priors = self._own_priors()
        if (temperature := self.params.root_policy_temperature) is not None:
            priors = retemper(priors, self.params.policy_temperature / temperature)
        actions = [edge.action for edge in self.root.edges]
        if self.params.dirichlet and self.root_noise and not self._quiet:
            eta = np.array([self.root_noise[action] for action in actions])
            priors = mix_noise(priors, eta, self.params.dirichlet.epsilon)
        self._used_priors = dict(zip(actions, np.array(priors, np.float32).tolist(), strict=True))
        self._order_root()

    def _own_priors(self) -> list[float]:
        """The root's priors before anything is done to them for being a root's."""
        return [edge.prior for edge in self.root.edges]

    def set_quiet(self, quiet: bool) -> None:
        """Set whether this root and the next ones are searched as in play, without noise."""
        if quiet != self._quiet:
            self._quiet = quiet
            self._mix_root_priors()

    def _order_root(self) -> None:
        """Order the root's edges that were never chosen by the priors in use (Gumbel: its keys), forbidden last."""
        merits = self._halving.keys if self._halving else self._used_priors

        def rank(edge: Edge) -> float:
            return -merits[edge.action] if not self._only or edge.action in self._only else math.inf

        chosen = self.root.num_chosen
        self.root.edges[chosen:] = sorted(self.root.edges[chosen:], key=rank)

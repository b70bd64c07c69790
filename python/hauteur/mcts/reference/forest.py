"""Many reference searches that share batches: the calls of the core's forest, for rules written in Python.

Every tree has one leaf in flight at most, so that it is the tree that `Search.run` makes alone; all trees share one
cache of evaluations.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import Game, State
from hauteur.mcts.forest import Ids, Numbers
from hauteur.mcts.params import SearchParams
from hauteur.mcts.reference import report
from hauteur.mcts.reference.priors import shown_features
from hauteur.mcts.reference.rule import Rule, RuleChain
from hauteur.mcts.reference.scores import utility
from hauteur.mcts.reference.search import Search
from hauteur.mcts.reference.solver import edge_bounds
from hauteur.mcts.reference.tree import Leaf, Value
from hauteur.system.seeds import derived_seed

SLOW = "rules written in Python run on the reference search, which is in Python too: some thousands of visits a second"


_said: dict[str | tuple[str, type[Warning], int], int] = {}
"""What the module `warnings` keeps of the warning, so that it comes once."""


def say_slow() -> None:
    """Warn, once a process under Python's usual filters, that searches with rules in Python are slow."""
    warnings.warn_explicit(SLOW, UserWarning, "hauteur", 0, registry=_said)


@dataclass(frozen=True)
class ReferenceBatch:
    """The leaves of one gather with their trees, a row each."""

    rows: tuple[tuple[int, Leaf], ...]

    def __len__(self) -> int:
        return len(self.rows)


class ReferenceForest:
    """Trees of the reference search under the names and array shapes of `_core.Forest`, as far as they are needed.

    T ids give arrays of T rows; A is the number of actions. A batch belongs to the forest that gathered it.
    """

    def __init__(self, game: Game, params: SearchParams, seed: int = 0, rules: Sequence[Rule] = ()) -> None:
        """Raise ValueError for something that is no rule, and for settings with two nets."""
        self.rules = RuleChain(rules)
        if params.without_neutral_rules().second_net is not None:
            raise ValueError("rules written in Python do not go with second_net: they search with one net")
        if params.graph:
            raise ValueError("rules written in Python do not go with graph: they search a tree")
        self.game = game
        self.nets = [0]
        self.searches: dict[int, Search] = {}
        """The trees by their ids."""
        self._params, self._seed = params, seed
        self._added = 0
        self._cache: dict[int, tuple[list[tuple[int, float]], Value]] = {}
        self._visits = self._rows = 0

    # -- trees ---------------------------------------------------------------------------------------------------------

    def add(self, state: State, seed: int | None = None) -> int:
        """Start a tree at a copy of `state`, and return its id."""
        tree = self._added
        self._added += 1
        own = derived_seed(self._seed, "reference tree", tree) if seed is None else seed
        search = Search(state, self._params, own, self.rules)
        search.cache = self._cache
        self.searches[tree] = search
        return tree

    def remove(self, ids: Ids) -> None:
        """Forget these trees."""
        for search in self._of(ids):
            search.cancel(list(search.waiting))
        for tree in ids:
            del self.searches[int(tree)]

    def set_visit_limits(self, ids: Ids, visits: NDArray[np.uint32]) -> None:
        """Set the root visits at which each tree is finished; 0: never."""
        for search, limit in zip(self._of(ids), visits.tolist(), strict=True):
            search.visit_limit = limit

    def set_quiet(self, ids: Ids, quiet: NDArray[np.bool_]) -> None:
        """Set whether these trees are searched as in play, without noise at the root."""
        for search, value in zip(self._of(ids), quiet.tolist(), strict=True):
            search.set_quiet(value)

    def restrict_root(self, id: int, actions: Sequence[int]) -> None:  # noqa: A002
        """Search only these actions at the root, until the next advance; empty: all."""
        self.searches[id].restrict_root(actions)

    def advance(self, ids: Ids, actions: NDArray[np.uint16]) -> None:
        """Play an action in each tree; the position behind it is the root."""
        for search, action in zip(self._of(ids), actions.tolist(), strict=True):
            search.advance(action)

    def state(self, id: int) -> State:  # noqa: A002
        """Return the position at the root of a tree, a copy."""
        return self.searches[id].root.state.copy()

    # -- visits --------------------------------------------------------------------------------------------------------

    def active(self) -> Numbers:
        """Return the trees that want further visits, [n]."""
        return _ids(tree for tree, search in self.searches.items() if search.wants_visit())

    def finished(self) -> Numbers:
        """Return the trees that want no further visits and wait for none, [n]."""
        done = (tree for tree, search in self.searches.items() if not search.waiting and not search.wants_visit())
        return _ids(done)

    def gather(self, features: NDArray[np.float32] | int, net: int = 0) -> ReferenceBatch:
        """Write a row for each tree that has a leaf for the network, as many as there is room for, [B, C, H, W].

        A whole number in place of the rows: at most so many, which are not written.
        """
        if net != 0:
            raise ValueError(f"the reference forest has one net, 0; got {net}")
        rows: list[tuple[int, Leaf]] = []
        room = features if isinstance(features, int) else len(features)
        for tree, search in self.searches.items():
            if len(rows) == room:
                break
            if search.waiting or not search.wants_visit():
                continue
            before = search.root.visits
            leaves = search.gather(1)
            self._visits += max(0, search.root.visits - before)
            for leaf in leaves:
                if not isinstance(features, int):
                    features[len(rows)] = shown_features(leaf.node.state, self._params)
                rows.append((tree, leaf))
        self._rows += len(rows)
        return ReferenceBatch(tuple(rows))

    def apply(self, batch: ReferenceBatch, policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Take the network's answers: raw logits [B, A], and win, draw, loss of the movers [B, 3]."""
        if len(self._cache) >= max(1, self._params.cache_size):
            self._cache.clear()
        for row, (tree, leaf) in enumerate(batch.rows):
            self.searches[tree].apply([leaf], policy_logits[row : row + 1], wdl[row : row + 1])
            self._visits += 1

    def cancel(self, batch: ReferenceBatch) -> None:
        """Take the visits of a batch back."""
        for tree, leaf in batch.rows:
            if tree in self.searches:
                self.searches[tree].cancel([leaf])

    def batch_states(self, batch: ReferenceBatch) -> list[State]:
        """Return the positions behind the rows."""
        return [leaf.node.state for _, leaf in batch.rows]

    # -- what was found ------------------------------------------------------------------------------------------------

    def root_node_visits(self, ids: Ids) -> NDArray[np.uint32]:
        """Return the visits of the roots, own evaluation included, [T]."""
        return np.array([search.root.visits for search in self._of(ids)], np.uint32)

    def root_visits(self, ids: Ids) -> NDArray[np.uint32]:
        """Return the visits of the roots' edges, [T, A]."""
        return self._by_action([search.root_visits() for search in self._of(ids)], 0).astype(np.uint32)

    def root_q(self, ids: Ids) -> NDArray[np.float32]:
        """Return Q of the roots' edges for the movers, [T, A]; NaN without visits."""
        return self._by_action([search.root_q() for search in self._of(ids)], np.nan)

    def root_priors(self, ids: Ids) -> NDArray[np.float32]:
        """Return the stored priors of the roots' edges, [T, A]."""
        return self._by_action([{edge.action: edge.prior for edge in s.root.edges} for s in self._of(ids)], 0)

    def policy_targets(self, ids: Ids) -> NDArray[np.float32]:
        """Return what a network is taught, [T, A]; 0 where the tree was not searched."""
        found = [search.policy_target() if search.root.edges else {} for search in self._of(ids)]
        return self._by_action(found, 0)

    def proven_results(self, ids: Ids) -> NDArray[np.float32]:
        """Return the proven results of the roots' edges for the movers, [T, A]: -1, 0, 1, NaN without a proof."""
        return self._by_action([_proofs(search) for search in self._of(ids)], np.nan)

    def root_values(self, ids: Ids) -> NDArray[np.float32]:
        """Return win, draw, loss of the movers by the search, [T, 3]."""
        return _wdl([search.root.value if search.root.visits else None for search in self._of(ids)])

    def reported_values(self, ids: Ids) -> NDArray[np.float32]:
        """Return the same as `root_values`, [T, 3]: WDL contempt is not taken back."""
        return self.root_values(ids)

    def network_values(self, ids: Ids) -> NDArray[np.float32]:
        """Return win, draw, loss of the movers by the network alone, [T, 3]; WDL contempt included."""
        return _wdl([search.root.network if search.root.visits else None for search in self._of(ids)])

    def best_actions(self, ids: Ids) -> NDArray[np.uint16]:
        """Return the actions to play, [T]; ValueError for a tree that was not searched or whose game is over."""
        found = [search.best_action() for search in self._of(ids)]
        if None in found:
            raise ValueError("a tree that was not searched, or whose game is over, has no action to play")
        return np.array(found, np.uint16)

    # -- reports of one tree -------------------------------------------------------------------------------------------

    def root_edges(self, id: int) -> list[report.EdgeFacts]:  # noqa: A002
        """Return the edges of a root, the one to play first, with the core's keys."""
        return report.root_edges(self.searches[id])

    def edges_behind(self, id: int, line: Sequence[int], most: int | None = None) -> list[report.EdgeFacts] | None:  # noqa: A002
        """Return the edges of the position behind a line, the most visited first, at most so many."""
        found = report.edges_behind(self.searches[id], line)
        return None if found is None else found[:most]

    def branches(self, id: int, count: int) -> dict[str, NDArray[Any]]:  # noqa: A002
        """Return the most visited nodes below a root, at most so many, as columns."""
        return report.branches(self.searches[id], count)

    def principal_variation(self, id: int, action: int | None = None, max_length: int = 64) -> list[int]:  # noqa: A002
        """Return the most visited line, beginning with `action`, else with the action to play."""
        return report.principal_variation(self.searches[id], action, max_length)

    def root_bounds(self, id: int) -> tuple[int, int, int | None]:  # noqa: A002
        """Return the proven bounds of the result for the root's mover, and the plies to the end once they meet."""
        bounds = self.searches[id].root.bounds
        return bounds.lower, bounds.upper, bounds.plies if bounds.is_proven else None

    def root_mean(self, id: int) -> float:  # noqa: A002
        """Return Q of the root for its mover, draw score included; NaN without visits."""
        root = self.searches[id].root
        return utility(root.value, root.mover, self._params) if root.visits else math.nan

    def tree_stats(self, id: int) -> dict[str, float]:  # noqa: A002
        """Return nodes, edges and depth of a tree."""
        return {**self.stats(), **report.sizes(self.searches[id])}

    def stats(self) -> dict[str, float]:
        """Return the totals since the forest began; hits of the cache and bytes of the trees are not counted."""
        nothing = dict.fromkeys(("cache_hits", "position_hits", "transpositions", "cache_lookups", "bytes"), 0.0)
        return {"visits": float(self._visits), "rows": float(self._rows), **nothing}

    def _of(self, ids: Ids) -> list[Search]:
        try:
            return [self.searches[int(tree)] for tree in ids]
        except KeyError as error:
            raise ValueError(f"there is no tree {error}") from None

    def _by_action(self, rows: Sequence[dict[int, int] | dict[int, float]], other: float) -> NDArray[np.float32]:
        """Return values by action as an array [T, A]; other: where there is none."""
        found = np.full((len(rows), self.game.num_actions), other, np.float32)
        for row, values in enumerate(rows):
            found[row, list(values)] = list(values.values())
        return found


def _ids(trees: Iterable[int]) -> Numbers:
    return np.array(list(trees), np.int64)


def _proofs(search: Search) -> dict[int, float]:
    if search.params.solver is None:
        return {}
    bounds = {edge.action: edge_bounds(search.root, edge) for edge in search.root.edges}
    return {action: float(found.lower) for action, found in bounds.items() if found.is_proven}


def _wdl(values: Sequence[Value | None]) -> NDArray[np.float32]:
    """Return win, draw, loss of each value, [T, 3]; NaN for None."""
    known = [Value(math.nan, math.nan) if value is None else value for value in values]
    return np.array([report.shares(value) for value in known], np.float32).reshape(-1, 3)

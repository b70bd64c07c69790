"""A player with one or two networks: what chooses moves in the arena from finished searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.mcts.move_choice import choose_actions, temperatures_at
from hauteur.mcts.own_rules import rule_chain
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.players.playout_cap import PlayoutCap
from hauteur.players.surprise import policy_surprise

if TYPE_CHECKING:
    from hauteur.mcts.own_rules import Rule
    from hauteur.networks.evaluators.base import Evaluator


TARGET_UNITS = 65_535
"""What a whole policy target counts where it is not made of visits; shares below half of one are left out."""


@dataclass(frozen=True)
class SearchPlayer:
    """A player that searches: an evaluator, search settings, a visit limit a move, and a temperature schedule.

    visits: root visits (own evaluation included) at which a move is chosen. large: the second net, where the settings
    have one; the visits are then the small net's. playout_cap: which moves are searched with fewer visits; learns:
    whether a net learns from this player's moves. rules: search rules written in Python.
    """

    name: str
    evaluator: Evaluator
    search: SearchParams
    visits: int
    temperature: Temperature = field(default_factory=Temperature)
    large: Evaluator | None = None
    playout_cap: PlayoutCap | None = None
    learns: bool = True
    rules: tuple[Rule, ...] = ()

    def forest(self, game: _core.Game, *, seed: int, threads: int = 1) -> _core.Forest:
        """A new forest with this player's search settings, whose trees have one leaf in flight: sequential searches."""
        search = self.search.model_copy(update={"max_in_flight": 1})
        return _core.Forest(game, search, seed, threads, rule_chain(self.rules))

    def choose(
        self, forest: _core.Forest, ids: NDArray[np.int64], plies: NDArray[np.int64], uniforms: NDArray[np.float64]
    ) -> Choice:
        """Choose a move in each of the trees `ids`, at game plies `plies`, with one uniform number in [0, 1) each."""
        visits, priors = forest.root_visits(ids), forest.root_priors(ids)
        temperatures = temperatures_at(self.temperature, plies)
        actions = choose_actions(
            visits,
            forest.root_q(ids),
            priors,
            best=forest.best_actions(ids),
            temperatures=temperatures,
            uniforms=uniforms,
            settings=self.temperature,
            proven=forest.proven_results(ids),
        )
        targets = self._policy_counts(forest, ids, visits)
        known: dict[str, NDArray[Any]] = {"temperatures": temperatures, "surprise": policy_surprise(targets, priors)}
        return Choice(actions=actions, targets=targets, columns=known)

    @cached_property
    def _teaches_visits(self) -> bool:
        """True where the policy target is the visits: no rule that changes it is on."""
        search = self.search.without_neutral_rules()
        return search.gumbel is None and search.solver is None and search.forced_playouts is None

    def _policy_counts(
        self, forest: _core.Forest, ids: NDArray[np.int64], visits: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Return the policy target as counts: visits, or the targets of a rule that changes them in TARGET_UNITS."""
        if self._teaches_visits:
            return visits
        return np.rint(forest.policy_targets(ids) * TARGET_UNITS).astype(np.uint32)


@dataclass(frozen=True)
class Choice:
    """The moves of T trees: actions uint16 [T], policy targets uint32 [T, A] as counts.

    columns: more that is recorded of each move, [T], by its column in hauteur.matches.record.
    """

    actions: NDArray[np.uint16]
    targets: NDArray[np.uint32]
    columns: Mapping[str, NDArray[Any]]

"""A player with one or two networks: what searches in games."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.mcts.own_rules import rule_chain
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.players.playout_cap import PlayoutCap

if TYPE_CHECKING:
    from hauteur.mcts.own_rules import Rule
    from hauteur.networks.evaluators.base import Evaluator


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

    @cached_property
    def teaches_visits(self) -> bool:
        """True where the policy target is the visits: no rule that changes it is on."""
        search = self.search.without_neutral_rules()
        return search.gumbel is None and search.solver is None and search.forced_playouts is None

"""A player with one network or more: what searches in games."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.mcts.own_rules import rule_chain
from hauteur.mcts.params import SearchParams, Temperature

if TYPE_CHECKING:
    from hauteur.mcts.own_rules import Rule
    from hauteur.networks.evaluators.base import Evaluator
    from hauteur.players.settings import PlayoutCap


@dataclass(frozen=True)
class SearchPlayer:
    """A player that searches."""

    name: str
    """Name in results and messages."""
    evaluator: Evaluator
    """The net; of several the smallest."""
    search: SearchParams
    """Settings of the search."""
    visits: int
    """Root visits, its own evaluation included, at which a move is chosen; with two nets the small net's."""
    temperature: Temperature = field(default_factory=Temperature)
    """Temperature by the ply of the game."""
    large: Evaluator | None = None
    """The second net, where the settings have one."""
    playout_cap: PlayoutCap | None = None
    """Which moves are searched with fewer visits; None: all have `visits`."""
    learns: bool = True
    """Whether a net learns from this player's moves."""
    rules: tuple[Rule, ...] = ()
    """Search rules written in Python."""
    more: tuple[Evaluator, ...] = ()
    """The nets after the second one, one for each that `second_net.more` has."""

    def forest(self, game: _core.Game, *, seed: int, threads: int = 1) -> _core.Forest:
        """A new forest with this player's search settings, whose trees have one leaf in flight: sequential searches."""
        search = self.search.model_copy(update={"max_in_flight": 1})
        return _core.Forest(game, search, seed, threads, rule_chain(self.rules))

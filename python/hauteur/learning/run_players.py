"""The players of a learning run: the nets of a generation in self-play and gate, and the fixed opponent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.games.game_line import NO_NET
from hauteur.learning.recipe import OpponentSettings, Recipe, SelfPlaySettings
from hauteur.matches.openings import read_openings
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import resolve_net
from hauteur.players.build import Evaluators, Resources, build_player, is_builtin, resolved_net
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams, Temperature
    from hauteur.networks.evaluators.base import Evaluator


def check_players(game: _core.Game, recipe: Recipe) -> None:
    """ValueError or OSError when the opponent or the opening book does not fit the game or is not there."""
    if recipe.selfplay.opening_book is not None:
        read_openings(Path(recipe.selfplay.opening_book), game)
    if recipe.opponent is not None:
        resources = Resources(threads=1, batch_size=1, backend=recipe.run.backend)
        with Evaluators(game, resources) as evaluators:
            build_player(game, recipe.opponent, evaluators, "opponent")


@dataclass(frozen=True)
class RunPlayers:
    """Makes the players of a run; their evaluators are closed with the stack that they are made on.

    net_files: returns the files of a generation's net, or of its two; exact: the answers of nets do not depend on the
    batch, bit for bit.
    """

    recipe: Recipe
    net_files: Callable[[int], Sequence[Path]]
    game: _core.Game
    exact: bool
    threads: int

    def of_selfplay(
        self, nets: list[int], settings: SelfPlaySettings, stack: ExitStack
    ) -> list[SearchPlayer | MovePlayer]:
        """The players of self-play with these nets; settings: as they are in this generation."""
        players = [self._opponent(stack) if net == NO_NET else self._learner(net, settings, stack) for net in nets]
        best = players[-1]
        if len(players) > 1 and isinstance(best, SearchPlayer) and not settings.learn_from_best:
            players[-1] = replace(best, learns=False)
        return players

    def of_gate(self, net: int, visits: int, stack: ExitStack) -> SearchPlayer:
        """Like in self-play, without what makes games vary, and with the gate's temperature.

        Noise and forced playouts are off, and search-contempt, which assumes a weaker opponent than a gate match has.
        """
        quiet = {"dirichlet": None, "forced_playouts": None, "search_contempt": None}
        search = self.recipe.selfplay.search.model_copy(update=quiet)
        return self._player(net, search, self.recipe.gate.visits or visits, self.recipe.gate.temperature, stack)

    def _learner(self, net: int, settings: SelfPlaySettings, stack: ExitStack) -> SearchPlayer:
        player = self._player(net, settings.search, settings.visits, settings.temperature, stack)
        return replace(player, playout_cap=settings.playout_cap)

    def _opponent(self, stack: ExitStack) -> SearchPlayer | MovePlayer:
        """The fixed opponent, whose moves are not learned from."""
        settings, run, rows = self.recipe.opponent, self.recipe.run, self.recipe.selfplay.batch_size
        if settings is None:
            raise RuntimeError("a recipe without [opponent] has no opponent")
        resources = Resources(threads=self.threads, batch_size=rows, backend=run.backend)
        evaluators = stack.enter_context(Evaluators(self.game, resources, exact=self.exact))
        player = build_player(self.game, settings, evaluators, "opponent")
        return replace(player, learns=False) if isinstance(player, SearchPlayer) else player

    def _player(
        self, net: int, search: SearchParams, visits: int, temperature: Temperature, stack: ExitStack
    ) -> SearchPlayer:
        """A player with the net, or the two nets, of a generation."""
        evaluator, *large = [self._evaluator(path, stack) for path in self.net_files(net)]
        return SearchPlayer(f"gen-{net}", evaluator, search, visits, temperature, large[0] if large else None)

    def _evaluator(self, path: Path, stack: ExitStack) -> Evaluator:
        """The evaluator of a net."""
        evaluator = make_evaluator(
            self.game,
            path,
            backend=self.recipe.run.backend,
            precision=self.recipe.run.precision,
            threads=self.threads,
            batch_size=min(self.recipe.selfplay.batch_size, 65536),
            exact=self.exact,
        )
        stack.callback(evaluator.close)
        return evaluator


def opponent_files(game: _core.Game, opponent: OpponentSettings) -> dict[str, list[Path]]:
    """Return the files of the fixed opponent's nets, by the settings that name them."""
    if not opponent.has_net:
        return {}
    names = {"net": resolved_net(game, opponent)}
    names |= {key: resolve_net(net) for key in NETS[1:] if (net := getattr(opponent, key))}
    return {setting: [Path(name)] for setting, name in names.items() if name and not is_builtin(name)}


def with_opponent_files(recipe: Recipe, files: Mapping[str, Sequence[Path]]) -> Recipe:
    """Return the recipe with the opponent's nets in these files, where `opponent_files` has found some."""
    if recipe.opponent is None:
        return recipe
    places = {setting: str(files[setting][0]) for setting in NETS if setting in files}
    return recipe.model_copy(update={"opponent": recipe.opponent.model_copy(update=places)})

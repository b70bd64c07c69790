"""Odds mode: the side that gives odds plays with the settings of a table, `odds_settings.toml`, and of the user's own.

The start of the game tells the odds. Settings that the giver has been given stay: of a player those that its text has,
of the UCI engine options with another value than their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hauteur.engine.uci.commands import PositionCommand
from hauteur.engine.uci.options import Options, value_text
from hauteur.games.odds import Odds, odds_of
from hauteur.mcts.lc0_options import setting_path
from hauteur.networks.names import colour_of, resolve_net

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.settings import PlayerSettings

GIVER_VISITS = 400
"""Visits of a giver that has been given none: the settings are of a search."""
SETTINGS_FOR_ODDS = ", settings for odds"
"""End of the name of such a giver."""


@dataclass(frozen=True)
class OddsGame:
    """A game in which hauteur gives odds. changes: settings that get other values, by lc0's names; kept: that stay;
    nodes: most visits of a search, None: no limit.
    """

    name: str
    changes: Mapping[str, bool | float | str]
    kept: tuple[str, ...]
    nodes: int | None = None

    def text(self) -> str:
        """Return the handicap, the changed settings, the limit and what stays, in one line for the user."""
        listed = ", ".join(f"{name} {value_text(value)}" for name, value in self.changes.items())
        limit = "" if self.nodes is None else f"; at most {self.nodes:,} visits"
        kept = f"; as set: {', '.join(self.kept)}" if self.kept else ""
        return f"odds game, {self.name}: {listed or 'no settings'}{limit}{kept}"


def odds_game(
    position: PositionCommand,
    options: Options,
    *,
    infinite: bool,
    net: str = "",
    q: float | None = None,
) -> OddsGame | None:
    """Return what the option OddsMode does in this position; None where it is off, in infinite analysis, and for the
    odds taker. net: the one that the engine plays with; q: value of its last search, -1 to 1.
    """
    if not options.flag("OddsMode") or infinite:
        return None
    odds = odds_of(position.start.notation())
    if odds is None or odds.giver != position.state.to_move:
        return None
    from hauteur.engine.odds_table import giver_settings  # here: few games are at odds, and engines start without it

    settings, nodes = giver_settings(odds, colour_of(net), q)
    given = tuple(name for name in settings if not options.is_default(name))
    return _game(odds, settings, given, nodes)


def odds_player(
    player: PlayerSettings,
    game: _core.Game,
    side: int,
    q: float | None = None,
) -> tuple[PlayerSettings, OddsGame | None]:
    """Return the player with the settings for who gives the odds of the game's start, and what they are.

    The odds taker, a player that does not search, and one of a game without odds stay the same. q: value that its last
    search found, -1 to 1; None: there was none.
    """
    from hauteur.engine.odds_table import giver_settings
    from hauteur.players.build import player_name  # here: the engine does without players
    from hauteur.players.settings import PlayerSettings
    from hauteur.system.settings import assign, validated

    odds = odds_of(game.new_initial_state().notation()) if game.name == "chess" else None
    if odds is None or odds.giver != side or not player.has_net:
        return player, None
    net = resolve_net(player.net, game).path
    settings, nodes = giver_settings(odds, colour_of(net), q)
    values = player.model_dump(exclude_unset=True)
    given = tuple(name for name in settings if _is_given(values, setting_path(name)))
    found = _game(odds, settings, given, nodes)
    values.setdefault("visits", GIVER_VISITS if nodes is None else min(nodes, GIVER_VISITS))
    named = validated(PlayerSettings, dict(values), "player")
    for name, value in found.changes.items():
        assign(PlayerSettings, values, setting_path(name), value)
    values["name"] = player_name(game, named) + SETTINGS_FOR_ODDS
    return validated(PlayerSettings, values, "player at odds"), found


def _game(odds: Odds, settings: Mapping[str, bool | float | str], kept: tuple[str, ...], nodes: int | None) -> OddsGame:
    """Return the game with the settings that change; those that the giver has been given itself are kept."""
    changes = {name: value for name, value in settings.items() if name not in kept}
    return OddsGame(odds.name, changes, kept, nodes)


def _is_given(values: object, path: tuple[str, ...]) -> bool:
    """Return whether nested settings have a value at a path."""
    for name in path:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True

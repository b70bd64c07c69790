"""Odds mode: the side that gives odds plays with the settings that were published for it.

The start of the game tells the odds. Settings that the giver has been given stay: of a player those that its text has,
of the UCI engine options with another value than their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hauteur.engine.uci.commands import PositionCommand
from hauteur.engine.uci.options import Options
from hauteur.games.odds import Odds, odds_of
from hauteur.mcts.lc0_options import setting_path
from hauteur.networks.bundled import net_or_shipped
from hauteur.networks.catalogue import colour_of
from hauteur.system.settings import assign, validated

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.settings import PlayerSettings

GIVER_VISITS = 400
"""Visits of a giver that has been given none: the settings are of a search."""
SETTINGS_FOR_ODDS = ", settings for odds"
"""End of the name of such a giver."""


@dataclass(frozen=True)
class OddsGame:
    """A game in which hauteur gives odds. changes: settings that get other values, by lc0's names; kept: that stay."""

    name: str
    changes: Mapping[str, float]
    kept: tuple[str, ...]

    def text(self) -> str:
        """Describe it in one line."""
        listed = ", ".join(f"{name} {_text(value)}" for name, value in self.changes.items())
        kept = f"; as set: {', '.join(self.kept)}" if self.kept else ""
        return f"odds game without {self.name}: {listed or 'no settings'}{kept}"


def odds_game(position: PositionCommand, options: Options, *, infinite: bool, net: str = "") -> OddsGame | None:
    """Return what the option OddsMode does in this position; None where it is off, in infinite analysis, and for the
    odds taker. net: the one that the engine plays with.
    """
    if not options.flag("OddsMode") or infinite:
        return None
    odds = odds_of(position.start.notation())
    if odds is None or odds.giver != position.state.to_move:
        return None
    settings = odds.settings(colour_of(net))
    return _game(odds, settings, tuple(name for name in settings if not options.is_default(name)))


def odds_player(player: PlayerSettings, game: _core.Game, side: int) -> tuple[PlayerSettings, OddsGame | None]:
    """Return the player with the settings for who gives the odds of the game's start, and what they are.

    The odds taker, a player that does not search, and one of a game without odds stay the same.
    """
    from hauteur.players.build import player_name  # here: the engine does without players
    from hauteur.players.settings import PlayerSettings

    odds = odds_of(game.new_initial_state().notation()) if game.name == "chess" else None
    if odds is None or odds.giver != side or not player.has_net:
        return player, None
    settings = odds.settings(colour_of(net_or_shipped(player.net, game)))
    values = player.model_dump(exclude_unset=True)
    found = _game(odds, settings, tuple(name for name in settings if _is_given(values, setting_path(name))))
    values.setdefault("visits", GIVER_VISITS)
    named = validated(PlayerSettings, dict(values), "player")
    for name, value in found.changes.items():
        assign(PlayerSettings, values, setting_path(name), value)
    values["name"] = player_name(game, named) + SETTINGS_FOR_ODDS
    return validated(PlayerSettings, values, "player at odds"), found


def _game(odds: Odds, settings: Mapping[str, float], kept: tuple[str, ...]) -> OddsGame:
    return OddsGame(odds.name, {name: value for name, value in settings.items() if name not in kept}, kept)


def _is_given(values: object, path: tuple[str, ...]) -> bool:
    """Return whether nested settings have a value at a path."""
    for name in path:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True


def _text(value: float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"

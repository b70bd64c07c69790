"""Odds mode: the side that gives odds plays with the settings of a table, `odds_settings.toml`, and of the user's own.

The start of the game tells the odds. Settings that the giver has been given stay: of a player those that its text has,
of the UCI engine options with another value than their defaults.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hauteur.engine.uci.commands import PositionCommand
from hauteur.engine.uci.options import Options
from hauteur.games.odds import Odds, odds_of
from hauteur.mcts.lc0_options import setting_path
from hauteur.networks.bundled import net_or_shipped
from hauteur.networks.catalogue import colour_of
from hauteur.system.settings import Section, assign, read_toml, validated

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.settings import PlayerSettings

GIVER_VISITS = 400
"""Visits of a giver that has been given none: the settings are of a search."""
SETTINGS_FOR_ODDS = ", settings for odds"
"""End of the name of such a giver."""


class OddsSettings(Section):
    """Settings for a giver. pieces: `Odds.pieces`, empty: any; gives: None: both; settings: by lc0's names."""

    pieces: str = ""
    gives: Literal["white", "black"] | None = None
    source: str = ""
    settings: dict[str, bool | float | str]

    def fits(self, odds: Odds) -> bool:
        """Return whether they are for a handicap."""
        of_giver = self.gives in (None, ("white", "black")[odds.giver])
        return of_giver and self.pieces in ("", odds.pieces)


class OddsTable(Section):
    """All settings for odds; of those that fit the later ones count."""

    odds: tuple[OddsSettings, ...] = ()


SHIPPED = Path(__file__).with_name("odds_settings.toml")


def giver_settings(odds: Odds, trained_for: int | None = None) -> dict[str, bool | float | str]:
    """Return the giver's settings, by lc0's names: the shipped ones, then those of the file that HAUTEUR_ODDS names.

    trained_for: the only colour that the net was trained to give as, 0 White, 1 Black; to the other one's giver it is
    shown as that colour (SwapColors). ValueError for a file that is no such table, with the place.
    """
    own = os.environ.get("HAUTEUR_ODDS")
    found: dict[str, bool | float | str] = {}
    for path in (SHIPPED, *([Path(own)] if own else [])):
        for row in _table(path):
            found |= row.settings if row.fits(odds) else {}
    return found if trained_for in (None, odds.giver) else {**found, "SwapColors": True}


@cache
def _table(path: Path) -> tuple[OddsSettings, ...]:
    """Read and check a table, once: the engine asks at every move."""
    try:
        rows = OddsTable(**read_toml(path)).odds
        for row in rows:
            options = Options()
            for name, value in row.settings.items():
                options.set(name, _text(value))
    except (ValueError, OSError) as error:
        raise ValueError(f"settings for odds, {path}: {error}") from None
    return rows


@dataclass(frozen=True)
class OddsGame:
    """A game in which hauteur gives odds. changes: settings that get other values, by lc0's names; kept: that stay."""

    name: str
    changes: Mapping[str, bool | float | str]
    kept: tuple[str, ...]

    def text(self) -> str:
        """Describe it in one line."""
        listed = ", ".join(f"{name} {_text(value)}" for name, value in self.changes.items())
        kept = f"; as set: {', '.join(self.kept)}" if self.kept else ""
        return f"odds game, {self.name}: {listed or 'no settings'}{kept}"


def odds_game(position: PositionCommand, options: Options, *, infinite: bool, net: str = "") -> OddsGame | None:
    """Return what the option OddsMode does in this position; None where it is off, in infinite analysis, and for the
    odds taker. net: the one that the engine plays with.
    """
    if not options.flag("OddsMode") or infinite:
        return None
    odds = odds_of(position.start.notation())
    if odds is None or odds.giver != position.state.to_move:
        return None
    settings = giver_settings(odds, colour_of(net))
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
    settings = giver_settings(odds, colour_of(net_or_shipped(player.net, game)))
    values = player.model_dump(exclude_unset=True)
    found = _game(odds, settings, tuple(name for name in settings if _is_given(values, setting_path(name))))
    values.setdefault("visits", GIVER_VISITS)
    named = validated(PlayerSettings, dict(values), "player")
    for name, value in found.changes.items():
        assign(PlayerSettings, values, setting_path(name), value)
    values["name"] = player_name(game, named) + SETTINGS_FOR_ODDS
    return validated(PlayerSettings, values, "player at odds"), found


def _game(odds: Odds, settings: Mapping[str, bool | float | str], kept: tuple[str, ...]) -> OddsGame:
    return OddsGame(odds.name, {name: value for name, value in settings.items() if name not in kept}, kept)


def _is_given(values: object, path: tuple[str, ...]) -> bool:
    """Return whether nested settings have a value at a path."""
    for name in path:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True


def _text(value: bool | float | str) -> str:
    return str(value).lower() if isinstance(value, bool | str) else f"{value:g}"

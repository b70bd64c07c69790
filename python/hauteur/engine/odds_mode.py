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
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from hauteur.engine.uci.commands import PositionCommand
from hauteur.engine.uci.options import Options
from hauteur.games.odds import Odds, odds_of
from hauteur.mcts.lc0_options import setting_path
from hauteur.networks.names import colour_of, resolve_net
from hauteur.system.settings import Section, assign, read_toml, validated

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.settings import PlayerSettings

GIVER_VISITS = 400
"""Visits of a giver that has been given none: the settings are of a search."""
SETTINGS_FOR_ODDS = ", settings for odds"
"""End of the name of such a giver."""


class OddsSettings(Section):
    """Settings for a giver of a handicap: a row of the table."""

    pieces: str = ""
    """The pieces that are missing, as `Odds.pieces` names them, such as `Q` or `RN`; empty: any."""
    gives: Literal["white", "black"] | None = None
    """The side that gives them; None: either."""
    source: str = ""
    """Where the settings were published; nothing reads it."""
    settings: dict[str, bool | float | str] = Field(default_factory=dict)
    """Values of options of the UCI engine, by lc0's names."""
    nodes: Annotated[int, Field(ge=1, le=4_000_000_000)] | None = None
    """Maximum visits of a search; None: no limit."""

    def fits(self, odds: Odds, q: float | None) -> bool:  # noqa: ARG002  (of those with a condition)
        """Return whether they are for a handicap, where the giver's last search found the value q, -1 to 1."""
        of_giver = self.gives in (None, ("white", "black")[odds.giver])
        return of_giver and self.pieces in ("", odds.pieces)


class WhenSettings(OddsSettings):
    """Settings for a giver whose last search found less than `q_below`, at least `q_above`; W - L, -1 to 1."""

    q_below: Annotated[float, Field(ge=-1, le=1)] = 1.0
    q_above: Annotated[float, Field(ge=-1, le=1)] = -1.0

    def fits(self, odds: Odds, q: float | None) -> bool:
        """Return whether they are for a handicap at this value; never before the first search of a game."""
        return q is not None and self.q_above <= q < self.q_below and super().fits(odds, q)


class OddsTable(Section):
    """All settings for odds; of those that fit the later ones count, those with a condition after all others."""

    odds: tuple[OddsSettings, ...] = ()
    when: tuple[WhenSettings, ...] = ()


SHIPPED = Path(__file__).with_name("odds_settings.toml")


def giver_settings(
    odds: Odds, trained_for: int | None = None, q: float | None = None
) -> tuple[dict[str, bool | float | str], int | None]:
    """Return the giver's settings, by lc0's names, and the most visits of a search: the shipped ones, then those of the
    file that HAUTEUR_ODDS names.

    q: value that the giver's last search found, -1 to 1; None: there was none. trained_for: the only colour that the
    net was trained to give as, 0 White, 1 Black; to the other one's giver it is shown as that colour (SwapColors).
    ValueError for a file that is no such table, with the place.
    """
    own = os.environ.get("HAUTEUR_ODDS")
    found: dict[str, bool | float | str] = {} if trained_for in (None, odds.giver) else {"SwapColors": True}
    tables = [_table(path) for path in (SHIPPED, *([Path(own)] if own else []))]
    fitting = [row for rows in (*(one.odds for one in tables), *(one.when for one in tables)) for row in rows]
    nodes = None
    for row in fitting:
        if row.fits(odds, q):
            found |= row.settings
            nodes = row.nodes or nodes
    return found, nodes


@cache
def _table(path: Path) -> OddsTable:
    """Read and check a table, once: the engine asks at every move."""
    try:
        table = OddsTable(**read_toml(path))
        for row in (*table.odds, *table.when):
            options = Options()
            for name, value in row.settings.items():
                options.set(name, _text(value))
    except (ValueError, OSError) as error:
        raise ValueError(f"settings for odds, {path}: {error}") from None
    return table


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
        listed = ", ".join(f"{name} {_text(value)}" for name, value in self.changes.items())
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
    from hauteur.players.build import player_name  # here: the engine does without players
    from hauteur.players.settings import PlayerSettings

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


def _text(value: bool | float | str) -> str:
    """Return a value as options of the UCI engine are written."""
    return str(value).lower() if isinstance(value, bool | str) else f"{value:g}"

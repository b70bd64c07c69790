"""The tables of settings for odds, `odds_settings.toml` and the user's own, and the rows that fit a game."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hauteur.engine.uci.options import Options, value_text
from hauteur.games.odds import Odds
from hauteur.system.settings import Section, read_toml


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
    found: dict[str, bool | float | str] = {}
    if trained_for not in (None, odds.giver):
        found["SwapColors"] = True
    tables = [odds_table(SHIPPED)]
    own = os.environ.get("HAUTEUR_ODDS")
    if own:
        tables.append(odds_table(Path(own)))
    rows: list[OddsSettings] = []
    for table in tables:
        rows += table.odds
    for table in tables:
        rows += table.when
    nodes = None
    for row in rows:
        if row.fits(odds, q):
            found |= row.settings
            nodes = row.nodes or nodes
    return found, nodes


@cache
def odds_table(path: Path) -> OddsTable:
    """Read and check a table, once: the engine asks at every move."""
    try:
        table = OddsTable(**read_toml(path))
        for row in (*table.odds, *table.when):
            options = Options()
            for name, value in row.settings.items():
                options.set(name, value_text(value))
    except (ValueError, OSError) as error:
        raise ValueError(f"settings for odds, {path}: {error}") from None
    return table

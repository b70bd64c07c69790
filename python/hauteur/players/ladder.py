"""Opponents by rating, `human-800` to `human-2200`: nets of people's moves, as strong as a measured ladder says.

`ladder.toml` is measured and written by `tools/measure_ladder.py`: a net of the Maia project, visits and temperature
for every hundred points, chosen so that each scores 64 % against the one below it, which are 100 Elo. The ratings are
those of the ladder: maia-1500, its policy sampled as it was trained, is 1500. They are not ratings of a server.
"""

from functools import cache
from pathlib import Path
from typing import Any

from hauteur.system.formatting import did_you_mean
from hauteur.system.settings import Section, read_toml

PREFIX = "human-"
ANCHOR = 1500
"""Rating of maia-1500, whose policy is sampled unchanged: at one visit, policy temperature and temperature 1."""
TABLE = Path(__file__).with_name("ladder.toml")


class Rung(Section):
    """An opponent by rating."""

    rating: int
    """Its rating."""
    net: str
    """Name of its net."""
    visits: int
    """Root visits at which it chooses a move."""
    temperature: float
    """Temperature of its choice, the same in the whole game."""
    score: float | None = None
    """Score against the next weaker opponent, 0 to 1; None: it is the weakest."""
    low: float | None = None
    """Lower end of the score's 95 % interval."""
    high: float | None = None
    """Upper end of the score's 95 % interval."""
    games: int = 0
    """Games of that measurement."""

    @property
    def name(self) -> str:
        """Name in texts of players: `human-1500`."""
        return f"{PREFIX}{self.rating}"

    @property
    def settings(self) -> dict[tuple[str, ...], Any]:
        """Its settings as a player's: full keys and values."""
        return {
            ("name",): self.name,
            ("net",): self.net,
            ("visits",): self.visits,
            ("search", "policy_temperature"): 1.0,
            ("temperature", "initial"): self.temperature,
            ("temperature", "endgame"): self.temperature,
        }


@cache
def ladder() -> tuple[Rung, ...]:
    """Return all opponents, the weakest first."""
    return tuple(Rung(**row) for row in read_toml(TABLE)["rung"])


def is_rung(word: str) -> bool:
    """Return whether a word begins like the name of an opponent by rating."""
    return word.startswith(PREFIX)


def rung_named(name: str) -> Rung:
    """Return the opponent of this name; ValueError with the names that there are."""
    known = {rung.name: rung for rung in ladder()}
    if name not in known:
        names = list(known)
        near = did_you_mean(name, names)
        raise ValueError(f"no opponent {name!r}{near}; there are {names[0]} to {names[-1]} in steps of 100")
    return known[name]


def rung_at(rating: int) -> Rung:
    """Return the opponent whose rating is nearest."""
    return min(ladder(), key=lambda rung: abs(rung.rating - rating))

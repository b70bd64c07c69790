"""The rungs of the ladder: opponents on one scale, each pinned by name, version and options, none limited by time.

`chess.toml` is measured and written by `tools/measure_rungs.py`. Rungs near each other played pairs of games from
`chess_openings.txt`; one Bradley-Terry fit with one anchor gave the ratings. Nothing in such a game depends
on the machine: programs are limited by nodes, have one thread and forget between games, nets compute in float32.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hauteur.networks.names import downloaded_nets, resolve_net, shipped_names
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.system.files import sha256_of
from hauteur.system.settings import Section, read_toml, validated

FOLDER = Path(__file__).parent
Z95 = 1.959964
"""Standard errors on each side of a 95 % interval."""
PATIENCE = 3600.0
"""Seconds that a program of a rung may take to start or to move: it has nodes, and the machine may be busy."""
GAMES = ("chess",)
"""Games that have a ladder."""


class RatedRung(Section):
    """An opponent of the ladder."""

    name: str
    """Its name in results."""
    player: str
    """The text of its player."""
    elo: float | None = None
    """Its rating; None: not measured yet."""
    low: float | None = None
    """Lower end of the rating's 95 % interval, relative to the anchor."""
    high: float | None = None
    """Upper end of the rating's 95 % interval."""
    games: int = 0
    """Different games that the rating is made of."""

    @property
    def rating(self) -> float:
        """Its Elo; ValueError where it was not measured."""
        if self.elo is None:
            raise ValueError(f"the rung {self.name} has no rating: tools/measure_rungs.py measures it")
        return self.elo

    @property
    def deviation(self) -> float:
        """Standard error of its rating in Elo; 0 of the anchor."""
        if self.low is None or self.high is None:
            return 0.0
        return (self.high - self.low) / (2 * Z95)

    def settings(self, stockfish: str | None = None) -> PlayerSettings:
        """Return its player. stockfish: path of the program to use in the place of the one on the path."""
        settings = parse_player(f"{self.player} name={self.name}", f"rung {self.name}")
        if settings.engine is None:
            return settings
        # A rung that starts or answers late on a busy machine must not end the rating, nor lose a game.
        changes: dict[str, object] = {"start_timeout": PATIENCE, "move_timeout": PATIENCE}
        if stockfish is not None:
            changes["command"] = stockfish
        return settings.model_copy(update={"engine": settings.engine.model_copy(update=changes)})


class Pair(Section):
    """The games of two rungs, from the view of the first."""

    a: str
    """Name of the first rung."""
    b: str
    """Name of the second rung."""
    wins: int
    """Different games that `a` won."""
    draws: int
    """Different games that were drawn."""
    losses: int
    """Different games that `a` lost."""
    sha256: str
    """SHA-256 of all games of the pair as PGN without times, in the order of their numbers."""


class RungTable(Section):
    """The table of a game's ladder."""

    game: str
    """The game."""
    anchor: str
    """Name of the rung whose rating is given."""
    anchor_elo: float
    """The rating of the anchor."""
    max_plies: int
    """A game of this many plies, its opening included, is a draw."""
    seed: int
    """Seed of the games between the rungs."""
    stockfish: str
    """What the program of the rungs calls itself: name and version."""
    openings_sha256: str
    """SHA-256 of the file of openings."""
    nets: dict[str, str]
    """SHA-256 of each net, by name."""
    rung: tuple[RatedRung, ...]
    """All rungs, the weakest first."""
    pair: tuple[Pair, ...] = ()
    """The games between the rungs."""

    def named(self, name: str) -> RatedRung:
        """Return the rung of this name; KeyError where there is none."""
        for rung in self.rung:
            if rung.name == name:
                return rung
        raise KeyError(name)


def table_path(game: str = "chess") -> Path:
    """Return the file of a game's ladder."""
    return FOLDER / f"{game}.toml"


def openings_path(game: str = "chess") -> Path:
    """Return the file of the openings of a game's ladder."""
    return FOLDER / f"{game}_openings.txt"


@cache
def rung_table(game: str = "chess") -> RungTable:
    """Return the ladder of a game; ValueError where there is none."""
    if game not in GAMES:
        raise ValueError(f"there is no ladder of {game!r}; there is one of {', '.join(GAMES)}")
    return read_table(table_path(game))


def read_table(path: Path) -> RungTable:
    """Read a table; ValueError names what is wrong."""
    return validated(RungTable, read_toml(path), str(path))


def check_nets(table: RungTable) -> None:
    """Raise ValueError where a net of the rungs is missing, or another file than the ladder was measured with."""
    # All of them in one line: `hauteur net get` takes several, and each answer would ask for the next one.
    here = {*shipped_names(), *downloaded_nets()}
    missing = [name for name in table.nets if name not in here]
    if missing:
        raise ValueError(f"the rungs need nets that are not downloaded yet: hauteur net get {' '.join(missing)}")
    for name, sha256 in table.nets.items():
        path = Path(resolve_net(name).path)
        if sha256_of(path) != sha256:
            raise ValueError(f"{path} is not the {name} that the ladder was measured with: `hauteur net get {name}`")


def nets_of(table: RungTable) -> dict[str, str]:
    """Return the SHA-256 of each net that the rungs name, as it is here."""
    settings = [rung.settings() for rung in table.rung]
    names = sorted({player.net for player in settings if player.net is not None})
    return {name: sha256_of(Path(resolve_net(name).path)) for name in names}

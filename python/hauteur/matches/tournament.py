"""Tournaments: all pairings of several players at once, side by side with one batch per net.

A pairing is a match, with a folder of its own: tournament/1-2 is the match of the first player against the second, as
`hauteur match` would play it with the same seed, and can be viewed, rated and resumed as such. Each pairing has its own
seed, derived from that of the tournament and the two numbers; so players can be added at the end of the list, and
existing games stay valid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hauteur import __version__
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.match import GamesInProgress, Match
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.rating_list import Encounter, RatingList, ratings_json
from hauteur.matches.results import repeats_note
from hauteur.matches.settings import GamesSettings, MatchSettings
from hauteur.players.build import player_name
from hauteur.players.settings import PlayerSettings
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import OTHER_FOLDER
from hauteur.system.seeds import derived_seed

Kind = Literal["round-robin", "gauntlet"]


class TournamentSettings(GamesSettings):
    """Settings of the games. kind: all pairings, or those of the first player alone; games: of each pairing, in pairs
    with colours swapped.
    """

    players: Annotated[tuple[PlayerSettings, ...], Field(min_length=2, max_length=1000)]
    kind: Kind = "round-robin"
    games: Annotated[int, Field(ge=2, lt=1_000_000, multiple_of=2)] = 100

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        """Refuse two players with one name."""
        names = [player.name for player in self.players if player.name]
        twice = _repeated(names)
        if twice is not None:
            raise ValueError(f"two players have the name {twice!r}")
        return self

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Indices of the players of each pairing."""
        last = len(self.players)
        rows = range(1 if self.kind == "gauntlet" else last)
        return [(a, b) for a in rows for b in range(a + 1, last)]

    def match(self, a: int, b: int) -> MatchSettings:
        """Return the settings of the match of two players, by their indices."""
        return MatchSettings(
            a=self.players[a],
            b=self.players[b],
            seed=derived_seed(self.seed, f"pairing {a}", b),
            **self.model_dump(include={*GamesSettings.model_fields, "games"} - {"seed"}),
        )


@dataclass
class Tournament(GamesInProgress):
    """Tournament in progress, from which displays read."""

    settings: TournamentSettings
    folder: TournamentFolder | None = None

    def __post_init__(self) -> None:
        self.names = [player_name(self.game, player) for player in self.settings.players]
        twice = _repeated(self.names)
        if twice is not None:
            raise ValueError(f"two players are called {twice!r}: give them names with name=")
        self._pairings = {pairing: self._match(*pairing) for pairing in self.settings.pairings}

    def _match(self, a: int, b: int) -> Match:
        """Return the match of two players, by their indices."""
        folder = None
        if self.folder is not None:
            folder = MatchFolder(self.folder.path / _pairing_name(a, b))
        settings = self.settings.match(a, b)
        return Match(self.game, settings, self.openings, self.resources, folder, openings_name=self.openings_name)

    @property
    def pairings(self) -> Mapping[tuple[int, int], Match]:
        """The matches by the indices of their players."""
        return self._pairings

    @property
    def players(self) -> Mapping[str, PlayerSettings]:
        """The players by their names."""
        return dict(zip(self.names, self.settings.players, strict=True))

    @property
    def games_wanted(self) -> int:
        """Games of all pairings together."""
        return self.settings.games * len(self.pairings)

    def ratings(self) -> RatingList:
        """Return the rating list of the games that differ."""
        return rating_list(Encounter(*match.names, match.tally.different.record) for match in self.matches)

    @property
    def note(self) -> str:
        """Tell how many of the games differ, where not all do; empty otherwise."""
        return repeats_note(match.tally for match in self.matches)

    def resume(self) -> list[set[int]]:
        """Read the games of earlier sessions; their numbers, by match."""
        if self.folder is not None:
            if self.folder.games_file.exists():
                raise ValueError(f"{self.folder.path} holds a match; {OTHER_FOLDER}")
            self.folder.refuse_other_work()
            self.before = self.folder.work()
        return [own for match in self.matches for own in match.resume()]

    def begin(self) -> None:
        """Write the settings of the tournament and its matches into the folder, if there is one."""
        if self.folder is not None:
            self.folder.begin_tournament(self.stored_settings())
            for match in self.matches:
                match.begin()

    def stored_settings(self) -> dict[str, Any]:
        """Return the contents of tournament.json; settings of the games are in the folders of the pairings."""
        pairings = {}
        for a, b in self.settings.pairings:
            pairings[_pairing_name(a, b)] = [self.names[a], self.names[b]]
        return {"players": self.names, "pairings": pairings, **self.settings.model_dump(exclude={"players"})}

    def result(self) -> dict[str, Any]:
        """Return the result so far as JSON has it."""
        found = self.ratings()
        return {
            "complete": self.games_done == self.games_wanted,
            "players": self.names,
            "games": self.games_done,
            "summary": f"{self.games_done:,} games: {best_of(found)}{f'; {self.note}' if self.note else ''}",
            **ratings_json(found),
            "pairings": [
                {"a": match.names[0], "b": match.names[1], "results": match.tally.to_json()} for match in self.matches
            ],
            "work": self.work.to_json(),
            "settings": self.stored_settings(),
            "hauteur": __version__,
            "written": provenance(),
        }

    def write_result(self) -> None:
        """Write the results so far into the folders, if there are any."""
        if self.folder is not None and self.folder.settings_file.exists():
            self.folder.write_result(self.result())
            for match in self.matches:
                match.write_result()


def _repeated(names: Sequence[str]) -> str | None:
    """Return the first name that is there more than once; None where all differ."""
    for name in names:
        if names.count(name) > 1:
            return name
    return None


def _pairing_name(a: int, b: int) -> str:
    """Return the name of a pairing and of its folder; a, b: indices of the players, which are named from 1."""
    return f"{a + 1}-{b + 1}"


def best_of(found: RatingList, most: int = 5) -> str:
    """Return the first players of a list with their Elo, in a line."""
    return ", ".join(f"{rating.name} {rating.elo:+z.0f}" for rating in found.ratings[:most])

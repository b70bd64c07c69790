"""The folder of a tuning: tune.json (settings), a folder for each match, result.json."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, games_stamp
from hauteur.matches.match import Match, MatchSettings
from hauteur.matches.openings import Opening
from hauteur.matches.results import Tally
from hauteur.players.build import Resources
from hauteur.system.run_directory import RunDirectory


@dataclass(frozen=True)
class TuningFolder(RunDirectory):
    """Files of a tuning, and its matches, which resume on their own.

    openings: of the games, from openings_file.
    """

    SETTINGS = "tune.json"
    CONTENT = "a tuning"
    WORK = "tuning"

    resources: Resources = field(default_factory=Resources)
    openings: Sequence[Opening] = ()
    openings_file: Path | None = None

    def stamps(self) -> dict[str, str]:
        """Return those of the matches' games too."""
        return super().stamps() | games_stamp(self.path)

    def play(self, name: str, settings: MatchSettings) -> Tally:
        """Return the results of a match, playing the missing games."""
        match = Match(
            load_game(settings.game),
            settings,
            openings=self.openings,
            openings_file=self.openings_file,
            resources=self.resources,
            folder=MatchFolder(self.path / name),
        )
        with closing(match.play()) as games:
            for _ in games:
                pass
        return match.tally

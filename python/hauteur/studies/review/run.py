"""The review of a file of games: nets, searches, and the folder in which it goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.players.build import net_content
from hauteur.search.limits import Limits
from hauteur.studies.review.folder import ReviewFolder
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.review import Look, Place, PositionFinding, finding_of, review_game
from hauteur.system.files import sha256_of

Tick = Callable[[int, int], None]
"""Receives how many positions are searched and how many there are."""


@dataclass
class ReviewRun:
    """A review of the games of a file.

    file: where they come from; limits: of the search of a position; settings: as `hauteur analyse` has them; folder:
    None: nothing is kept; tick: is called after every position.
    """

    file: Path
    games: Sequence[ReviewedGame]
    nets: NetChoice
    limits: Limits
    settings: PlaySettings = field(default_factory=PlaySettings)
    seed: int = 0
    folder: ReviewFolder | None = None
    tick: Tick = lambda *_: None
    done: int = 0

    @property
    def positions(self) -> int:
        """How many positions are searched in all."""
        return sum(game.positions for game in self.games)

    def stored_settings(self) -> dict[str, Any]:
        """Return what the findings depend on, as the folder remembers it."""
        budget = self.limits.budget
        return {
            "file": f"{self.file.name} sha256 {sha256_of(self.file)}",
            "net": net_content(self.nets.net),
            "large_net": net_content(self.nets.large) if self.nets.large else None,
            "visits": self.limits.visits,
            "seconds": None if budget is None else budget.target,
            "search": self.settings.search.model_dump(mode="json", exclude_defaults=True),
            "tablebases": self.settings.tablebase is not None,
            "seed": self.seed,
        }

    def run(self) -> Generator[ReviewedGame]:
        """Search all positions; yield each game once all its moves have their report."""
        known: Mapping[int, Mapping[Place, PositionFinding]] = {} if self.folder is None else self.folder.known()
        with PlayingSession(self.games[0].start.game, self._settings(), seed=self.seed) as session:
            session.open(self.nets)
            session.prepare()
            for game in self.games:
                found = known.get(game.number, {})
                self._count(len([ply for ply, instead in found if ply < game.positions and not instead]))
                for report in review_game(game.start, game.actions, self._look(session, game), known=found):
                    game.moves.append(report)
                yield game

    def _settings(self) -> PlaySettings:
        """Every position is searched anew, so that it matters neither what was searched before nor where one began."""
        search = self.settings.search.model_copy(update={"reuse_tree": False})
        return PlaySettings(search, batch_size=self.settings.batch_size, tablebase=self.settings.tablebase)

    def _look(self, session: PlayingSession, game: ReviewedGame) -> Look:
        def look(line: tuple[int, ...]) -> PositionFinding:
            session.set_position(game.start, line)
            report = session.think(self.limits).report
            assert report is not None  # a player with nets always reports
            finding = finding_of(report)
            instead = line != game.actions[: len(line)]
            if self.folder is not None:
                self.folder.add(game.number, (len(line), instead), finding)
            self._count(0 if instead else 1)
            return finding

        return look

    def _count(self, more: int) -> None:
        self.done += more
        self.tick(self.done, self.positions)

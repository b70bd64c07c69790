"""The review of a file of games: nets, searches, and the folder in which it goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Limits
from hauteur.mcts.time_manager import Budget
from hauteur.players.build import net_content
from hauteur.studies.review.folder import ReviewFolder
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.judgement import CONFIRMATION
from hauteur.studies.review.review import Found, Look, Place, PositionFinding, finding_of, review_game

OnPosition = Callable[[ReviewedGame, Place, PositionFinding], None]
"""Receives what a search has found of a place of a game."""


class ReviewStoppedError(Exception):
    """A review was asked to stop."""


@dataclass
class ReviewRun:
    """A review of the games of a file.

    file, sha256: its name and check sum; limits: of the search of a position; settings: as `hauteur analyse` has them;
    folder: None: nothing is kept; on_position: is called after every search; found: what is known already, by the
    number of the game; done: how many positions are searched, those that are known included.
    """

    file: str
    sha256: str
    games: Sequence[ReviewedGame]
    nets: NetChoice
    limits: Limits
    settings: PlaySettings = field(default_factory=PlaySettings)
    seed: int = 0
    folder: ReviewFolder | None = None
    on_position: OnPosition = lambda *_: None
    found: dict[int, Found] = field(default_factory=dict)
    done: int = 0
    _control: SearchControl = field(default_factory=SearchControl)
    _stopped: bool = False

    @property
    def positions(self) -> int:
        """How many positions are searched in all, the further searches of marked moves not counted."""
        return sum(game.positions for game in self.games)

    def stored_settings(self) -> dict[str, Any]:
        """Return what the findings depend on, as the folder remembers it."""
        budget = self.limits.budget
        return {
            "file": f"{self.file} sha256 {self.sha256}",
            "net": net_content(self.nets.net),
            "large_net": net_content(self.nets.large) if self.nets.large else None,
            "visits": self.limits.visits,
            "seconds": None if budget is None else budget.target,
            "search": self.settings.search.model_dump(mode="json", exclude_defaults=True),
            "tablebases": self.settings.tablebase is not None,
            "seed": self.seed,
        }

    def run(self) -> Generator[ReviewedGame]:
        """Search what is not known yet; yield a game after each of its moves has got its report.

        Raise ReviewStoppedError after `stop`; the next run goes on from there.
        """
        self._stopped, self.done = False, 0
        if self.folder is not None:
            self.found = self.folder.known()
        with PlayingSession(self.games[0].start.game, self._settings(), seed=self.seed) as session:
            session.open(self.nets)
            session.prepare()
            for game in self.games:
                game.moves.clear()
                found = self.found.setdefault(game.number, {})
                self.done += sum(place == Place(place.ply) and place.ply < game.positions for place in found)
                for report in review_game(game.start, game.actions, self._look(session, game), found=found):
                    game.add(report)
                    yield game

    def stop(self) -> None:
        """End the run soon; any thread may call it."""
        self._stopped = True
        self._control.stop()

    def _settings(self) -> PlaySettings:
        """Every position is searched anew, so that it matters neither what was searched before nor where one began."""
        search = self.settings.search.model_copy(update={"reuse_tree": False})
        return PlaySettings(search, batch_size=self.settings.batch_size, tablebase=self.settings.tablebase)

    def _look(self, session: PlayingSession, game: ReviewedGame) -> Look:
        def look(line: tuple[int, ...], place: Place) -> PositionFinding:
            session.set_position(game.start, line)
            control = self._control = SearchControl()
            if self._stopped:
                raise ReviewStoppedError
            limits = times(self.limits, CONFIRMATION) if place.deep else self.limits
            report = session.think(limits, control=control).report
            if control.stopped:
                raise ReviewStoppedError
            assert report is not None  # a player with nets always reports
            finding = finding_of(report)
            if self.folder is not None:
                self.folder.add(game.number, place, finding)
            self.found[game.number][place] = finding
            self.done += place == Place(place.ply)
            self.on_position(game, place, finding)
            return finding

        return look


def times(limits: Limits, factor: int) -> Limits:
    """Return limits of so many times the visits and seconds."""
    visits, budget = limits.visits, limits.budget
    longer = None if budget is None else Budget(factor * budget.target, factor * budget.maximum)
    return replace(limits, visits=None if visits is None else factor * visits, budget=longer)

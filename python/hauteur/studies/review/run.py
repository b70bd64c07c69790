"""A review: its folder, from which an interrupted one resumes, the searches, and the files that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.games.played_game import position_after
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Budget, Limits
from hauteur.mcts.net_search import search_of_net
from hauteur.mcts.plain_settings import search_model
from hauteur.networks.names import resolve_net
from hauteur.networks.strength import strength_of
from hauteur.studies.review.annotate import annotated_games
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.page import review_json, review_page
from hauteur.studies.review.review import (
    CONFIRMATION,
    Found,
    Look,
    Place,
    PositionFinding,
    finding_of,
    finding_of_win,
    review_game,
)
from hauteur.system.files import write_bytes, write_json
from hauteur.system.jsonl import Journal
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import RunDirectory
from hauteur.system.settings import Section

Share = Annotated[float, Field(ge=0, le=1)]


class FoundPosition(Section):
    """A line of positions.jsonl: the result for one position of a game."""

    game: int
    """Number of the game, from 1."""
    ply: int
    """Plies played before the position."""
    wdl: tuple[Share, Share, Share]
    """Win, draw, loss for the player to move."""
    line: tuple[int, ...]
    """Best line, as actions."""
    visits: int
    """Visits of the search."""
    mate: int | None = None
    """Moves to a forced win; None: there is none."""
    instead: bool = False
    """As in `Place`."""
    deep: bool = False
    """As in `Place`."""
    others: bool = False
    """As in `Place`."""

    @classmethod
    def of(cls, game: int, place: Place, finding: PositionFinding) -> FoundPosition:
        """Return what was found of a place of a game."""
        wdl = tuple(min(max(share, 0.0), 1.0) for share in finding.wdl)
        fields: dict[str, Any] = {"game": game, "wdl": wdl, "line": finding.line}
        fields |= {"visits": finding.visits, "mate": finding.mate}
        return cls.model_validate({**fields, **place._asdict()})

    @property
    def place(self) -> Place:
        """The place that the result is for."""
        return Place(self.ply, self.instead, self.deep, self.others)

    @property
    def finding(self) -> PositionFinding:
        """The result."""
        return PositionFinding(self.wdl, self.line, self.visits, self.mate)


@dataclass(frozen=True)
class ReviewFolder(RunDirectory):
    """review.json (settings), positions.jsonl, result.json, and the review as report.html and review.pgn or .sgf."""

    SETTINGS = "review.json"
    CONTENT = "a review"
    WORK = "reviewing games"

    @property
    def journal(self) -> Journal[FoundPosition]:
        return Journal(self.path / "positions.jsonl", FoundPosition, "a position of a review")

    def known(self) -> dict[int, Found]:
        """Return the findings of earlier attempts, by game and place."""
        found: dict[int, Found] = {}
        for entry in self.journal.entries():
            found.setdefault(entry.game, {})[entry.place] = entry.finding
        return found

    def add(self, game: int, place: Place, finding: PositionFinding) -> None:
        """Keep what was found; it is on disk when this returns."""
        self.journal.append(FoundPosition.of(game, place, finding))


OnPosition = Callable[[ReviewedGame, Place, PositionFinding], None]
"""Receives what a search has found of a place of a game."""


class ReviewStoppedError(Exception):
    """A review was asked to stop."""


@dataclass
class ReviewRun:
    """A review of the games of a file."""

    file: str
    """Name of the file."""
    sha256: str
    """SHA-256 of the file, hexadecimal."""
    games: Sequence[ReviewedGame]
    """Its games."""
    nets: NetChoice
    """Nets that search."""
    limits: Limits
    """Limits of the search of a position."""
    settings: PlaySettings = field(default_factory=PlaySettings)
    """Settings of the search, as for `hauteur analyse`."""
    seed: int = 0
    """Seed of all random draws."""
    folder: ReviewFolder | None = None
    """Folder that keeps the results; None: nothing is kept."""
    on_position: OnPosition = lambda *_: None
    """Called after every search."""
    found: dict[int, Found] = field(default_factory=dict)
    """Results that are known, by the number of the game."""
    done: int = 0
    """Number of positions with a result, those of earlier sessions included."""
    _control: SearchControl = field(default_factory=SearchControl)
    _stopped: bool = False

    @property
    def positions(self) -> int:
        """How many positions are searched in all, the further searches of marked moves not counted."""
        return sum(game.positions for game in self.games)

    def stored_settings(self) -> dict[str, Any]:
        """Return what the findings depend on, as the folder remembers it."""
        budget = self.limits.budget
        net = resolve_net(self.nets.net)
        search = search_of_net(search_model(self.settings.search), net, self.nets.large)
        return {
            "file": f"{self.file} sha256 {self.sha256}",
            "net": net.content,
            "large_net": resolve_net(self.nets.large).content if self.nets.large else None,
            "visits": self.limits.visits,
            "seconds": None if budget is None else budget.target,
            "search": search.model_dump(mode="json", exclude_defaults=True),
            "tablebases": self.settings.tablebase is not None,
            "seed": self.seed,
        }

    def run(self) -> Generator[ReviewedGame]:
        """Search what is not known yet; yield a game after each of its moves has got its report.

        Raise ReviewStoppedError after `stop`; the next run resumes there.
        """
        self._stopped = False
        self.done = 0
        if self.folder is not None:
            self.found = self.folder.known()
        with PlayingSession(self.games[0].start.game, self._settings(), seed=self.seed) as session:
            session.open(self.nets)
            session.prepare()
            for game in self.games:
                game.moves.clear()
                found = self.found.setdefault(game.number, {})
                plain = [place for place in found if place == Place(place.ply)]
                self.done += sum(place.ply < game.positions for place in plain)
                for report in review_game(game.start, game.actions, self._look(session, game), found=found):
                    game.add(report)
                    yield game

    def stop(self) -> None:
        """End the run soon; any thread may call it."""
        self._stopped = True
        self._control.stop()

    def _settings(self) -> PlaySettings:
        """Every position is searched anew, so that it matters neither what was searched before nor where one began."""
        search = search_model(self.settings.search).model_copy(update={"reuse_tree": False})
        return PlaySettings(search, batch_size=self.settings.batch_size, tablebase=self.settings.tablebase)

    def _look(self, session: PlayingSession, game: ReviewedGame) -> Look:
        def look(line: tuple[int, ...], place: Place, among: tuple[int, ...]) -> PositionFinding:
            session.set_position(game.start, line)
            control = self._control = SearchControl()
            if self._stopped:
                raise ReviewStoppedError
            finding = None if among else finding_of_win(position_after(game.start, line))
            if finding is None:
                limits = times(self.limits, CONFIRMATION) if place.deep else self.limits
                report = session.think(limits, control=control, actions=among).report
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
    """Return limits with `factor` times the visits and seconds."""
    visits = limits.visits
    budget = limits.budget
    longer = None
    if budget is not None:
        longer = Budget(factor * budget.target, factor * budget.maximum)
    return replace(limits, visits=None if visits is None else factor * visits, budget=longer)


@contextmanager
def kept(run: ReviewRun) -> Iterator[None]:
    """Keep a review in its folder, if it has one, while the body runs; write its files at the end.

    They are written too when the review is interrupted, of all that is done until then. Raise ValueError where the
    folder holds a review with other settings, or another process works in it.
    """
    if run.folder is None:
        yield
        return
    with run.folder.open(run.stored_settings()):
        try:
            yield
        except KeyboardInterrupt:
            write_review(run, run.folder.path)
            raise
        write_review(run, run.folder.path)


def write_review(run: ReviewRun, folder: Path) -> None:
    """Write the annotated games (review.pgn or review.sgf, where the game has one), report.html and result.json."""
    form = run.games[0].start.game.record_form
    if form is not None:
        write_bytes(folder / f"review.{form}", annotated(run).encode())
    write_bytes(folder / "report.html", report_html(run).encode())
    write_json(folder / "result.json", {**run_json(run), "written": provenance()})


def annotated(run: ReviewRun) -> str:
    """Return the games that are reviewed until now, as PGN or SGF with chances, marks and better lines.

    Empty where none is; ValueError for games of which neither is written.
    """
    games = [game for game in run.games if game.moves]
    return annotated_games(games, annotator_of(run)) if games else ""


def report_html(run: ReviewRun) -> str:
    """Return the page of the review, of all that is reviewed until now."""
    return review_page(run.file, run.games, run.stored_settings(), provenance(), searched_by(run))


def run_json(run: ReviewRun) -> dict[str, Any]:
    """Return the review as one JSON object, with its settings."""
    return review_json((game for game in run.games if game.moves), settings=run.stored_settings())


def annotator_of(run: ReviewRun) -> str:
    """Return net and effort in a few words, for the annotated games."""
    return f"hauteur, {Path(run.nets.net).name}, {effort_text(run.limits)} a position"


def searched_by(run: ReviewRun) -> str:
    """Return a sentence of what searched, with which effort, and how strong it is."""
    net = Path(run.nets.net).name
    return f"Searched by {net}, {effort_text(run.limits)} a position. Strength: {strength_of(run.nets.net)}."


def effort_text(limits: Limits) -> str:
    """Return the effort a position, such as `800 visits or 2 s`."""
    effort = [] if limits.visits is None else [f"{limits.visits} visits"]
    if limits.budget is not None:
        effort.append(f"{limits.budget.target:g} s")
    return " or ".join(effort)

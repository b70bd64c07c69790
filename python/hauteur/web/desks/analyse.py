"""The desk of the page Analyse: one position, a search of it, its moves as they stand."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Annotated

from pydantic import Field

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.games.registry import make, with_fen
from hauteur.networks.bundled import net_or_shipped
from hauteur.search.limits import limits_of
from hauteur.search.params import SearchParams
from hauteur.search.report import RootReport
from hauteur.system.settings import Section, validated
from hauteur.web.desks.desk import Desk, DeskSettings, Emit, Fields
from hauteur.web.desks.reports import report_view
from hauteur.web.positions import position_view

MOST_MOVES = 5000
"""Moves of a game that a page sends."""
LINES = 256
"""Moves of a report that get their line."""

Move = Annotated[str, Field(max_length=40)]


class PositionFields(Section):
    """A position to look at: a game by its spec, a FEN, moves as text; with which net and settings."""

    game: Annotated[str, Field(max_length=200)] = "chess"
    fen: Annotated[str, Field(max_length=200)] = ""
    moves: Annotated[tuple[Move, ...], Field(max_length=MOST_MOVES)] = ()
    net: Annotated[str, Field(max_length=400)] = ""
    search: SearchParams = SearchParams()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    flip: bool = False


class SearchOrder(Section):
    """How long to search; without a limit until it is stopped."""

    visits: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None


class AnalyseDesk(Desk):
    """One position at a time; the tree is kept where the next one continues it."""

    name = "analyse"

    def __init__(self, emit: Emit, settings: DeskSettings) -> None:
        super().__init__(emit, settings)
        self._session: PlayingSession | None = None
        self._key = ("", 0)
        self._search: Future[FoundMove] | None = None

    def do_open(self, fields: Fields) -> Fields:
        """Go to a position; a search of the one before ends. Reply: the position."""
        wanted = validated(PositionFields, fields, "position")
        game = make(with_fen(wanted.game, wanted.fen or None))
        state = game.initial_state()
        actions = []
        for move in wanted.moves:
            actions.append(state.action_from_text(move))
            state.play(actions[-1])
        net = net_or_shipped(wanted.net or None, game)
        self._stop()
        session = self._session_for(game, wanted.seed)
        session.use(PlaySettings(wanted.search))
        session.open(NetChoice(net, threads=self.settings.threads))
        session.set_position(game.initial_state(), actions)
        return {"position": position_view(state, flip=wanted.flip)}

    def do_start(self, fields: Fields) -> Fields:
        """Search on. Events: `report` about ten times a second, at the end `done` with the last one, or `failed`."""
        order = validated(SearchOrder, fields, "search")
        if self._session is None:
            raise ValueError("there is no position yet")
        self._stop()
        limits = limits_of(order.visits, order.seconds)
        self._search = self._session.start(limits, lines=LINES, on_report=self._on_report)
        self._search.add_done_callback(self._on_done)
        return {}

    def do_stop(self, fields: Fields) -> Fields:
        """End the search."""
        self._stop()
        return {}

    def close(self) -> None:
        """End the search and close the net."""
        self._stop()
        if self._session is not None:
            self._session.close()

    def _session_for(self, game: _core.Game, seed: int) -> PlayingSession:
        """Return the session of this game, a new one where it is another."""
        if self._session is None or (game.spec, seed) != self._key:
            if self._session is not None:
                self._session.close()
            self._session, self._key = PlayingSession(game, seed=seed), (game.spec, seed)
        return self._session

    def _stop(self) -> None:
        if self._search is not None and self._session is not None:
            self._session.stop()
            self._search.exception()  # waits for its end
            self._search = None

    def _on_report(self, report: RootReport) -> None:
        self.emit("report", report_view(report))

    def _on_done(self, search: Future[FoundMove]) -> None:
        error = search.exception()
        if error is not None:
            self.emit("failed", {"text": str(error)}, latest=False)
        elif (report := search.result().report) is not None:
            self.emit("done", report_view(report), latest=False)

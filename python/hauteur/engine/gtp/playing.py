"""Commands that think: moves, time, live analysis, and what the last search has found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

from hauteur.engine.gtp.analysis import LiveRequest, katago_line, leela_line, read_analysis_request
from hauteur.engine.gtp.clocks import PlayerClock, TimeSettings
from hauteur.engine.gtp.game_history import GameHistory
from hauteur.engine.gtp.protocol import (
    COLOURS,
    Arguments,
    Commands,
    GtpCommand,
    Result,
    read_colour,
    read_integer,
    read_number,
    text_lines,
)
from hauteur.engine.gtp.session import GtpSession, LastSearch
from hauteur.engine.playing import FoundMove, PlayingSession
from hauteur.engine.streams import LineReader
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootReport

LineOf = Callable[[GameHistory, RootReport, LiveRequest], str]
"""How a report is written."""
ANALYSE_USAGE = "[COLOUR] [CENTISECONDS] [KEY] [VALUE] [...]"
GENMOVE_USAGE = f"COLOUR {ANALYSE_USAGE.removeprefix('[COLOUR] ')}"


class PlayingCommands:
    """The commands, for one session. Analysis ends when the feed has another line."""

    def __init__(self, session: GtpSession, feed: Callable[[], LineReader[bytes]]) -> None:
        self._session = session
        self._feed = feed

    def table(self) -> Commands:
        """The commands that the present player knows, by their names."""
        known = {
            "genmove": GtpCommand("COLOUR", "Plays a move and says it.", self._genmove),
            "reg_genmove": GtpCommand("COLOUR", "Says a move of a new search, the best one; plays nothing.", self._reg),
            "time_settings": GtpCommand(
                "MAIN PERIOD STONES", "Seconds for the game, then for a number of moves.", self._time
            ),
            "time_left": GtpCommand("COLOUR SECONDS STONES", "What a clock shows; 0 stones: main time.", self._left),
        }
        return {**known, **self._analysis_table()} if self._session.player.has_net else known

    def _analysis_table(self) -> Commands:
        """The commands of a player that can analyse."""
        lz, kata = "live in Leela Zero's form", "live in KataGo's form"
        return {
            "lz-analyze": GtpCommand(
                ANALYSE_USAGE, f"Analysis {lz}, until the next line.", lambda a: self._analyse(a, leela_line)
            ),
            "kata-analyze": GtpCommand(
                ANALYSE_USAGE, f"Analysis {kata}, until the next line.", lambda a: self._analyse(a, katago_line)
            ),
            "lz-genmove_analyze": GtpCommand(
                GENMOVE_USAGE, f"genmove, with its search {lz}.", lambda a: self._genmove_live(a, leela_line)
            ),
            "kata-genmove_analyze": GtpCommand(
                GENMOVE_USAGE, f"genmove, with its search {kata}.", lambda a: self._genmove_live(a, katago_line)
            ),
            "hauteur-value": GtpCommand("", "Win, draw and loss of the last search's player, 0 to 1.", self._value),
            "hauteur-visits": GtpCommand("", "Visits of the moves in the last search.", self._visits),
            "hauteur-line": GtpCommand("", "The best line of the last search.", self._line),
            "gogui-interrupt": GtpCommand("", "Says that `# interrupt` ends a search early.", lambda _: ""),
        }

    # Moves.

    def _genmove(self, arguments: Arguments) -> str:
        colour, session = read_colour(arguments[0]), self._session
        if session.board.is_over:
            return session.answer_at_end(colour)
        return session.answer(session.think(colour))

    def _reg(self, arguments: Arguments) -> str:
        colour, session = read_colour(arguments[0]), self._session
        if session.board.is_over:
            return session.answer_at_end(colour)
        found = session.think_repeatably(colour)
        if found.action is None:
            raise ValueError("the search found no move")
        return session.board.vertex(found.action)

    # Time.

    def _time(self, arguments: Arguments) -> str:
        main, period = (read_number(text, least=0.0) for text in arguments[:2])
        self._session.set_time(TimeSettings(main, period, read_integer(arguments[2])))
        return ""

    def _left(self, arguments: Arguments) -> str:
        colour, seconds = read_colour(arguments[0]), read_number(arguments[1])
        self._session.set_clock(colour, PlayerClock(max(0.0, seconds), read_integer(arguments[2])))
        return ""

    # Analysis.

    def _analyse(self, arguments: Arguments, line_of: LineOf) -> Result:
        request, session = read_analysis_request(arguments), self._session
        playing = session.analysing
        session.board.require_turn(session.board.state.to_move if request.colour is None else request.colour)
        return self._live_analysis(playing, request, line_of)

    def _live_analysis(self, playing: PlayingSession, request: LiveRequest, line_of: LineOf) -> Iterator[str]:
        seen = _Latest()
        search = playing.start(Limits(infinite=True), lines=request.most, on_report=seen)
        try:
            while not self._feed().wait(request.interval) and not search.done():
                yield from seen.lines(self._session.board, request, line_of)
        finally:
            playing.stop()
            self._session.note_found(search.result())

    def _genmove_live(self, arguments: Arguments, line_of: LineOf) -> Result:
        colour, request, session = read_colour(arguments[0]), read_analysis_request(arguments), self._session
        if session.board.is_over:
            return iter([f"play {session.answer_at_end(colour)}"])
        session.board.require_turn(colour)
        return self._live_genmove(colour, request, line_of)

    def _live_genmove(self, colour: int, request: LiveRequest, line_of: LineOf) -> Iterator[str]:
        seen, session = _Latest(), self._session
        with ThreadPoolExecutor(1, thread_name_prefix="genmove") as pool:
            search: Future[FoundMove] = pool.submit(session.think, colour, lines=request.most, on_report=seen)
            while not search.done():
                yield from seen.lines(session.board, request, line_of)
                wait([search], request.interval)
        found = search.result()
        if found.report is not None and (line := line_of(session.board, found.report, request)):
            yield line  # an empty one, where no move has been visited, would end the answer
        yield f"play {session.answer(found)}"

    # The last search.

    def _value(self, _: Arguments) -> str:
        report = self._last().report
        figures = " ".join(f"{share:.4f}" for share in report.wdl)
        return f"{COLOURS[report.state.to_move]} {figures}"

    def _visits(self, _: Arguments) -> str:
        return text_lines(f"{vertex} {visits}" for vertex, visits in self._last().visits)

    def _line(self, _: Arguments) -> str:
        return " ".join(f"{COLOURS[player][0]} {vertex}" for player, vertex in self._last().line)

    def _last(self) -> LastSearch:
        if self._session.last is None:
            raise ValueError("nothing has been searched in this game yet")
        return self._session.last


class _Latest:
    """The latest report of a search that runs in another thread."""

    def __init__(self) -> None:
        self._report: RootReport | None = None

    def __call__(self, report: RootReport) -> None:
        """Keep a report."""
        self._report = report

    def lines(self, board: GameHistory, request: LiveRequest, line_of: LineOf) -> Iterator[str]:
        """Yield the line of the report, if there is one."""
        if self._report is not None and (line := line_of(board, self._report, request)):
            yield line

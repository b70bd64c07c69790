"""The commands of the engine for one session: board, moves, time, live analysis as Leela Zero and KataGo write it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from hauteur.engine.gtp.board import GameHistory, sgf_vertex
from hauteur.engine.gtp.protocol import (
    COLOURS,
    Arguments,
    Commands,
    GtpCommand,
    Result,
    quoted,
    read_colour,
    read_integer,
    read_number,
    text_lines,
)
from hauteur.engine.gtp.session import PASS, GtpSession, PlayerClock, TimeSettings, sized, tell
from hauteur.engine.playing import FoundMove, PlayingSession
from hauteur.engine.streams import LineReader
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootMove, RootReport, Wdl
from hauteur.system.errors import explain

CENTISECOND = 0.01
BOUND_DEVIATIONS = 1.96
"""Standard deviations between the win rate and its lower bound: 95 % two-sided."""
FLAGS = ("rootInfo", "ownership", "movesOwnership", "pvVisits")
"""Keys with true or false that KataGo's clients send; all but the first ask for what no game here has."""
NUMBERS = ("interval", "minmoves", "maxmoves")


@dataclass(frozen=True)
class LiveRequest:
    """The request of an analysis command. colour: None = whose turn it is; interval: seconds between lines."""

    colour: int | None = None
    interval: float = 1.0
    most: int = 20
    root: bool = False


def read_analysis_request(arguments: Sequence[str]) -> LiveRequest:
    """Read `[COLOUR] [CENTISECONDS] [KEY VALUE ...]`."""
    words = list(arguments)
    colour = read_colour(words.pop(0)) if words and words[0].lower() in ("b", "w", "black", "white") else None
    if words and words[0].isdecimal():
        words.insert(0, "interval")
    values: dict[str, int] = {"interval": 100, "maxmoves": 20}
    if len(words) % 2:
        raise ValueError(f"syntax error: {quoted(words[-1])} has no value")
    for key, value in zip(words[::2], words[1::2], strict=True):
        values[key] = _value(key, value)
    interval = max(1, values["interval"]) * CENTISECOND
    return LiveRequest(colour, interval, max(1, values["maxmoves"]), bool(values.get("rootInfo")))


def leela_line(board: GameHistory, report: RootReport, request: LiveRequest) -> str:
    """Return one line in Leela Zero's form, empty before the first visit of a move: rates and priors in 1/10,000."""
    return " ".join(_leela_move(board, move, order) for order, move in _shown(report, request))


def katago_line(board: GameHistory, report: RootReport, request: LiveRequest) -> str:
    """Return one line in KataGo's form, empty before the first visit of a move: rates 0 to 1, utility -1 to 1."""
    moves = [_katago_move(board, move, order) for order, move in _shown(report, request)]
    win, draw, loss = report.wdl
    root = f"rootInfo visits {report.visits} utility {win - loss:.6f} winrate {win + 0.5 * draw:.6f}"
    return " ".join([*moves, *([root] if request.root and moves else [])])


def win_rate(wdl: Wdl) -> float:
    """Return the expected score: a draw is half a win."""
    return wdl[0] + 0.5 * wdl[1]


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower end of the Wilson interval of a win rate, as if visits were games: a rank, not a promise."""
    z = BOUND_DEVIATIONS
    middle = rate + z * z / (2 * visits)
    spread = z * math.sqrt(rate * (1.0 - rate) / visits + z * z / (4 * visits * visits))
    return max(0.0, (middle - spread) / (1.0 + z * z / visits))


def _value(key: str, text: str) -> int:
    if key in NUMBERS:
        return read_integer(text)
    if key not in FLAGS:
        raise ValueError(f"syntax error: no key {quoted(key)}; there are {', '.join((*NUMBERS, *FLAGS))}")
    if text.lower() not in ("true", "false"):
        raise ValueError(f"syntax error: {key} is true or false, got {quoted(text)}")
    return int(text.lower() == "true")


def _shown(report: RootReport, request: LiveRequest) -> Iterator[tuple[int, RootMove]]:
    """The moves with visits, best first, with their ranks."""
    return enumerate([move for move in report.moves if move.wdl is not None][: request.most])


def _figures(move: RootMove) -> tuple[float, float, float]:
    """Win rate, prior and lower bound of the win rate."""
    assert move.wdl is not None  # moves without visits are not shown
    rate = min(1.0, max(0.0, win_rate(move.wdl)))
    return rate, move.prior, lower_bound(rate, move.visits)


def _line(board: GameHistory, move: RootMove) -> str:
    return " ".join(vertex for _, vertex in board.line(move.line))


def _leela_move(board: GameHistory, move: RootMove, order: int) -> str:
    rate, prior, bound = (round(10_000 * figure) for figure in _figures(move))
    figures = f"visits {move.visits} winrate {rate} prior {prior} lcb {bound} order {order}"
    return f"info move {board.vertex(move.action)} {figures} pv {_line(board, move)}"


def _katago_move(board: GameHistory, move: RootMove, order: int) -> str:
    rate, prior, bound = _figures(move)
    figures = f"visits {move.visits} utility {2 * rate - 1:.6f} winrate {rate:.6f} prior {prior:.6f} lcb {bound:.6f}"
    return f"info move {board.vertex(move.action)} {figures} order {order} pv {_line(board, move)}"


class SetupCommands:
    """The commands, for one session."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session
        self.komi = 0.0

    def table(self) -> Commands:
        """The commands by their names."""
        return {
            "boardsize": GtpCommand("SIZE", "An empty square board of this size.", self._boardsize),
            "clear_board": GtpCommand("", "A new game: no moves, full clocks, nothing remembered.", self._clear_board),
            "komi": GtpCommand("KOMI", "A number, kept and of no effect: points are not counted.", self._komi),
            "get_komi": GtpCommand("", "That number.", lambda _: f"{self.komi:g}"),
            "play": GtpCommand("COLOUR VERTEX", "Plays a move.", self._play),
            "undo": GtpCommand("", "Takes the last move back.", self._undo),
            "showboard": GtpCommand("", "Draws the board.", self._showboard),
            "loadsgf": GtpCommand(
                "FILE [MOVE_NUMBER]", "The main line of a game, up to before this move.", self._loadsgf
            ),
            "final_score": GtpCommand("", "Who has won: `B+1`, `W+1`, `0` for a draw.", self._final_score),
            "all_legal": GtpCommand("COLOUR", "The legal moves of the player whose turn it is.", self._all_legal),
            "is_legal": GtpCommand("COLOUR VERTEX", "1 if the move is legal, else 0.", self._is_legal),
            "last_move": GtpCommand("", "Colour and vertex of the last move.", self._last_move),
            "move_history": GtpCommand("", "All moves, the last one first.", self._move_history),
        }

    def _boardsize(self, arguments: Arguments) -> str:
        self._session.resize(read_integer(arguments[0]))
        return ""

    def _clear_board(self, _: Arguments) -> str:
        self._session.clear()
        return ""

    def _komi(self, arguments: Arguments) -> str:
        self.komi = read_number(arguments[0])
        return ""

    def _play(self, arguments: Arguments) -> str:
        colour, board = read_colour(arguments[0]), self._session.board
        if board.is_over and arguments[1].lower() == PASS:
            board.pass_at_end()
        else:
            board.play(board.action(colour, arguments[1]))
        return ""

    def _undo(self, _: Arguments) -> str:
        self._session.board.undo()
        return ""

    def _showboard(self, _: Arguments) -> str:
        return "\n" + text_lines(self._session.board.state.text().split("\n"))

    def _loadsgf(self, arguments: Arguments) -> str:
        most = read_integer(arguments[1]) if len(arguments) > 1 else None
        try:
            self._load(Path(arguments[0]), most)
        except (ValueError, OSError) as error:
            raise ValueError(f"cannot load file: {explain(error)}") from None
        return ""

    def _load(self, path: Path, number: int | None) -> None:
        """Play the game of a file up to before move `number` (from 1; None or 0: all); a failure changes nothing."""
        from hauteur.games.sgf import read_main_line

        line = read_main_line(path)
        if line.columns != line.rows:
            raise ValueError(f"its board has {line.columns} columns and {line.rows} rows, a square one is needed")
        game = GameHistory(sized(self._session.board.game, line.rows))
        for at, (player, column, row) in enumerate(line.moves[: number - 1 if number else None], 1):
            try:
                game.play(game.action(player, sgf_vertex(column, row, line.rows)))
            except ValueError as error:
                raise ValueError(f"move {at}: {error}") from None
        self._session.resize(line.rows)
        for action in game.actions:
            self._session.board.play(action)

    def _final_score(self, _: Arguments) -> str:
        outcome = self._session.board.state.outcome()
        if outcome is None:
            raise ValueError("cannot score: the game is not over")
        return {1: "B+1", 0: "0", -1: "W+1"}[outcome]

    def _all_legal(self, arguments: Arguments) -> str:
        board = self._session.board
        board.require_turn(read_colour(arguments[0]))
        return " ".join(board.vertex(action) for action in board.state.legal_actions().tolist())

    def _is_legal(self, arguments: Arguments) -> str:
        colour = read_colour(arguments[0])
        try:
            self._session.board.action(colour, arguments[1])
        except ValueError as error:
            if str(error).startswith("syntax"):
                raise
            return "0"
        return "1"

    def _last_move(self, _: Arguments) -> str:
        moves = self._session.board.moves()
        if not moves:
            raise ValueError("no move has been played")
        return _move_text(*moves[-1])

    def _move_history(self, _: Arguments) -> str:
        return text_lines(_move_text(*move) for move in reversed(self._session.board.moves()))


def _move_text(player: int, vertex: str) -> str:
    return f"{COLOURS[player]} {vertex}"


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
            tell(search.result())

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

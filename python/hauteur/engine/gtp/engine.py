"""The GTP engine: requests in their order, each answered before the next one is read; live analysis in KataGo's form.

A thread of its own reads lines, so that live analysis sees the next one and a search can be interrupted. Whatever goes
wrong with a command is its answer, and the engine goes on; the end of the input is `quit`.
"""

import os
import sys
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hauteur import __version__
from hauteur.engine.gtp.handicap import fixed_points, most_stones, place
from hauteur.engine.gtp.load import read_file
from hauteur.engine.gtp.session import (
    PASS,
    RESIGN,
    VERSION,
    Arguments,
    Commands,
    GtpBoard,
    GtpCommand,
    GtpSession,
    PlayerClock,
    Request,
    Result,
    TimeSettings,
    failure,
    quoted,
    read_colour,
    read_integer,
    read_number,
    read_request,
    report_note,
    success,
    text_lines,
)
from hauteur.engine.playing import PlayingSession
from hauteur.engine.streams import LineReader, Output
from hauteur.games.played_game import loss_of, score_text
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootMove, RootReport
from hauteur.mcts.scores import wilson
from hauteur.system.errors import explain

INTERRUPT = b"# interrupt"
"""A comment by which GoGui asks to end a command early."""
CENTISECOND = 0.01
BOUND_DEVIATIONS = 1.96
"""Standard deviations between the win rate and its lower bound: 95 % two-sided."""
FLAGS = ("rootInfo", "ownership", "movesOwnership", "pvVisits")
"""Keys with true or false that KataGo's clients send; they are read, and have no effect."""
STATUSES = ("alive", "dead", "seki")
"""Of the stones at the end of a game of Go."""
NUMBERS = ("interval", "minmoves", "maxmoves")


@dataclass(frozen=True)
class LiveRequest:
    """The request of an analysis command. colour: None = whose turn it is; interval: seconds between lines."""

    colour: int | None = None
    interval: float = 1.0
    most: int = 20


def read_analysis_request(arguments: Sequence[str], colours: Sequence[str]) -> LiveRequest:
    """Read `[COLOUR] [CENTISECONDS] [KEY VALUE ...]`. colours: names of the players."""
    words = list(arguments)
    colour = None
    if words and words[0].lower() in ("b", "w", "black", "white"):
        colour = read_colour(words.pop(0), colours)
    if words and words[0].isdecimal():
        words.insert(0, "interval")
    values: dict[str, int] = {"interval": 100, "maxmoves": 20}
    if len(words) % 2:
        raise ValueError(f"syntax error: {quoted(words[-1])} has no value")
    for key, value in zip(words[::2], words[1::2], strict=True):
        values[key] = _value(key, value)
    interval = max(1, values["interval"]) * CENTISECOND
    return LiveRequest(colour, interval, max(1, values["maxmoves"]))


def katago_line(board: GtpBoard, report: RootReport, most: int) -> str:
    """Return the best moves of a report as one line, empty before the first visit: rates 0 to 1, utility -1 to 1."""
    moves = [move for move in report.moves if move.wdl is not None][:most]
    return " ".join(_katago_move(board, move, order) for order, move in enumerate(moves))


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower end of the Wilson interval of a win rate, as if visits were games: a rank, not a promise."""
    lower, _ = wilson(rate, visits, BOUND_DEVIATIONS)
    return lower


def _value(key: str, text: str) -> int:
    """Return the number of a key of an analysis command, of a flag 0 or 1; ValueError for another key or value."""
    if key in NUMBERS:
        return read_integer(text)
    if key not in FLAGS:
        raise ValueError(f"syntax error: no key {quoted(key)}; there are {', '.join((*NUMBERS, *FLAGS))}")
    if text.lower() not in ("true", "false"):
        raise ValueError(f"syntax error: {key} is true or false, got {quoted(text)}")
    return int(text.lower() == "true")


def _katago_move(board: GtpBoard, move: RootMove, order: int) -> str:
    """Return one move as KataGo writes it: rates are expected scores of the mover, 0 to 1; order counts from 0."""
    assert move.wdl is not None  # moves without visits are not shown
    rate = min(1.0, max(0.0, move.wdl[0] + 0.5 * move.wdl[1]))
    bound = lower_bound(rate, move.visits)
    utility = 2 * rate - 1
    figures = f"utility {utility:.6f} winrate {rate:.6f} prior {move.prior:.6f} lcb {bound:.6f}"
    vertex = _katago_vertex(board.vertex(move.action))
    line = " ".join(map(_katago_vertex, board.line(move.line)))
    return f"info move {vertex} visits {move.visits} {figures} order {order} pv {line}"


def _katago_vertex(vertex: str) -> str:
    """Return a vertex as KataGo writes it: clients look for a pass in small letters."""
    return PASS if vertex.lower() == PASS else vertex


ANALYSE_USAGE = "[COLOUR] [CENTISECONDS] [KEY] [VALUE] [...]"


class GtpEngine:
    """An engine for one session that reads lines of bytes and writes to an Output."""

    def __init__(self, session: GtpSession, output: Output) -> None:
        self._session = session
        self._output = output
        self._over = False
        self._feed: LineReader[bytes] | None = None

    def run(self, source: Iterable[bytes]) -> None:
        """Answer requests until `quit` or the end of the input."""
        self._feed = LineReader(source, self._accept)
        while not self._over and (line := self._feed.next()) is not None:
            self._output.heard(line.decode("utf-8", errors="replace"))
            self.hear(line)
        self._session.close()

    def _accept(self, line: bytes | None) -> bytes | None:
        """Keep a line for its turn, in the reading thread; an interrupt acts at once."""
        if line is None or line.strip() != INTERRUPT:
            return line
        self._session.stop()
        return None

    def hear(self, line: bytes) -> None:
        """Answer the request of one line, if it holds one."""
        request = read_request(line)
        if request is None:
            return
        try:
            result = self._perform(request)
        except Exception as error:
            self._output.lines(*failure(request, message_of(error)))
            return
        if isinstance(result, str):
            self._output.lines(*success(request, result))
        else:
            self._stream(request, result)

    def _perform(self, request: Request) -> Result:
        """Return the result of a request; ValueError for a command that this player has not, or a wrong number of
        words.
        """
        command = self.commands().get(request.name)
        if command is None:
            raise ValueError("unknown command")
        command.check(request.name, request.arguments)
        return command.run(request.arguments)

    def _stream(self, request: Request, lines: Iterator[str]) -> None:
        """Write lines as they come. An answer that has begun cannot fail any more: errors go to the log."""
        self._output.lines(success(request)[0])
        while True:
            try:
                line = next(lines, None)
            except Exception as error:
                print(f"hauteur: {request.name}: {message_of(error)}", file=sys.stderr, flush=True)
                line = None
            if line is None:
                break
            self._output.lines(line)
        self._output.lines("")

    # The commands.

    def commands(self) -> Commands:
        """Return all commands that work now, by their names: some are for players with a net alone."""
        name = self._session.player.name or "hauteur"
        of_all = {
            "protocol_version": GtpCommand("", "2.", lambda _: str(VERSION)),
            "name": GtpCommand("", "The player's name, else hauteur.", lambda _: name),
            "version": GtpCommand("", "Version of hauteur.", lambda _: __version__),
            "known_command": GtpCommand("COMMAND", "true or false.", self._known),
            "list_commands": GtpCommand("", "All commands that work, one a line.", self._list),
            "quit": GtpCommand("", "Ends the engine.", self._quit),
            "boardsize": GtpCommand("SIZE [SIZE]", "An empty square board of this size.", self._boardsize),
            "clear_board": GtpCommand("", "A new game: no moves, full clocks, nothing remembered.", self._clear_board),
            "komi": GtpCommand("KOMI", "Points that White is given in Go; other games count none.", self._komi),
            "play": GtpCommand("COLOUR VERTEX", "Plays a move.", self._play),
            "undo": GtpCommand("", "Takes the last move back.", self._undo),
            "showboard": GtpCommand("", "Draws the board.", self._showboard),
            "final_score": GtpCommand(
                "", "The winner and its points: `B+3.5`, `W+12`, `0` for a draw.", self._final_score
            ),
            "move_history": GtpCommand("", "All moves, the last one first.", self._move_history),
            "genmove": GtpCommand("COLOUR", "Plays a move and says it.", self._genmove),
            "time_settings": GtpCommand(
                "MAIN PERIOD STONES", "Seconds for the game, then for a number of moves.", self._time
            ),
            "time_left": GtpCommand("COLOUR SECONDS STONES", "What a clock shows; 0 stones: main time.", self._left),
        }
        if self._session.board.game.record_form == "sgf":
            text = "Plays the game of a file, with its size and komi, as far as before this move."
            of_all["loadsgf"] = GtpCommand("FILENAME... [MOVE_NUMBER]", text, self._loadsgf)
        if self._session.board.game.name == "go":
            of_all |= self._commands_of_go()
        if not self._session.player.has_net:
            return of_all
        return of_all | {
            "kata-analyze": GtpCommand(
                ANALYSE_USAGE, "Analysis live in KataGo's form, until the next line.", self._analyse
            ),
            "gogui-interrupt": GtpCommand("", "Says that `# interrupt` ends a search early.", lambda _: ""),
        }

    def _commands_of_go(self) -> Commands:
        """Return the commands that exist in Go alone."""
        free = "The same, wherever the engine wants them; it may place fewer."
        return {
            "fixed_handicap": GtpCommand("STONES", "Puts Black's handicap on its fixed points.", self._fixed_handicap),
            "place_free_handicap": GtpCommand("STONES", free, self._free_handicap),
            "set_free_handicap": GtpCommand("VERTEX [...]", "Puts Black's handicap there.", self._set_free_handicap),
            "final_status_list": GtpCommand(
                "STATUS", "Stones that are `alive`, `dead`, `seki`.", self._final_status_list
            ),
        }

    def _known(self, arguments: Arguments) -> str:
        return "true" if arguments[0] in self.commands() else "false"

    def _list(self, _: Arguments) -> str:
        return text_lines(self.commands())

    def _quit(self, _: Arguments) -> str:
        self._over = True
        return ""

    # The board.

    def _boardsize(self, arguments: Arguments) -> str:
        """Change the size of the board, which is cleared even where that stays."""
        columns, *rows = map(read_integer, arguments)
        # Programs of Hex, such as HexGui, give width and height.
        if rows and rows[0] != columns:
            raise ValueError(f"unacceptable size: {columns} {rows[0]}: boards are square")
        self._session.resize(columns)
        return ""

    def _clear_board(self, _: Arguments) -> str:
        self._session.clear()
        return ""

    def _komi(self, arguments: Arguments) -> str:
        self._session.set_komi(read_number(arguments[0]))
        return ""

    def _loadsgf(self, arguments: Arguments) -> str:
        game, actions = read_file(arguments, self._session.board.game)
        try:
            self._session.load(game, actions)
        except (ValueError, OSError) as error:
            raise ValueError(f"cannot load file: {explain(error)}") from None
        return ""

    def _play(self, arguments: Arguments) -> str:
        """Play a move; controllers may pass after the end of the game, which is noted and can be undone."""
        board = self._session.board
        colour = read_colour(arguments[0], board.colours)
        if board.is_over and arguments[1].lower() == PASS:
            board.pass_at_end()
        else:
            board.put(colour, arguments[1])
        return ""

    def _undo(self, _: Arguments) -> str:
        self._session.board.undo()
        return ""

    def _showboard(self, _: Arguments) -> str:
        return "\n" + text_lines(self._session.board.state.text().split("\n"))

    def _final_score(self, _: Arguments) -> str:
        """Return the winner and the margin in points, 1 in games that count none; ValueError before the end."""
        self._require_end()
        return score_text(self._session.board.state)

    def _final_status_list(self, arguments: Arguments) -> str:
        """Return the stones of a status: all that stand at the end are alive, as the rules count them."""
        status = arguments[0].lower()
        if status not in STATUSES:
            raise ValueError(f"syntax error: expected {', '.join(STATUSES)}, got {quoted(arguments[0])}")
        self._require_end()
        if status != "alive":
            return ""
        return " ".join(self._session.board.stones())

    def _require_end(self) -> None:
        """Raise ValueError before the end of the game."""
        if not self._session.board.is_over:
            raise ValueError("cannot score: the game is not over")

    def _fixed_handicap(self, arguments: Arguments) -> str:
        """Put Black's handicap on its fixed points and return them."""
        board = self._session.board
        points = fixed_points(board, read_integer(arguments[0]))
        place(board, points)
        return " ".join(points)

    def _free_handicap(self, arguments: Arguments) -> str:
        """Put handicap stones where this engine wants them: on the fixed points, as many as there are."""
        most = most_stones(self._session.board.size)
        wanted = read_integer(arguments[0])
        # Where there are no fixed points the refusal names the number that was asked for.
        stones = min(most, wanted) if most else wanted
        return self._fixed_handicap((str(stones),))

    def _set_free_handicap(self, arguments: Arguments) -> str:
        place(self._session.board, arguments)
        return ""

    def _move_history(self, _: Arguments) -> str:
        """Return the moves, the last one first, as GoGui reads them."""
        board = self._session.board
        newest_first = reversed(board.moves())
        return text_lines(f"{board.colours[player]} {vertex}" for player, vertex in newest_first)

    # Moves.

    def _genmove(self, arguments: Arguments) -> str:
        """Play a move and return it; after the end of the game `resign` for who has lost, else a pass."""
        session = self._session
        colour = read_colour(arguments[0], session.board.colours)
        if session.board.is_over:
            if session.board.state.outcome() == loss_of(colour):
                return RESIGN
            return PASS
        return session.genmove(colour)

    # Time.

    def _time(self, arguments: Arguments) -> str:
        main, period = (read_number(text, least=0.0) for text in arguments[:2])
        self._session.set_time(TimeSettings(main, period, read_integer(arguments[2])))
        return ""

    def _left(self, arguments: Arguments) -> str:
        """Set a clock; controllers send negative seconds for one that has run out, which count as none."""
        colour = read_colour(arguments[0], self._session.board.colours)
        seconds = max(0.0, read_number(arguments[1]))
        stones = read_integer(arguments[2])
        self._session.set_clock(colour, PlayerClock(seconds, stones))
        return ""

    # Analysis.

    def _analyse(self, arguments: Arguments) -> Result:
        """Begin live analysis; ValueError for a player without a net, and for the colour that is not to move."""
        session = self._session
        board = session.board
        request = read_analysis_request(arguments, board.colours)
        playing = session.analysing
        board.require_turn(board.state.to_move if request.colour is None else request.colour)
        return self._live_analysis(playing, request)

    def _live_analysis(self, playing: PlayingSession, request: LiveRequest) -> Iterator[str]:
        """Yield a line an interval until the next command has come, or the search has ended by itself."""
        feed = self._feed
        assert feed is not None  # this command is heard by `run` alone
        reports: deque[RootReport] = deque(maxlen=1)  # the latest of a search that runs in another thread
        search = playing.start(Limits(infinite=True), lines=request.most, on_report=reports.append)
        try:
            while not feed.wait(request.interval) and not search.done():
                if not reports:
                    continue
                line = katago_line(self._session.board, reports[0], request.most)
                if line:
                    yield line
        finally:
            playing.stop()
            report_note(search.result())


def message_of(error: Exception) -> str:
    """One line about an error; of a fault of the program its kind too, and where it is if HAUTEUR_TRACEBACK is set."""
    if isinstance(error, ValueError | OSError) and (message := explain(error)):
        return message
    if os.environ.get("HAUTEUR_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exception(error, file=sys.stderr)
    return f"internal error: {type(error).__name__}: {error}"

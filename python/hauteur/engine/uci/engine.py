"""The UCI engine: commands are obeyed one after another, in the order in which they came.

Two threads share the work. The reader sorts lines in as they come: what acts on a running search (`stop`, `ponderhit`,
`isready`, `quit`) takes effect at once, on the newest `go` that was read before it, also if the turn of that `go` has
not come yet; everything else waits in the queue. The main thread obeys the queue and thinks, so a `go` has the position
and the options that were given before it, and is answered by exactly one `bestmove`.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from hauteur import __version__, _core
from hauteur.engine.nets import Opener, OpenNets, open_evaluator
from hauteur.engine.odds_mode import OddsGame, odds_game
from hauteur.engine.playing import FoundMove, PlayerNotReadyError, PlayingSession
from hauteur.engine.streams import LineReader, Output
from hauteur.engine.uci.commands import (
    Go,
    game_ply,
    parse_go,
    parse_position,
    parse_setoption,
    search_actions,
    search_limits,
)
from hauteur.engine.uci.options import Options, choose_net, open_tablebase, play_settings
from hauteur.engine.uci.output import evaluation_lines, info_lines, memory_text, report_lines, verbose_lines
from hauteur.games.played_game import texts_of
from hauteur.mcts.control import SearchControl, in_background
from hauteur.system.errors import explain, one_line

AT_ONCE = ("stop", "ponderhit", "wait", "isready")
"""Commands that act on a search; `isready` without one waits for its turn."""
ENDS_A_SEARCH = ("go", "ucinewgame")
"""Commands that end the search before them."""
SAME_MOVE_SECONDS = 1.0
"""A `go` so soon after its `position` belongs to the same turn of the clock."""
SCRIPT_SECONDS = 0.2
"""A `quit` so soon after the line before it was written together with it."""


@dataclass(eq=False)
class UciCommand:
    """One line in the queue. The reading thread makes it and may change it while it waits and is obeyed."""

    text: str
    """The line, without spaces around it."""
    go: Go | None = None
    """Of a `go`: what it asks for."""
    control: SearchControl = field(default_factory=SearchControl)
    """Ends the search that it starts, and says when its clock began."""
    waiting: SearchControl = field(default_factory=SearchControl)
    """Ends its waiting for the net, which only `quit` does."""
    began: bool = False
    """Of a `go`: its turn has come, and its search begins or runs."""
    superseded: bool = False
    """Of a `go`: a later command ends it, after its first visit at the latest."""
    held: bool = False
    """Of a `go`: `wait` lets it end by its own limits, so that nothing else ends it."""

    @property
    def word(self) -> str:
        """The name of the command, in lower case; empty for an empty line."""
        return self.text.partition(" ")[0].lower()

    @property
    def rest(self) -> str:
        """What follows the name, in the case in which it was written: file names and FENs depend on it."""
        return self.text.partition(" ")[2]

    @property
    def ends(self) -> bool:
        """Tell whether it starts a search that ends by itself, and does not ponder."""
        return self.go is not None and self.go.ends and self.control.began is not None


class UciEngine:
    """A UCI engine that reads lines of bytes and writes to an Output.

    opener: opens the evaluator of a net. seed: of the choice of moves by temperature, and of noise.
    """

    def __init__(self, output: Output, *, opener: Opener = open_evaluator, seed: int | None = None) -> None:
        self.options = Options()
        self._output = output
        self._session = PlayingSession(_core.Game("chess"), seed=seed, opener=opener)
        self._lock = threading.Lock()
        self._leaving = False
        self._heard = 0.0
        self._over = False
        self._current: UciCommand | None = None
        self._unanswered: deque[UciCommand] = deque()
        self._position = parse_position("startpos", self.options)
        self._refused = ""
        """Why the last `position` command was refused: there is none then, until a good one comes. Else empty."""
        self._position_time: float | None = None
        self._odds: OddsGame | None = None
        self._value: float | None = None
        """Of the last search of the side that gives odds in this game, -1 to 1."""
        self._has_searched = False
        self._is_introduced = False
        self._opened: int | None = None
        """The version of the options by which the nets were opened last; None: they are chosen anew."""
        self._named: OpenNets | None = None
        self._warm: OpenNets | None = None
        self._net = ""
        self._swaps_in_vain = False
        self._notes: list[str] = []
        self._commands: dict[str, Callable[[UciCommand], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._set_position,
            "go": self._go,
            "fen": self._fen,
            "quit": self._quit,
            "debug": lambda _: None,
            "register": lambda _: None,
        }

    def run(self, source: Iterable[bytes]) -> None:
        """Obey commands until `quit`, or until those before the end of the input are obeyed."""
        reader = LineReader(source, self._accept)
        while not self._over and (command := reader.next()) is not None:
            self._take(command)
            self._guarded(command)

    # The reading thread.

    def _accept(self, raw: bytes | None) -> UciCommand | None:
        """Sort a line in (None: the end of the input); return what has to wait for its turn."""
        # replace: a line of other bytes is answered as a wrong one, where an error would end the reading thread.
        command = UciCommand("" if raw is None else raw.decode("utf-8", errors="replace").strip())
        before = self._heard
        self._heard = time.monotonic()
        with self._lock:
            newest = self._unanswered[-1] if self._unanswered else None
            is_script = raw is None or (command.word == "quit" and self._heard - before < SCRIPT_SECONDS)
            if command.word in ENDS_A_SEARCH or (is_script and not (newest is not None and newest.ends)):
                self._supersede(newest)
            if command.word == "go":
                command.go = parse_go(command.rest)
                command.control = SearchControl(ponder=command.go.ponder)
                self._unanswered.append(command)
            elif command.word == "quit" and not is_script and not (newest is not None and newest.held):
                self._leave()
            elif command.word in AT_ONCE and (newest is not None or command.word != "isready"):
                self._output.heard(command.text)
                self._act_on(newest, command.word)
                return None
        return command if command.text else None

    def _supersede(self, newest: UciCommand | None) -> None:
        """End a search because of what follows it; one whose turn has not come yet makes its first visit then."""
        if newest is None or newest.held:
            return
        newest.superseded = True
        if newest.began:
            newest.control.stop()

    def _act_on(self, newest: UciCommand | None, word: str) -> None:
        """Let a command act on the newest `go` that is not answered yet."""
        if word == "isready":
            self._output.lines("readyok")
        elif newest is None or newest.go is None or newest.held:
            return
        elif word == "stop":
            for command in self._unanswered:  # those before it are ended anyway, and it has to wait for them
                command.control.stop()
        elif word == "ponderhit":
            newest.control.ponderhit()
        elif newest.ends:
            newest.held = True
        else:
            self._output.info("error: wait: this search ends with `stop` only")

    def _leave(self) -> None:
        """End every search and all waiting for a net, since nobody reads the answers; the lock is held."""
        self._leaving = True
        commands = [*self._unanswered]
        if self._current:
            commands.append(self._current)
        for command in commands:
            command.control.stop()
            command.waiting.stop()

    # The main thread.

    def _take(self, command: UciCommand) -> None:
        """Note the command that is obeyed now; after `quit` it must not wait for anything."""
        self._output.heard(command.text)
        with self._lock:
            self._current = command
            if self._leaving:
                command.control.stop()
                command.waiting.stop()

    def _guarded(self, command: UciCommand) -> None:
        """Obey a command. Whatever goes wrong is reported, and the engine goes on."""
        try:
            if command.word not in self._commands:
                raise ValueError(f"unknown command: {command.text[:80]}")
            self._commands[command.word](command)
        except (ValueError, OSError) as error:
            self._output.info(f"error: {one_line(error)}")
        except Exception as error:
            self._output.info(f"internal error: {type(error).__name__}: {error}")
            if os.environ.get("HAUTEUR_TRACEBACK", "0") not in ("", "0"):
                import traceback  # here: few starts need it

                traceback.print_exc(file=sys.stderr)

    def _uci(self, _: UciCommand) -> None:
        names = (f"id name hauteur {__version__}", "id author The hauteur authors")
        self._output.lines(*names, *self.options.declarations(), "uciok")
        self._introduce()

    def _introduce(self) -> None:
        """Write the notes that have waited: programs expect nothing before the answer to `uci`."""
        self._is_introduced = True
        for text in self._notes:
            self._output.info(text)
        self._notes.clear()

    def _note(self, text: str) -> None:
        """Write a note, once `uci` is answered or a search begins."""
        if self._is_introduced:
            self._output.info(text)
        else:
            self._notes.append(text)

    def _isready(self, command: UciCommand) -> None:
        """Answer once the net is open and warm, or cannot be opened: then the error comes before."""
        try:
            self._open()
            self._wait_for_net(command.waiting)
            self._warm_up(command.waiting)
        except PlayerNotReadyError:  # `quit` has come
            return
        except Exception as error:
            self._output.info(f"error: {one_line(error)}")
        self._output.lines("readyok")

    def _setoption(self, command: UciCommand) -> None:
        """Set an option; log and tablebases are opened at once, nets by the next `isready` or `go`."""
        name, value = parse_setoption(command.rest)
        change = self.options.set(name, value)
        if change.option is None:
            self._output.info(f"option {name} is known from lc0 and has no effect here yet")
        elif change.option.name == "LogFile":
            self._output.log_to(self.options.text("LogFile"))
        elif change.option.name == "SyzygyPath":
            self._look_for_tablebases()

    def _look_for_tablebases(self) -> None:
        """Say what the folders of SyzygyPath have; ValueError, and no tablebases, where one cannot be read."""
        try:
            tablebase = open_tablebase(self.options.text("SyzygyPath"))
        except ValueError as error:
            self.options.set("SyzygyPath", "")
            raise ValueError(f"no tablebases: {error}") from None
        if tablebase is not None:
            self._output.info(f"tablebases: {tablebase.files} files, up to {tablebase.largest} pieces")
            for problem in tablebase.missing:
                self._output.info(f"error: left out: {problem}")

    def _ucinewgame(self, _: UciCommand) -> None:
        """Forget the tree, and the value of the last search, by which odds mode chooses settings."""
        self._value = None
        self._session.clear()
        self._session.forget_failure()  # perhaps the file is there by now
        self._opened = None

    def _set_position(self, command: UciCommand) -> None:
        """Take a position; a refused one leaves none, so that no move is played on another board."""
        try:
            self._position = parse_position(command.rest, self.options)
        except ValueError as error:
            self._refused = one_line(error)
            raise
        self._refused = ""
        for note in self._position.notes:
            self._output.info(note)
        self._position_time = time.monotonic()

    def _fen(self, _: UciCommand) -> None:
        self._need_position()
        self._output.lines(self._position.state.notation())

    def _need_position(self) -> None:
        """Raise ValueError after a refused `position`: an answer would be for another board than the program's."""
        if self._refused:
            raise ValueError(f"the last position was refused: {self._refused}")

    def _quit(self, _: UciCommand) -> None:
        self._over = True

    def _wait_for_net(self, waiting: SearchControl) -> None:
        """Wait for the nets of the options. PlayerNotReadyError if the control ends that, ValueError without a net."""
        try:
            player = self._session.wait(waiting)
        except PlayerNotReadyError:
            raise
        except Exception as error:
            raise ValueError(f"the net cannot be used: {explain(error) or one_line(error)}") from error
        if isinstance(player, OpenNets) and player is not self._named:
            self._named = player
            self._note(f"evaluator: {player.name}")

    def _warm_up(self, waiting: SearchControl) -> None:
        """Let new nets evaluate once, unless the control ends that: the first move on a clock is no slower then."""
        nets = self._named
        if nets is not None and nets is not self._warm:
            self._warm = nets
            warming = in_background(nets.warm_up, "warm-up")
            if not waiting.wait(warming):
                self._session.expect(warming.result())

    def _open(self) -> None:
        """Begin to open the nets that the options name, unless that has been done. ValueError without any."""
        if self._opened == self.options.version:
            return
        try:
            choice, reason = choose_net(self.options.limited()[0])
        except ValueError:
            self._session.close()
            raise
        self._opened = self.options.version
        self._net = choice.net
        if not self._session.open(choice):
            return
        self._note(f"net: {choice.net} ({reason})")
        if choice.large:
            models = bool(self.options.text("OpponentNet"))
            role = "model of the opponent" if models else "large net"
            self._note(f"{role}: {choice.large}{'' if models else '; StickyEndgames is off with two nets'}")

    # The search.

    def _go(self, command: UciCommand) -> None:
        """Answer a `go` with its `bestmove`, whatever happens."""
        lines = [f"bestmove {self._no_move()}"]
        try:
            self._need_position()
            lines = self._searched(command)
        except Exception as error:
            self._output.info(f"error: no search, so no move: {one_line(error)}")
        finally:
            with self._lock:
                self._unanswered.remove(command)
            self._output.lines(*lines)

    def _searched(self, command: UciCommand) -> list[str]:
        """Search as the command says; return the last lines, with the move."""
        self._introduce()
        go = command.go or Go({})
        position = self._position
        command.control.restart_clock(self._clock_start())
        actions, unknown = search_actions(go, position.state)
        for problem in (*go.problems, *unknown):
            self._output.info(f"error: {problem}")
        self._open()
        self._wait_for_net(command.waiting)
        options, visits = self._options_for(go)
        limits = search_limits(go, position.state, options, lateness=self._session.lateness)
        if visits is not None and not go.infinite:
            if limits.visits is not None:
                visits = min(visits, limits.visits)
            limits = replace(limits, visits=visits)
        self._session.set_position(position.start, position.actions)
        with self._lock:
            command.began = True
            if command.superseded:
                command.control.stop()
        found = self._session.think(
            limits,
            actions=actions,
            lines=options.whole("MultiPV"),
            on_report=lambda report: self._output.lines(*report_lines(report, options)),
            control=command.control,
            ply=game_ply(position.state),
        )
        if self._odds is not None and found.report is not None:  # a search of the other side tells of that one
            self._value = found.report.wdl[0] - found.report.wdl[2]
        return self._last_lines(found, options)

    def _clock_start(self) -> float:
        """Return when the clock of this move began: at the `position` just before, unless StrictTiming says at `go`."""
        now = time.monotonic()
        since = self._position_time
        self._position_time = None
        if since is None or self.options.flag("StrictTiming") or now - since >= SAME_MOVE_SECONDS:
            return now
        return since

    def _options_for(self, go: Go) -> tuple[Options, int | None]:
        """Let the session think with the options in force, odds mode included; return them, and the most visits."""
        options, visits = self.options.limited()
        odds = odds_game(self._position, options, infinite=go.infinite, net=self._net, q=self._value)
        if odds is not None:
            if odds != self._odds:
                self._output.info(odds.text())
            options = options.changed(odds.changes)
            if odds.nodes is not None:
                visits = odds.nodes if visits is None else min(visits, odds.nodes)
        self._odds = odds
        settings = play_settings(options, net=self._net, infinite=go.infinite)
        if self._session.use(settings) or not self._has_searched:
            self._output.info(memory_text(options))
        in_vain = options.flag("SwapColors") and self._named is not None and not self._named.reading
        if in_vain and not self._swaps_in_vain:
            self._output.info(f"SwapColors has no effect: {self._net} is not shown the position")
        self._swaps_in_vain = in_vain
        self._has_searched = True
        return options, visits

    def _last_lines(self, found: FoundMove, options: Options) -> list[str]:
        """Return the lines that end a search: its last report, statistics that were asked for, and `bestmove`."""
        report = found.report
        if report is None or found.move is None:
            return [f"bestmove {self._no_move()}"]
        lines = [*info_lines(report, options)]
        if options.flag("VerboseMoveStats"):
            lines += verbose_lines(report, options)
        lines += evaluation_lines(report, options)
        if report.reason == "no mate":
            lines.append("info string there is no mate in so few moves")
        best, *reply = texts_of(report.state, found.move.line[:2], "uci")
        ponder = f" ponder {reply[0]}" if reply else ""
        lines.append(f"bestmove {best}{ponder}")
        return lines

    def _no_move(self) -> str:
        """Return the answer without a search: `0000`, or `(none)` where the game is known to be over."""
        if self._refused or len(self._position.state.legal_actions()):
            return "0000"
        return "(none)"

"""The UCI engine: one thread handles events in order; reading, opening the net and searching have threads of their own.

Events are the lines of the program, `opened` (a net is ready or cannot be had) and `ended` (a search is over). Nothing
that takes long happens in the event loop, so `isready` and `stop` are answered at once, whatever goes on. Commands that
have to wait for the end of a search are put aside and handled in their order then.
"""

import os
import queue
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hauteur import __version__, _core
from hauteur.engine.streams import Output
from hauteur.engine.uci.commands import (
    Go,
    PositionCommand,
    game_ply,
    parse_go,
    parse_position,
    parse_setoption,
    search_actions,
    search_limits,
)
from hauteur.engine.uci.net import NetChoice, OpenNets, chess_evaluator, choose_net, open_net
from hauteur.engine.uci.odds_mode import OddsGame, odds_game
from hauteur.engine.uci.options import BYTES_A_CACHED_POSITION, Options
from hauteur.engine.uci.output import info_lines, line_text, verbose_lines
from hauteur.search.analysis import Analysis
from hauteur.search.lc0_options import without_contempt_of_play
from hauteur.search.limits import Limits
from hauteur.search.move_choice import choose_move
from hauteur.search.params import SearchParams
from hauteur.search.report import RootReport
from hauteur.search.time_manager import remember_lateness

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator

Opener = Callable[[NetChoice], "Evaluator"]
AT_ONCE = ("isready", "stop", "ponderhit")
"""Commands that never wait for the end of a search."""
NEEDS_REST = ("go", "ucinewgame")
"""Commands that end a running search first."""
SAME_MOVE_SECONDS = 1.0
"""A `go` so soon after its `position` belongs to the same turn of the clock."""
LAST_SECONDS = 2.0
"""How long the end of the last search is waited for when the engine leaves."""


@dataclass(frozen=True)
class Task:
    """A `go` with all that it refers to."""

    go: Go
    position: PositionCommand
    actions: tuple[int, ...]
    began: float

    def limits(self, options: Options, lateness: float) -> Limits:
        """What ends the search now: nothing while it ponders."""
        if self.go.ponder:
            return Limits(infinite=True)
        return search_limits(self.go, self.position.state, options, lateness=lateness)


class UciEngine:
    """A UCI engine that reads lines of bytes and writes to an Output.

    opener: makes the evaluator of a choice. seed: of the choice of moves by temperature, and of noise.
    """

    def __init__(self, output: Output, *, opener: Opener = chess_evaluator, seed: int | None = None) -> None:
        self.options = Options()
        self._output = output
        self._opener = opener
        self._rng = np.random.default_rng(seed)
        self._seed = int(self._rng.integers(2**63))
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._over = False
        self._position = parse_position("startpos", self.options)
        self._position_time: float | None = None
        self._choice: NetChoice | None = None
        self._net: Future[OpenNets] | None = None
        self._unanswered = 0
        self._session: Analysis | None = None
        self._session_key: tuple[object, ...] = ()
        self._task: Task | None = None
        self._search: Future[RootReport] | None = None
        self._odds: OddsGame | None = None
        self._lateness = 0.0
        self._holding = False
        self._aside: deque[str] = deque()
        self._commands: dict[str, Callable[[str], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._set_position,
            "go": self._start,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "wait": self._wait,
            "fen": self._fen,
            "quit": self._quit,
            "debug": lambda _: None,
            "register": lambda _: None,
        }

    def run(self, source: Iterable[bytes]) -> None:
        """Handles commands until `quit` or the end of the input, which means the same."""
        threading.Thread(target=self._read, args=(source,), name="reader", daemon=True).start()
        while not self._over:
            self._guarded(self._events.get())
        self._leave()

    @property
    def opening(self) -> bool:
        """Whether a net is still being opened; that cannot be interrupted."""
        return self._net is not None and not self._net.done()

    # Events.

    def _read(self, source: Iterable[bytes]) -> None:
        for raw in source:
            line = raw.decode("utf-8", errors="replace").strip()
            self._events.put(lambda line=line: self._hear(line))  # type: ignore[misc]
        self._events.put(lambda: self._hear("quit"))

    def _guarded(self, event: Callable[[], None]) -> None:
        """Runs an event. Whatever goes wrong is said, and the engine goes on."""
        try:
            event()
        except (ValueError, OSError) as error:
            self._output.info(f"error: {error}")
        except Exception as error:
            self._output.info(f"internal error: {type(error).__name__}: {error}")
            if os.environ.get("HAUTEUR_TRACEBACK", "0") not in ("", "0"):
                traceback.print_exc(file=sys.stderr)

    def _hear(self, line: str) -> None:
        self._output.heard(line)
        self._obey(line)

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        word = word.lower()
        if self._task is not None and word in NEEDS_REST and not self._holding:
            self._hold(stop=True)
        if self._holding and word not in AT_ONCE:
            self._aside.append(line)
        elif word in self._commands:
            self._commands[word](rest)
        elif word:
            self._output.info(f"unknown command: {line[:80]}")

    def _hold(self, *, stop: bool) -> None:
        """From now on commands wait for the end of the search."""
        self._holding = True
        if stop:
            self._stop("")

    def _catch_up(self) -> None:
        """Handles what was put aside, up to the next command that has to wait."""
        self._holding = False
        while self._aside and not self._holding and not self._over:
            line = self._aside.popleft()
            self._guarded(lambda line=line: self._obey(line))  # type: ignore[misc]

    # Commands.

    def _uci(self, _: str) -> None:
        names = (f"id name hauteur {__version__}", "id author The hauteur authors")
        self._output.lines(*names, *self.options.declarations(), "uciok")

    def _isready(self, _: str) -> None:
        self._unanswered += 1
        if self._task is None:
            self._open()
        if self._task is not None or not self.opening:
            self._answer()

    def _answer(self) -> None:
        self._output.lines(*["readyok"] * self._unanswered)
        self._unanswered = 0

    def _setoption(self, text: str) -> None:
        name, value = parse_setoption(text)
        change = self.options.set(name, value)
        if change.option is None:
            self._output.info(f"option {name} is known from lc0 and has no effect here yet")
        elif change.option.name == "LogFile":
            self._output.log_to(self.options.text("LogFile"))

    def _ucinewgame(self, _: str) -> None:
        if self._session is not None:
            self._session.clear()
        if self._net is not None and self._net.done() and self._net.exception() is not None:
            self._net = None  # perhaps the file is there by now

    def _set_position(self, text: str) -> None:
        self._position = parse_position(text, self.options)
        self._position_time = time.monotonic()

    def _start(self, text: str) -> None:
        now = time.monotonic()
        go, position = parse_go(text), self._position
        actions = search_actions(go, position.state)
        self._task = Task(go, position, actions, self._began(now))
        self._open()
        if not self.opening:
            self._begin()

    def _began(self, now: float) -> float:
        """When the clock of this move began to run: at the `position` just before, unless StrictTiming says at `go`."""
        since, self._position_time = self._position_time, None
        lenient = since is not None and not self.options.flag("StrictTiming") and now - since < SAME_MOVE_SECONDS
        return since if since is not None and lenient else now

    def _stop(self, _: str) -> None:
        if self._search is not None and self._session is not None:
            self._session.stop()
        elif self._task is not None:
            self._output.info("the net is not open yet: a move without search")
            self._say_any_move(self._task)

    def _ponderhit(self, _: str) -> None:
        if self._task is None:
            return
        self._task = replace(self._task, go=replace(self._task.go, ponder=False), began=time.monotonic())
        if self._session is not None:
            self._session.change_limits(self._task.limits(self.options, self._lateness))

    def _wait(self, _: str) -> None:
        if self._task is None:
            return
        if self._task.limits(self.options, self._lateness).infinite:
            raise ValueError("wait: this search ends with `stop` only")
        self._hold(stop=False)

    def _fen(self, _: str) -> None:
        self._output.lines(self._position.state.notation())

    def _quit(self, _: str) -> None:
        self._over = True

    # The net.

    def _open(self) -> None:
        """Begins to open the net that the options name, unless that has been done."""
        try:
            choice = choose_net(self.options)
        except ValueError as error:
            self._output.info(f"error: {error}")
            self._forget_net()
            return
        if choice == self._choice and self._net is not None:
            return
        self._forget_net()
        self._output.info(f"net: {choice.spec} ({choice.reason})")
        if choice.large:
            self._output.info(f"large net: {choice.large}; StickyEndgames is off with two nets")
        self._choice, self._net = choice, open_net(choice, self._opener)
        self._net.add_done_callback(lambda net: self._events.put(lambda: self._opened(net)))

    def _forget_net(self) -> None:
        self._session = None
        if self._net is not None:
            self._net.add_done_callback(_close_evaluator)
        self._choice, self._net = None, None

    def _opened(self, net: Future[OpenNets]) -> None:
        if net is not self._net:
            return
        error = net.exception()
        if error is not None:
            self._output.info(f"error: the net cannot be used: {error}")
        self._answer()
        if self._task is not None and self._search is None:
            self._begin()

    # The search.

    def _begin(self) -> None:
        """Searches the task, the net being open or out of reach."""
        task = self._task
        if task is None:
            return
        try:
            self._look_for_odds(task)
            session = self._ready_session(infinite=task.go.infinite)
            session.set_position(task.position.start, task.position.actions)
            self._search = session.start(
                task.limits(self.options, self._lateness),
                actions=task.actions,
                lines=self.options.whole("MultiPV"),
                on_report=self._tell,
                began=task.began,
            )
        except Exception as error:
            self._output.info(f"error: no search, a move without it: {error}")
            self._say_any_move(task)
            return
        self._search.add_done_callback(lambda search: self._events.put(lambda: self._ended(task, search)))

    def _look_for_odds(self, task: Task) -> None:
        """Finds out which settings odds mode changes, and says so when they have changed."""
        found = odds_game(task.position, self.options, infinite=task.go.infinite)
        if found is not None and found != self._odds:
            self._output.info(found.text())
        self._odds = found

    @property
    def _in_force(self) -> Options:
        """The options of the present search: as they are set, but for what odds mode changes."""
        return self.options if self._odds is None else self.options.changed(self._odds.changes)

    def _ready_session(self, *, infinite: bool) -> Analysis:
        """The session of the open net and the present options; a new one if they have changed."""
        if self._net is None:
            raise ValueError("there is no net")
        nets, params = self._net.result(), self._in_force.search_params()
        if infinite:
            params = without_contempt_of_play(params)
        batch_size, path = self.options.whole("MinibatchSize") or None, self.options.text("SyzygyPath")
        fast_play = self.options.flag("SyzygyFastPlay")
        key = (nets, params, batch_size, path, fast_play)
        if self._session is None or key != self._session_key:
            tablebase = self._open_tablebase(path)
            self._output.info(memory_text(params))
            self._session = Analysis(
                nets.small,
                params,
                large=nets.large,
                seed=self._seed,
                batch_size=batch_size,
                tablebase=tablebase,
                fast_play=fast_play,
            )
            self._session_key = key
        return self._session

    def _open_tablebase(self, path: str) -> _core.Tablebase | None:
        """The tablebases of the option SyzygyPath; None without any, with a message if they cannot be used."""
        if not path:
            return None
        try:
            tablebase = _core.Tablebase(path)
        except ValueError as error:
            self._output.info(f"error: no tablebases: {error}")
            return None
        self._output.info(f"tablebases: {tablebase.files} files, up to {tablebase.largest} men")
        return tablebase

    def _tell(self, report: RootReport) -> None:
        """Writes what the search has found so far; runs in its thread."""
        options = self._in_force
        live = verbose_lines(report, options) if options.flag("LogLiveStats") else ()
        self._output.lines(*info_lines(report, options), *live)

    def _ended(self, task: Task, search: Future[RootReport]) -> None:
        budget = (self._task or task).limits(self.options, self._lateness).budget
        if budget is not None:
            late = time.monotonic() - (self._task or task).began - budget.maximum
            self._lateness = remember_lateness(self._lateness, late)
        try:
            report = search.result()
            self._say_result(task, report)
        except Exception as error:
            self._output.info(f"error: the search failed: {error}")
            self._say_any_move(task)

    def _say_result(self, task: Task, report: RootReport) -> None:
        """The last info lines and the move, in one piece."""
        ply, options = game_ply(report.state), self._in_force
        move = choose_move(report, options.temperature(), ply, self._rng)
        if move is None:
            self._say_any_move(task)
            return
        verbose = verbose_lines(report, options) if options.flag("VerboseMoveStats") else ()
        first, *then = line_text(report.state, move.line[:2])
        ponder = f" ponder {then[0]}" if then else ""
        self._say_best(*info_lines(report, options), *verbose, f"bestmove {first}{ponder}")

    def _say_any_move(self, task: Task) -> None:
        """The first legal move; `(none)` where the game is over."""
        state = task.position.state
        legal = task.actions or tuple(int(action) for action in state.legal_actions())
        self._say_best(f"bestmove {state.action_to_text(legal[0], 'uci')}" if legal else "bestmove (none)")

    def _say_best(self, *lines: str) -> None:
        self._task, self._search = None, None
        self._output.lines(*lines)
        self._catch_up()

    def _leave(self) -> None:
        """Ends a running search, says its move."""
        if self._session is None or self._search is None or self._task is None:
            return
        self._session.stop()
        try:
            self._search.exception(LAST_SECONDS)
        except FutureTimeoutError:
            return
        self._aside.clear()
        self._ended(self._task, self._search)


def memory_text(params: SearchParams) -> str:
    """What the search may take, in one line."""
    tree, cache = params.max_tree_bytes / 1e6, params.cache_size * BYTES_A_CACHED_POSITION / 1e6
    return f"memory: tree up to {tree:,.0f} MB, {params.cache_size:,} evaluations up to about {cache:,.0f} MB"


def _close_evaluator(net: Future[OpenNets]) -> None:
    if net.exception() is None:
        net.result().close()

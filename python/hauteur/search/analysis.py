"""Analysis of one position: a forest of one tree, searched in the background, reported while it grows.

A `Session` keeps its tree from search to search and follows the game: a position that extends the last one re-uses
the subtree. While a search runs, only its own thread touches the forest; everybody else sees `RootReport`s, which never
change. Time comes in as a function.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.search.driver import run_searches
from hauteur.search.limits import Limits, Progress, stop_reason
from hauteur.search.params import SearchParams
from hauteur.search.report import Pace, RootReport, proven_mate, root_report

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator, Precision

REPORT_SECONDS = 0.1
"""Least time between two reports of a running search."""
NEW_BEST_SECONDS = 0.02
"""Least time before a report that a new best move brings."""
VISITS_PER_ROW = 16
"""A batch holds at most one row for so many visits of the root, so that early visits are not wasted."""
IDLE_SECONDS = 0.02
"""How often a search with nothing to do looks for new orders."""
OLD_SHARE = 0.7
"""Weight of the past in the running mean of the time between batches."""

LONGEST_BATCH = 0.04
"""Seconds: batches are made smaller where the network is slow, so that stops and clocks stay exact."""
ROWS_A_THREAD = 16
"""Rows of a batch for each thread of the processor: more make a search of one tree worse and hardly faster."""

OnReport = Callable[[RootReport], None]


def open_evaluator(
    game: _core.Game,
    net: str,
    *,
    backend: "Backend | None" = None,
    precision: "Precision | None" = None,
    threads: int = 0,
) -> "Evaluator":
    """An evaluator with batches that suit the search of one tree. threads: 0 = all that this process may use."""
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.system.hardware import usable_cores

    rows = None if backend == "torch" else ROWS_A_THREAD * (threads or usable_cores())
    return make_evaluator(game, net, backend=backend, precision=precision, threads=threads or None, batch_size=rows)


@dataclass(frozen=True)
class _Orders:
    """The limits of a search and when their time began. Replaced as one, so that no thread sees half of a change."""

    limits: Limits
    began: float


@dataclass(frozen=True)
class _Base:
    """Figures of the tree before the search."""

    root_visits: int
    counted: float
    """Visits that the tree's counters have seen; re-rooting does not change them."""
    depth_sum: float
    rows: float
    oracle_hits: float


@dataclass
class _Run:
    """One search: what it was asked, what it began with, what it last said."""

    orders: _Orders
    only: tuple[int, ...]
    """The only root moves to search; empty: all."""
    playable: tuple[int, ...]
    """The moves among which one will be played."""
    lines: int
    on_report: OnReport | None
    started: float
    base: _Base
    batch_ended: float
    batch_rows: float
    batch_seconds: float = 0.0
    reported: float = float("-inf")
    reported_best: int | None = None
    mate_line: tuple[int, ...] = ()
    mate: int | None = None
    reason: str = ""
    resting: bool = False
    """Whether the tree can grow no more, and that has been reported."""


class Analysis:
    """A tree that follows a game, and at most one search of it at a time.

    large: the second net, where the settings have one; all counts of visits are then the small net's. batch_size: most
    rows of a batch (default: what the evaluator prefers); 1 makes the search exactly sequential.
    threads: of the core. tablebase: exact results for leaves, or for the root's moves where it knows the root (chess);
    fast_play: of these only the shortest wins. clock: gives seconds. Errors of the evaluator come out of `search`; the
    tree stays usable.
    """

    def __init__(
        self,
        evaluator: "Evaluator",
        params: SearchParams,
        *,
        large: "Evaluator | None" = None,
        seed: int = 0,
        threads: int = 1,
        batch_size: int | None = None,
        tablebase: _core.Tablebase | None = None,
        fast_play: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size must be >= 1, got {batch_size}")
        self._evaluator = evaluator
        self._large = large
        self._params = params
        self._seed = seed
        self._threads = threads
        self._batch_size = batch_size or evaluator.batch_size
        self._tablebase = tablebase
        self._fast_play = fast_play
        self._leaf_tablebase: _core.Tablebase | None = None
        self._clock = clock
        self._row_seconds = 0.0
        self._forest: _core.Forest | None = None
        self._tree = 0
        self._start: tuple[str, str] = ("", "")
        self._actions: tuple[int, ...] = ()
        self._run: _Run | None = None
        self._stop = threading.Event()

    # The position.

    def set_position(self, start: _core.State, actions: Sequence[int] = ()) -> bool:
        """Goes to the position after `actions` from `start`, which must be legal. True when the tree was kept.

        A position that extends the last one keeps its subtree, if the settings allow it.
        """
        self._require_idle()
        wanted, key = tuple(actions), (start.game.spec, start.notation())
        known = len(self._actions)
        kept = self._forest is not None and key == self._start and wanted[:known] == self._actions
        if kept:
            self._advance(wanted[known:])
        else:
            self._restart(start, wanted)
        self._start, self._actions = key, wanted
        return kept

    @property
    def state(self) -> _core.State:
        """A copy of the position."""
        return self._loaded().state(self._tree)

    def clear(self) -> None:
        """Forgets position, tree and evaluations."""
        self._require_idle()
        self._forest, self._actions = None, ()

    # The search.

    def search(
        self,
        limits: Limits,
        *,
        actions: Sequence[int] = (),
        lines: int = 1,
        on_report: OnReport | None = None,
        began: float | None = None,
    ) -> RootReport:
        """Searches until the limits or `stop` end it; returns the last report.

        actions: the only root moves to search (empty: all). lines: how many moves get a principal variation. on_report
        sees the search every REPORT_SECONDS and soon after each new best move. began: when the clock started (default:
        now).
        """
        return self._perform(self._new_run(limits, actions, lines, on_report, began))

    def start(
        self,
        limits: Limits,
        *,
        actions: Sequence[int] = (),
        lines: int = 1,
        on_report: OnReport | None = None,
        began: float | None = None,
    ) -> Future[RootReport]:
        """`search` in a thread of its own; the future gets the last report or the error."""
        run = self._new_run(limits, actions, lines, on_report, began)
        future: Future[RootReport] = Future()
        threading.Thread(target=self._perform_into, args=(future, run), name="search", daemon=True).start()
        return future

    def stop(self) -> None:
        """Asks the search to end, which it does after at most one batch. Any thread may ask."""
        self._stop.set()

    def change_limits(self, limits: Limits) -> None:
        """Gives the running search other limits, whose time begins now (ponderhit). Any thread may ask."""
        run = self._run
        if run is not None:
            run.orders = _Orders(limits, self._clock())

    @property
    def searching(self) -> bool:
        """Whether a search runs."""
        return self._run is not None

    def report(self, *, lines: int = 1) -> RootReport:
        """What is known of the position, without searching."""
        self._require_idle()
        return root_report(self._loaded(), self._tree, pace=Pace(), lines=lines)

    # Private: the position.

    def _advance(self, actions: Sequence[int]) -> None:
        forest = self._loaded()
        for action in actions:
            forest.advance(self._ids(), np.array([action], np.uint16))

    def _restart(self, start: _core.State, actions: Sequence[int]) -> None:
        state = start.copy()
        for action in actions:
            state.play(action)
        if self._forest is None or self._forest.game.spec != start.game.spec:
            self._forest = _core.Forest(start.game, self._params, self._seed, self._threads)
            self._leaf_tablebase = None
        else:
            self._forest.remove(self._ids())
        self._tree = self._forest.add(state)

    def _consult_tablebase(self, only: tuple[int, ...]) -> tuple[int, ...]:
        """The root moves to search: where the tables know the root, those that keep its result.

        Below such a root every leaf would be known and none better than another, so there the network decides alone; a
        tree that was built the other way is begun anew.
        """
        forest, tables, state = self._loaded(), self._tablebase, self.state
        kept = tables.root_actions(state, self._fast_play) if tables is not None else None
        leaf_tables = tables if kept is None else None
        if leaf_tables is not self._leaf_tablebase:
            forest.remove(self._ids())
            forest.set_tablebase(leaf_tables)
            self._tree, self._leaf_tablebase = forest.add(state), leaf_tables
        best = tuple(action for action in kept or () if not only or action in only)
        return best or only

    def _loaded(self) -> _core.Forest:
        if self._forest is None:
            raise ValueError("the session has no position yet: call set_position first")
        return self._forest

    def _require_idle(self) -> None:
        if self._run is not None:
            raise RuntimeError("a search is running: stop it and wait for its result first")

    def _ids(self) -> NDArray[np.int64]:
        return np.array([self._tree], np.int64)

    # Private: one search.

    def _new_run(
        self, limits: Limits, actions: Sequence[int], lines: int, on_report: OnReport | None, began: float | None
    ) -> _Run:
        self._require_idle()
        now = self._clock()
        self._stop.clear()
        orders = _Orders(limits, now if began is None else began)
        only = self._consult_tablebase(tuple(actions))
        self._loaded().restrict_root(self._tree, only)  # a tree that WDL contempt has no use for ends here
        playable = only or tuple(int(action) for action in self.state.legal_actions())
        base = self._base()
        self._run = _Run(orders, only, playable, lines, on_report, now, base, batch_ended=now, batch_rows=base.rows)
        return self._run

    def _base(self) -> _Base:
        stats, totals = self._loaded().tree_stats(self._tree), self._loaded().stats()
        return _Base(self._visits(), _small_visits(stats), stats["depth_sum"], totals["rows"], totals["oracle_hits"])

    def _perform_into(self, future: Future[RootReport], run: _Run) -> None:
        try:
            report = self._perform(run)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(report)

    def _perform(self, run: _Run) -> RootReport:
        try:
            self._search_until_told(run)
            return self._report(run)
        finally:
            self._run = None

    def _search_until_told(self, run: _Run) -> None:
        """Searches; where the tree can grow no more, an infinite search waits for `stop` or for other limits."""
        while not (self._search_once(run) or self._rest(run)):
            pass

    def _rest(self, run: _Run) -> str:
        """The tree is complete, full, or at its visits: why the search is over; empty if it is not."""
        if run.orders.limits.infinite:
            self._report_rest(run)
            run.reason = "stopped" if self._stop.wait(IDLE_SECONDS) else ""
        else:
            run.reason = self._stop_reason(run) or "nothing left to search"
        return run.reason

    def _report_rest(self, run: _Run) -> None:
        """Shows the tree that can grow no more, once: no batch will do it."""
        if run.on_report is not None and not run.resting:
            run.on_report(self._report(run))
        run.resting = True

    def _search_once(self, run: _Run) -> str:
        """Searches until the limits end it (then says why) or the tree wants no more visits."""
        self._apply_visit_limit(run)
        run_searches(
            self._loaded(),
            self._evaluator,
            large=self._large,
            batch_size=self._batch_size,
            in_flight=1 if self._batch_size == 1 else 2,
            rows=self._rows,
            should_stop=lambda: self._after_batch(run),
        )
        return run.reason

    def _apply_visit_limit(self, run: _Run) -> None:
        limits = run.orders.limits
        more = None if limits.new_visits is None else run.base.root_visits + limits.new_visits
        bound = min((n for n in (limits.visits, more) if n is not None), default=0)
        self._loaded().set_visit_limits(self._ids(), np.array([bound], np.uint32))

    def _rows(self) -> int:
        """Rows of the next batch: few while the tree is small, no more than the network computes in LONGEST_BATCH."""
        quick = self._batch_size if self._row_seconds <= 0.0 else int(LONGEST_BATCH / self._row_seconds)
        return max(1, min(self._batch_size, quick, self._visits() // VISITS_PER_ROW))

    def _visits(self) -> int:
        return int(self._loaded().root_node_visits(self._ids())[0])

    def _after_batch(self, run: _Run) -> bool:
        """Called by the search after every batch: keeps time, reports, and says whether to stop."""
        now = self._clock()
        self._keep_pace(run, now)
        if self._visits() == 0:
            return False
        run.reason = self._stop_reason(run) or ""
        if not run.reason:
            self._report_when_due(run, now)
        return bool(run.reason)

    def _keep_pace(self, run: _Run, now: float) -> None:
        """Running means of the seconds between two batches and of the seconds for a row."""
        seconds, rows = now - run.batch_ended, self._loaded().stats()["rows"]
        run.batch_seconds += (1.0 - OLD_SHARE) * (seconds - run.batch_seconds)
        if rows > run.batch_rows:
            old = self._row_seconds or seconds / (rows - run.batch_rows)
            self._row_seconds = OLD_SHARE * old + (1.0 - OLD_SHARE) * seconds / (rows - run.batch_rows)
        run.batch_ended, run.batch_rows = now, rows

    def _stop_reason(self, run: _Run) -> str | None:
        if self._stop.is_set():
            return "stopped"
        limits = run.orders.limits
        if self._large is not None and len(self._loaded().active()):
            # One net may have done its part while the other still has turns: the tree says when all is done.
            limits = replace(limits, visits=None, new_visits=None)
        return stop_reason(limits, self._progress(run))

    def _progress(self, run: _Run) -> Progress:
        pace, (visits, q) = self._pace(run), self._edges(run)
        return Progress(
            seconds=self._clock() - run.orders.began,
            visits=self._visits(),
            new_visits=pace.new_visits,
            depth=pace.depth,
            batch_seconds=pace.batch_seconds,
            edge_visits=visits,
            edge_q=q,
            mate=run.mate,
            by_visits=self._params.gumbel is None and self._params.lower_bound is None,
        )

    def _edges(self, run: _Run) -> tuple[list[int], list[float]]:
        """Visits and Q of the moves that may be played."""
        actions = np.array(run.playable, np.int64)
        forest, ids = self._loaded(), self._ids()
        return forest.root_visits(ids)[0, actions].tolist(), forest.root_q(ids)[0, actions].tolist()

    def _pace(self, run: _Run) -> Pace:
        stats, totals, base = self._loaded().tree_stats(self._tree), self._loaded().stats(), run.base
        new = int(_small_visits(stats) - base.counted)
        return Pace(
            seconds=self._clock() - run.started,
            new_visits=new,
            depth=(stats["depth_sum"] - base.depth_sum) / max(new, 1),
            rows=int(totals["rows"] - base.rows),
            tablebase_hits=int(totals["oracle_hits"] - base.oracle_hits),
            batch_seconds=run.batch_seconds,
        )

    # Private: reports.

    def _report_when_due(self, run: _Run, now: float) -> None:
        if run.on_report is None and run.orders.limits.mate is None:
            return
        visits, _ = self._edges(run)
        best = int(np.argmax(visits)) if visits else None
        wait = REPORT_SECONDS if best == run.reported_best else NEW_BEST_SECONDS
        if now - run.reported < wait:
            return
        run.reported, run.reported_best = now, best
        report = self._report(run)
        if run.on_report is not None:
            run.on_report(report)

    def _report(self, run: _Run) -> RootReport:
        report = root_report(
            self._loaded(), self._tree, pace=self._pace(run), lines=run.lines, allowed=run.only, reason=run.reason
        )
        line = report.best.line if report.best else ()
        if line != run.mate_line or (report.best and report.best.mate is not None):
            run.mate_line, run.mate = line, proven_mate(report)
        return replace(report, mate=run.mate)


def _small_visits(stats: dict[str, float]) -> float:
    """Visits that count towards limits: with two nets those of the small one."""
    return stats["visits"] - stats["large_visits"]

"""Analysis of one position: a forest of one tree, searched in the background, reported while it grows.

An `Analysis` keeps its tree from search to search and follows the game: a position that extends the last one re-uses
the subtree. While a search runs, only its own thread touches the forest; everybody else sees `RootReport`s, which never
change.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.search.control import SearchControl, in_background
from hauteur.search.driver import run_searches
from hauteur.search.limits import Limits, Progress, stop_reason
from hauteur.search.params import SearchParams
from hauteur.search.report import Pace, RootReport, proven_mate, root_report, with_result
from hauteur.search.search_run import OnReport, SearchRun, TreeFigures

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator

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
LARGEST_VISIT_LIMIT = 2**32 - 1
"""The most visits that the core counts to; it ends a tree before."""


class Analysis:
    """A tree that follows a game, and at most one search of it at a time.

    large: the second net, where the settings have one; all counts of visits are then the small net's. batch_size: most
    rows of a batch (default: what the evaluator prefers); 1 makes the search exactly sequential.
    threads: of the core. tablebase: exact results for leaves, or for the root's moves where it knows the root (chess);
    fast_play: of these only the shortest wins. Errors of the evaluator come out of `search`; the tree stays
    usable.
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
        self._row_seconds = 0.0
        self._forest: _core.Forest | None = None
        self._tree = 0
        self._start: tuple[str, str] = ("", "")
        self._actions: tuple[int, ...] = ()
        self._run: SearchRun | None = None

    # The position.

    def set_position(self, start: _core.State, actions: Sequence[int] = ()) -> bool:
        """Go to the position after `actions` from `start`, which must be legal. Return whether the tree was kept.

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
        """Forget position, tree and evaluations."""
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
        control: SearchControl | None = None,
    ) -> RootReport:
        """Search until the limits or the control end it; return the last report.

        actions: the only root moves to search (empty: all). lines: how many moves get a principal variation. on_report
        gets the search every REPORT_SECONDS and soon after each new best move, in the searching thread. control: ends
        the search from other threads; it must be new.
        """
        return self._perform(self._new_run(limits, actions, lines, on_report, control))

    def start(
        self,
        limits: Limits,
        *,
        actions: Sequence[int] = (),
        lines: int = 1,
        on_report: OnReport | None = None,
        control: SearchControl | None = None,
    ) -> Future[RootReport]:
        """Search in a thread of its own; the future gets the last report or the error."""
        run = self._new_run(limits, actions, lines, on_report, control)
        return in_background(lambda: self._perform(run), "search")

    def stop(self) -> None:
        """Ask the running search to end; any thread may call it."""
        run = self._run
        if run is not None:
            run.control.stop()

    @property
    def searching(self) -> bool:
        """True while a search is running."""
        return self._run is not None

    def report(self, *, lines: int = 1) -> RootReport:
        """Return a report of the position, without searching."""
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

    def _consult_tablebase(self, only: tuple[int, ...]) -> tuple[tuple[int, ...], int | None]:
        """The root moves to search, and the result of the root where the tables know it.

        They are those that keep the result. Below such a root every leaf would be known and none better than another,
        so there the network decides alone; a tree that was built the other way is begun anew.
        """
        forest, tables, state = self._loaded(), self._tablebase, self.state
        kept = tables.root_actions(state, self._fast_play) if tables is not None else None
        leaf_tables = tables if kept is None else None
        if leaf_tables is not self._leaf_tablebase:
            forest.remove(self._ids())
            forest.set_tablebase(leaf_tables)
            self._tree, self._leaf_tablebase = forest.add(state), leaf_tables
        best = tuple(action for action in kept or () if not only or action in only)
        if tables is None or not best:
            return only, None
        result = tables.probe_wdl(state) or 0
        return best, (result > 1) - (result < -1)  # what the fifty-move rule spoils is a draw

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
        self,
        limits: Limits,
        actions: Sequence[int],
        lines: int,
        on_report: OnReport | None,
        control: SearchControl | None,
    ) -> SearchRun:
        self._require_idle()
        now = time.monotonic()
        only, result = self._consult_tablebase(tuple(actions))
        self._loaded().restrict_root(self._tree, only)  # a tree that WDL contempt has no use for ends here
        playable = only or tuple(int(action) for action in self.state.legal_actions())
        base = self._base()
        control = control or SearchControl(began=now)
        self._run = SearchRun(
            *(limits, control, only, playable, lines, on_report, now, base),
            batch_ended=now,
            batch_rows=base.rows,
            root_result=result,
        )
        return self._run

    def _base(self) -> TreeFigures:
        stats, totals = self._loaded().tree_stats(self._tree), self._loaded().stats()
        return TreeFigures(
            self._visits(), _small_visits(stats), stats["depth_sum"], totals["rows"], totals["oracle_hits"]
        )

    def _perform(self, run: SearchRun) -> RootReport:
        try:
            self._search_until_told(run)
            return self._report(run)
        finally:
            self._run = None

    def _search_until_told(self, run: SearchRun) -> None:
        """Search; where the tree can grow no more, an infinite search waits for its control."""
        while not (self._search_once(run) or self._rest(run)):
            pass

    def _rest(self, run: SearchRun) -> str:
        """Return why a search is over whose tree is complete, full, or at its visits; empty if it is not."""
        if run.limits_now.infinite:
            self._report_rest(run)
            run.reason = "stopped" if run.control.wait(seconds=IDLE_SECONDS) else ""
        else:
            run.reason = self._stop_reason(run) or "nothing left to search"
        return run.reason

    def _report_rest(self, run: SearchRun) -> None:
        """Report the tree that can grow no more, once: no batch will do it."""
        if run.on_report is not None and not run.resting:
            run.on_report(self._report(run))
        run.resting = True

    def _search_once(self, run: SearchRun) -> str:
        """Search until the limits end it (return the reason) or the tree wants no more visits."""
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

    def _apply_visit_limit(self, run: SearchRun) -> None:
        limits = run.limits_now
        more = None if limits.new_visits is None else run.base.root_visits + limits.new_visits
        bound = min((n for n in (limits.visits, more) if n is not None), default=0)
        bound = bound if bound <= LARGEST_VISIT_LIMIT else 0
        self._loaded().set_visit_limits(self._ids(), np.array([bound], np.uint32))

    def _rows(self) -> int:
        """Return the rows of the next batch: few while the tree is small, at most what takes LONGEST_BATCH."""
        quick = self._batch_size if self._row_seconds <= 0.0 else int(LONGEST_BATCH / self._row_seconds)
        return max(1, min(self._batch_size, quick, self._visits() // VISITS_PER_ROW))

    def _visits(self) -> int:
        return int(self._loaded().root_node_visits(self._ids())[0])

    def _after_batch(self, run: SearchRun) -> bool:
        """Keep time and report after a batch; return whether to stop."""
        now = time.monotonic()
        self._keep_pace(run, now)
        if self._visits() == 0:
            return False
        run.reason = self._stop_reason(run) or ""
        if not run.reason:
            self._report_when_due(run, now)
        return bool(run.reason)

    def _keep_pace(self, run: SearchRun, now: float) -> None:
        """Update the running means of the seconds between two batches and of the seconds for a row."""
        seconds, rows = now - run.batch_ended, self._loaded().stats()["rows"]
        run.batch_seconds += (1.0 - OLD_SHARE) * (seconds - run.batch_seconds)
        if rows > run.batch_rows:
            old = self._row_seconds or seconds / (rows - run.batch_rows)
            self._row_seconds = OLD_SHARE * old + (1.0 - OLD_SHARE) * seconds / (rows - run.batch_rows)
        run.batch_ended, run.batch_rows = now, rows

    def _stop_reason(self, run: SearchRun) -> str | None:
        if run.control.stopped:
            return "stopped"
        limits = run.limits_now
        if self._large is not None and len(self._loaded().active()):
            # One net may have done its part while the other still has turns: the tree says when all is done.
            limits = replace(limits, visits=None, new_visits=None)
        return stop_reason(limits, self._progress(run))

    def _progress(self, run: SearchRun) -> Progress:
        pace, (visits, q) = self._pace(run), self._edges(run)
        return Progress(
            seconds=time.monotonic() - (run.control.began or 0.0),
            visits=self._visits(),
            new_visits=pace.new_visits,
            depth=pace.depth,
            batch_seconds=pace.batch_seconds,
            edge_visits=visits,
            edge_q=q,
            mate=run.mate,
            by_visits=self._params.gumbel is None and self._params.lower_bound is None,
            **self._prospects(run, pace),
        )

    def _prospects(self, run: SearchRun, pace: Pace) -> dict[str, bool]:
        """Return what ends a search for a depth or a mate: its result is proven, or it comes no further."""
        limits = run.limits_now
        if (limits.depth is None and limits.mate is None) or self._visits() == 0:
            return {}
        lower, upper, _ = self._loaded().root_bounds(self._tree)
        reached = pace.depth if limits.mate is None else self._loaded().tree_stats(self._tree)["nodes"]
        return {"proven": lower == upper, "stalled": run.growth.has_stalled(pace.new_visits, reached)}

    def _edges(self, run: SearchRun) -> tuple[list[int], list[float]]:
        """Return visits and Q of the moves that may be played."""
        actions = np.array(run.playable, np.int64)
        forest, ids = self._loaded(), self._ids()
        return forest.root_visits(ids)[0, actions].tolist(), forest.root_q(ids)[0, actions].tolist()

    def _pace(self, run: SearchRun) -> Pace:
        stats, totals, base = self._loaded().tree_stats(self._tree), self._loaded().stats(), run.base
        new = int(_small_visits(stats) - base.counted)
        return Pace(
            seconds=time.monotonic() - run.started,
            new_visits=new,
            depth=(stats["depth_sum"] - base.depth_sum) / max(new, 1),
            rows=int(totals["rows"] - base.rows),
            tablebase_hits=int(totals["oracle_hits"] - base.oracle_hits) + (run.root_result is not None),
            batch_seconds=run.batch_seconds,
        )

    # Private: reports.

    def _report_when_due(self, run: SearchRun, now: float) -> None:
        if run.on_report is None and run.limits_now.mate is None:
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

    def _report(self, run: SearchRun) -> RootReport:
        report = root_report(
            self._loaded(), self._tree, pace=self._pace(run), lines=run.lines, allowed=run.only, reason=run.reason
        )
        line = report.best.line if report.best else ()
        if line != run.mate_line or (report.best and report.best.mate is not None):
            run.mate_line, run.mate = line, proven_mate(report)
        report = replace(report, mate=run.mate)
        return report if run.root_result is None else with_result(report, run.root_result)


def _small_visits(stats: dict[str, float]) -> float:
    """Visits that count towards limits: with two nets those of the small one."""
    return stats["visits"] - stats["large_visits"]

"""Analysis of one position: a forest of one tree, searched in the background, reported while it grows.

An `Analysis` keeps its tree from search to search and follows the game: a position that extends the last one re-uses
the subtree. While a search runs, only its own thread touches the forest; other threads see `RootReport`s, which never
change, and read the tree between two batches through `ask`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack

import numpy as np

from hauteur import _core
from hauteur.mcts.control import BetweenBatches, SearchControl, in_background, stopped_by_interrupt
from hauteur.mcts.driver import SearchDriver, for_nets
from hauteur.mcts.followed_tree import AnalysisNets, FollowedTree, TreeFacts, given_rules
from hauteur.mcts.limits import Limits, Progress, limits_of, stop_reason
from hauteur.mcts.mate_proof import MateProof
from hauteur.mcts.net_search import search_of_source
from hauteur.mcts.plain_settings import MOST_VISITS, SearchSettings, given_search, has_section, search_model
from hauteur.mcts.report import AnalysisOptions, OnReport, Pace, RootReport, root_report, with_result, with_win
from hauteur.mcts.search_run import SearchRun
from hauteur.mcts.step_plan import StepPlan, plan_by_time, plan_by_visits
from hauteur.networks.evaluators.base import MOST_BATCH_ROWS
from hauteur.system.closing import Closing
from hauteur.system.formatting import described
from hauteur.system.hints import MOST_THREADS, checked_seed, whole_number, with_hints

if TYPE_CHECKING:
    from hauteur.games.positions import PositionLike
    from hauteur.mcts.own_rules import Rule
    from hauteur.mcts.params import SearchParams
    from hauteur.mcts.result import BatchResult, SearchResult
    from hauteur.mcts.search_tree import SearchTree

REPORT_SECONDS = 0.1
"""Least time between two reports of a running search."""
NEW_BEST_SECONDS = 0.04
"""Least time before a report that a new best move brings."""
IDLE_SECONDS = 0.02
"""How often a search with nothing to do looks for new orders."""
OLD_SHARE = 0.7
"""Weight of the past in the running mean of the time between batches."""
MOST_COUNTED = 2**32 - 1
"""The most visits that the core counts to; it ends a tree before."""
ALL_LINES = 2**16
"""Every move gets a line."""
OnResult = Callable[["SearchResult"], None]
Answer = TypeVar("Answer")


class Analysis(Closing):
    """A tree that follows a game, and at most one search of it at a time.

    evaluator: anything that `hauteur.evaluator` accepts. params: settings of the search; under them are those that a
    net given by name or file carries for play. large: the second net, where the settings have one, and more: those
    after it; all counts of visits are then the small net's. batch_size: most rows of a batch (default: what the
    evaluator prefers); 1 makes the search exactly sequential. tablebase: exact results for leaves, or for the root's
    moves where it knows the root (chess); fast_play: of these only the shortest wins. rules: search rules written in
    Python (`hauteur.Rule`). Errors of the evaluator come out of `go` and `search`; the tree stays usable. A context
    manager, which closes the evaluators that it opened.

    >>> import hauteur as ht
    >>> state = ht.load_game("connect4").new_initial_state()
    >>> with ht.Analysis("uniform") as analysis:
    ...     first = analysis.go(state, visits=200)
    ...     state.apply(first.best_action)
    ...     kept = analysis.result().tree.root.visits
    ...     second = analysis.go(state, visits=200)  # goes on in the subtree of the move
    >>> second.tree.root.visits
    200
    """

    def __init__(
        self,
        evaluator: object,
        params: SearchSettings | None = None,
        *,
        large: object = None,
        seed: int = 0,
        batch_size: int | None = None,
        tablebase: _core.Tablebase | None = None,
        fast_play: bool = False,
        rules: Sequence[Rule] = (),
        more: Sequence[object] = (),
    ) -> None:
        if batch_size is not None:
            whole_number("batch_size", batch_size, 1, MOST_BATCH_ROWS)
        # Kept as they were given: each game's net puts settings of its own under them, and those of the net before must
        # not count as given then.
        self._given = given_search(params)
        self._params = for_nets(self._given, large)
        self._nets = AnalysisNets(evaluator, large, batch_size, more)
        self._tree = FollowedTree(self._params, checked_seed(seed), tablebase, fast_play, given_rules(rules))
        self.row_seconds = 0.0
        """Running mean of the seconds for a row of a batch; 0: not known. Who knows it may set it before a search."""
        self._run: SearchRun | None = None
        self._between = BetweenBatches()

    def close(self) -> None:
        """Close the evaluators that were opened here; the last result's tree can still be read."""
        self._nets.close()

    # One call.

    def go(
        self,
        position: PositionLike,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        actions: Sequence[int] = (),
        on_report: OnResult | None = None,
    ) -> SearchResult:
        """Search a position and return the result; the tree is kept where the position continues the last one.

        position: a State, a `chess.Board`, a FEN. visits: of the root, those of the kept tree included; seconds: of
        this search; whichever ends first, and with neither the search runs until `stop()` or Ctrl-C. actions: the only
        root moves to search (default: all).
        on_report: gets a SearchResult about every 0.1 s, in this thread. A search limited by visits alone is
        repeatable: the same seed and evaluator give the same tree. After a KeyboardInterrupt, which is raised at the
        end of a batch, the analysis goes on working, and `result()` has what was found. Raise ValueError for a finished
        game, for limits out of range and for an evaluator of another game.
        """
        from hauteur.games.positions import as_state  # here: engines have positions of the core and make reports alone
        from hauteur.mcts.result import refuse_finished, search_result

        state = as_state(position)
        # Refused before anything changes: the tree of the position before stays.
        refuse_finished(state)
        limits = limits_of(visits, seconds)
        self.set_position(state.start, state.moves)
        control = SearchControl()
        report = None if on_report is None else (lambda found: on_report(search_result(self._tree, found)))
        with stopped_by_interrupt(control.stop):
            last = self.search(limits, actions=actions, lines=ALL_LINES, on_report=report, control=control)
        return search_result(self._tree, last)

    def result(self) -> SearchResult:
        """Return what has been found of the position until now. Raise ValueError before its first evaluation."""
        from hauteur.mcts.result import search_result

        return search_result(self._tree, self.report(lines=ALL_LINES))

    # The position.

    def set_position(self, start: _core.State, actions: Sequence[int] = ()) -> bool:
        """Go to the position after `actions` from `start`, which must be legal. Return whether the tree was kept.

        A position that extends the last one keeps its subtree, if the settings allow it.
        """
        with self._between.alone():
            # Before the tree moves: for another game a forest is made, with the settings that its net carries.
            if self._nets.open(start.game):
                self._params = self._tree.params = self._settings_for(start.game)
            return self._tree.go_to(start, actions)

    def _settings_for(self, game: _core.Game) -> SearchSettings:
        """Return the settings for the game whose nets were opened; ValueError for wrong ones that a net carries."""
        large = self._nets.large
        try:
            return for_nets(search_of_source(self._given, self._nets.source, game, large), large)
        except BaseException:
            # Nets that stayed open would let the next call search without these settings.
            self._nets.close()
            raise

    @property
    def state(self) -> _core.State:
        """A copy of the position."""
        return self._tree.state

    def clear(self) -> None:
        """Forget position, tree and evaluations."""
        with self._between.alone():
            self._tree.clear()

    # The search.

    def search(
        self, limits: Limits, *, control: SearchControl | None = None, **options: Unpack[AnalysisOptions]
    ) -> RootReport:
        """Search until the limits or the control end it; return the last report. Options: see `AnalysisOptions`.

        control: ends the search from other threads; it must be new.
        """
        return self._perform(self._new_run(limits, control, **options))

    def start(
        self, limits: Limits, *, control: SearchControl | None = None, **options: Unpack[AnalysisOptions]
    ) -> Future[RootReport]:
        """Search in a thread of its own; the future gets the last report or the error."""
        run = self._new_run(limits, control, **options)
        return in_background(lambda: self._perform(run), "search")

    def stop(self) -> None:
        """Ask the running search to end; any thread may call it."""
        run = self._run
        if run is not None:
            run.control.stop()

    @property
    def searching(self) -> bool:
        return self._between.busy

    def report(self, *, lines: int = 1) -> RootReport:
        """Return a report of the position, without searching."""
        with self._between.alone():
            return root_report(self._tree.forest, self._tree.number, pace=Pace(), lines=lines)

    def ask(self, function: Callable[[SearchTree], Answer]) -> Future[Answer]:
        """Call `function` with the tree of the position; the future gets what it returns or raises.

        Any thread may ask. While a search runs the function is called in the searching thread between two batches, else
        at once in this one. It sees the tree at rest, and should take milliseconds: the search waits for it, without
        any change to its visits. Before the first position the future raises ValueError.

        >>> import hauteur as ht
        >>> with ht.Analysis("uniform") as analysis:
        ...     found = analysis.go(ht.load_game("connect4").new_initial_state(), visits=100)
        ...     analysis.ask(lambda tree: tree.root.visits).result()
        100
        """
        from hauteur.mcts.result import followed_tree

        return self._between.ask(lambda: function(followed_tree(self._tree)))

    def tree_facts(self) -> TreeFacts:
        """Return the digest of the whole tree, and what was counted in it."""
        with self._between.alone():
            return self._tree.facts

    def _new_run(
        self,
        limits: Limits,
        control: SearchControl | None,
        actions: Sequence[int] = (),
        lines: int = 1,
        on_report: OnReport | None = None,
    ) -> SearchRun:
        # The clock begins here, so that what the tablebases take is of the search's time.
        now = time.monotonic()
        control = control or SearchControl(began=now)
        with self._between.alone():
            only, result = self._tree.consult_tablebase(tuple(actions))
            self._tree.forest.restrict_root(self._tree.number, only)  # may end a tree, where WDL contempt needs another
            base = self._tree.counters
            self._run = SearchRun(limits, control, only, lines, on_report, now, base, base, now, root_result=result)
            if limits.mate is not None:
                self._run.proof = MateProof(self._tree.position, limits.mate, only)
            # Set here and not in the searching thread: until that has begun, another caller could move the tree.
            self._between.busy = True
            return self._run

    def _perform(self, run: SearchRun) -> RootReport:
        self._between.here()
        try:
            self._search_until_stopped(run)
            return self._report(run)
        finally:
            # Also after an error: its search of all lines ends by itself only when it has seen them.
            if run.proof is not None:
                run.proof.close()
            self._between.end()

    def _search_until_stopped(self, run: SearchRun) -> None:
        """Search; where the tree is complete, full, or at its visits, an infinite search waits for its control.

        So does one for a mate alone: the exact search beside it goes on.
        """
        while not self._search_once(run):
            run.counters = self._tree.counters
            # A tree at rest makes no batches, after which questions are answered otherwise.
            self._between.answer()
            run.reason = self._stop_reason(run) or ""
            if not run.reason and not run.limits_now.waits:
                run.reason = "nothing left to search"
            if run.reason:
                return
            if run.on_report is not None and not run.resting:  # no batch will do it
                run.on_report(self._report(run))
            run.resting = True
            if run.control.wait(seconds=IDLE_SECONDS):
                run.reason = "stopped"
                return

    def _search_once(self, run: SearchRun) -> str:
        """Search until the limits end it (return the reason) or the tree needs no more visits."""
        limits = run.limits_now
        more = None if limits.new_visits is None else run.base.root_visits + limits.new_visits
        # The core hands out no visit beyond the bound: a look at the count after each batch alone would exceed it.
        bound = min((n for n in (limits.visits, more) if n is not None), default=0)
        # Such a bound is never reached, and does not fit into the core's 32 bits.
        if bound > MOST_COUNTED:
            bound = 0
        self._tree.forest.set_visit_limits(self._tree.ids, np.array([bound], np.uint32))
        SearchDriver(
            self._tree.forest,
            self._nets.small,
            large=self._nets.large,
            batch_size=self._nets.batch_size,
            # Batches of one row are for the exactly sequential search: a second one in flight would choose its row
            # before the value of the first is there.
            in_flight=1 if self._nets.batch_size == 1 else 2,
            plan=lambda: self._plan(run),
            facts=run.facts,
            more=self._nets.more,
        ).run(lambda: self._after_batch(run))
        return run.reason

    def _plan(self, run: SearchRun) -> StepPlan:
        visits = run.counters.root_visits
        most = self._nets.batch_size
        limits = run.limits_now
        # No clock may shape the batches of such a search: it is to be the same tree on every machine.
        if limits.by_visits_alone:
            return replace(plan_by_visits(visits, most), control=run.control)
        budget = None if limits.infinite else limits.budget
        passed = time.monotonic() - (run.control.began or 0.0)
        plan = plan_by_time(visits, most, self.row_seconds, budget=budget, passed=passed)
        return replace(plan, control=run.control)

    def _after_batch(self, run: SearchRun) -> bool:
        """Keep time and report after a batch; return whether to stop."""
        now = time.monotonic()
        before = run.counters
        run.counters = self._tree.counters
        self._keep_pace(run, now, run.counters.rows - before.rows)
        # Without its first visit the root has no move, neither to report nor to play.
        if run.counters.root_visits == 0:
            return False
        run.reason = self._stop_reason(run) or ""
        if not run.reason:
            self._report_when_due(run, now)
            if self._between.waiting:
                self._between.answer()
                run.batch_ended = time.monotonic()  # their time is not the network's
        return bool(run.reason)

    def _keep_pace(self, run: SearchRun, now: float, rows: int) -> None:
        """Update the running means of the seconds of a batch and of a row."""
        seconds = now - run.batch_ended
        # With several nets the facts count the batches of all, and a turn answers one of each.
        batches = (run.facts.batches - run.batches) // len(self._tree.forest.nets)
        run.batch_seconds += (1.0 - OLD_SHARE) * (seconds / max(1, batches) - run.batch_seconds)
        if rows:
            old = self.row_seconds or seconds / rows
            self.row_seconds = OLD_SHARE * old + (1.0 - OLD_SHARE) * seconds / rows
        run.batch_ended = now
        run.batches = run.facts.batches

    def _stop_reason(self, run: SearchRun) -> str | None:
        if run.control.stopped:
            return "stopped"
        limits = run.limits_now
        if self._nets.large is not None and len(self._tree.forest.active()):
            # One net may have done its part while the other still has turns: the tree says when all is done.
            limits = replace(limits, visits=None, new_visits=None)
        return stop_reason(limits, self._progress(run))

    def _progress(self, run: SearchRun) -> Progress:
        # Before the rest: it notes a proven mate in the run, which the progress has too.
        prospects = self._prospects(run)
        return Progress(
            seconds=time.monotonic() - (run.control.began or 0.0),
            visits=run.counters.root_visits,
            new_visits=run.new_visits,
            depth=run.depth,
            batch_seconds=run.batch_seconds,
            look=lambda: self._tree.forest.root_rivals(self._tree.number),
            mate=run.mate,
            # Gumbel and LowerBound choose by values: a rival that cannot catch up in visits may still be played.
            by_visits=not (has_section(self._params, "gumbel") or has_section(self._params, "lower_bound")),
            **prospects,
        )

    def _prospects(self, run: SearchRun) -> dict[str, bool]:
        """Return what ends a search for a depth or a mate: its result is proven (noted if a mate), or it stalls.

        The moves of a mate are those of the winner's, who moves first and last in it.
        """
        limits = run.limits_now
        if (limits.depth is None and limits.mate is None) or run.counters.root_visits == 0:
            return {}
        lower, upper, plies = self._tree.forest.root_bounds(self._tree.number)
        # Without a distance the proof is a tablebase's or an exact end's, which knows no number of moves.
        if lower == upper != 0 and plies is not None:
            run.mate = lower * ((plies + 1) // 2)
        if limits.mate is None:
            return {"proven": lower == upper, "stalled": run.growth.has_stalled(run.new_visits, run.depth)}
        proof = run.proof
        # The tree, or the tables, may exclude a win long before the exact search has seen all lines.
        is_lost = upper < 1 or (run.root_result is not None and run.root_result < 1)
        if proof is not None and proof.line:
            run.mate = (len(proof.line) + 1) // 2
        return {"no_mate": is_lost or (proof is not None and proof.excludes_win)}

    def _report_when_due(self, run: SearchRun, now: float) -> None:
        # A search for a mate needs the report itself: it notes mates on the board, which end the search.
        if run.on_report is None and run.limits_now.mate is None:
            return
        if now - run.reported < NEW_BEST_SECONDS:
            return
        visits, _ = self._tree.forest.root_rivals(self._tree.number)
        best = visits.index(max(visits)) if visits else None
        if best == run.reported_best and now - run.reported < REPORT_SECONDS:
            return
        run.reported = now
        run.reported_best = best
        report = self._report(run)
        if run.on_report is not None:
            run.on_report(report)

    def _report(self, run: SearchRun) -> RootReport:
        tree = self._tree
        pace = run.pace()
        report = root_report(tree.forest, tree.number, pace=pace, lines=run.lines, allowed=run.only, reason=run.reason)
        if run.root_result is not None:
            report = with_result(report, run.root_result)
        line = [] if run.proof is None else run.proof.line
        if line and (report.mate is None or not 0 < report.mate <= (len(line) + 1) // 2):
            report = with_win(report, line)
        run.mate = report.mate
        return report


DEFAULT_VISITS = 800
"""Visits of a search without limits, as in `hauteur analyse`."""


@with_hints
def search(
    position: PositionLike,
    evaluator: object = None,
    params: SearchParams | None = None,
    *,
    visits: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    large: object = None,
    more: Sequence[object] = (),
    rules: Sequence[Rule] | None = None,
    on_report: OnResult | None = None,
) -> SearchResult:
    """Search one position.

    Parameters
    ----------
    position
        The position, its past included; it is not changed: a State (`hauteur.position`), a `chess.Board`, or a FEN or
        other text of a game of chess.
    evaluator
        Anything that `hauteur.evaluator` accepts: an evaluator, a network file or name, `"uniform"`, `"rollout"`, a
        callable, a torch module; None: the net that ships for the game. Open a net once with `hauteur.evaluator` where
        many positions are searched.
    params
        Settings of the search; default: plain PUCT with lc0's constants (Silver et al. 2017). Under them are those that
        a net given by name or file carries for play (`hauteur net info`).
    visits
        Of the root, its own evaluation included, at least 1; default 800 where `seconds` is not given either.
    seconds
        Of the search, above 0. With both limits the first one reached ends it.
    seed
        Keys the random draws of settings that have them. A search limited by visits alone is repeatable.
    large
        The second net of `SearchParams.second_net`.
    more
        The nets after it, one for each that `second_net.more` has.
    rules
        Search rules written in Python (`hauteur.Rule`), in their order; they do not go with a second net.
    on_report
        Called about every 0.1 s with the result so far.

    Raises ValueError, in one line, for a finished game, limits out of range, and an evaluator that does not fit; what
    an evaluator raises comes out unchanged. Ctrl-C ends the search at the end of a batch, then KeyboardInterrupt is
    raised. The interpreter's lock is released in the core and in nets: searches in several threads run side by side.

    >>> import hauteur as ht
    >>> state = ht.position("tictactoe", "a1 b1 a2 b2")
    >>> result = ht.search(state, "uniform", visits=200)
    >>> result.best_move, int(result.visits.sum()), float(result.q[result.best_action])
    ('a3', 199, 1.0)
    >>> ht.search("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "uniform", visits=200).best_move.san
    'Ra8#'
    """
    from hauteur.games.positions import as_state

    state = as_state(position)
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS
    with Analysis(evaluator, params, seed=seed, large=large, rules=rules or (), more=more) as analysis:
        return analysis.go(state, visits=visits, seconds=seconds, on_report=on_report)


@with_hints
def search_batch(
    positions: Sequence[PositionLike],
    evaluator: object = None,
    params: SearchParams | None = None,
    *,
    visits: int = DEFAULT_VISITS,
    seed: int = 0,
    threads: int = 1,
    large: object = None,
    more: Sequence[object] = (),
    rules: Sequence[Rule] | None = None,
) -> BatchResult:
    """Search many positions of one game side by side, in shared batches.

    positions: T >= 1, none of them finished. evaluator, params, large, more, rules: as for `search`. visits: of each
    root, its own evaluation included. threads: of the core. Each tree has one leaf in flight, unless
    `SearchParams.max_in_flight` is set, so a result depends on its position, the settings and the seed alone.
    Raise ValueError, in one line, for positions of different games or a finished one, and as `search` does.

    >>> import hauteur as ht
    >>> states = [ht.position("tictactoe"), ht.position("tictactoe", "b2")]
    >>> batch = ht.search_batch(states, "rollout", visits=50)
    >>> batch.visits.shape, batch.wdl.shape, batch.visits.sum(axis=1).tolist()
    ((2, 9), (2, 3), [49, 49])
    """
    from hauteur.games.positions import as_state
    from hauteur.mcts.own_rules import rule_chain
    from hauteur.mcts.result import batch_result, refuse_finished

    if not isinstance(positions, Iterable):
        raise TypeError(f"positions must be a list of positions, got {described(positions)}")
    states = [as_state(position) for position in positions]
    if not states:
        raise ValueError("search_batch needs at least one position")
    whole_number("visits", visits, 1, MOST_VISITS)
    whole_number("threads", threads, 1, MOST_THREADS)
    game = states[0].game
    for number, state in enumerate(states):
        refuse_finished(state, f"positions[{number}]: ")
        other = state.game
        if (other.name, other.feature_shape, other.num_actions) != (game.name, game.feature_shape, game.num_actions):
            raise ValueError(f"positions must be of one game: positions[{number}] is of {other.spec}, not {game.spec}")
    params = for_nets(search_of_source(search_model(given_search(params)), evaluator, game, large), large)
    # One leaf a tree: no visit is chosen while another waits, so no result depends on who shares a batch with it.
    if params.max_in_flight == 0:
        params = params.model_copy(update={"max_in_flight": 1})
    nets = AnalysisNets(evaluator, large, more=more)
    nets.open(game)
    try:
        forest = _core.Forest(game, params, checked_seed(seed), threads, rule_chain(rules))
        ids = np.array([forest.add(state) for state in states], np.int64)
        forest.set_visit_limits(ids, np.full(len(ids), min(visits, MOST_COUNTED), np.int64))
        stopped: list[bool] = []
        driver = SearchDriver(forest, nets.small, nets.large, spread=True, more=nets.more)
        with stopped_by_interrupt(lambda: stopped.append(True)):
            driver.run(lambda: bool(stopped))
    finally:
        nets.close()
    return batch_result(forest, ids)

"""Searches with rules written in Python: trees of the reference, reported as the core's are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hauteur import _core
from hauteur.mcts.analysis_nets import AnalysisNets
from hauteur.mcts.control import stopped_by_interrupt
from hauteur.mcts.driver import SearchFacts, run_searches
from hauteur.mcts.limits import limits_of
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import Pace, root_report
from hauteur.mcts.result import SearchResult, refuse_finished, tree_result

if TYPE_CHECKING:
    from hauteur.mcts.forest import SearchForest
    from hauteur.mcts.reference.rule import Rule

REPORT_SECONDS = 0.1
"""Least time between two reports of a running search."""


def rules_forest(game: _core.Game, params: SearchParams, seed: int, rules: Sequence[Rule]) -> SearchForest:
    """Return a forest of the reference with these rules, and warn that it is slow; ValueError for what is no rule."""
    from hauteur.mcts.reference.forest import ReferenceForest, say_slow  # here: few searches need it

    forest = ReferenceForest(game, params, seed, rules)
    say_slow()
    return forest


def search_with_rules(
    state: _core.State,
    evaluator: object,
    params: SearchParams | None,
    rules: Sequence[Rule],
    *,
    visits: int | None,
    seconds: float | None,
    seed: int,
    on_report: Callable[[SearchResult], None] | None,
) -> SearchResult:
    """Search one position one visit at a time; arguments, errors and Ctrl-C as of `hauteur.search`."""
    limits_of(visits, seconds)
    refuse_finished(state)
    forest = rules_forest(state.game, params or SearchParams(), seed, rules)
    tree = forest.add(state, seed)
    ids = np.array([tree], np.int64)
    forest.set_visit_limits(ids, np.array([visits or 0], np.uint32))
    stopped, shown = False, 0.0

    def result(facts: SearchFacts, reason: str = "") -> SearchResult:
        done = int(forest.root_node_visits(ids)[0])
        pace = Pace(facts.total, done, rows=facts.rows)
        return tree_result(forest, tree, root_report(forest, tree, pace=pace, lines=len(legal), reason=reason))

    def stop() -> None:
        nonlocal stopped
        stopped = True

    def on_batch(facts: SearchFacts) -> None:
        nonlocal shown
        if seconds is not None and facts.total >= seconds:
            stop()
        if on_report is not None and facts.total - shown >= REPORT_SECONDS:
            shown = facts.total
            on_report(result(facts))

    legal = state.legal_actions()
    nets = AnalysisNets(evaluator)
    nets.open(state.game)
    try:
        with stopped_by_interrupt(stop):
            facts = run_searches(
                forest, nets.small, batch_size=1, in_flight=1, should_stop=lambda: stopped, on_batch=on_batch
            )
    finally:
        nets.close()
    return result(facts, "time" if stopped else "visits" if visits is not None else "result proven")

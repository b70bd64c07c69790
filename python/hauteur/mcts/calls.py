"""Searches in one call: of one position, and of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hauteur import _core
from hauteur.games.positions import as_state
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.analysis_nets import AnalysisNets
from hauteur.mcts.control import stopped_by_interrupt
from hauteur.mcts.driver import SearchDriver, Searched, for_nets
from hauteur.mcts.limits import limits_of
from hauteur.mcts.own_rules import rule_chain
from hauteur.mcts.params import SearchParams
from hauteur.mcts.result import BatchResult, SearchResult, batch_result, refuse_finished

if TYPE_CHECKING:
    from hauteur.games.positions import PositionLike
    from hauteur.mcts.analysis import OnResult
    from hauteur.mcts.own_rules import Rule

DEFAULT_VISITS = 800
"""Visits of a search without limits, as in `hauteur analyse`."""
LARGEST_BATCH_VISITS = 2**31
"""The core ends a tree there."""


def search(
    position: PositionLike,
    evaluator: object = None,
    params: SearchParams | None = None,
    *,
    visits: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    large: object = None,
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
        Settings of the search; default: plain PUCT with lc0's constants (Silver et al. 2017).
    visits
        Of the root, its own evaluation included, at least 1; default 800 where `seconds` is not given either.
    seconds
        Of the search, above 0. With both limits the first one reached ends it.
    seed
        Keys the random draws of settings that have them. A search limited by visits alone is repeatable.
    large
        The second net of `SearchParams.second_net`.
    rules
        Search rules written in Python (`hauteur.Rule`), in their order; they do not go with a second net.
    on_report
        Called about every 0.1 s with the result so far.

    Raises ValueError, in one line, for a finished game, limits out of range, and an evaluator that does not fit; what
    an evaluator raises comes out as it is. Ctrl-C ends the search at the end of a batch, then KeyboardInterrupt is
    raised. The interpreter's lock is released in the core and in nets: searches in several threads run side by side.

    >>> import hauteur as ht
    >>> state = ht.position("tictactoe", "a1 b1 a2 b2")
    >>> result = ht.search(state, "uniform", visits=200)
    >>> result.best_move, int(result.visits.sum()), float(result.q[result.best_action])
    ('a3', 199, 1.0)
    >>> ht.search("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "uniform", visits=200).best_move.san
    'Ra8#'
    """
    state = as_state(position)
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS
    with Analysis(evaluator, params, seed=seed, large=large, rules=rules or ()) as analysis:
        return analysis.go(state, visits=visits, seconds=seconds, on_report=on_report)


def search_batch(
    positions: Sequence[PositionLike],
    evaluator: object = None,
    params: SearchParams | None = None,
    *,
    visits: int = DEFAULT_VISITS,
    seed: int = 0,
    threads: int = 1,
    large: object = None,
    rules: Sequence[Rule] | None = None,
) -> BatchResult:
    """Search many positions of one game side by side, in shared batches.

    positions: T >= 1, none of them finished. evaluator, params, large, rules: as for `search`. visits: of each
    root, its own evaluation included. threads: of the core. Each tree has one leaf in flight, unless
    `SearchParams.max_in_flight` is set, so a result depends on its position, the settings and the seed alone.
    Raise ValueError, in one line, for positions of different games or a finished one, and as `search` does.

    >>> import hauteur as ht
    >>> states = [ht.position("tictactoe"), ht.position("tictactoe", "b2")]
    >>> batch = ht.search_batch(states, "rollout", visits=50)
    >>> batch.visits.shape, batch.wdl.shape, batch.visits.sum(axis=1).tolist()
    ((2, 9), (2, 3), [49, 49])
    """
    states = [as_state(position) for position in positions]
    if not states:
        raise ValueError("search_batch needs at least one position")
    limits_of(visits, None)
    for number, state in enumerate(states):
        refuse_finished(state, f"positions[{number}]: ")
        ours, theirs = states[0].game, state.game
        if (ours.name, ours.feature_shape, ours.num_actions) != (theirs.name, theirs.feature_shape, theirs.num_actions):
            raise ValueError(f"positions must be of one game: positions[{number}] is of {theirs.spec}, not {ours.spec}")
    game = states[0].game
    params = for_nets(params or SearchParams(), large)
    if params.max_in_flight == 0:
        params = params.model_copy(update={"max_in_flight": 1})
    nets = AnalysisNets(evaluator, large)
    nets.open(game)
    try:
        forest = _core.Forest(game, params, seed, threads, rule_chain(rules))
        ids = np.array([forest.add(state) for state in states], np.int64)
        forest.set_visit_limits(ids, np.full(len(ids), min(visits, LARGEST_BATCH_VISITS), np.int64))
        _run(SearchDriver([Searched(forest, nets.small, nets.large)], spread=True))
    finally:
        nets.close()
    return batch_result(forest, ids)


def _run(driver: SearchDriver) -> None:
    """Search until no tree is active, or Ctrl-C."""
    stopped: list[bool] = []
    with stopped_by_interrupt(lambda: stopped.append(True)):
        try:
            while not stopped and driver.turn():
                pass
        finally:
            driver.cancel()

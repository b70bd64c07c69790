"""Targets that are exact: the last positions of finished games, solved by alpha-beta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.matches.record import GameRecord

TABLE_BITS = 18
"""Size of the solver's table of positions: 2^18 entries."""


def with_exact_ends(records: Sequence[GameRecord], game: _core.Game, nodes: int) -> list[GameRecord]:
    """Return games with exact targets, each from its last position back to the first that takes more than `nodes`.

    The result of a solved position is proven; its policy target has the moves alone that keep it, in their proportions,
    or all alike where the search saw none. Raise ValueError for a game that cannot be solved by its positions.
    """
    solver = _core.ExactSolver(game, TABLE_BITS)  # a new one: what is solved must not depend on games before these
    return [_with_exact_end(record, game, solver, nodes) for record in records]


def _with_exact_end(record: GameRecord, game: _core.Game, solver: _core.ExactSolver, nodes: int) -> GameRecord:
    """Return one game with the targets of its last positions replaced by what the solver finds."""
    states = [position_after(record.plan.begin(game), record.plan.start)]
    for action in record.actions[:-1].tolist():
        states.append(states[-1].child(action))
    proven = record.proven.copy()
    ends = np.cumsum(record.policy_lengths)[:-1].tolist()
    actions = np.split(record.policy_actions, ends)
    counts = np.split(record.policy_counts, ends)
    for move in reversed(range(len(states))):
        values = solver.move_values(states[move], nodes)
        # Earlier positions have more moves to go: their nodes would mostly be spent for nothing.
        if values is None:
            break
        is_best = np.equal(values, max(values))
        best = states[move].legal_actions()[is_best]
        kept = np.isin(actions[move], best) & (counts[move] > 0)
        if kept.any():
            actions[move] = actions[move][kept]
            counts[move] = counts[move][kept]
        else:
            actions[move] = best.astype(np.uint16)
            counts[move] = np.ones(len(best), np.uint32)
        proven[move] = max(values) + 2
    return replace(
        record,
        proven=proven,
        policy_actions=np.concatenate(actions),
        policy_counts=np.concatenate(counts),
        policy_lengths=np.array([len(one) for one in actions], np.uint16),
    )

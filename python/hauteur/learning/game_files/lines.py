"""Games as they were recorded elsewhere, moves and a result, as records to learn from."""

from __future__ import annotations

import numpy as np

from hauteur import _core
from hauteur.games.end_reasons import RESIGNATION
from hauteur.games.game_line import GameLine, end_text, result_text
from hauteur.matches.record import GamePlan, GameRecord


def record_of(game: _core.Game, line: GameLine, index: int) -> GameRecord:
    """Return the line as a game to learn from.

    ValueError for an illegal move or a result that contradicts the last position. No search stands behind it: the
    policy target is the move that was played, the root's value is the outcome, the root has no visits.
    """
    movers = _movers(game, line)
    moves = len(movers)
    results = np.where(movers == 0, line.outcome, -line.outcome)
    resigned = (1 if line.outcome > 0 else 0) if line.end_reason == RESIGNATION else -1
    return GameRecord(
        plan=GamePlan(index, origin=line.origin),
        seed=0,
        actions=np.array(line.actions, np.uint16),
        movers=movers,
        policy_actions=np.array(line.actions, np.uint16),
        policy_counts=np.ones(moves, np.uint32),
        policy_lengths=np.ones(moves, np.uint16),
        root_wdl=np.eye(3, dtype=np.float32)[1 - results],
        outcome=line.outcome,
        end_reason=line.end_reason,
        resigned=resigned,
    )


def _movers(game: _core.Game, line: GameLine) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the seat that made each move, by replaying the game."""
    if not line.actions:
        raise ValueError("it has no moves")
    state = (line.origin or game.new_initial_state()).copy()
    movers = []
    for action in line.actions:
        movers.append(state.to_move)
        state.apply(action)
    if not len(state.legal_actions()) and state.outcome() != line.outcome:
        raise ValueError(f"its result is {result_text(line.outcome)}, but the last position is {end_text(state)}")
    return np.array(movers, np.uint8)

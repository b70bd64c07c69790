"""Recorded games of chess as lc0's training chunks, version 6: one chunk a game, one record a position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT
from hauteur.learning.game_files.lc0_chunks import (
    ADJUDICATED,
    CLASSICAL,
    HISTORY_PLANES,
    RECORDS,
    TOO_LONG,
    Records,
    plane_bytes,
)
from hauteur.learning.game_files.stored_games import StoredGame

VERSION = 6


def chunk_of(stored: StoredGame) -> Records:
    """The game's positions that are learned from as records; ValueError if the game is not chess.

    What hauteur does not record is written so that lc0's tools can live with it: the values of the best and of the
    played move are those of the root, moves left are 0 but for plies_left (plies to the end of the recorded game),
    orig_q is the net's value, orig_d and orig_m are NaN (not known), policy_kld is 0.
    """
    if stored.game.name != "chess":
        raise ValueError(f"lc0's training chunks are for chess, the game is {stored.game.spec}")
    record, state = stored.record, stored.start()
    for action in record.plan.start:
        state.apply(action)
    ends = np.cumsum(record.policy_lengths, dtype=np.int64)
    records = np.zeros(len(record.actions), RECORDS[VERSION])
    for move, action in enumerate(record.actions.tolist()):
        edges = slice(ends[move] - record.policy_lengths[move], ends[move])
        _write_position(records[move], state)
        if record.learn[move]:  # another move may have been played without a search, and has no counts then
            _write_policy(records[move], state, record.policy_actions[edges], record.policy_counts[edges])
        state.apply(action)
    _write_search(records, stored)
    _write_result(records, stored, state)
    return np.asarray(records[record.learn != 0])


def _write_position(record: Any, state: _core.State) -> None:
    masks, values = state.features_packed()
    halfmoves = int(values[HISTORY_PLANES + 5])
    if halfmoves > 255:
        raise ValueError(f"a record holds at most 255 plies without capture or pawn move, got {halfmoves}")
    record["planes"] = plane_bytes(masks[:HISTORY_PLANES])
    record["castling"] = masks[HISTORY_PLANES : HISTORY_PLANES + 4] != 0
    record["black_to_move"] = masks[HISTORY_PLANES + 4] != 0
    record["rule50"] = halfmoves


def _write_policy(record: Any, state: _core.State, actions: NDArray[np.uint16], counts: NDArray[np.uint32]) -> None:
    """Shares of the counts; 0 for legal moves without any, -1 for illegal ones. Best: most counts, then the first."""
    shares = np.full(record["probabilities"].shape, -1, np.float32)
    shares[state.legal_actions()] = 0
    shares[actions] = counts / counts.sum(dtype=np.float64)
    record["probabilities"] = shares
    record["best_idx"] = actions[np.argmax(counts)]


def _write_search(records: Records, stored: StoredGame) -> None:
    """Write the search results of every move."""
    record = stored.record
    records["version"], records["input_format"] = VERSION, CLASSICAL
    for name in ("root", "best", "played"):
        records[f"{name}_q"] = record.root_wdl[:, 0] - record.root_wdl[:, 2]
        records[f"{name}_d"] = record.root_wdl[:, 1]
    records["orig_q"], records["orig_d"], records["orig_m"] = record.net_value, np.nan, np.nan
    records["visits"], records["played_idx"] = record.visits, record.actions


def _write_result(records: Records, stored: StoredGame, last: _core.State) -> None:
    """The game's result for the mover of every position, and how it came about."""
    record = stored.record
    records["result_q"] = np.where(record.movers == 0, record.outcome, -record.outcome)
    records["result_d"] = record.outcome == 0
    records["plies_left"] = np.arange(len(records), 0, -1)
    records["invariance_info"] = (ADJUDICATED if last.outcome() is None else 0) | (
        TOO_LONG if record.end_reason == PLY_LIMIT else 0
    )

"""Training chunks as lc0 writes them, of recorded games of chess."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.learning.lc0_chunks import CLASSICAL, HISTORY_PLANES, RECORDS
from hauteur.matches.record import GameRecord

CHESS = _core.Game("chess")


def chunk_of(record: GameRecord) -> Any:
    """The game's positions as records of version 6: planes from the core's masks, each byte with its bits reversed."""
    state = (record.plan.origin or CHESS.new_initial_state()).copy()
    ends = np.cumsum(record.policy_lengths, dtype=np.int64)
    records = np.zeros(len(record.actions), RECORDS[6])
    for move, action in enumerate(record.actions.tolist()):
        masks, values = state.features_packed()
        ranks = np.ascontiguousarray(masks[:HISTORY_PLANES].astype("<u8"))[..., None].view(np.uint8)
        records[move]["planes"] = np.packbits(np.unpackbits(ranks, axis=-1, bitorder="little"), axis=-1)
        records[move]["castling"] = masks[HISTORY_PLANES : HISTORY_PLANES + 4] != 0
        records[move]["black_to_move"] = masks[HISTORY_PLANES + 4] != 0
        records[move]["rule50"] = int(values[HISTORY_PLANES + 5])
        edges = slice(ends[move] - record.policy_lengths[move], ends[move])
        shares = np.full(records.dtype["probabilities"].shape, -1, np.float32)
        shares[state.legal_actions()] = 0
        shares[record.policy_actions[edges]] = record.policy_counts[edges] / record.policy_counts[edges].sum()
        records[move]["probabilities"] = shares
        state.apply(action)
    records["version"], records["input_format"] = 6, CLASSICAL
    records["root_q"], records["root_d"] = record.root_wdl[:, 0] - record.root_wdl[:, 2], record.root_wdl[:, 1]
    records["result_q"] = np.where(record.movers == 0, record.outcome, -record.outcome)
    records["result_d"] = record.outcome == 0
    records["played_idx"] = record.actions
    return records


def write_chunk(path: Path, records: Any) -> None:
    path.write_bytes(gzip.compress(records.tobytes(), compresslevel=6, mtime=0))

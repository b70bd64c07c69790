"""Distillation: the policy and the values of a net as the targets of recorded positions.

The teacher sees every position once; a student then learns its softmax over the legal moves and its win, draw, loss
(Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", with temperature 1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.learning.game_files.lc0_chunks import ChunkPositions
from hauteur.matches.record import GameRecord
from hauteur.networks.evaluators.base import Evaluator, Pending

IN_FLIGHT = 3
"""Batches that wait for the teacher at a time."""

ROWS = 512
"""Positions of chunks in a batch. Those of games come a game at a time."""

SHARES = 65_535
"""A share of the policy target is stored in games as a number of parts of the whole, as self-play does with Gumbel."""


def taught_games(game: _core.Game, records: Sequence[GameRecord], teacher: Evaluator) -> Iterator[GameRecord]:
    """The games with the teacher's policy as the policy target and its wdl as the root's value, in order."""
    waiting: deque[tuple[_Asked, Pending]] = deque()
    for record in records:
        asked = _asked(game, record)
        waiting.append((asked, teacher.submit(asked.features)))
        if len(waiting) >= IN_FLIGHT:
            yield _taught(*waiting.popleft())
    while waiting:
        yield _taught(*waiting.popleft())


@dataclass(frozen=True)
class _Asked:
    """A game whose n positions the teacher looks at, float32 [n, C, H, W], and the legal actions of each."""

    record: GameRecord
    features: NDArray[np.float32]
    legal: list[NDArray[np.uint16]]


def _asked(game: _core.Game, record: GameRecord) -> _Asked:
    """Play the game and encode every searched position."""
    state = (record.plan.origin or game.new_initial_state()).copy()
    for action in record.plan.start:
        state.apply(action)
    features = np.empty((len(record.actions), *game.feature_shape), np.float32)
    legal = []
    for move, action in enumerate(record.actions.tolist()):
        features[move] = state.features()
        legal.append(state.legal_actions().astype(np.uint16))
        state.apply(action)
    return _Asked(record, features, legal)


def _taught(asked: _Asked, pending: Pending) -> GameRecord:
    logits, wdl = pending.result()
    shares = [_softmax(row[legal]) for row, legal in zip(logits, asked.legal, strict=False)]
    counts = [np.rint(SHARES * row).astype(np.uint32) for row in shares]
    return replace(
        asked.record,
        policy_actions=np.concatenate([legal[count > 0] for legal, count in zip(asked.legal, counts, strict=True)]),
        policy_counts=np.concatenate([count[count > 0] for count in counts]),
        policy_lengths=np.array([np.count_nonzero(count) for count in counts], np.uint16),
        root_wdl=_normalised(wdl[: len(shares)]),
        net_value=(wdl[: len(shares), 0] - wdl[: len(shares), 2]).astype(np.float32),
    )


def taught_positions(
    content: ChunkPositions, teacher: Evaluator, *, on_positions: Callable[[int], None] | None = None
) -> ChunkPositions:
    """The positions with the teacher's policy and wdl instead of the recorded search's."""
    shares, root_wdl = np.empty_like(content.edge_shares), np.empty_like(content.root_wdl)
    for first in range(0, len(content), ROWS):
        rows = np.arange(first, min(first + ROWS, len(content)))
        logits, wdl = teacher(content.features(rows))
        edges = content.edge_offsets[rows[0] : rows[-1] + 2]
        here = slice(edges[0], edges[-1])
        places = edges[:-1] - edges[0]
        row_of_edge = np.repeat(np.arange(len(rows)), np.diff(edges))
        own = logits[row_of_edge, content.edge_actions[here]].astype(np.float64)
        weights = np.exp(own - np.maximum.reduceat(own, places)[row_of_edge])
        shares[here] = weights / np.add.reduceat(weights, places)[row_of_edge]
        root_wdl[rows] = _normalised(wdl[: len(rows)])
        if on_positions is not None:
            on_positions(int(rows[-1]) + 1)
    return replace(content, edge_shares=shares, root_wdl=root_wdl)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(weights / weights.sum())


def _normalised(wdl: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows that sum to 1: nets in half precision miss it by a little."""
    return np.asarray(wdl / wdl.sum(axis=1, keepdims=True), np.float32)

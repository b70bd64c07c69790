"""What a gather writes for an evaluator: feature rows, bit planes, positions, or nothing but their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.base import BlindEvaluator, PackedEvaluator, StateEvaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator, Pending


class BatchRows(Protocol):
    """Room for the rows of one batch."""

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        """Let a forest write its rows for a net from `begin` on, at most up to `end`."""

    def submit(self, parts: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        """Give the evaluator the first rows, which are those of these batches in order."""


class FeatureRows:
    """Features, float32 [B, C, H, W]."""

    def __init__(self, evaluator: Evaluator, game: _core.Game, size: int) -> None:
        self._evaluator = evaluator
        self._rows = np.zeros((size, *game.feature_shape), np.float32)

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(self._rows[begin:end], net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit(self._rows[:rows])


class PackedRows:
    """Bit planes: masks uint64 [B, C] and values float32 [B, C]."""

    def __init__(self, evaluator: PackedEvaluator, game: _core.Game, size: int) -> None:
        self._evaluator = evaluator
        planes = game.feature_shape[0]
        self._masks, self._values = np.zeros((size, planes), np.uint64), np.zeros((size, planes), np.float32)

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather_packed(self._masks[begin:end], self._values[begin:end], net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit_packed(self._masks[:rows], self._values[:rows])


class NumberOfRows:
    """Nothing: the evaluator needs to know the number of rows alone."""

    def __init__(self, evaluator: BlindEvaluator) -> None:
        self._evaluator = evaluator

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(end - begin, net)

    def submit(self, _: Sequence[tuple[_core.Forest, _core.Batch]], rows: int, /) -> Pending:
        return self._evaluator.submit_blind(rows)


class PositionRows:
    """Nothing: the evaluator takes the positions themselves."""

    def __init__(self, evaluator: StateEvaluator) -> None:
        self._evaluator = evaluator

    def gather(self, forest: _core.Forest, begin: int, end: int, net: int) -> _core.Batch:
        return forest.gather(end - begin, net)

    def submit(self, parts: Sequence[tuple[_core.Forest, _core.Batch]], _: int, /) -> Pending:
        return self._evaluator.submit_states([state for forest, batch in parts for state in forest.batch_states(batch)])


def rows_for(evaluator: Evaluator, forests: Sequence[_core.Forest], size: int) -> BatchRows:
    """Return room for batches of at most `size` rows, in the form that suits the evaluator best."""
    game = forests[0].game
    if isinstance(evaluator, StateEvaluator):
        return PositionRows(evaluator)
    if isinstance(evaluator, BlindEvaluator):
        return NumberOfRows(evaluator)
    squares = game.feature_shape[1] * game.feature_shape[2]
    if isinstance(evaluator, PackedEvaluator) and squares <= 64:
        return PackedRows(evaluator, game, size)
    return FeatureRows(evaluator, game, size)

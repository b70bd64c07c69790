"""Batches in pieces of one fixed number of rows, for evaluators whose last bits depend on the size of a batch.

A resumed run plays only the missing games, so its batches hold other rows than those of an uninterrupted run. Its games
are the same only if a row's answer does not depend on the rows beside it. The core's evaluator answers so by itself;
torch and ONNX Runtime choose their kernels by the size of a batch, and mostly agree among batches of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hauteur.networks.evaluators.base import Answers, Evaluator, Floats, GameEvaluator, Pending

if TYPE_CHECKING:
    from hauteur import _core

PIECE_ROWS = 32
"""Rows of a piece on the processor, whatever the size of the batches and the number of threads."""


class FixedRows(GameEvaluator):
    """An evaluator that computes every batch in pieces of exactly `rows` rows; the last one is filled up with zeros."""

    def __init__(self, game: _core.Game, evaluator: Evaluator, rows: int = PIECE_ROWS) -> None:
        """Raise ValueError where the answer to a row depends on its place among the rows of a piece."""
        super().__init__(game, f"{evaluator.name} {rows} rows", evaluator.batch_size)
        self._evaluator = evaluator
        self.rows = rows
        random = np.random.default_rng(0)
        features = (random.random((rows, *self.feature_shape)) < 0.3).astype(np.float32)
        order = random.permutation(rows)
        pairs = zip(self.compute(features), self.compute(features[order]), strict=True)
        if not all(np.array_equal(answers[order], elsewhere) for answers, elsewhere in pairs):
            self.close()
            raise ValueError(
                f"{evaluator.name} answers a row differently by its place in a batch, so games would depend on those "
                "beside them: choose another backend, or run.exact=false in a recipe"
            )

    def compute(self, features: Floats) -> Answers:
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Begin to compute the pieces."""
        count = len(features)
        bounds = [*range(0, count, self.rows), count]
        return JoinedAnswers([self._evaluator.submit(self._full(features[a:b])) for a, b in pairwise(bounds)], count)

    def close(self) -> None:
        """Close the evaluator that computes."""
        self._evaluator.close()
        super().close()

    def _full(self, features: Floats) -> Floats:
        if len(features) == self.rows:
            return features
        full = np.zeros((self.rows, *self.feature_shape), np.float32)
        full[: len(features)] = features
        return full


class JoinedAnswers:
    """The answers to the pieces of one batch."""

    def __init__(self, parts: Sequence[Pending], rows: int) -> None:
        """rows: of the batch; what the parts have beyond them is left out."""
        self._parts = parts
        self._rows = rows

    def result(self) -> Answers:
        """Wait for all pieces."""
        answers = [part.result() for part in self._parts]
        logits, wdl = (np.concatenate([answer[kind] for answer in answers])[: self._rows] for kind in (0, 1))
        return logits, wdl

"""Batches in pieces of one fixed number of rows, for evaluators whose last bits depend on the size of a batch.

A resumed run plays only the missing games, so its batches hold other rows than those of an uninterrupted run. Its games
are the same only if a row's answer does not depend on the other rows of the batch. The core's evaluator answers so by
itself; torch and ONNX Runtime choose their kernels by the size of a batch, and mostly agree among batches of one size.
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

    def __init__(self, game: _core.Game, evaluator: Evaluator, rows: int) -> None:
        super().__init__(game, f"{evaluator.name} {rows} rows", evaluator.batch_size)
        self._evaluator = evaluator
        self.rows = rows

    @property
    def depends_on_place(self) -> bool:
        """Tell whether answers to random rows differ, in any bit, where the rows of a piece change places."""
        # Measured once at the start rather than assumed: it depends on kernels that libraries choose by the
        # machine.
        random = np.random.default_rng(0)
        features = (random.random((self.rows, *self.feature_shape)) < 0.3).astype(np.float32)
        order = random.permutation(self.rows)
        pairs = zip(self.compute(features), self.compute(features[order]), strict=True)
        return not all(np.array_equal(answers[order], elsewhere) for answers, elsewhere in pairs)

    def compute(self, features: Floats) -> Answers:
        """Compute rows in batches of the fixed size and wait for them."""
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Compute rows in batches of the fixed size, the last one filled up with zeros."""
        count = len(features)
        bounds = [*range(0, count, self.rows), count]
        return JoinedAnswers([self._evaluator.submit(self._full(features[a:b])) for a, b in pairwise(bounds)], count)

    def close(self) -> None:
        """Close the evaluator inside."""
        self._evaluator.close()
        super().close()

    def _full(self, features: Floats) -> Floats:
        """Return the rows, filled up with zeros to the fixed size."""
        if len(features) == self.rows:
            return features
        full = np.zeros((self.rows, *self.feature_shape), np.float32)
        full[: len(features)] = features
        return full


def in_fixed_rows(game: _core.Game, evaluator: Evaluator, rows: int = PIECE_ROWS) -> FixedRows:
    """Return the evaluator in pieces of `rows` rows; of one, which is slower, where answers depend on the place."""
    pieces = FixedRows(game, evaluator, rows)
    return FixedRows(game, evaluator, 1) if pieces.depends_on_place else pieces


class JoinedAnswers:
    """The answers to the pieces of one batch."""

    def __init__(self, parts: Sequence[Pending], rows: int) -> None:
        """rows: of the batch; what the parts have beyond them is left out."""
        self._parts = parts
        self._rows = rows

    def result(self) -> Answers:
        """Wait for all parts; return their rows together."""
        answers = [part.result() for part in self._parts]
        logits, wdl = (np.concatenate([answer[kind] for answer in answers])[: self._rows] for kind in (0, 1))
        return logits, wdl

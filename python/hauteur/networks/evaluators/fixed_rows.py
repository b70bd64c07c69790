"""Batches in pieces of one fixed number of rows, for evaluators whose last bits depend on the size of a batch.

A resumed run plays only the missing games, so its batches hold other rows than those of an uninterrupted run. Its games
are the same only if a row's answer does not depend on the other rows of the batch. The core's evaluator answers so by
itself; torch and ONNX Runtime choose their kernels by the size of a batch, and mostly agree among batches of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.evaluators.base import (
    Answers,
    BorrowedAnswers,
    Evaluator,
    Floats,
    GameEvaluator,
    PackedEvaluator,
    Pending,
)

if TYPE_CHECKING:
    from hauteur import _core

Number = TypeVar("Number", np.float32, np.uint64)


class _Unpacking(Evaluator, PackedEvaluator, Protocol):
    """An evaluator that reads features, and bit planes."""


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
        drawn = random.random((self.rows, *self.feature_shape))
        features = (drawn < 0.3).astype(np.float32)
        order = random.permutation(self.rows)
        pairs = zip(self.compute(features), self.compute(features[order]), strict=True)
        return any(not np.array_equal(answers[order], elsewhere) for answers, elsewhere in pairs)

    def compute(self, features: Floats) -> Answers:
        """Compute rows in batches of the fixed size and wait for them."""
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Compute rows in batches of the fixed size, the last one filled up with zeros."""
        count = len(features)
        parts = []
        for piece in self._pieces(count):
            rows = self._full(features[piece])
            parts.append(self._evaluator.submit(rows))
        return JoinedAnswers(parts, count)

    def close(self) -> None:
        """Close the evaluator inside."""
        self._evaluator.close()
        super().close()

    def _pieces(self, count: int) -> list[slice]:
        """Return the rows of each piece of a batch of `count` rows."""
        bounds = [*range(0, count, self.rows), count]
        return [slice(begin, end) for begin, end in pairwise(bounds)]

    def _full(self, rows: NDArray[Number]) -> NDArray[Number]:
        """Return the rows of a piece, filled up with zeros to the fixed size."""
        if len(rows) == self.rows:
            return rows
        # Zeros, as what lies in memory by chance would be other rows in each run.
        full = np.zeros((self.rows, *rows.shape[1:]), rows.dtype)
        full[: len(rows)] = rows
        return full


class PackedFixedRows(FixedRows):
    """The same of an evaluator that unpacks bit planes itself."""

    def __init__(self, game: _core.Game, evaluator: _Unpacking, rows: int) -> None:
        super().__init__(game, evaluator, rows)
        self._packed = evaluator

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> Pending:
        """Compute rows of bit planes in batches of the fixed size, the last one filled up with zeros."""
        parts = [
            self._packed.submit_packed(self._full(masks[piece]), self._full(values[piece]))
            for piece in self._pieces(len(masks))
        ]
        return JoinedAnswers(parts, len(masks))


def in_fixed_rows(game: _core.Game, evaluator: Evaluator, rows: int = PIECE_ROWS) -> FixedRows:
    """Return the evaluator in pieces of `rows` rows; of one, which is slower, where answers depend on the place."""
    pieces = _in_pieces(game, evaluator, rows)
    return _in_pieces(game, evaluator, 1) if pieces.depends_on_place else pieces


def _in_pieces(game: _core.Game, evaluator: Evaluator, rows: int) -> FixedRows:
    """Return the evaluator in pieces, which are bit planes where it unpacks them."""
    if isinstance(evaluator, PackedEvaluator):
        return PackedFixedRows(game, evaluator, rows)
    return FixedRows(game, evaluator, rows)


class JoinedAnswers:
    """The answers to the pieces of one batch."""

    def __init__(self, parts: Sequence[Pending], rows: int) -> None:
        """rows: of the batch; what the parts have beyond them is left out."""
        self._parts = parts
        self._rows = rows

    def result(self) -> Answers:
        """Wait for all parts; return their rows together."""
        return self._joined([part.result() for part in self._parts])

    def borrowed(self) -> Answers:
        """Return the same, without a copy where one part has all rows; it may change once this object is gone."""
        answers = []
        for part in self._parts:
            if isinstance(part, BorrowedAnswers):
                answers.append(part.borrowed())
            else:
                answers.append(part.result())
        return self._joined(answers)

    def _joined(self, answers: Sequence[Answers]) -> Answers:
        """Return the rows of all parts."""
        # The usual case of a GPU, whose piece is the whole batch: nothing is copied.
        if len(answers) == 1:
            logits, wdl = answers[0]
        else:
            logits = np.concatenate([part for part, _ in answers])
            wdl = np.concatenate([part for _, part in answers])
        return logits[: self._rows], wdl[: self._rows]

"""Evaluators whose answer to a row is bit-identical in every batch.

A resumed run plays only the missing games, so its batches hold other rows than those of an uninterrupted run. Its games
are the same only if a row's answer does not depend on the rows beside it. This holds for OpenVINO's float32 towers;
torch and others choose their kernels by batch size, but are consistent across batches of one size. `depends_on_batch`
tests for the dependence, `FixedRows` makes every batch the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hauteur.networks.evaluators.base import Answers, Evaluator, Floats, Pending
from hauteur.system.closing import Closing

SIZES = (1, 2, 3, 5, 8, 13, 16, 21, 32, 34)
"""Batches that are tried beside the full one."""

MOST_TRIED = 256
"""Rows of the largest batch that is tried."""


def depends_on_batch(evaluator: Evaluator, *, seed: int = 0) -> bool:
    """Return whether the answer to any row differs, in any bit, in smaller batches or at other places of a batch."""
    random = np.random.default_rng(seed)
    rows = min(MOST_TRIED, max(evaluator.batch_size, SIZES[-1]))
    features = (random.random((rows, *evaluator.feature_shape)) < 0.3).astype(np.float32)
    expected = _bits(evaluator(features))
    for part in (np.arange(rows)[:size] for size in SIZES):
        if not np.array_equal(_bits(evaluator(features[part])), expected[part]):
            return True
    order = random.permutation(rows)
    return not np.array_equal(_bits(evaluator(features[order])), expected[order])


def _bits(answers: Answers) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    """All answers to each row, uint32 [B, A + 3]."""
    return np.concatenate(answers, axis=1, dtype=np.float32).view(np.uint32).copy()


class FixedRows(Closing):
    """An evaluator that computes every batch in pieces of exactly `rows` rows; the last one is filled up with zeros."""

    def __init__(self, evaluator: Evaluator, rows: int) -> None:
        if rows < 1:
            raise ValueError(f"the rows of a batch must be >= 1, got {rows}")
        self._evaluator = evaluator
        self.rows = rows
        self.name = f"{evaluator.name} {rows} rows"
        self.game_spec = evaluator.game_spec
        self.feature_shape = evaluator.feature_shape
        self.num_actions = evaluator.num_actions
        self.batch_size = rows

    def __call__(self, features: Floats) -> Answers:
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Begin to compute the pieces."""
        count = len(features)
        bounds = [*range(0, count, self.rows), count]
        return JoinedAnswers([self._evaluator.submit(self._full(features[a:b])) for a, b in pairwise(bounds)], count)

    def close(self) -> None:
        """Close the evaluator that computes."""
        self._evaluator.close()

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


class Exact:
    """Makes evaluators exact, each kind of them in the way that it needs; what it needs is found out once."""

    def __init__(self, rows: int, advice: str = "run.exact=false goes without exact resume") -> None:
        """rows: of the batches, where they have to be of one size; advice: for those who have an evaluator that cannot
        be exact.
        """
        self._rows = rows
        self._advice = advice
        self._needs_fixed_rows: dict[str, bool] = {}

    def made(self, evaluator: Evaluator, kind: str) -> Evaluator:
        """The evaluator itself, or in batches of one size; ValueError where even these do not make it exact.

        Evaluators of one `kind` differ in their weights alone.
        """
        if kind not in self._needs_fixed_rows:
            self._needs_fixed_rows[kind] = depends_on_batch(evaluator)
            if self._needs_fixed_rows[kind] and depends_on_batch(FixedRows(evaluator, self._rows)):
                raise ValueError(
                    f"{evaluator.name} answers a row differently by the place that it has in a batch; {self._advice}"
                )
        return FixedRows(evaluator, self._rows) if self._needs_fixed_rows[kind] else evaluator

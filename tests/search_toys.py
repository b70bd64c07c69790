"""Evaluators for tests of the search: no network, every answer a pure function of the position's features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Evaluator = Callable[[Floats], tuple[Floats, Floats]]


def uniform_evaluator(num_actions: int) -> Evaluator:
    """All actions alike, all values 0 with a half chance of a draw."""

    def evaluate(features: Floats) -> tuple[Floats, Floats]:
        rows = len(features)
        return np.zeros((rows, num_actions), np.float32), np.tile(np.array([0.25, 0.5, 0.25], np.float32), (rows, 1))

    return evaluate


def hash_evaluator(num_actions: int, *, salt: int = 0, sharpness: float = 3.0) -> Evaluator:
    """Pseudo-random answers: logits in [0, sharpness), shares of win, draw and loss in proportion to three uniforms."""

    def answer(row: Floats) -> Floats:
        digest = hashlib.blake2b(row.tobytes(), digest_size=16, key=salt.to_bytes(8, "little")).digest()
        # The raw stream of a bit generator is the same in every version of numpy.
        raw = np.random.Philox(key=int.from_bytes(digest, "little")).random_raw(num_actions + 3)
        return (raw / 2.0**64).astype(np.float32)

    def evaluate(features: Floats) -> tuple[Floats, Floats]:
        uniforms = np.array([answer(row) for row in features], np.float32).reshape(len(features), num_actions + 3)
        shares = uniforms[:, num_actions:] + np.float32(1e-3)
        return uniforms[:, :num_actions] * np.float32(sharpness), shares / shares.sum(axis=1, keepdims=True)

    return evaluate


LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)


@cache
def tictactoe_value(own: int, other: int) -> int:
    """+1, 0, -1: what the player to move gets with best play; stones as 9-bit sets."""
    if any(other & line == line for line in LINES):
        return -1
    free = [1 << square for square in range(9) if not (own | other) >> square & 1]
    return max((-tictactoe_value(other, own | square) for square in free), default=0)


def solved_tictactoe(features: Floats) -> tuple[Floats, Floats]:
    """Exact values of tic-tac-toe, with a policy that knows nothing."""
    bits = 1 << np.arange(9)
    stones = (features.reshape(len(features), 2, 9) != 0) @ bits
    values = [tictactoe_value(int(own), int(other)) for own, other in stones]
    wdl = np.array([[value == 1, value == 0, value == -1] for value in values], np.float32).reshape(-1, 3)
    return np.zeros((len(features), 9), np.float32), wdl

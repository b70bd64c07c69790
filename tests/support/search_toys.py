"""Evaluators for tests of the search: no network, every answer a pure function of the position's features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
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


def draw(*what: int) -> int:
    """64 random bits, a pure function of the numbers."""
    text = ",".join(map(str, what)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@dataclass
class ToyGame:
    """A position of a random game: a hash says who moves (not in turns), what is legal, when and how it ends."""

    seed: int
    width: int = 0
    """Different positions a ply, small for many transpositions; 0 = no two ways lead to the same position."""
    max_plies: int = 12
    num_actions: int = 7
    feature_shape: tuple[int, int, int] = (1, 8, 8)
    ply: int = 0
    bits: int = 1

    @property
    def to_move(self) -> int:
        return self.bits >> 1 & 1

    def legal_actions(self) -> list[int]:
        """About two thirds of all actions, none at the end."""
        if self.outcome() is not None:
            return []
        chosen = [action for action in range(self.num_actions) if draw(self.bits, action) % 3]
        return chosen or [self.bits % self.num_actions]

    def apply(self, action: int) -> None:
        self.ply += 1
        following = draw(self.seed, self.bits, action)
        self.bits = draw(self.seed, self.ply, following % self.width) if self.width else following

    def outcome(self) -> int | None:
        ends = self.ply >= self.max_plies or (self.ply > 1 and self.bits % 7 == 0)
        return self.bits // 7 % 3 - 1 if ends else None

    def features(self) -> Floats:
        return (self.bits >> np.arange(64, dtype=np.uint64) & 1).astype(np.float32).reshape(self.feature_shape)

    def copy(self) -> ToyGame:
        return replace(self)

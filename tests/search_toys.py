"""Evaluators and a game for tests of the search: no network, every answer a pure function of the position."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]
Answers = tuple[NDArray[np.float32], NDArray[np.float32]]
Evaluator = Callable[[Features], Answers]


def uniform_evaluator(num_actions: int) -> Evaluator:
    """Every action alike, every value a draw-ish 0."""

    def evaluate(features: Features) -> Answers:
        rows = len(features)
        return np.zeros((rows, num_actions), np.float32), np.tile(np.float32([0.25, 0.5, 0.25]), (rows, 1))

    return evaluate


def hash_evaluator(num_actions: int, *, salt: int = 0, sharpness: float = 1.0) -> Evaluator:
    """Pseudo-random logits (normal, times `sharpness`) and wdl, fixed by the features and `salt`."""

    def answer(row: Features) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        digest = hashlib.blake2b(row.tobytes(), digest_size=16, key=salt.to_bytes(8, "little")).digest()
        rng = np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
        logits = rng.standard_normal(num_actions) * sharpness
        return logits.astype(np.float32), rng.dirichlet([0.7, 0.7, 0.7]).astype(np.float32)

    def evaluate(features: Features) -> Answers:
        answers = [answer(row) for row in np.ascontiguousarray(features)]
        logits = np.array([logits for logits, _ in answers], np.float32).reshape(len(answers), num_actions)
        return logits, np.array([wdl for _, wdl in answers], np.float32).reshape(len(answers), 3)

    return evaluate


@dataclass(frozen=True)
class ToyRules:
    """A random game: who moves, what is legal and how it ends are drawn by hash, so nothing alternates on purpose."""

    seed: int = 0
    num_actions: int = 6
    max_plies: int = 12
    states_a_ply: int = 0
    """Different states at one ply (small numbers make transpositions); 0 = a tree."""
    end_chance: float = 0.1
    """Chance that the game ends after a ply, before `max_plies`."""

    def draw(self, *what: int) -> int:
        """64 random bits named by `what`."""
        text = ",".join(map(str, (self.seed, *what))).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")

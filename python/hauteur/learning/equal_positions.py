"""Means of the targets of positions that a window of games has several times (`train.average_equal`).

Drawn one by one such positions teach the same on average; their mean has less noise: the first moves of a game,
searched a thousand times, are then learned as one position with the policy of a thousand searches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CHUNK = 4096
"""Positions that are encoded, or whose policies are summed, at a time."""


@dataclass(frozen=True)
class EqualPositions:
    """E groups of equal positions among P. group [P]: of each position, -1 where it is there once.

    policy [E, A]: mean of the policy targets. The mean of the value targets (win, draw, loss) at a share s of the root
    value is `proven` + (1 - s) `result` + s `root`, each [E, 3].
    """

    group: NDArray[np.int64]
    policy: NDArray[np.float32]
    proven: NDArray[np.float32]
    result: NDArray[np.float32]
    root: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        keys: NDArray[np.bytes_],
        policy_of: Callable[[NDArray[np.int64]], NDArray[np.float32]],
        result: NDArray[np.float32],
        root: NDArray[np.float32],
        is_proven: NDArray[np.bool_],
    ) -> EqualPositions:
        """Group positions by their keys [P]. policy_of: targets of some of them; result, root [P, 3]; is_proven [P]."""
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        numbers = np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)
        group, sizes = numbers[inverse].astype(np.int64), counts[counts > 1].astype(np.float32)[:, None]
        members = np.flatnonzero(group >= 0)
        policy = np.zeros((len(sizes), policy_of(members[:1]).shape[1]), np.float32)
        for part in (members[i : i + CHUNK] for i in range(0, len(members), CHUNK)):
            np.add.at(policy, group[part], policy_of(part))
        sums = [np.zeros((len(sizes), 3), np.float32) for _ in range(3)]
        proven = is_proven[members, None]
        values = (result[members] * proven, result[members] * ~proven, root[members] * ~proven)
        for total, value in zip(sums, values, strict=True):
            np.add.at(total, group[members], value)
        return cls(group, policy / sizes, *(total / sizes for total in sums))

    def put(
        self, positions: NDArray[np.int64], policy: NDArray[np.float32], wdl: NDArray[np.float32], share: float
    ) -> None:
        """Write the means over the targets [B, A] and [B, 3] of these positions; share: of the root value, 0 to 1."""
        group = self.group[positions]
        rows = np.flatnonzero(group >= 0)
        found = group[rows]
        policy[rows] = self.policy[found]
        wdl[rows] = self.proven[found] + (1 - share) * self.result[found] + share * self.root[found]


def keys_of(
    features_of: Callable[[NDArray[np.int64]], NDArray[np.float32]], moves: NDArray[np.int64]
) -> NDArray[np.bytes_]:
    """Return a key of each move's position [M]: equal features have equal keys."""
    found: list[bytes] = []
    for part in (moves[i : i + CHUNK] for i in range(0, len(moves), CHUNK)):
        found += [hashlib.blake2b(row.tobytes(), digest_size=16).hexdigest().encode() for row in features_of(part)]
    return np.array(found, "S32")

"""Targets: short-term values of recorded games, what a user's function says of them, means of equal positions.

Every target is float32 with one row a move. Sources: D. J. Wu, "Accelerating Self-Play Learning in Go", 2019, section
4.2, and the methods of KataGo described since (auxiliary soft policy, short-term values and errors).

Positions that a window of games has several times (`train.average_equal`), drawn one by one, teach the same on average
as the means of their targets; the mean has less noise: the first moves of a game, searched a thousand times, are then
learned as one position with the policy of a thousand searches.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur.learning.recorded_games import Games
from hauteur.networks.registered import BUILT_IN_OUTPUTS, Targets

Columns = dict[str, NDArray[np.float32]]
"""Targets by name, [moves, ...]."""


def short_term_values(games: Games, horizons: Sequence[float]) -> NDArray[np.float32]:
    """Return win, draw and loss of the mover soon after each move, [moves, horizons, 3].

    s_t = w_t / h + (1 - 1 / h) s_(t + 1) for a horizon of h plies, with the root's value w_t, or s_(t + 1) where it is
    not known, and the result of the game after its last move.
    """
    own = np.where(games.movers[:, None] == 0, games.root_wdl, games.root_wdl[:, ::-1])  # of the first player
    results = np.eye(3)[1 - games.outcome.astype(np.int64)]
    later = np.repeat(results[:, None], len(horizons), axis=1)
    values = np.empty((len(own), len(horizons), 3))
    shares = 1 / np.asarray(horizons, np.float64)[:, None]
    for back in range(1, 1 + int(games.move_counts.max(initial=0))):
        some = np.flatnonzero(games.move_counts >= back)
        moves = games.moves_before[some + 1] - back
        step = shares * (own[moves][:, None] - later[some])
        later[some] += np.where(np.isfinite(step), step, 0)
        values[moves] = later[some]
    is_first = games.movers[:, None, None] == 0
    return np.where(is_first, values, values[:, :, ::-1]).astype(np.float32)


def own_columns(targets: Targets, games: Games) -> Columns:
    """Return what a user's function says of the moves of all games; ValueError where its arrays do not fit them."""
    parts = []
    forms = []
    for number in range(games.games):
        part = _checked(targets(games.record(number)), games, number)
        parts.append(part)
        forms.append({name: values.shape[1:] for name, values in part.items()})
    odd = next((number for number, form in enumerate(forms) if form != forms[0]), None)
    if odd is not None:
        raise ValueError(
            f"targets of game {games.index[odd]} are {forms[odd]}, those of game {games.index[0]} {forms[0]}; they "
            "must be the same for all games"
        )
    if not parts:
        return {}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _checked(returned: object, games: Games, number: int) -> Columns:
    moves = int(games.move_counts[number])
    index = games.index[number]
    if not isinstance(returned, Mapping):
        raise ValueError(f"targets of game {index} must be a dict of arrays by name, got {type(returned).__name__}")
    columns = {str(name): np.asarray(values, np.float32) for name, values in returned.items()}
    for name, values in columns.items():
        if name in BUILT_IN_OUTPUTS:
            raise ValueError(f"a target of one's own cannot be called {name!r}: hauteur has one")
        if values.shape[:1] != (moves,) or not np.isfinite(values).all():
            need = f"must have a row of finite numbers for each of its {moves} moves"
            raise ValueError(f"target {name} of game {index} {need}, got shape {values.shape}")
    return columns


CHUNK = 4096
"""Positions that are encoded, or whose policies are summed, at a time."""


@dataclass(frozen=True)
class EqualPositions:
    """E groups of equal positions among P.

    The mean of the value targets (win, draw, loss) at a share s of the root value is `proven` + (1 - s) `result` +
    s `root`.
    """

    group: NDArray[np.int64]
    """Group of each position, -1 where it is there once, [P]."""
    policy: NDArray[np.float32]
    """Mean of the policy targets, [E, A]."""
    proven: NDArray[np.float32]
    """Part of the mean that proven results are, [E, 3]."""
    result: NDArray[np.float32]
    """Part of the results of games, where none is proven, [E, 3]."""
    root: NDArray[np.float32]
    """Part of the root values, likewise, [E, 3]."""

    @classmethod
    def of(
        cls,
        keys: NDArray[np.bytes_],
        policy_of: Callable[[NDArray[np.int64]], NDArray[np.float32]],
        result: NDArray[np.float32],
        root: NDArray[np.float32],
        is_proven: NDArray[np.bool_],
    ) -> "EqualPositions":
        """Group positions by their keys [P]. policy_of: targets of some of them; result, root [P, 3]; is_proven [P]."""
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        numbers = np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)
        group = numbers[inverse].astype(np.int64)
        sizes = counts[counts > 1].astype(np.float32)[:, None]
        members = np.flatnonzero(group >= 0)
        policy = np.zeros((len(sizes), policy_of(members[:1]).shape[1]), np.float32)
        for part in _chunks(members):
            np.add.at(policy, group[part], policy_of(part))
        sums = [np.zeros((len(sizes), 3), np.float32) for _ in range(3)]
        proven = is_proven[members, None]
        results = result[members]
        values = (results * proven, results * ~proven, root[members] * ~proven)
        for total, value in zip(sums, values, strict=True):
            np.add.at(total, group[members], value)
        return cls(group, policy / sizes, *(total / sizes for total in sums))

    def put(
        self,
        positions: NDArray[np.int64],
        policy: NDArray[np.float32],
        wdl: NDArray[np.float32],
        share: float,
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
    for part in _chunks(moves):
        for features in features_of(part):
            digest = hashlib.blake2b(features.tobytes(), digest_size=16)
            found.append(digest.hexdigest().encode())
    return np.array(found, "S32")


def _chunks(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers in parts of CHUNK, the last one of what is left."""
    for begin in range(0, len(numbers), CHUNK):
        yield numbers[begin : begin + CHUNK]

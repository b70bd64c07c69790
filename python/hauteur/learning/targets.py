"""Targets: short-term values and ends of recorded games, what a user's function says of them, means of equal positions.

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

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.learning.recorded_games import Games
from hauteur.networks.registered import BUILT_IN_OUTPUTS, Targets

Columns = dict[str, NDArray[np.float32]]
"""Targets by name, [moves, ...]."""


def short_term_values(games: Games, horizons: Sequence[float]) -> NDArray[np.float32]:
    """Return win, draw and loss of the mover soon after each move, [moves, horizons, 3].

    s_t = w_t / h + (1 - 1 / h) s_(t + 1) for a horizon of h plies, with the root's value w_t, or s_(t + 1) where it is
    not known, and the result of the game after its last move.
    """
    is_first = games.movers[:, None] == 0
    of_first = np.where(is_first, games.root_wdl, games.root_wdl[:, ::-1])
    results = np.eye(3)[1 - games.outcome.astype(np.int64)]
    later = np.repeat(results[:, None], len(horizons), axis=1)
    values = np.empty((len(of_first), len(horizons), 3))
    shares = 1 / np.asarray(horizons, np.float64)[:, None]
    longest = int(games.move_counts.max(initial=0))
    for back in range(1, 1 + longest):
        some = np.flatnonzero(games.move_counts >= back)
        moves = games.moves_before[some + 1] - back
        own = of_first[moves][:, None]
        step = shares * (own - later[some])
        later[some] += np.where(np.isfinite(step), step, 0)
        values[moves] = later[some]
    of_movers = np.where(is_first[:, None], values, values[:, :, ::-1])
    return of_movers.astype(np.float32)


@dataclass(frozen=True)
class GameEnds:
    """How G games of points ended: whose point each square was, and the lead. Sources: Wu 2019, section 4.1."""

    ownership: NDArray[np.int8]
    """1 the first player's, -1 the second's, 0 nobody's, [G, rows, columns]."""
    lead: NDArray[np.float32]
    """The first player's points less the second's, komi counted; NaN of a game that did not end by the rules, [G]."""

    @classmethod
    def of(cls, games: Games, first: int, start_of: Callable[[str | None], _core.State]) -> "GameEnds":
        """Return the ends of the games from number `first` on; start_of: the position that an origin names."""
        shape = start_of(None).game.feature_shape[1:]
        count = games.games - first
        ownership = np.zeros((count, *shape), np.int8)
        lead = np.full(count, np.nan, np.float32)
        for place in range(count):
            number = first + place
            line = games.lines[games.line_offsets[number] : games.line_offsets[number + 1]]
            end = position_after(start_of(games.origin[number]), line.tolist())
            points = end.ownership()
            score = end.score()
            # A board on which play ended early, by resignation or a limit, says little of whose its points would be.
            if end.outcome() is not None and points is not None and score is not None:
                ownership[place] = points
                lead[place] = score
        return cls(ownership, lead)

    def followed_by(self, later: "GameEnds", count: int) -> "GameEnds":
        """Return the last `count` of these ends and later ones."""
        ownership = np.concatenate([self.ownership, later.ownership])
        lead = np.concatenate([self.lead, later.lead])
        first = len(lead) - count
        return GameEnds(ownership[first:], lead[first:])

    def targets(self, games: NDArray[np.int64], movers: NDArray[np.uint8]) -> Columns:
        """Return ownership [B, 1, rows, columns] and score [B] for the movers of positions of these games [B].

        Both are NaN where a game did not end by the rules. The score is in sides of the board: 9 points are 1 on 9x9.
        """
        signs = np.where(movers == 0, 1, -1).astype(np.float32)
        lead = self.lead[games]
        ownership = signs[:, None, None] * self.ownership[games]
        ownership[np.isnan(lead)] = np.nan
        _, rows, columns = self.ownership.shape
        score = signs * lead / np.sqrt(np.float32(rows * columns))
        return {"ownership": ownership[:, None].astype(np.float32), "score": score.astype(np.float32)}


def own_columns(targets: Targets, games: Games) -> Columns:
    """Return what a user's function says of the moves of all games; ValueError where its arrays do not fit them."""
    parts: list[Columns] = []
    first_form: dict[str, tuple[int, ...]] = {}
    for number in range(games.games):
        returned = targets(games.record(number))
        part = _checked(returned, games, number)
        form = {name: values.shape[1:] for name, values in part.items()}
        if not parts:
            first_form = form
        if form != first_form:
            raise ValueError(
                f"targets of game {games.index[number]} are {form}, those of game {games.index[0]} {first_form}; they "
                "must be the same for all games"
            )
        parts.append(part)
    columns = {}
    for name in first_form:
        columns[name] = np.concatenate([part[name] for part in parts])
    return columns


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
        is_group = counts > 1
        numbers = np.where(is_group, np.cumsum(is_group) - 1, -1)
        group = numbers[inverse].astype(np.int64)
        sizes = counts[is_group].astype(np.float32)[:, None]
        members = np.flatnonzero(group >= 0)
        # Policies are summed part by part: one for every action, those of a whole window of chess would be gigabytes.
        actions = policy_of(members[:1]).shape[1]
        policy = np.zeros((len(sizes), actions), np.float32)
        for part in _chunks(members):
            np.add.at(policy, group[part], policy_of(part))
        proven = is_proven[members, None]
        results = result[members]

        def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
            """Return the mean in each group of values of the members."""
            total = np.zeros((len(sizes), 3), np.float32)
            np.add.at(total, group[members], values)
            return total / sizes

        proven_mean = mean(results * proven)
        result_mean = mean(results * ~proven)
        root_mean = mean(root[members] * ~proven)
        return cls(group, policy / sizes, proven_mean, result_mean, root_mean)

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
        # By what the net is given and not by the position: what it cannot tell apart is one position to it.
        for features in features_of(part):
            digest = hashlib.blake2b(features.tobytes(), digest_size=16)
            found.append(digest.hexdigest().encode())
    return np.array(found, "S32")


def _chunks(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers in parts of CHUNK, the last one of what is left."""
    for begin in range(0, len(numbers), CHUNK):
        yield numbers[begin : begin + CHUNK]

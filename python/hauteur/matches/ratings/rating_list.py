"""A rating list: players with their Elo, intervals and results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Encounter:
    """Games of two players in which `first` had the first move; the record is `first`'s."""

    first: str
    second: str
    record: MatchScore


@dataclass(frozen=True)
class Rating:
    """A player's line: elo, deviation (standard error; 0 for an anchor, infinite without games), group of connected
    players (0 the largest), and all its games; unlike elo, record takes every game as it came.
    """

    name: str
    elo: float
    deviation: float
    group: int
    anchored: bool
    record: MatchScore

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the rating, Elo, relative to the anchors or to the mean of the group."""
        return _interval(self.elo, self.deviation, confidence)


class GroupConstants(NamedTuple):
    """Constants that the players of a group share: nu of draws; the first move's worth and its standard error, Elo."""

    draws: float
    advantage: float
    advantage_deviation: float


@dataclass(frozen=True)
class RatingList:
    """Ratings, the best first; groups that never met each have a mean of 0 (or their anchors) and cannot be compared.

    covariance [n, n], Elo squared, in the order of `ratings`; draws: nu; advantage of the first move, Elo (0 unless it
    was estimated), with its deviation, these three of the largest group; results: all games of each pair (a, b) from
    a's view; others: what the other groups have in the place of these three, in their order.
    It shows itself as a table.

    >>> import hauteur as ht
    >>> ratings = ht.tournament(["net=uniform visits=20", "random"], "tictactoe", games=8)
    >>> [rating.name for rating in ratings.ratings]
    ['uniform visits=20', 'random']
    """

    ratings: tuple[Rating, ...]
    covariance: Floats
    draws: float
    advantage: float
    advantage_deviation: float
    results: Mapping[tuple[str, str], MatchScore] = field(default_factory=dict)
    others: tuple[GroupConstants, ...] = ()

    def __repr__(self) -> str:
        from hauteur.matches.ratings.tables import rating_table  # it draws what is defined here

        return rating_table(self) if self.ratings else "RatingList of no players"

    def _repr_html_(self) -> str:
        from hauteur.matches.ratings.tables import rating_html

        return rating_html(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the list as a pandas DataFrame, a row a player, the best first.

        Columns: name; elo, its 95 % interval elo_low and elo_high, deviation (standard error), all in Elo; games, wins,
        draws, losses; score, 0 to 1; group (ratings compare inside a group only); anchored. ImportError where pandas is
        not installed.
        """
        from hauteur.matches.ratings.tables import rating_rows

        return rating_rows(self).to_pandas()

    def crosstable(self) -> str:
        """Return the points of each player against each other as a table."""
        from hauteur.matches.ratings.tables import crosstable

        return crosstable([rating.name for rating in self.ratings], self.results)

    @property
    def groups(self) -> int:
        """Number of groups of players between which there is no game and no anchor."""
        return 1 + max((rating.group for rating in self.ratings), default=-1)

    @property
    def draw_share(self) -> float:
        """Share of draws among equals of the largest group, 0 to 1."""
        return self.draws / (2 + self.draws)

    def advantage_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of what the first move is worth in the largest group, Elo."""
        return _interval(self.advantage, self.advantage_deviation, confidence)

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Elo of a above b and its standard error, smaller than those of both ratings suggest; infinite where the two
        cannot be compared.
        """
        i, j = self._index(a), self._index(b)
        if self.ratings[i].group != self.ratings[j].group:
            return 0.0, math.inf
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return self.ratings[i].elo - self.ratings[j].elo, math.sqrt(max(0.0, float(variance)))

    def difference_interval(self, a: str, b: str, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of Elo of a above b."""
        return _interval(*self.difference(a, b), confidence)

    def superiority(self, a: str, b: str) -> float:
        """Chance that a is stronger than b, 0 to 1."""
        elo, deviation = self.difference(a, b)
        if deviation == 0:
            return 0.5 + math.copysign(0.5, elo) if elo else 0.5
        return NormalDist().cdf(elo / deviation)

    def _index(self, name: str) -> int:
        for index, rating in enumerate(self.ratings):
            if rating.name == name:
                return index
        raise ValueError(f"no player {name!r} in the list; there are {', '.join(r.name for r in self.ratings)}")


def _interval(middle: float, deviation: float, confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    half = NormalDist().inv_cdf((1 + confidence) / 2) * deviation
    return middle - half, middle + half

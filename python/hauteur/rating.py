"""Elo, error bars and likelihood of superiority: pure functions of wins, draws and losses."""

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Record:
    """Results of a match from one player's view."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError(f"wins, draws and losses must be >= 0, got {self}")

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Share of the points, (W + D/2) / n; 0.5 before the first game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    def add(self, score: float) -> "Record":
        """The record after one more game with this score (1, 0.5 or 0)."""
        if score not in (0.0, 0.5, 1.0):
            raise ValueError(f"the score of a game must be 0, 0.5 or 1, got {score}")
        return Record(self.wins + (score == 1.0), self.draws + (score == 0.5), self.losses + (score == 0.0))

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


def elo_of_score(score: float) -> float:
    """Elo difference at which this score is expected: 400 log10(p / (1 - p)); infinite at 0 and 1."""
    if not 0 <= score <= 1:
        raise ValueError(f"a score must be between 0 and 1, got {score}")
    if score in (0.0, 1.0):
        return math.inf if score == 1.0 else -math.inf
    return 400 * math.log10(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Expected score at this Elo difference: 1 / (1 + 10^(-elo/400))."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo(record: Record) -> float:
    """Elo difference that the record shows; infinite when all games were won or lost."""
    return elo_of_score(record.score)


def finite_elo(record: Record) -> float:
    """Elo difference with half a win and half a loss added, so that it is finite and pulled a little towards 0."""
    return elo_of_score((record.wins + record.draws / 2 + 0.5) / (record.games + 1))


def likelihood_of_superiority(record: Record) -> float:
    """Chance that the player is the stronger one: LOS = Phi((W - L) / sqrt(W + L)); 0.5 without decisive games."""
    decisive = record.wins + record.losses
    return NormalDist().cdf((record.wins - record.losses) / math.sqrt(decisive)) if decisive else 0.5


def score_interval(record: Record, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the score, within [0, 1]: Wilson's, with draws narrowing it.

    Draws make the variance of a game, W/n + D/4n - p^2, smaller than the p (1 - p) of won and lost games; their ratio
    (with half a win and half a loss added, so that it is never 0) scales the number of games in Wilson's formula.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    if record.games == 0:
        return 0.0, 1.0
    return _wilson(record.score, record.games / _variance_ratio(record), confidence)


def elo_interval(record: Record, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the Elo difference; infinite on one side when all games were won or lost."""
    return elo_of_interval(score_interval(record, confidence))


def elo_of_interval(interval: tuple[float, float]) -> tuple[float, float]:
    """The Elo differences of an interval of scores; infinite at 0 and 1."""
    low, high = interval
    tiny = 1e-12
    return (
        -math.inf if low < tiny else elo_of_score(low),
        math.inf if high > 1 - tiny else elo_of_score(high),
    )


@dataclass(frozen=True)
class Pairs:
    """Results of pairs of games from the same opening with seats swapped: the pentanomial counts.

    counts: pairs in which the player made 0, 1/2, 1, 3/2 and 2 points. The two games of a pair are not independent: an
    opening that wins for whoever moves first gives a point to each. So the variance of pairs, not of games, says how
    sure a score is, and it is mostly smaller.
    """

    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def __post_init__(self) -> None:
        if min(self.counts) < 0:
            raise ValueError(f"the counts of pairs must be >= 0, got {self.counts}")

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """Share of the points, 0 to 1; 0.5 before the first pair."""
        return sum(share * count for share, count in self._shares()) / self.pairs if self.pairs else 0.5

    def add(self, points: float) -> "Pairs":
        """The results after one more pair with these points (0 to 2 in halves)."""
        if points not in (0.0, 0.5, 1.0, 1.5, 2.0):
            raise ValueError(f"the points of a pair must be 0, 0.5, 1, 1.5 or 2, got {points}")
        a, b, c, d, e = (count + (points == index / 2) for index, count in enumerate(self.counts))
        return Pairs((a, b, c, d, e))

    def _shares(self) -> list[tuple[float, int]]:
        return [(index / 4, count) for index, count in enumerate(self.counts)]


def pair_score_interval(pairs: Pairs, confidence: float = 0.95, *, record: Record | None = None) -> tuple[float, float]:
    """Confidence interval of the score from the variance of the pairs, as `score_interval` from that of the games.

    record: all games, where some lack their partner so far; their score is meant then, and the variance is the pairs'.

    The variance of a pair's share of points (with half a pair won and half a pair lost added, so that it is never 0),
    over p (1 - p) / 2, that of two independent won or lost games, scales the number of games in Wilson's formula.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    if pairs.pairs == 0:
        return 0.0, 1.0
    n = pairs.pairs + 1
    p = (pairs.score * pairs.pairs + 0.5) / n
    variance = (sum(share * share * count for share, count in pairs._shares()) + 0.5) / n - p * p
    score, games = (pairs.score, 2 * pairs.pairs) if record is None else (record.score, record.games)
    return _wilson(score, games / (variance / (p * (1 - p) / 2)), confidence)


def pair_likelihood_of_superiority(pairs: Pairs) -> float:
    """Chance that the player is the stronger one: Phi(sum d / sqrt(sum d^2)), d = a pair's share of points - 1/2.

    With pairs of +1 and -1 alone it is `likelihood_of_superiority`; 0.5 when all pairs were even.
    """
    differences = [(share - 0.5, count) for share, count in pairs._shares()]
    squares = sum(d * d * count for d, count in differences)
    return NormalDist().cdf(sum(d * count for d, count in differences) / math.sqrt(squares)) if squares else 0.5


def _wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share p of n (not always whole) independent trials."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _variance_ratio(record: Record) -> float:
    n = record.games + 1
    p = (record.wins + 0.5 + record.draws / 2) / n
    variance = (record.wins + 0.5 + record.draws / 4) / n - p * p
    return variance / (p * (1 - p))

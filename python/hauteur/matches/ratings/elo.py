"""Elo, error bars, likelihood of superiority and sequential tests: pure functions of the results of games."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hauteur._core import t_quantile
from hauteur.mcts import scores
from hauteur.system.hints import number


@dataclass(frozen=True)
class MatchScore:
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
    def points(self) -> float:
        """W + D/2."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Share of the points, (W + D/2) / n; 0.5 before the first game."""
        return self.points / self.games if self.games else 0.5

    @property
    def turned(self) -> "MatchScore":
        """The same games from the other player's view."""
        return MatchScore(self.losses, self.draws, self.wins)

    def plus(self, other: "MatchScore") -> "MatchScore":
        """The games of both, from the same player's view."""
        return MatchScore(
            wins=self.wins + other.wins,
            draws=self.draws + other.draws,
            losses=self.losses + other.losses,
        )

    def add(self, score: float) -> "MatchScore":
        """The record after one more game with this score (1, 0.5 or 0)."""
        if score not in (0.0, 0.5, 1.0):
            raise ValueError(f"the score of a game must be 0, 0.5 or 1, got {score}")
        return MatchScore(
            wins=self.wins + (score == 1.0),
            draws=self.draws + (score == 0.5),
            losses=self.losses + (score == 0.0),
        )

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


def finite_elo(record: MatchScore) -> float:
    """Elo difference with half a win and half a loss added, so that it is finite and pulled a little towards 0."""
    return elo_of_score((record.wins + record.draws / 2 + 0.5) / (record.games + 1))


def likelihood_of_superiority(record: MatchScore) -> float:
    """Chance that the player is the stronger one: LOS = Phi((W - L) / sqrt(W + L)); 0.5 without decisive games."""
    decisive = record.wins + record.losses
    if not decisive:
        return 0.5
    return NormalDist().cdf((record.wins - record.losses) / math.sqrt(decisive))


def score_interval(record: MatchScore, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the score, within [0, 1]: Wilson's, with draws narrowing it.

    Draws make the variance of a game, W/n + D/4n - p^2, smaller than the p (1 - p) of won and lost games; their ratio
    (with half a win and half a loss added, so that it is never 0) scales the number of games in Wilson's formula.
    """
    if record.games == 0:
        return 0.0, 1.0
    return wilson(record.score, record.games / variance_ratio(record), confidence)


def elo_of_interval(interval: tuple[float, float]) -> tuple[float, float]:
    """The Elo differences of an interval of scores; infinite at 0 and 1."""
    low, high = interval
    # An end at 0 or 1 comes out as some 1e-17 by rounding, which as Elo would be a bound of thousands, not none.
    low = low if low >= 1e-12 else 0.0
    high = high if high <= 1 - 1e-12 else 1.0
    return elo_of_score(low), elo_of_score(high)


@dataclass(frozen=True)
class Pairs:
    """Results of pairs of games from the same opening with sides swapped: the pentanomial counts.

    counts: pairs in which the player made 0, 1/2, 1, 3/2 and 2 points. The two games of a pair are not independent: an
    opening that wins for whoever moves first gives a point to each. So the variance of pairs, not of games, gives the
    error of a score; it is usually smaller.
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
        if self.pairs == 0:
            return 0.5
        points = 0.0
        for share, count in zip(PAIR_POINTS, self.counts, strict=True):
            points += share * count
        return points / self.pairs

    def add(self, points: float) -> "Pairs":
        """The results after one more pair with these points (0 to 2 in halves)."""
        if points not in (0.0, 0.5, 1.0, 1.5, 2.0):
            raise ValueError(f"the points of a pair must be 0, 0.5, 1, 1.5 or 2, got {points}")
        counts = list(self.counts)
        counts[int(2 * points)] += 1
        a, b, c, d, e = counts
        return Pairs((a, b, c, d, e))


PAIR_POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of points that a pair can bring."""

PRIOR_PAIR = (1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)
"""The shares of a pair of two independent games that are won, drawn and lost alike often."""


def pair_score_interval(pairs: Pairs, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the score from the variance of the pairs, as `score_interval` from that of the games.

    With `pair_variance_ratio` the intervals hold the truth in 95 % of simulated matches from 5 pairs on
    (benchmarks/rating_checks.py).
    """
    if pairs.pairs == 0:
        return 0.0, 1.0
    return wilson(pairs.score, 2 * pairs.pairs / pair_variance_ratio(pairs), confidence)


def pair_variance_ratio(pairs: Pairs) -> float:
    """The variance of a pair's share of points over p (1 - p) / 2, that of two independent won or lost games.

    Taken with one pair more, PRIOR_PAIR, so that it is never 0.
    """
    counts = [count + prior for count, prior in zip(pairs.counts, PRIOR_PAIR, strict=True)]
    total = sum(counts)
    shares = [count / total for count in counts]
    p, deviation = _moments(shares)
    return 2 * deviation**2 / (p * (1 - p))


def pair_likelihood_of_superiority(pairs: Pairs, alone: Iterable[float] = ()) -> float:
    """Chance that the player is the stronger one: Phi(sum d / sqrt(sum d^2)), d = a pair's share of points - 1/2.

    alone: scores of games whose partner is missing so far, which count as pairs with an even other game: so the sum is
    that of all games, and the chance is above 1/2 exactly where their score is. With such games alone, or with pairs
    of 0 and 2 points alone, it is `likelihood_of_superiority`; 0.5 when all were even.
    """
    differences = []
    for share, count in zip(PAIR_POINTS, pairs.counts, strict=True):
        differences.append((share - 0.5, count))
    for score in alone:
        differences.append(((score - 0.5) / 2, 1))
    total = sum(d * count for d, count in differences)
    squares = sum(d * d * count for d, count in differences)
    if not squares:
        return 0.5
    return NormalDist().cdf(total / math.sqrt(squares))


Model = Literal["logistic", "normalised"]
"""Unit of Elo in a sequential test: of the score, or of the score in deviations of a pair."""

EMPTY_CELL = 1e-3
"""Value of an empty cell of the pair counts in a likelihood."""

_T_OF_NORMALISED_ELO = math.sqrt(2) * math.log(10) / 800
"""Normalised Elo times this is (mean - 1/2) / deviation of a pair's share of points."""


@dataclass(frozen=True)
class Sprt:
    """Sequential probability ratio test: are the results those of elo1 or of elo0 (elo0 < elo1)?"""

    elo0: float
    """Elo of A above B under the first hypothesis."""
    elo1: float
    """Elo of A above B under the second hypothesis."""
    alpha: float = 0.05
    """Chance of accepting elo1 where elo0 is true, 0 to 0.5."""
    beta: float = 0.05
    """Chance of accepting elo0 where elo1 is true, 0 to 0.5."""
    model: Model = "logistic"
    """Unit of elo0 and elo1: Elo of the score, or of the score in standard deviations of a pair (normalised)."""

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1", "alpha", "beta"):
            number(name, getattr(self, name))
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise ValueError(f"elo0 must be below elo1, both within 2000, got {self.elo0:g} and {self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, got {value:g}")
        if self.model not in get_args(Model):
            raise ValueError(f"model must be one of {', '.join(get_args(Model))}, got {self.model!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """Log likelihood ratios at which elo0 and elo1 are accepted: ln(beta / (1 - alpha)), ln((1 - beta) / alpha)."""
        lower = math.log(self.beta / (1 - self.alpha))
        upper = math.log((1 - self.beta) / self.alpha)
        return lower, upper

    def llr(self, pairs: Pairs) -> float:
        """Log likelihood ratio of elo1 to elo0: n sum_i p_i ln(p1_i / p0_i), p0 and p1 the most likely shares of pair
        results under each; 0 before the first pair.
        """
        if pairs.pairs == 0:
            return 0.0
        counts = [count or EMPTY_CELL for count in pairs.counts]
        total = sum(counts)
        shares = [count / total for count in counts]
        zero = self._most_likely(shares, self.elo0)
        one = self._most_likely(shares, self.elo1)
        mean = 0.0
        for share, under_zero, under_one in zip(shares, zero, one, strict=True):
            mean += share * math.log(under_one / under_zero)
        return total * mean

    def verdict(self, llr: float) -> bool | None:
        """True: elo1 is accepted at this log likelihood ratio, False: elo0, None: not yet."""
        low, high = self.bounds
        if llr >= high:
            return True
        return False if llr <= low else None

    def _most_likely(self, shares: list[float], elo: float) -> list[float]:
        """Return the most likely shares of pair results under a hypothesis, given those observed."""
        if self.model == "normalised":
            return _with_t_value(shares, elo * _T_OF_NORMALISED_ELO)
        score = score_of_elo(elo)
        return _tilted(shares, [points - score for points in PAIR_POINTS])


LEAST_REPEATS = 20
"""Repeated pairs in a row after which a sequential test ends; twice the pairs that count, where these are more."""


@dataclass
class PairsInOrder:
    """The games of a sequential test: pairs count in the order of their numbers, until the test ends.

    Games 2k and 2k + 1 are pair k. Which games end first depends on their length and on the machine, and short games
    differ from long ones. In the order of numbers neither matters: the verdict is a function of the games alone, the
    same after any interruption, and pairs after the deciding one do not count. Nor does a pair that repeats an earlier
    one; where nothing else comes, the test ends without a verdict.
    """

    sprt: Sprt
    """The hypotheses and their errors."""
    record: MatchScore = field(default_factory=MatchScore)
    """All games until the end of the test, repeats with them."""
    pairs: Pairs = field(default_factory=Pairs)
    """The pairs that count."""
    llrs: list[float] = field(default_factory=list)
    """Log likelihood ratio after each pair that counts."""
    repeats_in_a_row: int = 0
    """Pairs since the last one that counts, all of which were played before."""
    _waiting: dict[int, tuple[float, bytes | None]] = field(default_factory=dict)
    _known: set[bytes] = field(default_factory=set)

    def add(self, index: int, score: float, line: bytes | None = None) -> None:
        """Count the game of this number, at once or when all before it have ended.

        line: tells its course from that of other games; None: it is like no other.
        """
        # In the order of numbers: games that end early are short ones, which may be won more often than long ones.
        self._waiting[index] = score, line
        while not self.over:
            pair = self._next_pair()
            if pair is None:
                return
            (first, first_line), (second, second_line) = pair
            self.record = self.record.add(first).add(second)
            if first_line is not None and second_line is not None:
                both = first_line + second_line
                if both in self._known:
                    self.repeats_in_a_row += 1
                    continue
                self._known.add(both)
            self.repeats_in_a_row = 0
            self.pairs = self.pairs.add(first + second)
            self.llrs.append(self.sprt.llr(self.pairs))

    @property
    def over(self) -> bool:
        """True once a hypothesis was accepted, or nothing new is to be expected."""
        return self.verdict is not None or self.exhausted

    @property
    def exhausted(self) -> bool:
        """True where so many pairs in a row were repeats that more games would bring no evidence."""
        return self.repeats_in_a_row >= max(LEAST_REPEATS, 2 * self.pairs.pairs)

    @property
    def verdict(self) -> bool | None:
        """True: elo1 was accepted, False: elo0, None: not yet."""
        return self.sprt.verdict(self.llr)

    @property
    def llr(self) -> float:
        """Log likelihood ratio of the pairs that count; 0 before the first."""
        return self.llrs[-1] if self.llrs else 0.0

    def _next_pair(self) -> tuple[tuple[float, bytes | None], tuple[float, bytes | None]] | None:
        """Return the next pair in order if both its games have come."""
        first = self.record.games
        if first not in self._waiting or first + 1 not in self._waiting:
            return None
        return self._waiting.pop(first), self._waiting.pop(first + 1)


def normalised_elo(pairs: Pairs) -> float:
    """(mean - 1/2) / (sqrt 2 deviation) * 800 / ln 10 of the pairs' shares of points; infinite where all are alike."""
    if pairs.pairs == 0:
        return 0.0
    mean, deviation = _moments([count / pairs.pairs for count in pairs.counts])
    lead = mean - 0.5
    if deviation > 0:
        return lead / deviation / _T_OF_NORMALISED_ELO
    return math.copysign(math.inf, lead) if lead else 0.0


def _moments(shares: list[float]) -> tuple[float, float]:
    """Mean and standard deviation of a pair's share of points."""
    mean = 0.0
    for p, points in zip(shares, PAIR_POINTS, strict=True):
        mean += p * points
    variance = 0.0
    for p, points in zip(shares, PAIR_POINTS, strict=True):
        variance += p * (points - mean) ** 2
    return mean, math.sqrt(variance)


def _tilted(shares: list[float], values: list[float]) -> list[float]:
    """The shares nearest in likelihood for which the mean of `values` is 0: p_i / (1 + x v_i), x being what does it."""
    low = -1 / max(values)
    high = -1 / min(values)
    # At both ends of the interval a denominator is 0.
    margin = 1e-9 * (high - low)
    known = list(zip(shares, values, strict=True))

    def mean(x: float) -> tuple[float, float]:
        total = 0.0
        slope = 0.0
        for p, v in known:  # a sequential test spends its time here
            term = v / (1 + x * v)
            total += p * term
            slope -= p * term**2
        return total, slope

    x = falling_root(mean, low + margin, high - margin)
    return [p / (1 + x * v) for p, v in known]


def _with_t_value(shares: list[float], t: float) -> list[float]:
    """The shares nearest in likelihood for which (mean - 1/2) = t * deviation.

    The condition is made linear at the last solution and solved again until it stays. It starts at equal shares, or,
    for a t so large that no shares meet the condition made linear there, at two shares that meet the condition.
    """
    found = [1 / len(shares)] * len(shares)
    for _ in range(100):
        values = _linear_t_condition(found, t)
        if not min(values) < 0 < max(values):
            found = _shares_with_t(t)
            values = _linear_t_condition(found, t)
        before = found
        found = _tilted(shares, values)
        if max(abs(a - b) for a, b in zip(before, found, strict=True)) < 1e-12:
            break
    return found


def _linear_t_condition(shares: list[float], t: float) -> list[float]:
    """Return what each share of points adds to (mean - 1/2) - t * deviation, to first order at `shares`."""
    mean, deviation = _moments(shares)
    added = []
    for points in PAIR_POINTS:
        distance = (points - mean) / deviation
        added.append(points - 0.5 - t * deviation * (1 + distance**2) / 2)
    return added


def _shares_with_t(t: float) -> list[float]:
    """Shares of even pairs and of pairs won (t > 0) or lost by 2 : 0 for which (mean - 1/2) = t * deviation."""
    decided = t * t / (1 + t * t)
    shares = [0.0, 0.0, 1 - decided, 0.0, 0.0]
    shares[4 if t > 0 else 0] = decided
    return shares


def wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share p of n (not always whole) independent trials, at a confidence between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    return scores.wilson(p, n, NormalDist().inv_cdf((1 + confidence) / 2))


def variance_ratio(record: MatchScore) -> float:
    """The variance of a game over p (1 - p), that of won or lost ones, with half a win and half a loss added."""
    n = record.games + 1
    p = (record.wins + 0.5 + record.draws / 2) / n
    variance = (record.wins + 0.5 + record.draws / 4) / n - p * p
    return variance / (p * (1 - p))


def falling_root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Root between `low` and `high` of a falling function of value and slope, by Newton's steps.

    The interval narrows with every step; a step that would leave it is replaced by the middle (Press et al., Numerical
    Recipes, section 9.4). Raises ValueError unless the function is >= 0 at `low` and <= 0 at `high`.
    """
    if function(low)[0] < 0 or function(high)[0] > 0:
        raise ValueError(f"the function has no root between {low} and {high}")
    x = (low + high) / 2
    for _ in range(200):
        value, slope = function(x)
        if value > 0:
            low = x
        else:
            high = x
        following = (low + high) / 2
        if slope < 0:
            step = x - value / slope
            following = step if low < step < high else following
        # About two steps of a double: nearer to the root rounding decides.
        enough = 4e-16 * max(abs(low), abs(high))
        if value == 0 or abs(following - x) <= enough:
            break
        x = following
    return x


# Intervals of matches whose games have not all ended.
#
# Many games are played at once and short ones end first, which may be won more often than long ones: what has ended is
# not a fair sample, and pairs of short games are alike. The games with the first c numbers are a fair sample, whatever
# their length. Those of them that have not ended can bring anything from no point to a whole one: the interval reaches
# from the lower end with all of them lost to the upper end with all of them won. The c with the narrowest one is taken.

LEAST_OPENINGS = 8
"""Fewer openings are not a sample of openings: the score is then one from these, and its units are the games or pairs.
"""


def opening_interval(openings: Collection[MatchScore], confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the score of all games by the results from each opening; of fewer than two, 0 to 1.

    The variance is that of a ratio of sums over openings, sum (points - score games)^2 G / (G - 1) over G openings
    (W. G. Cochran, Sampling Techniques, 1977, section 6.4), with Student's quantile, in Wilson's formula.
    """
    count = len(openings)
    if count < 2:
        return 0.0, 1.0
    games = sum(one.games for one in openings)
    points = math.fsum(one.score * one.games for one in openings)
    score = points / games if games else 0.5
    if score in (0.0, 1.0):
        return wilson(score, count, confidence)
    squares = math.fsum(((one.score - score) * one.games) ** 2 for one in openings)
    ratio = squares * count / (count - 1) / (games * score * (1 - score))
    inner = (1 + confidence) / 2
    wider = t_quantile(inner, count - 1) / NormalDist().inv_cdf(inner)
    ratio *= wider**2
    trials = games / ratio if ratio else math.inf
    return wilson(score, trials, confidence)


def running_interval(scores: Mapping[int, float], pairs: Pairs, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the score of a match from the games that have ended, which holds their own score too.

    scores: 1, 0.5 or 0 by the number of the game; all games begin in the order of their numbers. pairs: the complete
    ones. The variance is the greater of the pairs' and of the games': the pairs that are complete early are alike.
    """
    if not scores:
        return 0.0, 1.0
    by_number = np.full(max(scores) + 1, np.nan)
    by_number[list(scores)] = list(scores.values())
    ended = _ended(by_number)
    from_pairs = pair_variance_ratio(pairs) if pairs.pairs else 0.0
    ratio = max(from_pairs, variance_ratio(ended))
    count = _narrowest(by_number, ratio, ended.score, confidence)
    first = _ended(by_number[:count])
    missing = count - first.games
    all_lost = MatchScore(first.wins, first.draws, first.losses + missing)
    all_won = MatchScore(first.wins + missing, first.draws, first.losses)
    trials_lost = count / max(from_pairs, variance_ratio(all_lost))
    trials_won = count / max(from_pairs, variance_ratio(all_won))
    low, _ = wilson(all_lost.score, trials_lost, confidence)
    _, high = wilson(all_won.score, trials_won, confidence)
    return min(low, ended.score), max(high, ended.score)


def _ended(scores: NDArray[np.float64]) -> MatchScore:
    """The results of the games that have ended; the others are not a number."""
    return MatchScore(
        wins=int(np.count_nonzero(scores == 1.0)),
        draws=int(np.count_nonzero(scores == 0.5)),
        losses=int(np.count_nonzero(scores == 0.0)),
    )


def _narrowest(scores: NDArray[np.float64], ratio: float, score: float, confidence: float) -> int:
    """How many of the first numbers give the narrowest interval: few without gaps, or many with some."""
    counts = np.arange(1, len(scores) + 1)
    gaps = np.cumsum(np.isnan(scores))
    least = 0.5 / len(scores)  # an even score's own variance is never 0
    p = min(max(score, least), 1 - least)
    deviation = math.sqrt(ratio * p * (1 - p))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    widths = gaps / counts + 2 * z * deviation / np.sqrt(counts)
    narrowest = np.argmin(widths)
    return int(counts[narrowest])

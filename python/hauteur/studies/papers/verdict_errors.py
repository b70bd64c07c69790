"""Error rates of the verdicts, by simulation: what is concluded where the truth is known.

Each kind of claim of the experiments is simulated with its quantities exactly at their bounds, where every verdict but
"open" is an error, and again with a true difference, where the share of right verdicts is the power.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore, Pairs, pair_score_interval, score_of_elo
from hauteur.matches.tuning.ratio_fit import MeasuredRatio, ratio_factor, ratio_slope
from hauteur.studies.papers.measured import Interval, Mean, Resampled, Share
from hauteur.studies.papers.verdict import Claim, Inequality, Verdict
from hauteur.system.seeds import stream

Random = np.random.Generator
Make = Callable[[Random, float], Claim]
"""Return a claim measured with random games, whose truth is this far beyond its bound."""


@dataclass(frozen=True)
class Kind:
    """A kind of claim. effect: the difference of which the power is printed, in words with its size."""

    name: str
    effect: str
    size: float
    make: Make


@dataclass(frozen=True)
class ErrorRates:
    """Shares of simulated experiments, 0 to 1. held, failed: false verdicts at the border; covered: intervals of 95 %
    that contain the truth; power: right verdicts at the kind's effect.
    """

    kind: Kind
    held: float
    failed: float
    covered: float
    power: float
    rounds: int


def error_rates(kind: Kind, rounds: int, seed: int) -> ErrorRates:
    """Simulate so many experiments at the border, and as many with the effect."""
    random = stream(seed, f"verdicts on {kind.name}")
    border: Counter[Verdict] = Counter()
    covered = quantities = 0
    for _ in range(rounds):
        claim = kind.make(random, 0.0)
        border[claim.verdict] += 1
        for inequality in claim.inequalities:
            low, high = inequality.measured.interval(0.95)
            covered += low <= inequality.bound <= high
            quantities += 1
    right = sum(kind.make(random, kind.size).verdict == "holds" for _ in range(rounds))
    shares = border["holds"] / rounds, border["does not hold"] / rounds
    return ErrorRates(kind, *shares, covered / quantities, right / rounds, rounds)


def match_of(random: Random, elo: float, games: int, draws: float = 0.4) -> Interval:
    """A match in pairs from openings of which each favours one side, as an Elo-free score."""
    lean = random.normal(0, 0.15, games // 2)
    points = sum(_games(random, score_of_elo(elo) + side * lean, draws) for side in (1, -1))
    counts = np.bincount(np.asarray(2 * points, np.int64), minlength=5).tolist()
    pairs = Pairs((counts[0], counts[1], counts[2], counts[3], counts[4]))
    return Interval(pairs.score, games, lambda confidence: pair_score_interval(pairs, confidence))


def _games(random: Random, scores: NDArray[np.float64], draws: float) -> NDArray[np.float64]:
    """Points of a game at each of these expected scores."""
    scores = scores.clip(0.02, 0.98)
    drawn = np.minimum(draws, 2 * np.minimum(scores, 1 - scores))
    place = random.random(len(scores))
    return np.where(place < scores - drawn / 2, 1.0, np.where(place < scores + drawn / 2, 0.5, 0.0))


def _match(games: int) -> Make:
    def make(random: Random, elo: float) -> Claim:
        return Claim((Inequality("score", match_of(random, elo, games), 0.5, "above", 100),))

    return make


def _table(random: Random, elo: float) -> Claim:
    """One cell of a table of twelve."""
    return Claim((Inequality("score", match_of(random, elo, 1000), 0.5, "above", 100),), cells=12)


def _of_both(random: Random, elo: float) -> Claim:
    """Ahead of two opponents: the pair of nets beats each alone."""
    sides = tuple(Inequality("score", match_of(random, elo, 1000), 0.5, "above", 100) for _ in range(2))
    return Claim(sides)


def _any_of_four(random: Random, elo: float) -> Claim:
    """One setting of four is better."""
    matches = [match_of(random, elo if number == 0 else 0.0, 400) for number in range(4)]
    return Claim(tuple(Inequality("score", match, 0.5, "above", 100) for match in matches), needs="any")


def _interaction(random: Random, size: float) -> Claim:
    """One search gains more from nodes than another: four games from each opening."""
    lean = random.normal(0.5, 0.2, 400).clip(0.05, 0.9)
    games = [(random.random(400) < np.minimum(lean + gain, 1)).astype(float) for gain in (0, 0.1, 0, 0.1 + size)]
    samples = (games[3] - games[2]) - (games[1] - games[0])
    return Claim((Inequality("interaction", Mean(samples.tolist()), 0.0, "above", 100),))


def _seeds(random: Random, elo: float) -> Claim:
    """The mean over five seeds."""
    return Claim((Inequality("mean", Mean(random.normal(elo, 40, 5).tolist()), 0.0, "above", 5, of="seeds"),))


def _most_seeds(random: Random, size: float) -> Claim:
    """More than half of the runs."""
    return Claim((Inequality("share", Share(int(random.binomial(10, 0.5 + size)), 10), 0.5, "above", 10, of="seeds"),))


def _positions(random: Random, factor: float) -> Claim:
    """A share of positions that come in runs, twice as high with one search: 400 games a side."""
    samples = tuple(_runs(random, 0.01 * (2 + one * factor)) for one in (0, 1))
    ratio = Resampled(samples, lambda sums: (sums[1][:, 0] + 0.5) / (sums[0][:, 0] + 0.5))
    return Claim((Inequality("ratio", ratio, 1.0, "above", 100),))


def _runs(random: Random, share: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Games of forty positions, in which those that count come in runs of four on average."""
    runs = random.poisson(10 * share, 400)
    hits = np.array([random.geometric(0.25, count).sum() for count in runs])
    return np.stack([np.minimum(hits, 40), np.full(400, 40)], axis=1).astype(np.float64)


def _slope(random: Random, size: float) -> Claim:
    """(w + l)/d falls with N_scl: four values, 400 games each."""
    measured = []
    for x in (5.0, 10.0, 32.0, 200.0):
        ratio = x**-size
        draws = int(random.binomial(400, 1 / (1 + ratio)))
        measured.append(MeasuredRatio(x, MatchScore(400 - draws, draws, 0)))
    slope = Interval(ratio_slope(measured)[0], 1600, lambda confidence: ratio_slope(measured, confidence)[1:])
    return Claim((Inequality("slope", slope, 0.0, "below", 400),))


def _ratio(random: Random, size: float) -> Claim:
    """One ratio (w + l)/d above another: 400 games each."""
    records = []
    for logarithm in (0.0, size):
        draws = int(random.binomial(400, 1 / (1 + np.exp(logarithm))))
        records.append(MatchScore(400 - draws, draws, 0))
    low, high = records
    found = Interval(ratio_factor(high, low)[0], 400, lambda confidence: ratio_factor(high, low, confidence)[1:])
    return Claim((Inequality("factor", found, 1.0, "above", 100),))


KINDS = (
    Kind("match of 400 games", "+30 Elo", 30.0, _match(400)),
    Kind("match of 2,000 games", "+15 Elo", 15.0, _match(2000)),
    Kind("one of 12 cells, 1,000 games", "+30 Elo", 30.0, _table),
    Kind("ahead of two opponents, 1,000 games each", "+20 Elo over both", 20.0, _of_both),
    Kind("one of four settings, 400 games each", "+40 Elo of one", 40.0, _any_of_four),
    Kind("interaction, 400 openings", "10 points of per cent", 0.1, _interaction),
    Kind("mean of 5 seeds", "+60 Elo, deviation 40", 60.0, _seeds),
    Kind("more than half of 10 runs", "95 % of the runs", 0.45, _most_seeds),
    Kind("ratio of positions in runs, 400 games a side", "twice as many", 2.0, _positions),
    Kind("slope over four N_scl, 400 games each", "slope -0.1", 0.1, _slope),
    Kind("ratio (w + l)/d of two settings, 400 games each", "1.5 times", float(np.log(1.5)), _ratio),
)


def all_error_rates(rounds: int, seed: int) -> list[ErrorRates]:
    """Simulate every kind; ValueError for fewer than 10 rounds."""
    if not 10 <= rounds <= 1_000_000:
        raise ValueError(f"--rounds must be 10 to 1,000,000, got {rounds}")
    return [error_rates(kind, rounds, seed) for kind in KINDS]


def error_table(rates: Sequence[ErrorRates]) -> str:
    """Return the rates as a table in per cent."""
    width = max(len(one.kind.name) for one in rates)
    head = f"{'claim':{width}}  falsely holds  falsely does not  interval covers   power  at a true difference of"
    lines = [
        f"{one.kind.name:{width}} {one.held:14.1%} {one.failed:17.1%} {one.covered:16.1%} {one.power:7.1%}  "
        f"{one.kind.effect}"
        for one in rates
    ]
    return "\n".join([head, *lines, f"{rates[0].rounds:,} simulated experiments each, and as many with the difference"])

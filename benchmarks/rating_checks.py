"""How often intervals hold the truth, and how often sequential tests err: simulated matches, counted.

python benchmarks/rating_checks.py [RUNS] [SEED]     (10000 1; about two minutes)

A pair of games is drawn from a latent scale: A wins a game where strength + opening + noise > t, loses where it is
< -t. The noise is normal; the opening, normal too, helps A in one game and B in the other, so the games of a pair are
correlated by as much as openings are unequal. The same simulation in small is a test
(tests/matches/test_rating_simulation.py).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from hauteur.matches.ratings.elo import (
    EMPTY_CELL,
    PAIR_POINTS,
    MatchScore,
    Model,
    Pairs,
    Sprt,
    pair_score_interval,
    score_interval,
    score_of_elo,
)

Floats = NDArray[np.float64]

NORMALISED = np.sqrt(2) * np.log(10) / 800
"""Normalised Elo times this is (mean - 1/2) / deviation of a pair's share of points."""


@dataclass(frozen=True)
class Truth:
    """Model of matches: A's expected score, share of draws among equals, deviation of the openings."""

    score: float
    draws: float
    openings: float

    def games(self) -> Floats:
        """Chances of loss, draw, win of a game [3]; openings are mixed into it."""
        shares, games, _ = self._solved()
        return np.asarray(shares @ games)

    def pairs(self) -> Floats:
        """Chances of 0, 1/2, 1, 3/2, 2 points of a pair [5]."""
        shares, one, other = self._solved()
        return _pairs(shares, one, other)

    def _solved(self) -> tuple[Floats, Floats, Floats]:
        shares, openings = _openings(self.openings)

        def excess_draws(t: float) -> float:
            return float(shares @ _games(openings, t)[:, 1]) - self.draws

        t = brentq(excess_draws, 0, 40) if self.draws else 0.0

        def excess_score(m: float) -> float:
            return float(_pairs(shares, _games(openings + m, t), _games(m - openings, t)) @ PAIR_POINTS) - self.score

        m = brentq(excess_score, -50, 50)
        return shares, _games(openings + m, t), _games(m - openings, t)


def _openings(deviation: float) -> tuple[Floats, Floats]:
    """Shares and values of a normal distribution in 41 steps."""
    steps = np.linspace(-2.5, 2.5, 41)
    return norm.pdf(steps) / norm.pdf(steps).sum(), deviation * steps


def _games(strength: Floats, t: float) -> Floats:
    """Chances of loss, draw, win [n, 3]."""
    win = norm.sf(t - strength)
    loss = norm.cdf(-t - strength)
    return np.stack([loss, np.maximum(0, 1 - win - loss), win], axis=1)


def _pairs(shares: Floats, one: Floats, other: Floats) -> Floats:
    """Chances of the points of a pair: the sums along the antidiagonals of those of both results [3, 3]."""
    both = (shares[:, None] * one).T @ other
    chances = np.array([np.fliplr(both).trace(offset) for offset in range(2, -3, -1)])
    return np.asarray(chances / chances.sum())


@dataclass(frozen=True)
class Coverage:
    """Share of 95 % intervals that held the truth, over matches from many truths; low, high: 5 % and 95 % quantiles."""

    what: str
    games: int
    mean: float
    low: float
    high: float


def random_truths(
    number: int, random: np.random.Generator, *, lowest: float = 0.5, highest: float = 0.98
) -> list[Truth]:
    """Truths of all kinds: any share of draws up to 95 %, half of them with unequal openings."""
    found = []
    for _ in range(number):
        openings = float(random.uniform(0, 3)) if random.random() < 0.5 else 0.0
        score = float(random.uniform(lowest, highest))
        found.append(Truth(score, float(random.uniform(0, 0.95)), openings))
    return found


def coverage(what: str, truths: Sequence[Truth], games: int, matches: int, random: np.random.Generator) -> Coverage:
    """How often `score_interval` (what: games) or `pair_score_interval` (pairs) holds the expected score."""
    shares = []
    for truth in truths:
        chances = truth.games() if what == "games" else truth.pairs()
        score = float(chances @ np.linspace(0, 1, len(chances)))
        drawn = random.multinomial(games if what == "games" else games // 2, chances, size=matches)
        results, times = np.unique(drawn, axis=0, return_counts=True)
        inside = [low - 1e-12 <= score <= high + 1e-12 for low, high in map(_interval, results.tolist())]
        shares.append(float(times @ np.array(inside) / matches))
    low, high = np.quantile(shares, [0.05, 0.95])
    return Coverage(what, games, float(np.mean(shares)), float(low), float(high))


def _interval(counts: list[int]) -> tuple[float, float]:
    """The interval of the counts of games (loss, draw, win) or of pairs."""
    if len(counts) == 3:
        return score_interval(MatchScore(losses=counts[0], draws=counts[1], wins=counts[2]))
    a, b, c, d, e = counts
    return pair_score_interval(Pairs((a, b, c, d, e)))


@dataclass(frozen=True)
class Errors:
    """How simulated sequential tests ended. share: that took the wrong side; pairs: mean number until the end."""

    model: Model
    truth: str
    openings: float
    runs: int
    share: float
    pairs: float


def errors(test: Sprt, truth: str, *, draws: float, openings: float, runs: int, random: np.random.Generator) -> Errors:
    """Runs many tests at once; truth: elo0 or elo1."""
    chances = pairs_at(test.elo0 if truth == "elo0" else test.elo1, test.model, draws, openings)
    low, high = test.bounds
    counts = np.zeros((runs, 5))
    alive = np.arange(runs)
    fits = [np.full((runs, 5), 1 / 5) for _ in range(2)]
    ended = np.zeros(runs, int)
    wrong = 0
    for number in range(1, 1_000_000):
        counts[alive, random.choice(5, size=len(alive), p=chances)] += 1
        llr, fits = likelihood_ratios(test, counts[alive], fits)
        over = (llr <= low) | (llr >= high)
        wrong += int(((llr >= high) if truth == "elo0" else (llr <= low)).sum())
        ended[alive[over]] = number
        alive = alive[~over]
        fits = [fit[~over] for fit in fits]
        if not len(alive):
            break
    return Errors(test.model, truth, openings, runs, wrong / runs, float(ended.mean()))


def pairs_at(elo: float, model: Model, draws: float, openings: float) -> Floats:
    """Chances of the results of pairs at this Elo difference."""
    if model == "logistic":
        return Truth(score_of_elo(elo), draws, openings).pairs()

    def excess(score: float) -> float:
        mean, deviation = _moments(Truth(score, draws, openings).pairs()[None])
        return float(mean[0] - 0.5 - elo * NORMALISED * deviation[0])

    return Truth(brentq(excess, 0.4, 0.9), draws, openings).pairs()


def likelihood_ratios(
    test: Sprt, counts: Floats, starts: Sequence[Floats] | None = None
) -> tuple[Floats, list[Floats]]:
    """`Sprt.llr` of many tests at once, counts [n, 5] of a pair at least; and the most likely shares [n, 5] under
    elo0 and elo1, near which those after one more pair will be (starts).
    """
    filled = np.where(counts > 0, counts, EMPTY_CELL)
    total = filled.sum(1)
    shares = filled / total[:, None]
    fits = [
        _most_likely(shares, elo, test.model, np.full_like(shares, 1 / 5) if starts is None else starts[which])
        for which, elo in enumerate((test.elo0, test.elo1))
    ]
    return np.asarray(total * (shares * np.log(fits[1] / fits[0])).sum(1)), fits


def _most_likely(shares: Floats, elo: float, model: Model, start: Floats) -> Floats:
    points = np.array(PAIR_POINTS)
    if model == "logistic":
        return _tilted(shares, np.broadcast_to(points - score_of_elo(elo), shares.shape))
    t = elo * NORMALISED
    found = start
    for _ in range(100):
        mean, deviation = _moments(found)
        spread = (points - mean[:, None]) / deviation[:, None]
        before = found
        found = _tilted(shares, points - 0.5 - t * deviation[:, None] * (1 + spread**2) / 2)
        if np.abs(before - found).max() < 1e-7:
            break
    return found


def _moments(shares: Floats) -> tuple[Floats, Floats]:
    points = np.array(PAIR_POINTS)
    mean = shares @ points
    return mean, np.sqrt(np.maximum((shares * (points - mean[:, None]) ** 2).sum(1), 0))


def _tilted(shares: Floats, values: Floats) -> Floats:
    """p_i / (1 + x v_i) with mean value 0: x by Newton's method kept within a bracket."""
    low = -1 / values.max(1)
    high = -1 / values.min(1)
    margin = 1e-9 * (high - low)  # at the ends a share would be infinite
    low = low + margin
    high = high - margin
    x = np.zeros(len(shares))
    for _ in range(200):
        scaled = values / (1 + x[:, None] * values)
        excess = (shares * scaled).sum(1)
        low = np.where(excess > 0, x, low)
        high = np.where(excess > 0, high, x)
        step = x + excess / (shares * scaled**2).sum(1)
        new = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        x, moved = new, np.abs(new - x).max()
        if moved < 1e-9:
            break
    return np.asarray(shares / (1 + x[:, None] * values))


def all_coverages(runs: int, seed: int) -> Iterator[Coverage]:
    """Games and pairs, from short to long matches, and close to 100 %."""
    for what in ("games", "pairs"):
        for games in (10, 20, 40, 100, 400, 1000):
            random = np.random.default_rng([seed, games])
            truths = random_truths(100, random)
            yield coverage(what, truths, games, runs // 10, random)
        random = np.random.default_rng([seed, 7])
        yield coverage(f"{what}", random_truths(100, random, lowest=0.9, highest=0.995), 400, runs // 10, random)


def all_errors(runs: int, seed: int) -> Iterator[Errors]:
    """Both models, both truths, equal and unequal openings."""
    models: tuple[Model, ...] = ("logistic", "normalised")
    for model in models:
        for truth in ("elo0", "elo1"):
            for openings in (0.0, 1.0):
                random = np.random.default_rng([seed, len(model), len(truth), int(openings)])
                test = Sprt(0, 50, model=model)
                yield errors(test, truth, draws=0.5, openings=openings, runs=runs, random=random)


def main(runs: str = "10000", seed: str = "1") -> None:
    """Prints one JSON line a figure."""
    started = time.perf_counter()
    figures: Iterator[Coverage | Errors] = chain(all_coverages(int(runs), int(seed)), all_errors(int(runs), int(seed)))
    for figure in figures:
        print(json.dumps(asdict(figure)), flush=True)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

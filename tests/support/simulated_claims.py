"""Claims of simulated experiments, by the functions that the experiments use, and the kinds that there are of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore, Pairs, score_of_elo
from hauteur.matches.results import Tally
from hauteur_experiments.experiment import FIRST_LOOK
from hauteur_experiments.measured import Interval, MatchElo, Mean, Record, by_opening, ratio_of
from hauteur_experiments.measured import elo_above as elo_inequality
from hauteur_experiments.ratio import MeasuredRatio, ratio_slope
from hauteur_experiments.verdict import LOOKS, SMALLEST_ELO, Claim, Inequality, Look, Verdict

Random = np.random.Generator
Games = Callable[[float], Claim]
"""Return the claim on what a share of the games of one simulated experiment shows; asked for growing shares."""

Make = Callable[[Random, float], Games]
"""Return an experiment with random games, whose truth is this far beyond its bound."""


@dataclass(frozen=True)
class Kind:
    """A kind of claim. size, effect: the difference of which the power is printed, in words with its size; matters: the
    smallest effect that does, None: the bound is an effect; right: the verdict where there is the effect; wrong: other
    truths at which a verdict is an error, than the bound and what matters; ends: when it is judged.
    """

    name: str
    effect: str
    size: float
    make: Make
    matters: float | None = SMALLEST_ELO
    wrong: Mapping[Verdict, float] = field(default_factory=dict)
    ends: tuple[Look, ...] = tuple(Look(step / LOOKS) for step in range(FIRST_LOOK, LOOKS + 1))

    @property
    def truths(self) -> dict[Verdict, float]:
        """The truth at which each false verdict is the most likely; without those that cannot come."""
        found: dict[Verdict, float] = {"holds": 0.0, "does not hold": 0.0}
        found |= {} if self.matters is None else {"no such effect": self.matters}
        return found | dict(self.wrong)


class SimulatedMatch:
    """A match in pairs from openings of which each favours one side, whose games come in the order of their numbers."""

    def __init__(self, random: Random, elo_difference: float, games: int, draws: float = 0.4) -> None:
        lean = random.normal(0, 0.15, games // 2)
        sides = [_scores(random, score_of_elo(elo_difference) + side * lean, draws) for side in (1, -1)]
        self._pairs = np.stack(sides, axis=1)

    def elo(self, share: float) -> MatchElo:
        """The difference by this share of the games."""
        pairs = 2 * self._pairs[: round(share * len(self._pairs))]
        tally = Tally(paired=True)
        lost, less, even, more, won = np.bincount(pairs.sum(axis=1).astype(np.int64), minlength=5).tolist()
        tally.pairs = Pairs((lost, less, even, more, won))
        tally.record = MatchScore(*(int((pairs == points).sum()) for points in (2, 1, 0)))
        return MatchElo(tally)


def _scores(random: Random, expected: NDArray[np.float64], draws: float) -> NDArray[np.float64]:
    """Points of a game at each of these expected scores."""
    scores = expected.clip(0.02, 0.98)
    drawn = np.minimum(draws, 2 * np.minimum(scores, 1 - scores))
    place = random.random(len(scores))
    return np.where(place < scores - drawn / 2, 1.0, np.where(place < scores + drawn / 2, 0.5, 0.0))


def _match(games: int, cells: int = 1) -> Make:
    def make(random: Random, truth: float) -> Games:
        match = SimulatedMatch(random, truth, games)
        return lambda share: Claim((elo_inequality("difference", match.elo(share)),), cells=cells)

    return make


def _any_of_four(random: Random, truth: float) -> Games:
    """One setting of four is better; what matters, all four have."""
    all_have = truth == SMALLEST_ELO
    matches = [SimulatedMatch(random, truth if number == 0 or all_have else 0.0, 400) for number in range(4)]
    return lambda share: Claim(tuple(elo_inequality("difference", match.elo(share)) for match in matches), needs="any")


def _odds(random: Random, truth: float) -> Games:
    """One search is ahead of another at odds, in percentage points: 400 games each from 60 openings that repeat.

    Each opening suits one search or the other.
    """
    openings = random.permutation(np.arange(400) % 60)
    chances = random.uniform(0.3, 0.6, 60)
    changed = chances + random.normal(0, 0.1, 60).clip(-0.25, 0.25) + truth / 100
    before, after = (random.random(400) < of[openings] for of in (chances, changed))
    gains, places = (100.0 * (after.astype(float) - before)).tolist(), openings.tolist()

    def claim(share: float) -> Claim:
        count = round(share * 400)
        gain = by_opening(gains[:count], places[:count])
        return Claim((Inequality("gain", gain, 0.0, "above", 50, of="openings", matters=ODDS_MATTER),))

    return claim


ODDS_MATTER = 5.0
"""Percentage points."""


def _seeds(count: int) -> Make:
    """The mean over seeds of the difference of two runs with skewed outcomes; a share above 1: as many more seeds."""

    def make(random: Random, truth: float) -> Games:
        runs = random.exponential(1.0, (2, 3 * count)) ** 1.5
        differences = (runs[1] - runs[0] + truth).tolist()
        return lambda share: Claim(
            (
                Inequality(
                    "mean", Mean(differences[: round(share * count)]), 0.0, "above", 6, of="seeds", matters=SEEDS_MATTER
                ),
            )
        )

    return make


SEEDS_MATTER = 1.0
"""In units of which a run's outcome deviates by 2.3."""


def _positions(random: Random, truth: float) -> Games:
    """A share of positions that come in runs, higher by a factor: 200 games a side of 40 positions."""
    one, other = (_runs(random, 0.04 * times) for times in (math.exp(truth), 1.0))

    def claim(share: float) -> Claim:
        flags = [sides[: 40 * round(share * 200)] for sides in (one, other)]
        ends = cache(lambda confidence: ratio_of(flags[0], flags[1], confidence=confidence))
        ratio = Interval(ends(0.95)[0], round(share * 200), lambda confidence: ends(confidence)[1:])
        return Claim((Inequality("ratio", ratio, 1.0, "above", 100, matters=RATIO_MATTERS),))

    return claim


RATIO_MATTERS = 1.25


def _runs(random: Random, share: float) -> list[tuple[int, bool]]:
    """Positions of 200 games by game, of which those that count come in runs of four on average."""
    hits = random.negative_binomial(np.maximum(1, random.poisson(2.5, 200)), 0.25)
    hits = np.where(random.random(200) < share * 40 / EXPECTED_HITS, hits, 0)
    return [(game, position < count) for game, count in enumerate(hits.tolist()) for position in range(40)]


EXPECTED_HITS = 3 * (2.5 + math.exp(-2.5))
"""Of a game that has any; that it has more than 40 is too rare to matter."""


def _counts(random: Random, logarithms: Sequence[float]) -> Callable[[float], list[Record]]:
    """Sets of 400 games with these logarithms of (w + l)/d, as their results by a share of the games."""
    decisive = [random.random(400) < 1 / (1 + math.exp(-logarithm)) for logarithm in logarithms]

    def records(share: float) -> list[Record]:
        count = round(share * 400)
        won = [int(games[:count].sum()) for games in decisive]
        return [Record(wins, count - wins, 0) for wins in won]

    return records


def _slope(random: Random, truth: float) -> Games:
    """(w + l)/d falls with N_scl: four values, 400 games each."""
    places = (5.0, 10.0, 32.0, 200.0)
    records = _counts(random, [-truth * math.log(x) for x in places])

    def claim(share: float) -> Claim:
        found = [MeasuredRatio(x, record) for x, record in zip(places, records(share), strict=True)]
        games = found[0].record.games
        slope = Interval(ratio_slope(found)[0], games, lambda confidence: ratio_slope(found, confidence)[1:])
        return Claim((Inequality("slope", slope, 0.0, "below", 100, matters=-SLOPE_MATTERS),))

    return claim


SLOPE_MATTERS = 0.2


AT_THE_END = (Look(),)
AND_AS_MANY_MORE = (Look(), Look(1.0, 1), Look(1.0, 2))

KINDS = (
    Kind("match of 400 games", "+40 Elo", 40.0, _match(400)),
    Kind("one of 12 cells, 1,000 games", "+40 Elo", 40.0, _match(1000, cells=12)),
    Kind("one of four settings, 400 games each", "+50 Elo of one", 50.0, _any_of_four),
    Kind("lead at odds, 60 openings that repeat", "10 percentage points", 10.0, _odds, ODDS_MATTER),
    Kind("mean of 8 seeds, skewed", "3", 3.0, _seeds(8), SEEDS_MATTER, ends=AT_THE_END),
    Kind("8 seeds, then 16, then 24", "3", 3.0, _seeds(8), SEEDS_MATTER, ends=AND_AS_MANY_MORE),
    Kind(
        "ratio of positions in runs, 200 games a side",
        "twice as many",
        math.log(2),
        _positions,
        math.log(RATIO_MATTERS),
        ends=AT_THE_END,
    ),
    Kind("slope over four N_scl, 400 games each", "slope -0.2", SLOPE_MATTERS, _slope, SLOPE_MATTERS),
)

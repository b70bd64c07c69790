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
from hauteur_experiments.measured import CLOSE, Interval, MatchElo, Mean, Record, Share, beyond, by_opening, ratio_of
from hauteur_experiments.measured import elo_above as elo_inequality
from hauteur_experiments.ratio import EQUAL_WITHIN, MeasuredRatio, equal_within, factor_of, ratio_slope
from hauteur_experiments.search_contempt import repeats
from hauteur_experiments.verdict import LOOKS, SMALLEST_ELO, Claim, Inequality, Look, Verdict, of_most_seeds

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


def _of_both(random: Random, truth: float) -> Games:
    """Ahead of two opponents: the pair of nets beats each alone."""
    matches = [SimulatedMatch(random, truth, 1000) for _ in range(2)]
    return lambda share: Claim(tuple(elo_inequality("difference", match.elo(share)) for match in matches))


def _any_of_four(random: Random, truth: float) -> Games:
    """One setting of four is better; what matters, all four have."""
    all_have = truth == SMALLEST_ELO
    matches = [SimulatedMatch(random, truth if number == 0 or all_have else 0.0, 400) for number in range(4)]
    return lambda share: Claim(tuple(elo_inequality("difference", match.elo(share)) for match in matches), needs="any")


def _beyond_control(random: Random, truth: float) -> Games:
    """More than a control that has 20 Elo itself."""
    rule, control = SimulatedMatch(random, 20 + truth, 1000), SimulatedMatch(random, 20, 1000)
    return lambda share: Claim((elo_inequality("beyond", beyond(rule.elo(share), control.elo(share))),))


def _published_null(random: Random, truth: float) -> Games:
    """A source's match of 1,000 games between equals, and ours."""
    source = random.multinomial(1000, (0.2, 0.6, 0.2)).tolist()
    record, match = Record(*source), SimulatedMatch(random, truth, 1600)

    def claim(share: float) -> Claim:
        ours = match.elo(share)
        there = Interval(record.elo, ours.units, record.elo_interval)
        return Claim((elo_inequality("difference", beyond(ours, there), CLOSE, side="at"),))

    return claim


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


def _most_seeds(random: Random, truth: float) -> Games:
    """More than half of ten runs."""
    shown = random.random(10) < 0.5 + truth

    def claim(share: float) -> Claim:
        seeds = shown[: round(share * 10)]
        return Claim((of_most_seeds("share", Share(int(seeds.sum()), len(seeds)), 6),))

    return claim


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


def _ratio(random: Random, truth: float) -> Games:
    """One ratio (w + l)/d above another: 400 games each."""
    records = _counts(random, [truth, 0.0])
    matters = math.exp(FACTOR_MATTERS)
    return lambda share: Claim((Inequality("factor", factor_of(*records(share)), 1.0, "above", 100, matters=matters),))


FACTOR_MATTERS = 0.5
"""A logarithm."""


def _equal(random: Random, truth: float) -> Games:
    """Two ratios (w + l)/d are equal within a factor: by so much less than it, as a logarithm."""
    records = _counts(random, [math.log(EQUAL_WITHIN) - truth, 0.0])
    return lambda share: Claim(equal_within("factor", factor_of(*records(share)), 100, "games"))


def _lines(random: Random, share: float, lines: int, games: int) -> list[list[str]]:
    """Games of which a share follow one of some lines, and the others differ from all."""
    common = random.random(games) < share
    places = random.integers(0, lines, games)
    return [
        [f"{place}"] if alike else [f"own {n}"] for n, (alike, place) in enumerate(zip(common, places, strict=True))
    ]


def _no_more_repeats(random: Random, truth: float) -> Games:
    """Pairs of games are the same less than NO_MORE times as often as others; truth: as the logarithm of the factor."""
    shares = 0.4 * math.sqrt(repeats.NO_MORE) * math.exp(-truth / 2), 0.4
    played = {title: _lines(random, share, 20, 2000) for title, share in zip(("one", "other"), shares, strict=True)}

    def claim(share: float) -> Claim:
        games = {title: lines[: round(share * 2000)] for title, lines in played.items()}
        return Claim((repeats.beyond(games, "one", "other", 1, repeats.NO_MORE, 0.0),))

    return claim


def _unique(random: Random, truth: float) -> Games:
    """Less than FEW of 100 games repeat another: 20 sets."""
    alike = UNIQUE_AT_BORDER * (1 - truth)
    games = _lines(random, alike, 40, 2000)

    def claim(share: float) -> Claim:
        mean = repeats.of_sets(repeats.shares_by_move(games[: round(share * 2000)], 1)[1].samples)
        few = repeats.FEW
        return Claim((Inequality("share", mean, few, "below", repeats.LEAST_SETS, of="sets", matters=few),))

    return claim


UNIQUE_AT_BORDER = 0.15592
"""Share of games in 40 lines with which FEW of 100 have a twin: x (1 - (1 - x / 40)^99) = 0.05."""

AT_THE_END = (Look(),)
AND_AS_MANY_MORE = (Look(), Look(1.0, 1), Look(1.0, 2))

KINDS = (
    Kind("match of 400 games", "+40 Elo", 40.0, _match(400)),
    Kind("match of 1,600 games", "+20 Elo", 20.0, _match(1600)),
    Kind("one of 12 cells, 1,000 games", "+40 Elo", 40.0, _match(1000, cells=12)),
    Kind("ahead of two opponents, 1,000 games each", "+30 Elo over both", 30.0, _of_both),
    Kind("one of four settings, 400 games each", "+50 Elo of one", 50.0, _any_of_four),
    Kind("beyond a control, 1,000 games each", "+40 Elo", 40.0, _beyond_control),
    Kind(
        "agrees with a published null, 1,600 games",
        "the same as there",
        0.0,
        _published_null,
        None,
        {"holds": 2 * CLOSE},
    ),
    Kind("lead at odds, 60 openings that repeat", "10 percentage points", 10.0, _odds, ODDS_MATTER),
    Kind("mean of 6 seeds, skewed", "3", 3.0, _seeds(6), SEEDS_MATTER, ends=AT_THE_END),
    Kind("mean of 8 seeds, skewed", "3", 3.0, _seeds(8), SEEDS_MATTER, ends=AT_THE_END),
    Kind("8 seeds, then 16, then 24", "3", 3.0, _seeds(8), SEEDS_MATTER, ends=AND_AS_MANY_MORE),
    Kind("more than half of 10 runs", "95 % of the runs", 0.45, _most_seeds, 0.25, ends=AT_THE_END),
    Kind(
        "ratio of positions in runs, 200 games a side",
        "twice as many",
        math.log(2),
        _positions,
        math.log(RATIO_MATTERS),
        ends=AT_THE_END,
    ),
    Kind("slope over four N_scl, 400 games each", "slope -0.2", SLOPE_MATTERS, _slope, SLOPE_MATTERS),
    Kind("ratio (w + l)/d of two settings, 400 games each", "1.65 times", FACTOR_MATTERS, _ratio, FACTOR_MATTERS),
    Kind("two ratios equal within 1.5, 400 games each", "equal", math.log(EQUAL_WITHIN), _equal, None),
    Kind(
        "no more than 1.5 times the repeats, 2,000 games",
        "as often",
        math.log(repeats.NO_MORE),
        _no_more_repeats,
        None,
    ),
    Kind("share of games that repeat, 20 sets of 100", "half of the lines", 0.3, _unique, None),
)

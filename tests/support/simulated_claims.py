"""Error rates of the verdicts, by simulation: what is concluded where the truth is known.

Kinds of claims are simulated by the functions that the experiments use, with looks at every eighth of the games where
they may be looked at: with their quantities exactly at their bounds, where every "holds" and "does not hold" is an
error, at the smallest effects that matter, where "no such effect" is one, and with a true difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore, Pairs, score_of_elo
from hauteur.matches.results import Tally
from hauteur.system.seeds import stream
from hauteur_experiments.experiment import FIRST_LOOK
from hauteur_experiments.measured import MatchElo, Mean, by_opening
from hauteur_experiments.measured import elo_above as elo_inequality
from hauteur_experiments.verdict import LOOKS, SMALLEST_ELO, Claim, Inequality, Look, Verdict

Random = np.random.Generator
Games = Callable[[float], Claim]
"""Return the claim on what a share of the games of one simulated experiment shows; asked for growing shares."""

Make = Callable[[Random, float], Games]
"""Return an experiment with random games, whose truth is this far beyond its bound."""


@dataclass(frozen=True)
class Kind:
    """A kind of claim. size: the difference whose power is measured; matters: the smallest effect that does; ends: when
    it is judged.
    """

    name: str
    size: float
    make: Make
    matters: float = SMALLEST_ELO
    ends: tuple[Look, ...] = tuple(Look(step / LOOKS) for step in range(FIRST_LOOK, LOOKS + 1))

    @property
    def truths(self) -> dict[Verdict, float]:
        """The truth at which each false verdict is the most likely."""
        return {"holds": 0.0, "does not hold": 0.0, "no such effect": self.matters}


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
        tally.different.pairs = Pairs((lost, less, even, more, won))
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


def _odds(random: Random, truth: float) -> Games:
    """One search is ahead of another at odds, in percentage points: 400 games each from 60 openings that repeat.

    Each opening suits one search or the other.
    """
    openings = random.permutation(np.arange(400) % 60)
    chances = random.uniform(0.3, 0.6, 60)
    changed = chances + random.normal(0, 0.1, 60).clip(-0.25, 0.25) + truth / 100
    before, after = (random.random(400) < of[openings] for of in (chances, changed))
    gains = (100.0 * (after.astype(float) - before)).tolist()
    places = openings.tolist()

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


AND_AS_MANY_MORE = (Look(), Look(1.0, 1), Look(1.0, 2))

KINDS = (
    Kind("match of 400 games", 40.0, _match(400)),
    Kind("one of 12 cells, 1,000 games", 40.0, _match(1000, cells=12)),
    Kind("lead at odds, 60 openings that repeat", 10.0, _odds, ODDS_MATTER),
    Kind("8 seeds, then 16, then 24", 3.0, _seeds(8), SEEDS_MATTER, ends=AND_AS_MANY_MORE),
)


class ErrorRates(NamedTuple):
    """Shares of simulated experiments, 0 to 1. false: of each false verdict; covered: intervals of 95 % that contain
    the bound, at the end, where it is the truth; power: "holds" at the kind's effect.
    """

    false: Mapping[Verdict, float]
    covered: float
    power: float


def error_rates(kind: Kind, rounds: int, seed: int) -> ErrorRates:
    """Simulate experiments with each truth."""
    truths = sorted({0.0, kind.size, *kind.truths.values()})
    counts: dict[float, Counter[Verdict]] = {}
    covered = 0
    for truth in truths:
        random = stream(seed, f"verdicts on {kind.name} at {truth:g}")
        counts[truth] = Counter()
        for _ in range(rounds):
            games = kind.make(random, truth)
            counts[truth][judged(games, kind.ends)] += 1
            if truth == 0:
                side = games(1.0).inequalities[-1]
                low, high = side.measured.interval(0.95)
                covered += low <= side.bound <= high
    false = {verdict: counts[truth][verdict] / rounds for verdict, truth in kind.truths.items()}
    return ErrorRates(false, covered / rounds, counts[kind.size]["holds"] / rounds)


def judged(games: Games, ends: Sequence[Look]) -> Verdict:
    """Return the verdict at the first look at which the claim is not open; open: at none."""
    verdicts = (games(look.share if not look.extensions else 1.0 + look.extensions).at(look).verdict for look in ends)
    return next((verdict for verdict in verdicts if verdict != "open"), "open")

"""Points of the MPV figures: budgets, Elo with intervals, means over players, matches as tables and lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from hauteur.matches.ratings.elo import MatchScore, Pairs, elo_of_interval, elo_of_score
from hauteur.matches.ratings.rating_list import RatingList
from hauteur.matches.results import Tally
from hauteur.players.settings import PlayerSettings
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.measured import Interval
from hauteur_experiments.mpv_mcts.pairs import GAMES
from hauteur_experiments.player_pool import RUNGS, Ladder, PlayerPool, nearest_rung
from hauteur_experiments.verdict import SMALLEST_ELO, Claim, Inequality

PAPER_RUNG = 100_000
"""Simulations of the paper's opponent."""
LEAST_BUDGET = 4
"""Units of which a quarter is still an evaluation of the large net."""
APART = 0.12
"""Distance of the points of a place in a figure."""
LEAST_GAMES = 200
"""Games of a match below which nothing is concluded."""
Z95 = NormalDist().inv_cdf(0.975)


def budgets_of(setting: ExperimentSetting, paper: Sequence[int]) -> list[int]:
    """The paper's budgets, or with `--visits` those as many doublings below it, without the ones that are too small.

    ValueError where none is left.
    """
    largest = setting.visits_or(max(paper))
    found = [round(budget * largest / max(paper)) for budget in paper]
    if largest < LEAST_BUDGET:
        raise ValueError(f"--visits is the largest budget, at least {LEAST_BUDGET}, got {largest}")
    return [budget for budget in found if budget >= LEAST_BUDGET]


def games_of(setting: ExperimentSetting, paper: int) -> int:
    """Games of a match at the setting's scale, in pairs."""
    return 2 * setting.scaled(paper // 2)


def duel_games(setting: ExperimentSetting) -> int:
    """Games of a match head to head, which the paper does not have: half as many."""
    return max(2, games_of(setting, GAMES) // 4 * 2)


def begin_rung(budget: int, paper: Sequence[int]) -> int:
    """The rung to try first: the paper's opponent at its largest budget, half of it at half the budget."""
    return nearest_rung(PAPER_RUNG * budget / max(paper))


@dataclass(frozen=True)
class Elo:
    """A difference or a rating with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"

    def measured(self, games: int) -> Interval:
        """The difference of so many games for a claim; its interval is taken to be normal."""
        error = (self.high - self.low) / (2 * Z95)

        def ends(confidence: float) -> tuple[float, float]:
            half = NormalDist().inv_cdf((1 + confidence) / 2) * error
            return self.value - half, self.value + half

        return Interval(self.value, games, ends)


def rating_of(ratings: RatingList, name: str) -> Elo:
    """A player's rating."""
    found = next(rating for rating in ratings.ratings if rating.name == name)
    return Elo(found.elo, *found.interval())


def mean_rating(ratings: RatingList, names: Sequence[str]) -> Elo:
    """The mean of players' ratings."""
    return contrast(ratings, names, ())


def contrast(ratings: RatingList, above: Sequence[str], below: Sequence[str]) -> Elo:
    """Mean rating of the players `above` minus that of `below` (0 where there are none), by the list's covariance."""
    order = [rating.name for rating in ratings.ratings]
    weights = np.zeros(len(order))
    for names, sign in ((above, 1.0), (below, -1.0)):
        for name in names:
            weights[order.index(name)] += sign / len(names)
    value = float(weights @ np.array([rating.elo for rating in ratings.ratings]))
    half = Z95 * math.sqrt(max(0.0, float(weights @ ratings.covariance @ weights)))
    return Elo(value, value - half, value + half)


def elo_of(tally: Tally) -> Elo:
    """Return the Elo of a match; infinite values are clipped to 1,200."""
    ends = (elo_of_score(tally.record.score), *elo_of_interval(tally.score_interval))
    return Elo(*(min(1200.0, max(-1200.0, end)) for end in ends))


def pooled(tallies: Sequence[Tally]) -> Elo:
    """Return the Elo of several matches pooled as one."""
    records, pairs = [tally.record for tally in tallies], [tally.pairs.counts for tally in tallies]
    whole = Tally(paired=True)
    whole.record = MatchScore(
        *(sum(column) for column in zip(*((r.wins, r.draws, r.losses) for r in records), strict=True))
    )
    lost, less, even, more, won = (sum(column) for column in zip(*pairs, strict=True))
    whole.pairs = Pairs((lost, less, even, more, won))
    return elo_of(whole)


def all_ahead(elos: Mapping[str, Elo], games: int, matters: float = SMALLEST_ELO) -> Claim:
    """Return the claim that all these differences, by what they are of, are above 0. games: of the smallest; matters:
    the smallest difference that does, in Elo.
    """
    return Claim(
        tuple(
            Inequality(what, elo.measured(games), 0.0, "above", LEAST_GAMES, unit="Elo", matters=matters)
            for what, elo in elos.items()
        )
    )


def match_rows(field: PlayerPool) -> list[dict[str, Any]]:
    """All matches of a field, as plain data."""
    rows = []
    for (a, b), tally in field.tallies.items():
        elo, low, high = (elo_of(tally).value, elo_of(tally).low, elo_of(tally).high)
        record = tally.record
        counts = {"games": record.games, "wins": record.wins, "draws": record.draws, "losses": record.losses}
        rows.append({"a": a, "b": b, **counts, "score": record.score, "elo": elo, "elo_low": low, "elo_high": high})
    return rows


def match_table(field: PlayerPool, pairs: Iterable[tuple[str, str]], title: str) -> str:
    """Matches as lines of text."""
    lines = [title]
    for a, b in pairs:
        tally = field.tallies[a, b]
        low, high = tally.score_interval
        score = f"{tally.record.score:.1%} ({low:.1%} to {high:.1%})"
        lines.append(f"  {a:>20} : {b:<20} {tally.record!s:<16} {score:<24} Elo {elo_of(tally)}")
    return "\n".join(lines)


def elo_points(places: Sequence[str], rows: Mapping[str, Sequence[Elo]], **words: str) -> Figure:
    """Elo with bars over named places (budgets, stages); words: key, title, text and x_name of the figure."""
    lines = tuple(
        Series(
            name,
            [place + APART * (number - (len(rows) - 1) / 2) for place in range(1, len(places) + 1)],
            [elo.value for elo in row],
            LINE_COLOURS[number % len(LINE_COLOURS)],
            low=[elo.low for elo in row],
            high=[elo.high for elo in row],
            joined=False,
        )
        for number, (name, row) in enumerate(rows.items())
    )
    return Figure(**words, y_name="Elo", lines=lines, x_names=tuple(places))  # type: ignore[arg-type]


def place_all(ladder: Ladder, begin: int, middle: str, others: Sequence[str]) -> str:
    """Play everybody against the rung at which the middle one is placed; the rung's name."""
    rung = ladder.near(middle, begin)
    for name in (middle, *others):
        ladder.field.meet(name, rung)
    return rung


def rung_stand_in(budget: int, paper: Sequence[int]) -> PlayerSettings:
    """Return the stand-in for the rung in an estimate, before it is known."""
    return PlayerSettings(baseline=f"rave:{RUNGS[begin_rung(budget, paper)]}")

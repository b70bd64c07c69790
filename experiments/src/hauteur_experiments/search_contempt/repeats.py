"""Figure 4 of Joshi 2025: how many games of self-play are the same up to a move, by N_scl and temperature.

The games are those of figures 2 and 3; what was played for them, in folders beside this one too, is not played again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, stated
from hauteur_experiments.grid import COLOURS, Match, play, points
from hauteur_experiments.measured import Interval, Mean, normal, t_of
from hauteur_experiments.search_contempt.settings import (
    GAMES,
    LEAST_GAMES,
    N_SCL_SETS,
    PAPER,
    TAU_SETS,
    VISITS,
    paper_match,
    scoped,
)
from hauteur_experiments.verdict import Claim, Inequality

Games = Sequence[Sequence[str]]
"""The plies of each game."""

SETS = (*TAU_SETS, *N_SCL_SETS)
MOVES = 40
"""Moves of each side that are looked at."""

COMPARED = (5, 10, 15)
"""Moves at which repetition with and without search-contempt is compared."""

NO_MORE = 1.5
"""Same pairs that are less than this times as frequent as with PUCT are no more repetition."""

ALMOST_ALL = 20
"""The paper: by this move almost all games are unique,"""

FEW = 0.05
"""which is to say that at most this share of 100 games has a twin."""

SEEN = 5
"""Games that a line is expected in and, with a chance of 4 %, comes in once at most."""

LEAST_SETS = 8
"""Sets of 100 games below which nothing is concluded of that share."""


def make(setting: Setting) -> Result:
    """Play the sets and count the games that are alike."""
    played = play(setting, matches(setting), shared=True)
    lines: dict[str, Games] = {one.title: [game.moves.split() for game in played[one.name].games] for one in SETS}
    shares = {title: shares_by_move(games, MOVES) for title, games in lines.items()}
    games = len(lines[SETS[0].title])
    rows = [{"move": move, **{title: row[move].value for title, row in shares.items()}} for move in range(MOVES + 1)]
    pairs = {title: {move: str(same_pairs(moves, move)) for move in COMPARED} for title, moves in lines.items()}
    facts = {"visits": setting.visits_or(VISITS), "games_a_setting": games, "same_pairs": pairs}
    return scoped(setting, Result(rows, findings(lines), [_figure(setting, shares, games)], facts=facts))


def matches(setting: Setting) -> list[Match]:
    """The self-play of every set."""
    return [paper_match(setting, one) for one in SETS]


def repeat_shares(games: Games, moves: int) -> list[float]:
    """Share of the games whose first m moves (of each side) are those of another game too, for m from 0 to `moves`.

    1 means that every game has a twin up to there, 0 that all are different; it never rises
    with m. It grows with the number of games, so only equally many are comparable. ValueError without games.
    """
    if not games:
        raise ValueError("repeats of no games")
    found = []
    for move in range(moves + 1):
        counts = Counter(tuple(game[: 2 * move]) for game in games)
        found.append(sum(count for count in counts.values() if count > 1) / len(games))
    return found


def shares_by_move(games: Games, moves: int) -> list[Mean]:
    """The shares of games that repeat, by move: the means of sets of 100 games, the paper's number."""
    size = min(GAMES, len(games))
    sets = [repeat_shares(games[first : first + size], moves) for first in range(0, len(games) - size + 1, size)]
    return [Mean(shares) for shares in zip(*sets, strict=True)]


def of_sets(shares: Sequence[float]) -> Interval:
    """Return the mean share of sets with an interval for counts, whose variance grows with their mean.

    (mean - truth)^2 = t^2 f truth / n over n sets, with the variance f times the mean as measured, and f at least that
    of games that repeat in twos. Student's interval holds falsely in 5 % where such shares are few.
    """
    mean, count = Mean(shares), len(shares)
    spread = stdev(shares) ** 2 / mean.value if count > 1 and mean.value else 0.0

    def ends(confidence: float) -> tuple[float, float]:
        if count < 2:
            return 0.0, 1.0
        a = t_of(confidence, count - 1) ** 2 * max(spread, 2 / GAMES) / count
        half = math.sqrt(a * mean.value + a * a / 4)
        return mean.value + a / 2 - half, mean.value + a / 2 + half

    return Interval(mean.value, count, ends)


class SamePairs(NamedTuple):
    """The chance that two games are the same up to a move, the standard error of its measurement, and of how many."""

    chance: float
    error: float

    games: int

    @property
    def least_error(self) -> float:
        """The error, which for a chance of 0 is not 0: a line of which SEEN games are expected may have come once."""
        return max(self.error, (SEEN / self.games) ** 2 / 2)

    def __str__(self) -> str:
        low, high = (min(1.0, max(0.0, self.chance + side * 1.96 * self.least_error)) for side in (-1, 1))
        return f"{self.chance:.1%} [{low:.1%}, {high:.1%}]"


def same_pairs(games: Games, move: int) -> SamePairs:
    """Share of all pairs of games that are the same up to a move; comparable for any number of games.

    It is the mean of h_i, the share of the other games that game i is the same as; such a mean over pairs has the error
    2 sd(h) / sqrt(n) (Hoeffding). ValueError for fewer than two games.
    """
    n = len(games)
    if n < 2:
        raise ValueError(f"pairs need two games or more, got {n}")
    beginnings = [tuple(game[: 2 * move]) for game in games]
    counts = Counter(beginnings)
    alike = [(counts[beginning] - 1) / (n - 1) for beginning in beginnings]
    return SamePairs(fmean(alike), 2 * stdev(alike) / math.sqrt(n), n)


def findings(games: Mapping[str, Games]) -> list[Finding]:
    """The paper's three statements, beside the games of every setting by its title."""
    return [_temperature_finding(games), _unique_finding(games), _contempt_finding(games)]


def _temperature_finding(games: Mapping[str, Games]) -> Finding:
    """Two games are the same up to move 4 less often with tau_2."""
    half = -same_pairs(games["tau_1"], 4).chance / 2
    return Finding.of("temperature", Claim((beyond(games, "tau_2", "tau_1", 4, 1.0, half),)))


def _unique_finding(games: Mapping[str, Games]) -> Finding:
    """In every setting at most FEW of 100 games have a twin up to move ALMOST_ALL."""
    sides = []
    for title, lines in games.items():
        share = of_sets(shares_by_move(lines, ALMOST_ALL)[-1].samples)
        what = f"share of {GAMES} games of {title} that repeat another up to move {ALMOST_ALL}"
        sides.append(Inequality(what, share, FEW, "below", LEAST_SETS, of=f"sets of {GAMES} games", matters=FEW))
    return Finding.of("unique", Claim(tuple(sides)))


def _contempt_finding(games: Mapping[str, Games]) -> Finding:
    """No N_scl repeats NO_MORE times as often as PUCT or more, at any of the moves COMPARED."""
    titles = [title for title in games if title.startswith("N_scl")]
    sides = [beyond(games, title, "PUCT", move, NO_MORE, 0.0) for title in titles for move in COMPARED]
    return Finding.of("contempt", Claim(tuple(sides)))


def beyond(games: Mapping[str, Games], of: str, to: str, move: int, times: float, matters: float) -> Inequality:
    """Return that two games of one setting are the same up to a move less often than `times` times as often as those of
    another. matters: the difference that does.
    """
    one, other = same_pairs(games[of], move), same_pairs(games[to], move)
    error = max(math.hypot(one.error, times * other.error), one.least_error, times * other.least_error)
    less = normal(one.chance - times * other.chance, error, min(one.games, other.games))
    what = f"share of same pairs up to move {move}, {of} less {to if times == 1 else f'{times:g} times {to}'}"
    return Inequality(what, less, 0.0, "below", LEAST_GAMES, matters=matters)


def _figure(setting: Setting, shares: Mapping[str, Sequence[Mean]], games: int) -> ht.Figure:
    places = range(MOVES + 1)
    lines = [
        points(title, places, row, COLOURS[number % len(COLOURS)], dashed=title.startswith("tau"), joined=True)
        for number, (title, row) in enumerate(shares.items())
    ]
    played = f"Self-play of {setting.game or 'chess'} at {setting.visits_or(VISITS):,} visits"
    text = (
        f"{played}: games of {min(games, GAMES)} that are the same as another one up to a move. "
        f"Means of {max(1, games // GAMES)} sets, shades: 95 % intervals."
    )
    return ht.Figure("repeats", "Games that repeat", text, "share of games", "move", lines=tuple(lines), percent=True)


EXPERIMENTS = (
    Experiment(
        "repeats",
        f"{PAPER}, figure 4",
        "self-play: share of games that repeat another one, by N_scl and temperature",
        make,
        claims=stated(
            f"{PAPER}, figure 4",
            "temperature | repeats fall to 0 early with a high temperature (weaker here: by move 4 they are fewer)"
            " | by move 4 with tau_2, much later with tau_1",
            "unique | almost all games are unique by move 20 to 30 | 0 of 100 games repeat",
            "contempt | a low N_scl does not repeat more | no number",
        ),
        matches=matches,
        uses=("nets", "visits", "game"),
        looks=True,
    ),
)

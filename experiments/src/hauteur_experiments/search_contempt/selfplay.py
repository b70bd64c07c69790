"""Figures 2 to 4 of Joshi 2025: White's wins, draws and losses in self-play, and games that repeat, by setting.

Wins and losses teach more than draws, and strong equal players draw. Two levers change that: search-contempt, whose
opponent thinks N_scl visits and no more, and a higher temperature. The games are those of the paper's settings, from
the start of chess, played to the end by the rules alone; what was played for one figure, in folders beside this one
too, is not played again for another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any, NamedTuple

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, joined, stated
from hauteur_experiments.grid import COLOURS, Match, play, points
from hauteur_experiments.measured import Interval, Mean, Record, normal, t_of
from hauteur_experiments.ratio import MeasuredRatio, decisive_ratio, ratio_factor, ratio_of, ratio_slope, ratio_text
from hauteur_experiments.search_contempt.settings import (
    GAMES,
    LEAST_GAMES,
    N_SCL_SETS,
    PAPER,
    TAU_SETS,
    VISITS,
    SelfPlay,
    paper_match,
    scoped,
)
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Inequality, finite

Games = Sequence[Sequence[str]]
"""The plies of each game."""

SETS = (*TAU_SETS, *N_SCL_SETS)
MOVES = 40
"""Moves of each side that are looked at."""

COMPARED = (5, 10, 15)
"""Moves at which repetition with and without search-contempt is compared."""

NO_MORE = 1.5
"""Same pairs that are less than this times as frequent as with PUCT are not more repetition."""

ALMOST_ALL = 20
"""The paper: by this move almost all games are unique,"""

FEW = 0.05
"""which is to say that at most this share of 100 games has a twin."""

SEEN = 5
"""Games that a line is expected in and, with a chance of 4 %, comes in once at most."""

LEAST_SETS = 8
"""Sets of 100 games below which nothing is concluded of that share."""


class Beside(NamedTuple):
    """A setting's name, White's results here, and those of the paper."""

    title: str
    here: Record
    paper: Record


def compare(
    key: str,
    x_name: str,
    sets: Sequence[SelfPlay],
    decide: Callable[[Sequence[Beside], int], list[Finding]],
    setting: Setting,
) -> Result:
    """Play the sets and compare them with the paper's."""
    played = play(setting, matches(sets, setting), shared=True)
    visits = setting.visits_or(VISITS)
    found = [Beside(one.title, Record.of(played[one.name].tally), one.paper) for one in sets]
    games = found[0].here.games
    size = f"{games:,} games a setting, {visits:,} visits a move"
    text = f"Self-play of {setting.game or 'chess'}: {size}; paper: chess, {GAMES} games, {VISITS:,} visits."
    figures = [ratio_figure(key, text, found, x_name)]
    interval = "95 %: Wilson's interval of the share of draws p, taken to (1 - p)/p"
    facts = {"visits": visits, "games_a_setting": games, "paper_visits": VISITS, "interval": interval}
    return scoped(setting, Result([ratio_row(one) for one in found], decide(found, visits), figures, facts=facts))


def matches(sets: Sequence[SelfPlay], setting: Setting) -> list[Match]:
    """The self-play of each set."""
    return [paper_match(setting, one) for one in sets]


def contempt_findings(rows: Sequence[Beside], visits: int) -> list[Finding]:
    """(w + l)/d falls with N_scl: as a whole, by its log-log slope with PUCT as N_scl = visits, and at every step."""
    steps = tuple(_factor(low, high) for low, high in pairwise(rows))
    each = Finding.of("steps", Claim(steps))
    places = _places([row.here for row in rows], visits)
    if len({place.x for place in places}) < 2:  # so few visits that no N_scl is below them
        return [each]
    paper = ratio_slope(_places([row.paper for row in rows], VISITS)).value
    what = "slope of ln((w + l)/d) over ln N_scl"
    slope = ratio_slope(places)
    of = "games of a setting"
    side = Inequality(what, slope, 0.0, "below", LEAST_GAMES, of=of, matters=paper / 2, source=paper)
    return [Finding.of("slope", Claim((side,)), _texts(rows)), each]


def _places(records: Sequence[Record], visits: int) -> list[MeasuredRatio]:
    """The ratios by N_scl; one that the visits do not reach is PUCT."""
    numbers = [min(place, visits) for place in (5, 10, 32, visits)]
    return [MeasuredRatio(x, record) for x, record in zip(numbers, records, strict=True)]


def temperature_findings(rows: Sequence[Beside], _visits: int) -> list[Finding]:
    """tau_2 has the higher ratio."""
    cold, warm = rows
    return [Finding.of("temperature", Claim((_factor(warm, cold),)), _texts(rows))]


def _factor(of: Beside, to: Beside) -> Inequality:
    """Return that one ratio is above another; what matters is half of the logarithm of the paper's factor."""
    what = f"(w + l)/d of {of.title} over that of {to.title}"
    factor = ratio_factor(of.here, to.here)
    paper = ratio_factor(of.paper, to.paper).value
    half = math.sqrt(max(1.0, paper))
    units = "games of a setting"
    return Inequality(what, factor, 1.0, "above", LEAST_GAMES, of=units, matters=half, source=paper)


def _texts(rows: Sequence[Beside]) -> str:
    return "; ".join(f"{row.title}: {ratio_text(row.here)}" for row in rows)


def ratio_row(one: Beside) -> dict[str, Any]:
    """A line of the table; a ratio or an end without bound is empty."""
    low, high = ratio_of(one.here).interval(0.95)
    row: dict[str, Any] = {"setting": one.title, "games": one.here.games}
    row |= one.here._asdict()
    row["ratio"] = decisive_ratio(one.here)
    row["ratio_low"] = low
    row["ratio_high"] = finite(high)
    for name, count in one.paper._asdict().items():
        row[f"paper_{name}"] = count
    row["paper_ratio"] = decisive_ratio(one.paper)
    return row


def ratio_figure(key: str, text: str, rows: Sequence[Beside], x_name: str) -> ht.Figure:
    """The ratio of every setting with its interval, here and in the paper, on a logarithmic axis.

    None where all games or no games are drawn: an end of the interval is then out of reach.
    """
    lines = []
    for name, shift, colour in (("paper", -0.08, "orange"), ("here", 0.08, "blue")):
        places = []
        ratios = []
        for number, row in enumerate(rows, 1):
            record = row.paper if name == "paper" else row.here
            if record.draws > 0 and record.wins + record.losses > 0:
                places.append(number + shift)
                ratios.append(ratio_of(record))
        lines.append(points(name, places, ratios, colour))
    title = f"Decisive games a draw by {x_name}"
    names = [row.title for row in rows]
    text = f"{text} Bars: 95 % intervals."
    return ht.Figure(f"{key}-ratio", title, text, "(w + l) / d", x_name, lines=tuple(lines), log=True, x_names=names)


def count_repeats(setting: Setting) -> Result:
    """Play the sets and count the games that are alike."""
    played = play(setting, matches(SETS, setting), shared=True)
    lines: dict[str, Games] = {}
    for one in SETS:
        lines[one.title] = [game.moves.split() for game in played[one.name].games]
    shares = {title: shares_by_move(games, MOVES) for title, games in lines.items()}
    rows: list[dict[str, Any]] = []
    for move in range(MOVES + 1):
        row: dict[str, Any] = {"move": move}
        for title, by_move in shares.items():
            row[title] = by_move[move].value
        rows.append(row)
    pairs = {}
    for title, moves in lines.items():
        pairs[title] = {move: str(same_pairs(moves, move)) for move in COMPARED}
    games = len(lines[SETS[0].title])
    facts = {"visits": setting.visits_or(VISITS), "games_a_setting": games, "same_pairs": pairs}
    contempt = [title for title in lines if title.startswith("N_scl")]
    idle = joined(*(idle_text(title, lines[title], lines["PUCT"]) for title in contempt))
    findings = []
    for found in repeat_findings(lines):
        findings.append(replace(found, scope=joined(found.scope, idle)))
    return scoped(setting, Result(rows, findings, [repeat_figure(setting, shares, games)], facts=facts))


def idle_text(title: str, games: Games, plain: Games) -> str:
    """Say so where a setting hardly acts: half of its games or more are those of plain PUCT, from the same draws."""
    same = sum(a == b for a, b in zip(games, plain, strict=True))
    if 2 * same >= len(games):
        return f"{title} is PUCT in {same} of {len(games)} games"
    return ""


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
    sets = []
    for first in range(0, len(games) - size + 1, size):
        sets.append(repeat_shares(games[first : first + size], moves))
    return [Mean(shares) for shares in zip(*sets, strict=True)]


def of_sets(shares: Sequence[float]) -> Interval:
    """Return the mean share of sets with an interval for counts, whose variance grows with their mean.

    (mean - truth)^2 = t^2 f truth / n over n sets, with the variance f times the mean as measured, and f at least that
    of games that repeat in twos. Student's interval holds falsely in 5 % where such shares are few.
    """
    mean = Mean(shares).value
    count = len(shares)
    spread = 0.0
    if count > 1 and mean:
        spread = stdev(shares) ** 2 / mean

    def ends(confidence: float) -> tuple[float, float]:
        if count < 2:
            return 0.0, 1.0
        a = t_of(confidence, count - 1) ** 2 * max(spread, 2 / GAMES) / count
        half = math.sqrt(a * mean + a * a / 4)
        middle = mean + a / 2
        return middle - half, middle + half

    return Interval(mean, count, ends)


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
        half = 1.96 * self.least_error
        low = max(0.0, self.chance - half)
        high = min(1.0, self.chance + half)
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


def repeat_findings(games: Mapping[str, Games]) -> list[Finding]:
    """The paper's three statements, beside the games of every setting by its title.

    Two games are the same up to move 4 less often with tau_2; in every setting at most FEW of 100 games have a twin up
    to move ALMOST_ALL; no N_scl repeats NO_MORE times as often as PUCT or more, at any of the moves COMPARED.
    """
    half = -same_pairs(games["tau_1"], 4).chance / 2
    warm = beyond(games, "tau_2", "tau_1", 4, 1.0, half)
    sets = []
    pairs = []
    for title, lines in games.items():
        share = of_sets(shares_by_move(lines, ALMOST_ALL)[-1].samples)
        what = f"share of {GAMES} games of {title} that repeat another up to move {ALMOST_ALL}"
        sets.append(Inequality(what, share, FEW, "below", LEAST_SETS, of=f"sets of {GAMES} games", matters=FEW))
        if title.startswith("N_scl"):
            for move in COMPARED:
                pairs.append(beyond(games, title, "PUCT", move, NO_MORE, 0.0))
    return [
        Finding.of("temperature", Claim((warm,))),
        Finding.of("unique", Claim(tuple(sets))),
        Finding.of("contempt", Claim(tuple(pairs))),
    ]


def beyond(games: Mapping[str, Games], of: str, to: str, move: int, times: float, matters: float) -> Inequality:
    """Return that two games of one setting are the same up to a move less often than `times` times as often as those of
    another. matters: the difference that does.
    """
    one = same_pairs(games[of], move)
    other = same_pairs(games[to], move)
    error = math.hypot(one.error, times * other.error)
    least_error = max(one.least_error, times * other.least_error)
    difference = one.chance - times * other.chance
    less = normal(difference, max(error, least_error), min(one.games, other.games))
    compared = to if times == 1 else f"{times:g} times {to}"
    what = f"share of same pairs up to move {move}, {of} less {compared}"
    return Inequality(what, less, 0.0, "below", LEAST_GAMES, matters=matters)


def repeat_figure(setting: Setting, shares: Mapping[str, Sequence[Mean]], games: int) -> ht.Figure:
    """Games that repeat another one, by move."""
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
        "contempt-wdl",
        f"{PAPER}, figure 2",
        "self-play with search-contempt: wins, draws and losses by N_scl",
        partial(compare, "contempt-wdl", "N_scl", N_SCL_SETS, contempt_findings),
        claims=stated(
            f"{PAPER}, figure 2",
            "slope | (w + l)/d falls with N_scl | 1.38, 0.79, 0.32, 0.09 at N_scl 5, 10, 32, off",
            "steps | (w + l)/d falls from each N_scl to the next | 1.38, 0.79, 0.32, 0.09 at N_scl 5, 10, 32, off",
        ),
        matches=partial(matches, N_SCL_SETS),
        uses=("nets", "visits", "game", "precision", "positions"),
        looks=True,
    ),
    Experiment(
        "temperature-wdl",
        f"{PAPER}, figure 3",
        "self-play with PUCT: wins, draws and losses by temperature",
        partial(compare, "temperature-wdl", "schedule of temperatures", TAU_SETS, temperature_findings),
        claims=stated(
            f"{PAPER}, figure 3",
            "temperature | (w + l)/d rises with the temperature | 0.06 with tau_1, 1.38 with tau_2",
        ),
        matches=partial(matches, TAU_SETS),
        uses=("nets", "visits", "game", "precision", "positions"),
        looks=True,
    ),
    Experiment(
        "repeats",
        f"{PAPER}, figure 4",
        "self-play: share of games that repeat another one, by N_scl and temperature",
        count_repeats,
        claims=stated(
            f"{PAPER}, figure 4",
            "temperature | repeats fall to 0 early with a high temperature (weaker here: by move 4 they are fewer)"
            " | by move 4 with tau_2, much later with tau_1",
            "unique | almost all games are unique by move 20 to 30 | 0 of 100 games repeat",
            "contempt | a low N_scl does not repeat more | no number",
        ),
        matches=partial(matches, SETS),
        uses=("nets", "visits", "game", "precision"),
        looks=True,
    ),
)

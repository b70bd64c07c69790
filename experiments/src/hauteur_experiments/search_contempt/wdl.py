"""Figures 2 and 3 of Joshi 2025: White's wins, draws and losses in self-play, by N_scl and by temperature.

Wins and losses teach more than draws, and strong equal players draw. Two levers change that: search-contempt, whose
opponent thinks N_scl visits and no more, and a higher temperature. The games are those of the paper's settings, from
the start of chess, played to the end by the rules alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, finite, stated
from hauteur_experiments.grid import Match, play
from hauteur_experiments.measured import Record
from hauteur_experiments.ratio import (
    MeasuredRatio,
    decisive_ratio,
    decisive_ratio_interval,
    ratio_factor,
    ratio_slope,
    ratio_text,
)
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
from hauteur_experiments.verdict import Claim, Inequality


class Beside(NamedTuple):
    """A setting's name, White's results here, and those of the paper."""

    title: str
    here: Record
    paper: Record


def make(
    key: str,
    x_name: str,
    sets: Sequence[SelfPlay],
    decide: Callable[[Sequence[Beside], int], list[Finding]],
    setting: Setting,
) -> Result:
    """Play the sets and put them beside the paper's."""
    played, visits = play(setting, matches(sets, setting), shared=True), setting.visits_or(VISITS)
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
    steps = Claim(tuple(_factor(low, high) for low, high in pairwise(rows)))
    each = Finding.of("steps", steps)
    places = _places([row.here for row in rows], visits)
    if len({place.x for place in places}) < 2:  # so few visits that no N_scl is below them
        return [each]
    half = ratio_slope(_places([row.paper for row in rows], VISITS)).value / 2
    what = "slope of ln((w + l)/d) over ln N_scl"
    side = Inequality(what, ratio_slope(places), 0.0, "below", LEAST_GAMES, of="games of a setting", matters=half)
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
    what, half = (
        f"(w + l)/d of {of.title} over that of {to.title}",
        math.sqrt(max(1.0, ratio_factor(of.paper, to.paper).value)),
    )
    factor = ratio_factor(of.here, to.here)
    return Inequality(what, factor, 1.0, "above", LEAST_GAMES, of="games of a setting", matters=half)


def _texts(rows: Sequence[Beside]) -> str:
    return "; ".join(f"{row.title}: {ratio_text(row.here)}" for row in rows)


def ratio_row(one: Beside) -> dict[str, Any]:
    """A line of the table; a ratio or an end without bound is empty."""
    low, high = decisive_ratio_interval(one.here)
    row: dict[str, Any] = {"setting": one.title, "games": one.here.games, **one.here._asdict()}
    row |= {"ratio": decisive_ratio(one.here), "ratio_low": low, "ratio_high": finite(high)}
    row |= {f"paper_{name}": count for name, count in one.paper._asdict().items()}
    return row | {"paper_ratio": decisive_ratio(one.paper)}


def ratio_figure(key: str, text: str, rows: Sequence[Beside], x_name: str) -> ht.Figure:
    """The ratio of every setting with its interval, here and in the paper, on a logarithmic axis."""
    lines = (
        _ratio_series("paper", -0.08, [row.paper for row in rows], "orange"),
        _ratio_series("here", 0.08, [row.here for row in rows], "blue"),
    )
    title, names = f"Decisive games a draw by {x_name}", [row.title for row in rows]
    text = f"{text} Bars: 95 % intervals."
    return ht.Figure(f"{key}-ratio", title, text, "(w + l) / d", x_name, lines=lines, log=True, x_names=names)


def _ratio_series(name: str, shift: float, records: Sequence[Record], colour: str) -> ht.Series:
    """Points with bars; none where all games or no games are drawn: an end of the interval is then out of reach."""
    known = [record.draws > 0 and record.wins + record.losses > 0 for record in records]
    ends = [decisive_ratio_interval(record) for record in records]
    low, high = ([end[side] if there else None for end, there in zip(ends, known, strict=True)] for side in (0, 1))
    values = [decisive_ratio(record) if there else None for record, there in zip(records, known, strict=True)]
    places = [number + shift for number in range(1, len(records) + 1)]
    return ht.Series(name, places, values, colour, low=low, high=high, joined=False)


EXPERIMENTS = (
    Experiment(
        "contempt-wdl",
        f"{PAPER}, figure 2",
        "self-play with search-contempt: wins, draws and losses by N_scl",
        partial(make, "contempt-wdl", "N_scl", N_SCL_SETS, contempt_findings),
        claims=stated(
            f"{PAPER}, figure 2",
            "slope | (w + l)/d falls with N_scl | 1.38, 0.79, 0.32, 0.09 at N_scl 5, 10, 32, off",
            "steps | (w + l)/d falls from each N_scl to the next | the same",
        ),
        matches=partial(matches, N_SCL_SETS),
        uses=("nets", "visits", "game"),
        looks=True,
    ),
    Experiment(
        "temperature-wdl",
        f"{PAPER}, figure 3",
        "self-play with PUCT: wins, draws and losses by temperature",
        partial(make, "temperature-wdl", "schedule of temperatures", TAU_SETS, temperature_findings),
        claims=stated(
            f"{PAPER}, figure 3",
            "temperature | (w + l)/d rises with the temperature | 0.06 with tau_1, 1.38 with tau_2",
        ),
        matches=partial(matches, TAU_SETS),
        uses=("nets", "visits", "game"),
        looks=True,
    ),
)

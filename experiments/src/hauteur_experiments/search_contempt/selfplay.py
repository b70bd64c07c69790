"""Figures 2 and 3 of Joshi 2025: White's wins, draws and losses in self-play, by N_scl and by temperature.

Wins and losses teach more than draws, and strong equal players draw. Two levers change that: search-contempt, whose
opponent thinks N_scl visits and no more, and a higher temperature. The games are those of the paper's settings
(hauteur_experiments.search_contempt.settings), from the start of chess, played to the end by the rules alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.ratio import MeasuredRatio
from hauteur.plots import Figure
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import match_seconds
from hauteur_experiments.measured import Interval
from hauteur_experiments.search_contempt.ratio_figures import (
    Beside,
    ratio_figure,
    ratio_row,
    ratio_text,
    results_figure,
)
from hauteur_experiments.search_contempt.ratio_fit import ratio_factor, ratio_slope
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
from hauteur_experiments.shared_games import play_shared
from hauteur_experiments.verdict import Claim, Inequality


def contempt_wdl(setting: ExperimentSetting) -> Result:
    """Figure 2."""
    rows = _play(setting, N_SCL_SETS)
    return _result(setting, "contempt-wdl", rows, contempt_findings(rows, setting.visits_or(VISITS)), "N_scl")


def temperature_wdl(setting: ExperimentSetting) -> Result:
    """Figure 3."""
    rows = _play(setting, TAU_SETS)
    return _result(setting, "temperature-wdl", rows, temperature_findings(rows), "schedule of temperatures")


def _play(setting: ExperimentSetting, sets: Sequence[SelfPlay]) -> list[Beside]:
    played = play_shared(setting, [paper_match(setting, one) for one in sets])
    return [Beside(one.title, played[one.name].tally.record, one.paper) for one in sets]


def contempt_findings(rows: Sequence[Beside], visits: int) -> list[Finding]:
    """(w + l)/d falls with N_scl: as a whole, by its log-log slope with PUCT as N_scl = visits, and at every step.

    rows: of N_SCL_SETS.
    """
    steps = Claim(tuple(_factor(low, high) for low, high in pairwise(rows)))
    each = Finding.of("figure 2: (w + l)/d falls from each N_scl to the next and to PUCT", steps)
    places = _places([row.here for row in rows], visits)
    if len({place.x for place in places}) < 2:  # so few visits that no N_scl is below them
        return [each]
    paper, *_ = ratio_slope(_places([row.paper for row in rows], VISITS))
    games = min(row.here.games for row in rows)
    slope = Interval(ratio_slope(places)[0], games, lambda confidence: ratio_slope(places, confidence)[1:])
    what = "slope of ln((w + l)/d) over ln N_scl"
    side = Inequality(what, slope, 0.0, "below", LEAST_GAMES, of="games of a setting", matters=paper / 2)
    text = f"figure 2: (w + l)/d falls with N_scl; {_texts(rows, paper=True)}; slope {paper:.2f}"
    return [Finding.of(text, Claim((side,)), _texts(rows)), each]


def _places(records: Sequence[MatchScore], visits: int) -> list[MeasuredRatio]:
    """The ratios by N_scl; one that the visits do not reach is PUCT."""
    numbers = [min(place, visits) for place in (5, 10, 32, visits)]
    return [MeasuredRatio(x, record) for x, record in zip(numbers, records, strict=True)]


def temperature_findings(rows: Sequence[Beside]) -> list[Finding]:
    """tau_2 has the higher ratio; rows: of TAU_SETS."""
    cold, warm = rows
    there, *_ = ratio_factor(warm.paper, cold.paper)
    text = f"figure 3: (w + l)/d rises with the temperature; {_texts(rows, paper=True)}; {there:.0f} times as high"
    return [Finding.of(text, Claim((_factor(warm, cold),)), _texts(rows))]


def _factor(of: Beside, to: Beside) -> Inequality:
    """Return that one ratio is above another; what matters is half of the logarithm of the paper's factor."""
    factor = Interval(
        ratio_factor(of.here, to.here)[0],
        min(of.here.games, to.here.games),
        lambda confidence: ratio_factor(of.here, to.here, confidence)[1:],
    )
    what = f"(w + l)/d of {of.title} over that of {to.title}"
    half = math.sqrt(max(1.0, ratio_factor(of.paper, to.paper)[0]))
    return Inequality(what, factor, 1.0, "above", LEAST_GAMES, of="games of a setting", matters=half)


def _texts(rows: Sequence[Beside], *, paper: bool = False) -> str:
    return "; ".join(f"{row.title}: {ratio_text(row.paper if paper else row.here)}" for row in rows)


def _result(
    setting: ExperimentSetting, key: str, rows: Sequence[Beside], findings: Sequence[Finding], x_name: str
) -> Result:
    visits, games = setting.visits_or(VISITS), rows[0].here.games
    facts = {"visits": visits, "games_a_setting": games, "paper_visits": VISITS, "interval": INTERVAL}
    return Result(
        [ratio_row(row) for row in rows], scoped(setting, findings), _figures(key, rows, setting, x_name), facts=facts
    )


INTERVAL = "95 %: Wilson's interval of the share of draws p, taken to (1 - p)/p"


def _figures(key: str, rows: Sequence[Beside], setting: ExperimentSetting, x_name: str) -> list[Figure]:
    size = f"{rows[0].here.games:,} games a setting, {setting.visits_or(VISITS):,} visits a move"
    text = f"Self-play of {setting.game or 'chess'}: {size}; paper: chess, {GAMES} games, {VISITS:,} visits."
    bars = results_figure(key, f"White's results by {x_name}", text, rows)
    title = f"Decisive games a draw by {x_name}"
    ratio = ratio_figure(f"{key}-ratio", title, f"{text} Bars: 95 % intervals.", rows, x_name)
    return [bars, ratio]


def _seconds(sets: Sequence[SelfPlay], setting: ExperimentSetting) -> float:
    return match_seconds(setting, [paper_match(setting, one) for one in sets])


EXPERIMENTS = (
    Experiment(
        "contempt-wdl",
        f"{PAPER}, figure 2",
        "self-play with search-contempt: wins, draws and losses by N_scl",
        0.0,
        contempt_wdl,
        seeds=1,
        uses=("nets", "visits", "game"),
        estimate_here=partial(_seconds, N_SCL_SETS),
        looks=True,
    ),
    Experiment(
        "temperature-wdl",
        f"{PAPER}, figure 3",
        "self-play with PUCT: wins, draws and losses by temperature",
        0.0,
        temperature_wdl,
        seeds=1,
        uses=("nets", "visits", "game"),
        estimate_here=partial(_seconds, TAU_SETS),
        looks=True,
    ),
)

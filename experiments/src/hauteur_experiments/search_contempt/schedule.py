"""Figure 6 of the search-contempt paper: N_scl and visits of a learning run with balanced games.

A. Joshi, "Search-contempt", 2025, section 4.2.5: training begins with a good net, N = 1000 visits and the N_scl at
which decisive and drawn games are equally frequent; N_scl is updated after every training, and N doubled once N_scl has
settled. The paper's figure is speculative; here it is drawn of learning runs with [controller], given as folders.

The runs with search-contempt of the thesis in small (`chess_thesis`) have a controller too, whose rule for balance is
the one below, fixed before they began. So they are counted for it, all of them, without a game more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import COLOURS
from hauteur_experiments.learned import metrics_of, runs_of
from hauteur_experiments.measured import Record, Share, columns
from hauteur_experiments.ratio import ratio_of
from hauteur_experiments.search_contempt.chess_thesis import SMALL
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, finite, of_most_seeds

NEAR = 1.5
"""A ratio is near 1 within this factor."""

MOST = 0.5
"""The ratio is kept where it is near 1 in more of the generations than this share."""

SHOWN = ("run", "generation", "games", "n_scl", "visits", "ratio", "settled")
"""Columns of the rows that are shown."""


def make(setting: Setting) -> Result:
    """Draw what the controllers of the given runs chose."""
    runs = [[_row(name, line) for line in metrics_of(folder)] for name, folder in runs_of(setting).items()]
    found = [row for run in runs for row in run]
    return Result(found, [_balance(runs), _doubling(runs)], [schedule_figure(runs)], [columns(found, *SHOWN)])


Row = dict[str, Any]
"""Setting of the controller in a generation, and its result."""


def _row(name: str, line: Mapping[str, Any]) -> Row:
    games = line["games"]
    chosen = line.get("search_contempt")
    if chosen is None:
        raise ValueError(f"{name} is a run without [controller], which chooses N_scl")
    record = Record(games["first_wins"], games["draws"], games["second_wins"])
    low, high = ratio_of(record).interval(0.95)
    row = {"run": name, "generation": line["generation"], "games": line["generation"] * record.games}
    row |= {name: chosen[name] for name in ("n_scl", "visits", "ratio")}
    row |= {"ratio_low": low, "ratio_high": finite(high), "settled": chosen["settled"]}
    return row | {"probes": len(chosen["probes"]), "elo": line["elo"]}


def schedule_figure(runs: Sequence[Sequence[Row]]) -> ht.Figure:
    """The paper's figure: N_scl and N by games."""
    lines = []
    for number, run in enumerate(runs):
        xs = [row["games"] for row in run]
        n_scls, visits = ([float(row[key]) for row in run] for key in ("n_scl", "visits"))
        name = run[0]["run"]
        colour = COLOURS[number % len(COLOURS)]
        lines.append(ht.Series(f"N_scl, {name}", xs, n_scls, colour))
        lines.append(ht.Series(f"N, {name}", xs, visits, colour, dashed=True))
    text = "The controller chooses N_scl after every training, and doubles the visits N when N_scl has settled."
    title = "N_scl and visits by games of self-play"
    return ht.Figure("contempt-schedule", title, text, "visits", "games", lines=tuple(lines), log=True)


def _balance(runs: Sequence[Sequence[Row]]) -> Finding:
    return balance([[row["ratio"] for row in run] for run in runs])


def balance(runs: Sequence[Sequence[float | None]], scope: str = "") -> Finding:
    """Return whether most runs are near 1 in most generations.

    runs: (w + l)/d of each generation of each run, None without a draw; scope: what differs from the source.
    """
    balanced = 0
    texts = []
    for ratios in runs:
        near = sum(1 / NEAR <= (ratio or 0) <= NEAR for ratio in ratios)
        texts.append(f"{near} of {len(ratios)}")
        if near > MOST * len(ratios):
            balanced += 1
    text = f"(w + l)/d within {1 / NEAR:.2f} and {NEAR} in {', '.join(texts)} generations, by run"
    what = f"share of the runs in which it is so in more than {MOST:.0%} of the generations"
    side = of_most_seeds(what, Share(balanced, len(runs)))
    return Finding.of("balance", Claim((side,)), text, scope)


def balance_of_small(result: Mapping[str, Any]) -> list[Finding]:
    """Return whether the runs with [controller] of the small thesis are balanced. result: as in result.json."""
    ratios = result["facts"]["ratios"]
    runs = [values for name, values in ratios.items() if name.startswith("contempt-")]
    return [balance(runs, f"{SMALL.scope}; from random weights, not from a good net")]


def _doubling(runs: Sequence[Sequence[Row]]) -> Finding:
    grown = 0
    texts = []
    for run in runs:
        first = run[0]
        last = run[-1]
        steps = [f"{row['games']:,}" for before, row in pairwise(run) if row["visits"] > before["visits"]]
        path = f"N_scl {first['n_scl']} to {last['n_scl']}, N {first['visits']} to {last['visits']}"
        texts.append(f"{path}, doubled after {', '.join(steps) or 'no'} games")
        if last["visits"] > first["visits"] and last["n_scl"] > first["n_scl"]:
            grown += 1
    what = "share of the runs in which N_scl grows and N is doubled"
    side = of_most_seeds(what, Share(grown, len(runs)))
    return Finding.of("doubling", Claim((side,)), "; ".join(texts))


NEEDS = (
    "six runs of runs/chess_zero.toml with [controller] and doubled visits, 9,000 games each, --net RUN ...: "
    "about 5 core hours"
)

EXPERIMENTS = (
    Experiment(
        "contempt-schedule",
        "Joshi 2025, figure 6",
        "learning with balanced games: N_scl and visits by the controller",
        make,
        claims=stated(
            "Joshi 2025, figure 6",
            f"balance | a new N_scl after every training keeps (w + l)/d near 1 | 1 (speculative) | {NEEDS}",
            "doubling | N_scl grows and settles, then the visits are doubled (weaker here: both happen at some time)"
            f" | 5 to 30,000 games (speculative) | {NEEDS}",
        ),
        uses=("nets",),
    ),
)

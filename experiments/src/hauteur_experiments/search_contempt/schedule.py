"""Figure 6 of the search-contempt paper: N_scl and visits of a learning run with balanced games.

A. Joshi, "Search-contempt", 2025, section 4.2.5: training begins with a good net, N = 1000 visits and the N_scl at
which decisive and drawn games are equally frequent; N_scl is updated after every training, and N doubled once N_scl has
settled. The paper's figure is speculative; here the controller does it, in minichess
unless another game is requested. `--net` is the initial net; without one the run begins from zero, where draws are
rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, finite, stated
from hauteur_experiments.grid import COLOURS
from hauteur_experiments.learned import learn_seeds, metrics_of
from hauteur_experiments.measured import Record, Share, columns
from hauteur_experiments.ratio import ratio_of
from hauteur_experiments.verdict import Claim, of_most_seeds

GAME = "minichess"
GAMES = 3000
"""Games between two trainings in the paper's figure."""

VISITS = 1000
GENERATIONS = 20
DOUBLINGS = 4
NEAR = 1.5
"""A ratio is near 1 within this factor."""

MOST = 0.5
"""The ratio is kept where it is near 1 in more of the generations than this share."""

SHOWN = ("seed", "generation", "games", "n_scl", "visits", "ratio", "settled")
"""Columns of the rows that are shown."""


def recipe_of(setting: Setting, seed: int) -> ht.Recipe:
    """The learning run of a seed at the scale of the setting."""
    games, visits = setting.scaled(GAMES, 4), setting.visits_or(VISITS)
    few = max(4, games // 8)
    search = {"cpuct": {"init": 1.5, "factor": 0.0}, "fpu": {"kind": "reduction", "value": 0.2}}
    search["dirichlet"] = {"epsilon": 0.25, "alpha": 0.5}
    selfplay: dict[str, Any] = {"games": games, "visits": visits, "max_plies": 200, "tree_per_side": True}
    selfplay |= {"parallel_games": min(games, 300), "batch_size": min(games, 150), "shard_games": min(games, 100)}
    selfplay["temperature"] = {"initial": 0.7, "decay_moves": 5, "cutoff_move": 20, "endgame": 0.1}
    train = {"window_games": 5 * games, "batch_size": 256, "samples_per_position": 4.0, "schedule": "constant"}
    train |= {"learning_rate": 5e-4 if setting.nets else 2e-3, "weight_decay": 1e-3}
    train |= {"root_value_share": 0.25, "weight_average": 0.99}
    controller = {"target": 1.0, "initial_n_scl": min(5, visits) if setting.nets else visits, "settle_factor": NEAR}
    values: dict[str, Any] = {
        "game": setting.game or GAME,
        "selfplay": {**selfplay, "search": search},
        "train": train,
        "controller": {**controller, "max_visits": visits * 2**DOUBLINGS, "probe_games": few},
        "gate": {"games": few, "threshold": 0.4, "visits": max(1, visits // 2), "opening_plies": 4},
        "run": {"generations": GENERATIONS, "seed": seed, "threads": 1, "tag": f"seed-{seed}"},
    }
    if setting.nets:
        values["start"] = {"net": str(setting.nets[0].absolute())}
    else:
        heads = {"policy_channels": 8, "value_channels": 8, "value_hidden": 64}
        values["network"] = {"filters": 32, "blocks": 4, **heads}
    return ht.Recipe.model_validate(values)


def make(setting: Setting) -> Result:
    """Learn with every seed, draw what the controller chose."""
    runs = [
        [_row(seed, line) for line in metrics_of(folder)]
        for seed, folder in learn_seeds(setting, partial(recipe_of, setting)).items()
    ]
    found = [row for run in runs for row in run]
    findings, figures = [_balance(runs), _doubling(runs)], [schedule_figure(runs)]
    return Result(found, findings, figures, [columns(found, *SHOWN)], {"recipe": recipe_of(setting, 1).model_dump()})


Row = dict[str, Any]
"""Setting of the controller in a generation, and its result."""


def _row(seed: int, line: Mapping[str, Any]) -> Row:
    games, chosen = line["games"], line["search_contempt"]
    record = Record(games["first_wins"], games["draws"], games["second_wins"])
    low, high = ratio_of(record).interval(0.95)
    row = {"seed": seed, "generation": line["generation"], "games": line["generation"] * record.games}
    row |= {name: chosen[name] for name in ("n_scl", "visits", "ratio")}
    row |= {"ratio_low": low, "ratio_high": finite(high), "settled": chosen["settled"]}
    return row | {"probes": len(chosen["probes"]), "elo": line["elo"]}


def schedule_figure(runs: Sequence[Sequence[Row]]) -> ht.Figure:
    """The paper's figure: N_scl and N by games."""
    lines = []
    for seed, run in enumerate(runs, start=1):
        xs = [row["games"] for row in run]
        n_scls, visits = ([float(row[key]) for row in run] for key in ("n_scl", "visits"))
        lines.append(ht.Series(f"N_scl, seed {seed}", xs, n_scls, COLOURS[(seed - 1) % len(COLOURS)]))
        lines.append(ht.Series(f"N, seed {seed}", xs, visits, COLOURS[(seed - 1) % len(COLOURS)], dashed=True))
    text = "The controller chooses N_scl after every training, and doubles the visits N when N_scl has settled."
    title = "N_scl and visits by games of self-play"
    return ht.Figure("contempt-schedule", title, text, "visits", "games", lines=tuple(lines), log=True)


def _balance(runs: Sequence[Sequence[Row]]) -> Finding:
    near = [sum(1 / NEAR <= (row["ratio"] or 0) <= NEAR for row in run) for run in runs]
    texts = ", ".join(f"{count} of {len(run)}" for count, run in zip(near, runs, strict=True))
    mostly = Share(sum(count > MOST * len(run) for count, run in zip(near, runs, strict=True)), len(runs))
    text = f"(w + l)/d within {1 / NEAR:.2f} and {NEAR} in {texts} generations, by seed"
    what = f"share of the seeds in which it is so in more than {MOST:.0%} of the generations"
    return Finding.of("balance", Claim((of_most_seeds(what, mostly),)), text)


def _doubling(runs: Sequence[Sequence[Row]]) -> Finding:
    texts = []
    for run in runs:
        steps = [row["games"] for before, row in pairwise(run) if row["visits"] > before["visits"]]
        path = f"N_scl {run[0]['n_scl']} to {run[-1]['n_scl']}, N {run[0]['visits']} to {run[-1]['visits']}"
        texts.append(f"{path}, doubled after {', '.join(f'{games:,}' for games in steps) or 'no'} games")
    grown = sum(run[-1]["visits"] > run[0]["visits"] and run[-1]["n_scl"] > run[0]["n_scl"] for run in runs)
    what = "share of the seeds in which N_scl grows and N is doubled"
    side = of_most_seeds(what, Share(grown, len(runs)))
    return Finding.of("doubling", Claim((side,)), "; ".join(texts))


EXPERIMENTS = (
    Experiment(
        "contempt-schedule",
        "Joshi 2025, figure 6",
        "learning with balanced games: N_scl and visits by the controller",
        make,
        claims=stated(
            "Joshi 2025, figure 6",
            "balance | a new N_scl after every training keeps (w + l)/d near 1 | 1 (speculative)",
            "doubling | N_scl grows and settles, then the visits are doubled (weaker here: both happen at some time)"
            " | 5 to 30,000 games (speculative)",
        ),
        uses=("nets", "visits", "game"),
    ),
)

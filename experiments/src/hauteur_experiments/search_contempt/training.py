"""Training with search-contempt, better or cheaper: figure 6 and the thesis of the search-contempt paper.

A. Joshi, "Search-contempt", 2025: the more decisive games of search-contempt should teach more for the same
computation; the paper has no training. Here nets learn Connect Four on a board that is drawn by theory, judged by exact
values. Each seed begins with a run of PUCT, up to the generation whose (w + l)/d first falls below 1, where draws begin
to cost. From its net three runs go on, alike but for the search of self-play, until each has spent the same number of
evaluations: PUCT with the paper's tau_1, PUCT with its warmer tau_2, and search-contempt with tau_1. What is compared
is stated beforehand: the share of solved positions in which the net's move keeps the value, as the mean over the
evaluations from the common net to the end, seed by seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.arms import (
    FIRST_SEED,
    MOST_GENERATIONS,
    Arm,
    Curve,
    above,
    curve_figure,
    curves_of,
    evaluator_of,
    facts_of,
    ratio_factor,
    rows,
    small_recipe,
    table,
)
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.learned import Goal, learn_beside, metrics_of, net_of
from hauteur_experiments.measured import Mean
from hauteur_experiments.ratio import equal_within
from hauteur_experiments.search_contempt.settings import PAPER
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import LEAST_SEEDS, Claim

EVALUATIONS = 6_000_000
"""Of each run after the common net."""

VISITS = 100
START_GENERATIONS = 60
"""The common net is of this generation where none before has a (w + l)/d below 1."""

N_SCL = 3
"""With it (w + l)/d was that of tau_2 on seeds 1 and 2, which are used for nothing else (5.9 and 5.6 in the mean)."""


def _warmth(**values: Any) -> tuple[tuple[str, Any], ...]:
    """A schedule of temperatures, as changes of a recipe."""
    return tuple((f"selfplay.temperature.{key}", value) for key, value in values.items())


COOL = _warmth(initial=0.7, decay_moves=5, cutoff_move=40, endgame=0.1)
WARM = _warmth(initial=0.9, decay_moves=60, decay_delay_moves=20, cutoff_move=40, endgame=0.6, visit_offset=-0.8)
ARMS = (
    Arm("puct-tau1", "PUCT, tau_1", COOL),
    Arm("puct-tau2", "PUCT, tau_2", WARM),
    Arm("contempt", f"N_scl {N_SCL}, tau_1", (*COOL, ("selfplay.search.search_contempt.n_scl", N_SCL))),
)
*RIVALS, CONTEMPT = ARMS


def recipe_of(setting: Setting, seed: int, arm: Arm, start: Path | None = None) -> ht.Recipe:
    """Return the run of an arm from a net; None: the run that finds the common net, from zero."""
    generations = MOST_GENERATIONS if start else max(2, round(START_GENERATIONS * math.sqrt(setting.scale)))
    visits = setting.visits_or(VISITS)
    return small_recipe(setting, seed, arm, visits=visits, generations=generations, start=start)


def make(setting: Setting) -> Result:
    """Learn, evaluate and compare."""
    evaluator = evaluator_of(setting)
    visits = setting.visits_or(VISITS)
    starts = common_nets(setting)
    budget = setting.scaled(EVALUATIONS, 2)
    recipes = {}
    for seed, net in starts.items():
        for arm in ARMS:
            recipes[seed, arm] = recipe_of(setting, seed, arm, net)
    curves = curves_of(setting, recipes, budget, evaluator)
    facts = {
        "visits": visits,
        "evaluations": budget,
        "n_scl": N_SCL,
        "common_nets": {str(seed): net.stem for seed, net in starts.items()},
    }
    recipe = recipe_of(setting, setting.first_seed, CONTEMPT, Path("common.safetensors"))
    facts = facts_of(setting, evaluator, recipe, **facts)
    text = f"{visits} visits a move of self-play"
    x_name = "evaluations since the common net"
    figures = [curve_figure(curves, "contempt-training", text, x_name, draws=draws) for draws in (False, True)]
    found = [finding(curves, f"{budget:,} evaluations a run at {visits} visits")]
    return Result(rows(curves), found, figures, [table(curves)], facts)


def common_nets(setting: Setting) -> dict[int, Path]:
    """Return the net that the arms of each seed begin with."""
    goal = Goal(ratio=1.0)
    runs = {str(seed): (f"seed-{seed}/start", recipe_of(setting, seed, ARMS[0])) for seed in setting.seed_numbers}
    nets = {}
    for seed, folder in learn_beside(setting, runs, goal).items():
        lines = metrics_of(folder)
        nets[int(seed)] = net_of(folder, goal.reached(lines) or len(lines))
    return nets


def finding(curves: Sequence[Curve], size: str) -> Finding:
    """Search-contempt above both others, seed by seed, in the share that is kept over the evaluations, where its games
    have the (w + l)/d of warm PUCT: the paper's thesis is of equal ratios.
    """
    ends = []
    for arm in ARMS:
        kept = []
        unbeaten = []
        for curve in curves:
            if curve.arm == arm:
                kept.append(curve.points[-1].kept)
                unbeaten.append(curve.unbeaten)
        held = f"{Mean(unbeaten).value:.0%} of the drawn openings held"
        ends.append(f"{arm.title} {Mean(kept).value:.1%} kept and {held}")
    what = f"(w + l)/d of {CONTEMPT.title} over that of {RIVALS[-1].title}"
    equal = equal_within(what, ratio_factor(curves, CONTEMPT, RIVALS[-1]), LEAST_SEEDS, "seeds")
    sides = tuple(above(curves, CONTEMPT, rival) for rival in RIVALS)
    claim = Claim(sides, premise=equal)
    return Finding.of("better", claim, f"{size}; at the end {'; '.join(ends)}", "another game")


EXPERIMENTS = (
    Experiment(
        "contempt-training",
        f"{PAPER}, figure 6",
        "Connect Four from one net with PUCT, warm PUCT and search-contempt: exact play by evaluations",
        make,
        claims=stated(
            f"{PAPER}, thesis",
            "better | training with search-contempt is better or cheaper, where (w + l)/d is equal"
            " | no number (speculative)",
        ),
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("visits", "game"),
    ),
)

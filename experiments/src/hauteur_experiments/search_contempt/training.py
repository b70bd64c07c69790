"""Whether search-contempt trains better or cheaper: figure 6 and the thesis of the search-contempt paper.

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

from hauteur.learning.recipe import Recipe
from hauteur.mcts.lc0_options import temperature
from hauteur_experiments.alphazero_report.learning import Goal, learn_beside
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.measured import Mean
from hauteur_experiments.search_contempt.settings import PAPER, TAU_1, TAU_2, Options, equal_within
from hauteur_experiments.training_arms import (
    GAME,
    JUDGE_VISITS,
    LEAST_SEEDS,
    MOST_GENERATIONS,
    POSITIONS,
    Arm,
    Curve,
    above,
    draws_figure,
    judged,
    kept_figure,
    ratio_factor,
    rows,
    small_recipe,
    table,
)
from hauteur_experiments.verdict import Claim
from hauteur_experiments.yardsticks import Yardsticks

EVALUATIONS = 6_000_000
"""Of each run after the common net."""

VISITS = 100
START_GENERATIONS = 60
"""The common net is the last of so many where no generation before has a (w + l)/d below 1."""

N_SCL = 10
"""Fixed before the runs: in minichess at 100 visits a controller kept (w + l)/d near 1 with 6 to 17."""

FIRST_SEED = 11
"""The first that no setting was tried with."""

OPENINGS = 50
"""Drawn ones from which the last nets are played against all replies."""

SECONDS = 3_000.0
"""Of a seed at full size on one core of the reference machine."""


def _warmth(options: Options) -> tuple[str, ...]:
    """The temperature of these options, as changes of a recipe."""
    values = temperature(options).model_dump(exclude_none=True)
    return tuple(f"selfplay.temperature.{key}={value}" for key, value in values.items())


ARMS = (
    Arm("puct-tau1", "PUCT, tau_1", _warmth(TAU_1)),
    Arm("puct-tau2", "PUCT, tau_2", _warmth(TAU_2)),
    Arm("contempt", f"N_scl {N_SCL}, tau_1", (*_warmth(TAU_1), f"selfplay.search.search_contempt.n_scl={N_SCL}")),
)
*RIVALS, CONTEMPT = ARMS


def recipe_of(setting: ExperimentSetting, seed: int, arm: Arm, start: Path | None = None) -> Recipe:
    """Return the run of an arm from a net; None: the run that finds the common net, from zero."""
    common = max(2, round(START_GENERATIONS * math.sqrt(setting.scale)))
    generations = MOST_GENERATIONS if start else common
    visits = setting.visits_or(VISITS)
    return small_recipe(setting, seed, arm, visits=visits, generations=generations, start=start)


def make_training(setting: ExperimentSetting) -> Result:
    """Learn, judge and compare."""
    yardsticks = Yardsticks.of(setting.game or GAME, setting.scaled(POSITIONS, 20), setting.scaled(OPENINGS, 2))
    starts = common_nets(setting)
    runs = {
        f"seed {seed}, {arm.title}": (f"seed-{seed}/{arm.name}", recipe_of(setting, seed, arm, starts[seed]))
        for seed in setting.seed_numbers
        for arm in ARMS
    }
    folders = learn_beside(setting, runs, Goal(evaluations=budget(setting)))
    curves = []
    for seed in setting.seed_numbers:
        for arm in ARMS:
            curves.append(judged(folders[f"seed {seed}, {arm.title}"], seed, arm, budget(setting), yardsticks))
            setting.show(f"seed {seed}, {arm.title}: {curves[-1].mean:.2%} kept")
    facts = {
        "game": setting.game or GAME,
        "visits": setting.visits_or(VISITS),
        "evaluations": budget(setting),
        "n_scl": N_SCL,
        "positions": len(yardsticks.positions),
        "openings": len(yardsticks.openings),
        "judge_visits": JUDGE_VISITS,
        "common_nets": {str(seed): net.stem for seed, net in starts.items()},
        "recipe": recipe_of(setting, setting.first_seed, CONTEMPT, Path("common.safetensors")).model_dump(),
    }
    text = f"{setting.visits_or(VISITS)} visits a move of self-play"
    figures = [
        draw(curves, ARMS, "contempt-training", text, "evaluations since the common net")
        for draw in (kept_figure, draws_figure)
    ]
    return Result(rows(curves), [finding(curves, setting)], figures, [table(curves)], facts)


def budget(setting: ExperimentSetting) -> int:
    """Evaluations of each run after the common net."""
    return setting.scaled(EVALUATIONS, 2)


def common_nets(setting: ExperimentSetting) -> dict[int, Path]:
    """Return the net that the arms of each seed begin with."""
    goal, seeds = Goal(ratio=1.0), setting.seed_numbers
    runs = {f"seed {seed}, start": (f"seed-{seed}/start", recipe_of(setting, seed, ARMS[0])) for seed in seeds}
    nets = {}
    for seed, folder in zip(seeds, learn_beside(setting, runs, goal).values(), strict=True):
        lines = folder.read_metrics()
        nets[seed] = folder.net(goal.reached(lines) or len(lines))
    return nets


def finding(curves: Sequence[Curve], setting: ExperimentSetting) -> Finding:
    """Search-contempt above both others, seed by seed, in the share that is kept over the evaluations, where its games
    have the (w + l)/d of warm PUCT: the paper's thesis is of equal ratios.
    """
    sides = tuple(above(curves, CONTEMPT, rival) for rival in RIVALS)
    ends = "; ".join(f"{arm.title} {_end_text(curves, arm)}" for arm in ARMS)
    text = f"{budget(setting):,} evaluations a run at {setting.visits_or(VISITS)} visits; at the end {ends}"
    statement = (
        "figure 6 and conclusion (speculative): from the games of search-contempt a net learns better, or as well at "
        "less cost, than from those of PUCT with equal (w + l)/d"
    )
    what = f"(w + l)/d of {CONTEMPT.title} over that of {RIVALS[-1].title}"
    equal = equal_within(what, ratio_factor(curves, CONTEMPT, RIVALS[-1]), LEAST_SEEDS, "seeds")
    return Finding.of(statement, Claim(sides, premise=equal), text, scope="another game")


def _end_text(curves: Sequence[Curve], arm: Arm) -> str:
    mine = [curve for curve in curves if curve.arm == arm]
    kept, unbeaten = Mean([curve.points[-1].kept for curve in mine]), Mean([curve.unbeaten for curve in mine])
    return f"{kept.value:.1%} kept and {unbeaten.value:.0%} of the drawn openings held"


EXPERIMENTS = (
    Experiment(
        "contempt-training",
        f"{PAPER}, figure 6",
        "Connect Four from one net with PUCT, warm PUCT and search-contempt: exact play by evaluations",
        SECONDS,
        make_training,
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("visits", "game"),
    ),
)

"""Whether methods of learning save evaluations: each beside plain runs, alike but for it, judged by exact values.

D. J. Wu, "Accelerating Self-Play Learning in Go", 2019 (playout cap randomisation, forced playouts with pruned targets,
policy surprise); D. Silver et al., Nature 550, 2017 (positions transformed by symmetries); I. Danihelka et al., "Policy
improvement by planning with Gumbel", ICLR 2022 (few visits). All runs of a seed learn Connect Four from zero; those
that are compared spend the same number of evaluations. What is compared is stated beforehand: the share of solved
positions in which the net's move keeps the value, as the mean over the evaluations, seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hauteur.learning.recipe import Recipe
from hauteur_experiments.alphazero_report.learning import Goal, learn_beside
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.training_arms import (
    GAME,
    JUDGE_VISITS,
    POSITIONS,
    Arm,
    Curve,
    above,
    judged,
    kept_figure,
    rows,
    small_recipe,
    table,
)
from hauteur_experiments.verdict import Claim
from hauteur_experiments.yardsticks import Yardsticks

VISITS, FEW_VISITS = 100, 8
"""A move of self-play."""

EVALUATIONS, FEW_EVALUATIONS = 4_000_000, 1_000_000
"""Of each run at so many visits: few visits make far more games, whose positions cost more training."""

OPENINGS = 50
"""Drawn ones from which the last nets are played against all replies."""

FIRST_SEED = 11
"""The first that no setting was tried with."""

SECONDS = 3_400.0
"""Of a seed at full size on one core of the reference machine."""

PLAIN = Arm("plain", f"PUCT, {VISITS} visits")
UNMIRRORED = Arm("no-mirror", "the same without mirroring", ("train.symmetries=false",))
CAP = Arm(
    "playout-cap",
    "playout cap 100/20",
    ("selfplay.playout_cap.full_share=0.25", "selfplay.playout_cap.fast_visits=20"),
)
FORCED = Arm("forced", "forced playouts, pruned targets", ("selfplay.search.forced_playouts.k=2.0",))
SURPRISE = Arm("surprise", "policy surprise, weight 0.5", ("train.surprise_weight=0.5",))
FEW = Arm("few", f"PUCT, {FEW_VISITS} visits", (f"selfplay.visits={FEW_VISITS}",))
GUMBEL = Arm(
    "gumbel",
    f"Gumbel, {FEW_VISITS} visits",
    (*FEW.changes, "selfplay.search.gumbel.considered=6", "selfplay.search.dirichlet.epsilon=0"),
)
USUAL = (PLAIN, UNMIRRORED, CAP, FORCED, SURPRISE)
SPARSE = (FEW, GUMBEL)
"""The arms with few visits."""


@dataclass(frozen=True)
class MethodClaim:
    """A claim: the runs of an arm keep more than those of its rival. statement: of the source."""

    statement: str
    arm: Arm
    rival: Arm


METHODS = (
    MethodClaim("Wu 2019: playout cap randomisation learns faster (1.37 times, Go)", CAP, PLAIN),
    MethodClaim("Wu 2019: forced playouts with pruned targets learn faster (1.25 times, Go)", FORCED, PLAIN),
    MethodClaim("Wu 2019: samples weighted by policy surprise learn faster", SURPRISE, PLAIN),
    MethodClaim("Silver et al. 2017: transformed positions learn faster than those as played", PLAIN, UNMIRRORED),
    MethodClaim("Danihelka et al. 2022: with few visits Gumbel learns faster than PUCT", GUMBEL, FEW),
)


def recipe_of(setting: ExperimentSetting, seed: int, arm: Arm) -> Recipe:
    """Return the recipe of an arm."""
    return small_recipe(setting, seed, arm, visits=VISITS)


def make_methods(setting: ExperimentSetting) -> Result:
    """Learn, judge and compare."""
    yardsticks = Yardsticks.of(setting.game or GAME, setting.scaled(POSITIONS, 20), setting.scaled(OPENINGS, 2))
    usual = _curves(setting, USUAL, setting.scaled(EVALUATIONS, 2), yardsticks)
    sparse = _curves(setting, SPARSE, setting.scaled(FEW_EVALUATIONS, 2), yardsticks)
    curves = [*usual, *sparse]
    facts = {
        "game": setting.game or GAME,
        "evaluations": {curve.arm.name: curve.points[-1].evaluations for curve in curves},
        "positions": len(yardsticks.positions),
        "openings": len(yardsticks.openings),
        "judge_visits": JUDGE_VISITS,
        "arms": {arm.name: arm.changes for arm in (*USUAL, *SPARSE)},
        "recipe": recipe_of(setting, setting.first_seed, PLAIN).model_dump(),
    }
    figures = [
        kept_figure(usual, USUAL, "learning-methods", f"{VISITS} visits a move", "evaluations"),
        kept_figure(sparse, SPARSE, "learning-methods-few", f"{FEW_VISITS} visits a move", "evaluations"),
    ]
    findings = [finding(curves, method) for method in METHODS]
    return Result(rows(curves), findings, figures, [table(curves)], facts)


def _curves(setting: ExperimentSetting, arms: Sequence[Arm], evaluations: int, yardsticks: Yardsticks) -> list[Curve]:
    """Learn with each arm, once a seed, until so many evaluations are spent, and judge."""
    runs = {(seed, arm): f"seed {seed}, {arm.title}" for seed in setting.seed_numbers for arm in arms}
    recipes = {name: (f"seed-{seed}/{arm.name}", recipe_of(setting, seed, arm)) for (seed, arm), name in runs.items()}
    folders = learn_beside(setting, recipes, Goal(evaluations=evaluations))
    curves = []
    for (seed, arm), name in runs.items():
        curves.append(judged(folders[name], seed, arm, evaluations, yardsticks))
        setting.show(f"{name}: {curves[-1].mean:.2%} kept")
    return curves


def finding(curves: Sequence[Curve], method: MethodClaim) -> Finding:
    """The arm above its rival; beside it how much earlier, or later, the mean curve reaches the rival's last value."""
    claim = Claim((above(curves, method.arm, method.rival),))
    own, other = _mean_curve(curves, method.arm), _mean_curve(curves, method.rival)
    reached = _first(own, other[-1])
    if reached is None:
        text = f"mean curve at the end {own[-1]:.1%}, that of {method.rival.title} {other[-1]:.1%}"
    else:
        text = f"mean curve at the last value of {method.rival.title}, {other[-1]:.1%}, after {reached:.0%} of the cost"
    return Finding.of(method.statement, claim, text, scope="another game")


def _mean_curve(curves: Sequence[Curve], arm: Arm) -> list[float]:
    """The shares by stage, as means over the seeds."""
    mine = [[point.kept for point in curve.points] for curve in curves if curve.arm == arm]
    return [sum(stage) / len(stage) for stage in zip(*mine, strict=True)]


def _first(curve: Sequence[float], level: float) -> float | None:
    """Return the share of the evaluations after which a curve first reaches a level; None where it does not."""
    last = len(curve) - 1
    for stage, (before, after) in enumerate(pairwise(curve)):
        if before < level <= after:
            return (stage + (level - before) / (after - before)) / last
    return None


EXPERIMENTS = (
    Experiment(
        "learning-methods",
        "Wu 2019, Silver et al. 2017, Danihelka et al. 2022",
        "Connect Four from zero with and without methods that save evaluations: exact play by evaluations",
        SECONDS,
        make_methods,
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("game",),
    ),
)

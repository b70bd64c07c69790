"""Runs that learn beside each other, alike but for one thing, judged by exact values: recipes, curves and figures.

The game is Connect Four on a small board, so that seeds are cheap and the evaluation needs no opponent: the share of
solved positions in which the net's move keeps the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.exact import ExactEvaluator, chooser
from hauteur_experiments.grid import COLOURS, points
from hauteur_experiments.learned import Goal, Lines, learn_beside, metrics_of, net_of
from hauteur_experiments.measured import Interval, Mean, columns, differences, exponential
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import LEAST_SEEDS, Inequality

GAME = "connect4(columns=6,rows=5)"

GAMES = 300
"""Of a generation."""

STAGES = 12
"""Equal steps of the evaluations at which a run's net is judged."""

FIRST_SEED = 11
"""The first that no setting was tried with."""

SMALLEST_GAIN = 1.0
"""Percentage points of kept values, as the mean over a run, that matter."""

POSITIONS, OPENINGS = 1000, 50
"""Solved ones by which nets are evaluated; drawn ones from which the last nets are played against all replies."""

EVALUATED_VISITS = 10
"""Of the net that is judged, which plays PUCT without noise and the most visited move."""

SEARCH: Mapping[str, Any] = {"cpuct": {"init": 1.5, "factor": 0.0}, "fpu": {"kind": "reduction", "value": 0.2}}
TINY = 1e-4
"""The least share of draws or others in a ratio."""

MOST_GENERATIONS = 100_000
"""The evaluations end a run long before."""


@dataclass(frozen=True)
class Arm:
    """A way to learn. name: of its folder; title: in tables; changes: of the recipe, by `section.key`."""

    name: str
    title: str
    changes: tuple[tuple[str, Any], ...] = ()


def small_recipe(
    setting: Setting,
    seed: int,
    arm: Arm,
    *,
    visits: int,
    generations: int = MOST_GENERATIONS,
    start: Path | None = None,
) -> ht.Recipe:
    """Return the recipe of an arm. start: the net that it begins with, None: a new one of 16x3."""
    games = max(4, round(GAMES * math.sqrt(setting.scale)))
    search = {**SEARCH, "dirichlet": {"epsilon": 0.25, "alpha": 1.0}}
    sizes = {"parallel_games": games, "batch_size": max(2, games // 2), "tree_per_side": True}
    train = {"window_games": 10 * games, "batch_size": 256, "samples_per_position": 4.0, "schedule": "constant"}
    train |= {"learning_rate": 2e-3, "weight_decay": 1e-3, "root_value_share": 0.25, "weight_average": 0.99}
    values: dict[str, Any] = {
        "game": setting.game or GAME,
        "selfplay": {"games": games, "visits": visits, **sizes, "search": search},
        "train": train,
        "gate": {"by": "off"},
        "run": {"generations": generations, "seed": seed, "threads": 1},
    }
    if start is None:
        heads = {"policy_channels": 8, "value_channels": 4, "value_hidden": 32}
        values["network"] = {"filters": 16, "blocks": 3, **heads}
    else:
        values["start"] = {"net": str(start.absolute())}
    for key, value in arm.changes:
        *sections, name = key.split(".")
        place = values
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return ht.Recipe.model_validate(values)


@dataclass(frozen=True)
class Stage:
    """The net of a run at a stage.

    evaluations: spent since the run's beginning; kept: share of solved positions; draws: share of the games since the
    stage before, None where there were none.
    """

    evaluations: int
    generation: int
    kept: float
    draws: float | None


@dataclass(frozen=True)
class Curve:
    """A run by its stages. unbeaten: share of drawn openings from which its last net loses to no replies."""

    seed: int
    arm: Arm
    points: Sequence[Stage]
    unbeaten: float

    @property
    def mean(self) -> float:
        """The share that it kept, as the mean over the evaluations."""
        kept = [point.kept for point in self.points]
        ends = (kept[0] + kept[-1]) / 2
        return (math.fsum(kept) - ends) / (len(kept) - 1)

    @property
    def log_ratio(self) -> float:
        """The logarithm of (w + l)/d of its games of self-play; drawn: the mean over the stages that have games."""
        drawn = [point.draws for point in self.points if point.draws is not None]
        share = math.fsum(drawn) / len(drawn) if drawn else 0.5
        share = min(max(share, TINY), 1 - TINY)
        return math.log((1 - share) / share)


def evaluator_of(setting: Setting) -> ExactEvaluator:
    """Exact values of the game at the scale of the setting."""
    return ExactEvaluator.of(setting.game or GAME, setting.scaled(POSITIONS, 20), setting.scaled(OPENINGS, 2))


def facts_of(setting: Setting, evaluator: ExactEvaluator, recipe: ht.Recipe, **more: Any) -> dict[str, Any]:
    """Facts of result.json: the game, sizes of the evaluation, a recipe, and more."""
    sizes = {"positions": len(evaluator.positions), "openings": len(evaluator.openings)}
    facts = {"game": setting.game or GAME, **sizes, "judge_visits": EVALUATED_VISITS}
    return {**facts, **more, "recipe": recipe.model_dump()}


def curves_of(
    setting: Setting,
    recipes: Mapping[tuple[int, Arm], ht.Recipe],
    evaluations: int,
    evaluator: ExactEvaluator,
) -> list[Curve]:
    """Learn each run, by seed and arm, until these evaluations are spent, and evaluate its nets."""
    runs = {}
    for (seed, arm), recipe in recipes.items():
        runs[f"seed {seed}, {arm.title}"] = (f"seed-{seed}/{arm.name}", recipe)
    folders = learn_beside(setting, runs, Goal(evaluations=evaluations))
    curves = []
    for (seed, arm), (name, folder) in zip(recipes, folders.items(), strict=True):
        curves.append(judged(folder, seed, arm, evaluations, evaluator))
        setting.show(f"{name}: {curves[-1].mean:.2%} kept")
    return curves


def judged(folder: Path, seed: int, arm: Arm, evaluations: int, evaluator: ExactEvaluator) -> Curve:
    """Return the curve of a finished run that spent these evaluations."""
    lines = metrics_of(folder)
    plain = ht.SearchParams.model_validate(SEARCH)
    points: list[Stage] = []
    known: dict[int, float] = {}
    before = 0
    for stage in range(STAGES + 1):
        spent = round(evaluations * stage / STAGES)
        generation = newest(lines, spent)
        if generation not in known:
            net = net_of(folder, generation)
            known[generation] = evaluator.kept(chooser(net, plain, EVALUATED_VISITS))
        games = 0
        drawn = 0
        for line in lines[before:generation] if points else []:
            games += line["games"]["games"]
            drawn += line["games"]["draws"]
        draws = drawn / games if games else None
        points.append(Stage(spent, generation, known[generation], draws))
        before = generation
    last = chooser(net_of(folder, before), plain, EVALUATED_VISITS)
    return Curve(seed, arm, points, evaluator.unbeaten(last))


def newest(lines: Lines, evaluations: int) -> int:
    """Return the last generation of a run that these evaluations pay for; 0: the net that it began with."""
    spent = 0
    for line in lines:
        spent += line["cost"]["evaluations"]
        if spent > evaluations:
            return int(line["generation"]) - 1
    return len(lines)


def above(curves: Sequence[Curve], arm: Arm, rival: Arm) -> Inequality:
    """The arm keeps more over the evaluations than its rival, seed by seed."""
    rivals = {curve.seed: 100 * curve.mean for curve in curves if curve.arm == rival}
    own = {curve.seed: 100 * curve.mean for curve in curves if curve.arm == arm}
    what = f"share kept over the evaluations, above {rival.title}"
    unit = "percentage points"
    gain = differences(rivals, own)
    return Inequality(what, gain, 0.0, "above", LEAST_SEEDS, unit=unit, of="seeds", matters=SMALLEST_GAIN)


def ratio_factor(curves: Sequence[Curve], arm: Arm, rival: Arm) -> Interval:
    """Return the factor between the (w + l)/d of self-play of two arms, by the logarithms seed by seed."""
    rivals = {curve.seed: curve.log_ratio for curve in curves if curve.arm == rival}
    own = {curve.seed: curve.log_ratio for curve in curves if curve.arm == arm}
    return exponential(differences(rivals, own))


def rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """A row a stage of each run; unbeaten: of the last one."""
    return [
        {
            "seed": curve.seed,
            "arm": curve.arm.name,
            "evaluations": point.evaluations,
            "generation": point.generation,
            "kept": point.kept,
            "draws": point.draws,
            "unbeaten": curve.unbeaten if point is curve.points[-1] else None,
        }
        for curve in curves
        for point in curve.points
    ]


def table(curves: Sequence[Curve]) -> str:
    """The last stage of every run, and what it kept over the evaluations."""
    last = [rows([curve])[-1] | {"kept over all": curve.mean} for curve in curves]
    return columns(last, "seed", "arm", "kept over all", "kept", "unbeaten", "generation")


def curve_figure(curves: Sequence[Curve], key: str, text: str, x_name: str, *, draws: bool = False) -> ht.Figure:
    """The share that is kept, or of drawn games, by evaluations, with the interval over seeds. text: the setting."""
    by_arm: dict[Arm, list[Sequence[Stage]]] = {}
    for curve in curves:
        by_arm.setdefault(curve.arm, []).append(curve.points)
    xs = [point.evaluations for point in curves[0].points]
    lines = []
    for number, (arm, of_arm) in enumerate(by_arm.items()):
        stages = []
        for stage in zip(*of_arm, strict=True):
            values = [point.draws if draws else point.kept for point in stage]
            stages.append(Mean([value for value in values if value is not None]))
        lines.append(points(arm.title, xs, stages, COLOURS[number], scale=100, joined=True))
    seeds = len({curve.seed for curve in curves})
    count = "1 seed" if seeds == 1 else f"{seeds} seeds"
    text = f"Mean of {count}, {text}; shades: 95 % intervals."
    title = "Moves that keep the value"
    y_name = "solved positions, per cent"
    if draws:
        key = f"{key}-draws"
        title = "Drawn games of self-play"
        y_name = "games, per cent"
    return ht.Figure(key, f"{title}, by evaluations", text, y_name, x_name, lines=tuple(lines))

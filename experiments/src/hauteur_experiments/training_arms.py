"""Runs that learn beside each other, alike but for one thing, judged by exact values: recipes, curves and figures.

The game is Connect Four on a small board, so that many seeds are cheap and the judge needs no opponent: the share of
solved positions in which the net's move keeps the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.measured import Interval, Mean, differences
from hauteur_experiments.verdict import LEVEL, Inequality
from hauteur_experiments.yardsticks import Yardsticks

GAME = "connect4(columns=6,rows=5)"

GAMES = 300
"""Of a generation."""

STAGES = 12
"""At so many equal steps of the evaluations a run's net is judged."""

LEAST_SEEDS = 6
"""Seeds below which nothing is concluded: with fewer than 8 all must agree."""

SMALLEST_GAIN = 1.0
"""Percentage points of kept values, as the mean over a run, that matter."""

POSITIONS = 1000
"""Solved ones that judge."""

JUDGE_VISITS = 10
"""Of the net that is judged, which plays PUCT without noise and the most visited move."""

SEARCH: Mapping[str, Any] = {"cpuct": {"init": 1.5, "factor": 0.0}, "fpu": {"kind": "reduction", "value": 0.2}}
TINY, MOST_LOG = 1e-4, 700.0
"""The least share of draws or others in a ratio, and the greatest logarithm of a number."""

MOST_GENERATIONS = 100_000
"""The evaluations end a run long before."""


@dataclass(frozen=True)
class Arm:
    """A way to learn. name: of its folder; title: in tables; changes: of the recipe, each `section.key=value`."""

    name: str
    title: str
    changes: tuple[str, ...] = ()


def small_recipe(
    setting: ExperimentSetting,
    seed: int,
    arm: Arm,
    *,
    visits: int,
    generations: int = MOST_GENERATIONS,
    start: Path | None = None,
) -> Recipe:
    """Return the recipe of an arm. start: the net that it begins with, None: a new one of 16x3."""
    games = max(4, round(GAMES * math.sqrt(setting.scale)))
    values: dict[str, Any] = {
        "game": setting.game or GAME,
        "selfplay": {
            "games": games,
            "visits": visits,
            "parallel_games": games,
            "batch_size": max(2, games // 2),
            "tree_per_side": True,
            "search": {**SEARCH, "dirichlet": {"epsilon": 0.25, "alpha": 1.0}},
        },
        "train": {
            "window_games": 10 * games,
            "batch_size": 256,
            "samples_per_position": 4.0,
            "learning_rate": 2e-3,
            "schedule": "constant",
            "weight_decay": 1e-3,
            "root_value_share": 0.25,
            "weight_average": 0.99,
        },
        "gate": {"by": "off"},
        "run": {"generations": generations, "seed": seed, "threads": 1},
    }
    if start is None:
        values["network"] = {
            "filters": 16,
            "blocks": 3,
            "policy_channels": 8,
            "value_channels": 4,
            "value_hidden": 32,
        }
    else:
        values["start"] = {"net": str(start.absolute())}
    return parse_recipe(values, arm.name, arm.changes)


@dataclass(frozen=True)
class StagedNet:
    """The net of a run at a stage.

    evaluations: spent since the run's beginning; kept: share of solved positions; draws: share of the games since the
    stage before, None where there were none.
    """

    stage: int
    evaluations: int
    generation: int
    kept: float
    draws: float | None


@dataclass(frozen=True)
class Curve:
    """A run by its stages. unbeaten: share of drawn openings from which its last net loses to no replies."""

    seed: int
    arm: Arm
    points: Sequence[StagedNet]
    unbeaten: float

    @property
    def mean(self) -> float:
        """The share that it kept, as the mean over the evaluations."""
        kept = [point.kept for point in self.points]
        return (math.fsum(kept) - (kept[0] + kept[-1]) / 2) / (len(kept) - 1)

    @property
    def log_ratio(self) -> float:
        """The logarithm of (w + l)/d of its games of self-play; drawn: the mean over the stages that have games."""
        drawn = [point.draws for point in self.points if point.draws is not None]
        share = min(max(math.fsum(drawn) / len(drawn), TINY), 1 - TINY) if drawn else 0.5
        return math.log((1 - share) / share)


def judged(folder: RunFolder, seed: int, arm: Arm, evaluations: int, yardsticks: Yardsticks) -> Curve:
    """Return the curve of a finished run that spent so many evaluations."""
    lines = folder.read_metrics()
    judge = partial(_judge, folder, yardsticks)
    points: list[StagedNet] = []
    known: dict[int, float] = {}
    for stage in range(STAGES + 1):
        spent = round(evaluations * stage / STAGES)
        generation = newest(lines, spent)
        if generation not in known:
            known[generation] = judge(generation, "kept")
        since = lines[points[-1].generation : generation] if points else []
        points.append(StagedNet(stage, spent, generation, known[generation], _draws(since)))
    return Curve(seed, arm, points, judge(points[-1].generation, "unbeaten"))


def newest(lines: Sequence[Mapping[str, Any]], evaluations: int) -> int:
    """Return the last generation of a run that so many evaluations pay for; 0: the net that it began with."""
    spent = 0
    for line in lines:
        spent += line["cost"]["evaluations"]
        if spent > evaluations:
            return int(line["generation"]) - 1
    return len(lines)


def _draws(lines: Sequence[Mapping[str, Any]]) -> float | None:
    games = sum(line["games"]["games"] for line in lines)
    return sum(line["games"]["draws"] for line in lines) / games if games else None


def _judge(folder: RunFolder, yardsticks: Yardsticks, generation: int, by: str) -> float:
    """Return what a yardstick, `kept` or `unbeaten`, gives the net of a generation."""
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.players.search_player import SearchPlayer

    net = folder.net(generation)
    with closing(make_evaluator(yardsticks.game, net, backend="core", threads=1)) as evaluator:
        plain = SearchParams.model_validate(SEARCH)
        player = SearchPlayer(net.stem, evaluator, plain, JUDGE_VISITS, Temperature())
        return yardsticks.kept(player) if by == "kept" else yardsticks.unbeaten(player)


def means(curves: Sequence[Curve], arm: Arm) -> dict[int, float]:
    """The mean share that an arm kept, in per cent, by seed."""
    return {curve.seed: 100 * curve.mean for curve in curves if curve.arm == arm}


def above(curves: Sequence[Curve], arm: Arm, rival: Arm) -> Inequality:
    """The arm keeps more over the evaluations than its rival, seed by seed."""
    return Inequality(
        f"share kept over the evaluations, above {rival.title}",
        differences(means(curves, rival), means(curves, arm)),
        0.0,
        "above",
        LEAST_SEEDS,
        unit="percentage points",
        of="seeds",
        matters=SMALLEST_GAIN,
    )


def ratio_factor(curves: Sequence[Curve], arm: Arm, rival: Arm) -> Interval:
    """Return the factor between the (w + l)/d of self-play of two arms, by the logarithms seed by seed."""
    logs = differences(*({curve.seed: curve.log_ratio for curve in curves if curve.arm == one} for one in (rival, arm)))

    def ends(confidence: float) -> tuple[float, float]:
        low, high = logs.interval(confidence)
        return math.exp(low), math.exp(high) if high < MOST_LOG else math.inf

    return Interval(math.exp(logs.value), logs.units, ends)


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
    """The three numbers of every run: kept over the evaluations, kept at the end, unbeaten at the end."""
    width = max(18, *(len(curve.arm.title) for curve in curves))
    lines = [f"{'seed':>4}  {'games of':{width}} {'kept':>7} {'at end':>7} {'unbeaten':>8}  generations"]
    for curve in curves:
        last = curve.points[-1]
        shares = f"{curve.mean:7.2%} {last.kept:7.1%} {curve.unbeaten:8.0%}"
        lines.append(f"{curve.seed:4}  {curve.arm.title:{width}} {shares}  {last.generation}")
    return "\n".join(lines)


def kept_figure(curves: Sequence[Curve], arms: Sequence[Arm], key: str, text: str, x_name: str) -> Figure:
    """The share that is kept by evaluations, with the interval over seeds. text: the setting."""
    shares = {
        arm: [[100 * point.kept for point in curve.points] for curve in curves if curve.arm == arm] for arm in arms
    }
    title = "Moves that keep the value, by evaluations"
    return _figure(key, title, curves, shares, (text, "solved positions, per cent", x_name))


def draws_figure(curves: Sequence[Curve], arms: Sequence[Arm], key: str, text: str, x_name: str) -> Figure:
    """The share of drawn games of self-play by evaluations."""
    shares: dict[Arm, Runs] = {
        arm: [
            [None if point.draws is None else 100 * point.draws for point in curve.points]
            for curve in curves
            if curve.arm == arm
        ]
        for arm in arms
    }
    title = "Drawn games of self-play, by evaluations"
    return _figure(f"{key}-draws", title, curves, shares, (text, "games, per cent", x_name))


Runs = Sequence[Sequence[float | None]]
"""Values by stage of each seed's run."""


def _figure(
    key: str, title: str, curves: Sequence[Curve], arms: Mapping[Arm, Runs], texts: tuple[str, str, str]
) -> Figure:
    setting, y_name, x_name = texts
    xs = [point.evaluations for point in curves[0].points]
    lines = []
    for colour, (arm, runs) in zip(LINE_COLOURS, arms.items(), strict=False):
        stages = [Mean([value for value in stage if value is not None]) for stage in zip(*runs, strict=True)]
        ends = [stage.interval(1 - 2 * LEVEL) if stage.units > 1 else (None, None) for stage in stages]
        lines.append(
            Series(
                arm.title,
                xs,
                [stage.value if stage.units else None for stage in stages],
                colour,
                low=[low for low, _ in ends],
                high=[high for _, high in ends],
            )
        )
    count = len({curve.seed for curve in curves})
    text = f"Mean of {count} {'seed' if count == 1 else 'seeds'}, {setting}; shades: 95 % intervals."
    return Figure(key, title, text, y_name, x_name, lines=tuple(lines))

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
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur.search.lc0_options import temperature
from hauteur.search.params import Temperature
from hauteur.studies.papers.alphazero_report.learning import Goal, learn_beside
from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur.studies.papers.measured import Mean, differences
from hauteur.studies.papers.search_contempt.settings import PAPER, TAU_1, TAU_2, Options
from hauteur.studies.papers.search_contempt.yardsticks import Yardsticks
from hauteur.studies.papers.verdict import LEVEL, Claim, Inequality

GAME = "connect4(columns=6,rows=5)"
EVALUATIONS = 12_000_000
"""Of each run after the common net."""

GAMES = 300
"""Of a generation."""

VISITS = 100
START_GENERATIONS = 60
"""The common net is the last of so many where no generation before has a (w + l)/d below 1."""

STAGES = 12
"""At so many equal steps of the evaluations a run's net is judged."""

N_SCL = 10
"""Fixed before the runs: in minichess at 100 visits a controller kept (w + l)/d near 1 with 6 to 17."""

FIRST_SEED = 11
"""The first that no setting was tried with."""

LEAST_SEEDS = 5
"""Seeds below which nothing is concluded."""

POSITIONS, OPENINGS = 1000, 50
JUDGE_VISITS = 10
"""Of the net that is judged, which plays PUCT without noise and the most visited move."""

SECONDS = 1_600.0
"""Of a seed at full size on one core of the reference machine."""


@dataclass(frozen=True, eq=False)
class Arm:
    """A way to play the games that a net learns from. n_scl: None for PUCT."""

    name: str
    title: str
    options: Options
    n_scl: int | None = None


ARMS = (
    Arm("puct-tau1", "PUCT, tau_1", TAU_1),
    Arm("puct-tau2", "PUCT, tau_2", TAU_2),
    Arm("contempt", f"N_scl {N_SCL}, tau_1", TAU_1, N_SCL),
)
*RIVALS, CONTEMPT = ARMS


def recipe_of(setting: ExperimentSetting, seed: int, arm: Arm, start: Path | None = None) -> Recipe:
    """Return the run of an arm from a net; None: the run that finds the common net, from zero."""
    less = math.sqrt(setting.scale)
    games = max(4, round(GAMES * less))
    search: dict[str, Any] = {
        "cpuct": {"init": 1.5, "factor": 0.0},
        "fpu": {"kind": "reduction", "value": 0.2},
        "dirichlet": {"epsilon": 0.25, "alpha": 1.0},
    }
    if arm.n_scl is not None:
        search["search_contempt"] = {"n_scl": arm.n_scl}
    values: dict[str, Any] = {
        "game": setting.game or GAME,
        "selfplay": {
            "games": games,
            "visits": setting.visits_or(VISITS),
            "parallel_games": games,
            "batch_size": max(2, games // 2),
            "tree_per_side": True,
            "temperature": temperature(arm.options).model_dump(),
            "search": search,
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
        "run": {"generations": max(2, round(START_GENERATIONS * less)), "seed": seed, "threads": 1},
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
        values["run"]["generations"] = MOST_GENERATIONS
    return parse_recipe(values, "contempt-training")


MOST_GENERATIONS = 100_000
"""The evaluations end a run long before."""


@dataclass(frozen=True)
class StagedNet:
    """The net of a run at a stage.

    evaluations: spent since the common net; kept: share of solved positions; draws: share of the games since the stage
    before, None where there were none.
    """

    stage: int
    evaluations: int
    generation: int
    kept: float
    draws: float | None


@dataclass(frozen=True)
class Curve:
    """A run by its stages; unbeaten: share of drawn openings from which its last net loses to no replies."""

    seed: int
    arm: Arm
    points: Sequence[StagedNet]
    unbeaten: float

    @property
    def mean(self) -> float:
        """The share that it kept, as the mean over the evaluations."""
        kept = [point.kept for point in self.points]
        return (math.fsum(kept) - (kept[0] + kept[-1]) / 2) / (len(kept) - 1)


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
            curves.append(_judged(setting, seed, arm, folders[f"seed {seed}, {arm.title}"], yardsticks))
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
    figures = [kept_figure(curves, setting), draws_figure(curves, setting)]
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


def _judged(setting: ExperimentSetting, seed: int, arm: Arm, folder: RunFolder, yardsticks: Yardsticks) -> Curve:
    lines = folder.read_metrics()
    judge = partial(_judge, folder, yardsticks)
    points: list[StagedNet] = []
    known: dict[int, float] = {}
    for stage in range(STAGES + 1):
        evaluations = round(budget(setting) * stage / STAGES)
        generation = newest(lines, evaluations)
        if generation not in known:
            known[generation] = judge(generation, "kept")
        since = lines[points[-1].generation : generation] if points else []
        points.append(StagedNet(stage, evaluations, generation, known[generation], _draws(since)))
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

    search = folder.stored_recipe().selfplay.search
    plain = search.model_copy(update={"dirichlet": None, "search_contempt": None})
    net = folder.net(generation)
    with closing(make_evaluator(yardsticks.game, net, backend="openvino", threads=1)) as evaluator:
        player = SearchPlayer(net.stem, evaluator, plain, JUDGE_VISITS, Temperature())
        return yardsticks.kept(player) if by == "kept" else yardsticks.unbeaten(player)


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
    lines = [f"{'seed':>4}  {'games of':18} {'kept':>7} {'at end':>7} {'unbeaten':>8}  generations"]
    for curve in curves:
        last = curve.points[-1]
        shares = f"{curve.mean:7.2%} {last.kept:7.1%} {curve.unbeaten:8.0%}"
        lines.append(f"{curve.seed:4}  {curve.arm.title:18} {shares}  {last.generation}")
    return "\n".join(lines)


def finding(curves: Sequence[Curve], setting: ExperimentSetting) -> Finding:
    """Search-contempt above both others, seed by seed, in the share that is kept over the evaluations."""
    sides = tuple(
        Inequality(
            f"share kept over the evaluations, above {rival.title}",
            differences(_means(curves, rival), _means(curves, CONTEMPT)),
            0.0,
            "above",
            LEAST_SEEDS,
            unit="points of per cent",
            of="seeds",
        )
        for rival in RIVALS
    )
    ends = "; ".join(f"{arm.title} {_end_text(curves, arm)}" for arm in ARMS)
    text = f"{budget(setting):,} evaluations a run at {setting.visits_or(VISITS)} visits; at the end {ends}"
    statement = (
        "figure 6 and conclusion (speculative): from the games of search-contempt a net learns better, or as well at "
        "less cost, than from those of PUCT"
    )
    return Finding.of(statement, Claim(sides), text, scope="another game")


def _means(curves: Sequence[Curve], arm: Arm) -> dict[int, float]:
    return {curve.seed: 100 * curve.mean for curve in curves if curve.arm == arm}


def _end_text(curves: Sequence[Curve], arm: Arm) -> str:
    mine = [curve for curve in curves if curve.arm == arm]
    kept, unbeaten = Mean([curve.points[-1].kept for curve in mine]), Mean([curve.unbeaten for curve in mine])
    return f"{kept.value:.1%} kept and {unbeaten.value:.0%} of the drawn openings held"


def kept_figure(curves: Sequence[Curve], setting: ExperimentSetting) -> Figure:
    """The share that is kept by evaluations, with the interval over seeds."""
    return _figure(
        "contempt-training",
        "Moves that keep the value, by evaluations",
        f"{_seeds(curves)}, {setting.visits_or(VISITS)} visits a move of self-play; shades: 95 % intervals.",
        "share of solved positions",
        {arm: [[point.kept for point in curve.points] for curve in curves if curve.arm == arm] for arm in ARMS},
        curves[0].points,
    )


def draws_figure(curves: Sequence[Curve], setting: ExperimentSetting) -> Figure:
    """The share of drawn games of self-play by evaluations."""
    return _figure(
        "contempt-training-draws",
        "Drawn games of self-play, by evaluations",
        f"{_seeds(curves)}, {setting.visits_or(VISITS)} visits a move; shades: 95 % intervals.",
        "share of games",
        {arm: [[point.draws for point in curve.points] for curve in curves if curve.arm == arm] for arm in ARMS},
        curves[0].points,
    )


def _seeds(curves: Sequence[Curve]) -> str:
    count = len({curve.seed for curve in curves})
    return f"Mean of {count} {'seed' if count == 1 else 'seeds'}"


Runs = Sequence[Sequence[float | None]]
"""Values by stage of each seed's run."""


def _figure(
    key: str, title: str, text: str, y_name: str, arms: Mapping[Arm, Runs], points: Sequence[StagedNet]
) -> Figure:
    xs = [point.evaluations for point in points]
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
    return Figure(key, title, text, y_name, "evaluations since the common net", lines=tuple(lines), percent=True)


EXPERIMENTS = (
    Experiment(
        "contempt-training",
        f"{PAPER}, figure 6",
        "Connect Four from one net with PUCT, warm PUCT and search-contempt: exact play by evaluations",
        SECONDS,
        make_training,
        seeds=6,
        first_seed=FIRST_SEED,
        uses=("visits", "game"),
    ),
)

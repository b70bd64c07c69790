"""Figure 5 of the MPV paper: does the large net learn faster when a small net searches beside it?

Runs of equal normalised budget, with the large net alone or with two nets; tested is the large net alone, at eight
stages of the budget that all runs have spent. At every stage the large net of each run with two nets plays that of each
run with one, and all play a rung of the ladder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hauteur import networks
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.ratings.rating_list import RatingList
from hauteur.plots import Figure
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.mpv_mcts.nets import nets_for_estimate
from hauteur_experiments.mpv_mcts.pairs import GAMES, LARGE, PAPER, RANDOM_PLIES, SMALL, alone
from hauteur_experiments.mpv_mcts.points import (
    all_ahead,
    begin_rung,
    budgets_of,
    contrast,
    duel_games,
    elo_points,
    games_of,
    match_rows,
    match_table,
    place_all,
    rating_of,
    rung_stand_in,
)
from hauteur_experiments.mpv_mcts.runs import (
    BUDGETS,
    STAGES,
    TOTAL_GAMES,
    TrainingPlan,
    generation_at,
    has_two_nets,
    large_net,
    learned_runs,
    units_by_generation,
)
from hauteur_experiments.player_pool import Ladder, PlayerPool, field_seconds, ladder_specs

PLANS = (
    TrainingPlan("alone-200", 0, 200, TOTAL_GAMES),
    TrainingPlan("alone-400", 0, 400, TOTAL_GAMES // 2),
    TrainingPlan("alone-800", 0, 800, TOTAL_GAMES // 4),
    TrainingPlan("two-800-100", 800, 100, TOTAL_GAMES),
)
"""All of 2,000,000 normalised games."""
HALF_OF_PUBLISHED = 226 / 2
"""Elo that matters."""

STATEMENT = (
    "figure 5: at equal budget the large net that was trained with two nets ends at +279 (B = 200) and +370 (B = 800), "
    "226 and 252 above the best one trained alone"
)


@dataclass(frozen=True)
class Runs:
    """Learning runs by the names of their folders; ValueError unless some had one net and some two."""

    folders: dict[str, RunFolder]

    def __post_init__(self) -> None:
        if not (self.alone and self.two):
            raise ValueError(
                "this experiment needs folders of runs with one net and with two, --net ALONE --net TWO ..., got "
                f"{len(self.alone)} and {len(self.two)}"
            )

    @cached_property
    def two(self) -> list[str]:
        """Run trained with two nets."""
        return [name for name, folder in self.folders.items() if has_two_nets(folder)]

    @cached_property
    def alone(self) -> list[str]:
        """Run trained with the large net alone."""
        return [name for name in self.folders if name not in self.two]

    @cached_property
    def stages(self) -> list[float]:
        """Normalised budgets, up to what all runs have spent."""
        spent = min(units_by_generation(folder)[-1] for folder in self.folders.values())
        return [spent * number / STAGES for number in range(1, STAGES + 1)]

    def generations(self, name: str) -> list[int]:
        """Return the generation of a run at each stage."""
        return [generation_at(self.folders[name], units) for units in self.stages]

    def duels(self, stage: int, budget: int) -> list[tuple[str, str]]:
        """Return the pairs of players with two nets and with one."""
        return [(point(two, stage, budget), point(one, stage, budget)) for two in self.two for one in self.alone]


def point(name: str, stage: int, budget: int) -> str:
    """Name of a run's large net at a stage (from 1) and a budget."""
    return f"{name}-s{stage}-b{budget}"


def named(folders: Sequence[RunFolder]) -> Runs:
    """The runs by their folders' names, which must differ."""
    names = [folder.path.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        raise ValueError(f"the folders of the runs must have different names, got {', '.join(names)}")
    return Runs(dict(zip(names, folders, strict=True)))


def make(setting: ExperimentSetting) -> Result:
    """Play all stages at both budgets."""
    runs, budgets = named(learned_runs(setting, PLANS)), budgets_of(setting, BUDGETS)
    field = _field(setting, runs)
    ladder = Ladder(field)
    for stage, budget in _points(budgets):
        first, *others = [point(name, stage, budget) for name in (*runs.two, *runs.alone)]
        place_all(ladder, begin_rung(budget, BUDGETS), first, others)
    ratings = ladder.ratings()
    for stage, budget in _points(budgets):
        for a, b in runs.duels(stage, budget):
            field.meet(a, b, duel_games(setting))
    figures = [figure(runs, ratings, budget, ladder.zero) for budget in budgets]
    duels = [duel for stage, budget in _points(budgets) for duel in runs.duels(stage, budget)]
    findings = [finding(runs, ratings, budget, field.games) for budget in budgets]
    facts = {
        "matches": match_rows(field),
        "zero": ladder.zero,
        "normalised_budgets": runs.stages,
        "generations": {name: runs.generations(name) for name in runs.folders},
    }
    texts = [match_table(field, duels, "trained with two nets against trained alone, the large net alone:")]
    return Result(_rows(runs, budgets, ratings), findings, figures, texts, facts)


def _points(budgets: Sequence[int]) -> list[tuple[int, int]]:
    """Stages and budgets."""
    return [(stage, budget) for budget in budgets for stage in range(1, STAGES + 1)]


def _field(setting: ExperimentSetting, runs: Runs) -> PlayerPool:
    some = next(iter(runs.folders.values()))
    field = PlayerPool(setting, some.stored_recipe().game, games_of(setting, GAMES), RANDOM_PLIES)
    for name, folder in runs.folders.items():
        for stage, generation in enumerate(runs.generations(name), start=1):
            for budget in budgets_of(setting, BUDGETS):
                field.enter(point(name, stage, budget), alone(large_net(folder, generation), budget))
    return field


def _rows(runs: Runs, budgets: Sequence[int], ratings: RatingList) -> list[dict[str, Any]]:
    rows = []
    for stage, budget in _points(budgets):
        for name in runs.folders:
            elo = rating_of(ratings, point(name, stage, budget))
            place = {"budget": budget, "spent": runs.stages[stage - 1], "run": name, "two_nets": name in runs.two}
            generation = runs.generations(name)[stage - 1]
            rows.append(place | {"generation": generation, "elo": elo.value, "elo_low": elo.low, "elo_high": elo.high})
    return rows


def finding(runs: Runs, ratings: RatingList, budget: int, games: int) -> Finding:
    """The paper's figures beside the last stage: the mean of the runs with two nets and the best of the others."""
    last = {name: point(name, STAGES, budget) for name in runs.folders}
    best = max(runs.alone, key=lambda name: rating_of(ratings, last[name]).value)
    two = [last[name] for name in runs.two]
    ahead = contrast(ratings, two, [last[best]])
    shown = ", ".join(f"{name} {rating_of(ratings, player)}" for name, player in last.items())
    text = (
        f"large nets alone with {budget} evaluations a move when each run had spent {runs.stages[-1]:,.0f} units: "
        f"{shown}; trained with two nets (mean) above the best trained alone, {best}, by {ahead}"
    )
    each = {f"above {name}": contrast(ratings, two, [last[name]]) for name in runs.alone}
    return Finding.of(STATEMENT, all_ahead(each, games, HALF_OF_PUBLISHED), text)


def figure(runs: Runs, ratings: RatingList, budget: int, zero: str) -> Figure:
    """The paper's figure for one budget."""
    stages = range(1, STAGES + 1)
    rows = {
        f"{name}{' (two nets)' if name in runs.two else ''}": [
            rating_of(ratings, point(name, stage, budget)) for stage in stages
        ]
        for name in runs.folders
    }
    return elo_points(
        [f"{units:,.0f}" for units in runs.stages],
        rows,
        key=f"mpv-training-b{budget}",
        title=f"Large nets by what their training has cost, {budget} evaluations a move",
        text=f"Elo above {zero}, 95 %; every large net plays alone.",
        x_name="normalised budget spent, evaluations of f128,10",
    )


def seconds(setting: ExperimentSetting) -> float:
    """Estimate: learning, unless runs were given, and all matches."""
    if setting.nets:
        runs = named(learned_runs(setting, PLANS))
        net = large_net(runs.folders[runs.alone[0]], 1)
        return _match_seconds(setting, net, len(runs.alone), len(runs.two))
    with nets_for_estimate(setting, (SMALL, LARGE)) as nets:
        sizes = dict(zip((SMALL, LARGE), nets, strict=True))
        learning = sum(plan.seconds(setting, sizes) for plan in PLANS)
        two = sum(len(plan.sizes) == 2 for plan in PLANS)
        return learning + _match_seconds(setting, nets[1], len(PLANS) - two, two)


def _match_seconds(setting: ExperimentSetting, net: Any, one: int, two: int) -> float:
    """Estimate match time with a net as fast as all large ones; one, two: runs with one net and with two."""
    field = PlayerPool(setting, str(networks.describe(net).game), games_of(setting, GAMES), RANDOM_PLIES)
    specs, begins = [], []
    for budget in budgets_of(setting, BUDGETS):
        player = field.enter(f"b{budget}", alone(net, budget))
        rung = field.enter("rung", rung_stand_in(budget, BUDGETS))
        specs += [field.spec(player, player, duel_games(setting))] * (STAGES * one * two)
        specs += [field.spec(player, rung)] * (STAGES * (one + two))
        begins += [(player, begin_rung(budget, BUDGETS))] * STAGES
    return field_seconds(setting, [*specs, *ladder_specs(field, begins)])


EXPERIMENTS = (
    Experiment(
        "mpv-training",
        f"{PAPER}, figure 5",
        "AlphaZero with one net and with two at equal cost, tested by the large net alone",
        0.0,
        make,
        seeds=1,
        uses=("nets", "visits", "game", "opponent"),
        estimate_here=seconds,
    ),
)

"""The regime map of MPV-MCTS: where two nets in one tree beat each alone, by how the two compare at equal budget.

The paper's pair is above both of its nets (figure 2), whose strengths at equal budget are close: 277 and 309 Elo on
average. Here that closeness is a dial. `mpv-regime` makes the small net of the large one by noise on its weights and
declares it so many times cheaper; `mpv-regime-nets` takes real nets, given or learned in several sizes from the same
games. In both the first seed plays the map and chooses cells by S against L, and the other seeds test them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hauteur.games.registry import load_game
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Result
from hauteur_experiments.matches import MatchSpec
from hauteur_experiments.mpv_mcts import regime_result
from hauteur_experiments.mpv_mcts.nets import learning_seconds, nets_for_estimate, supervised_nets
from hauteur_experiments.mpv_mcts.noisy import noise_name, noisy_net
from hauteur_experiments.mpv_mcts.pairs import PAPER, Pair
from hauteur_experiments.mpv_mcts.points import games_of
from hauteur_experiments.mpv_mcts.regime_cells import BAND, HALVES, NEAR, OUTSIDE, VARIANTS, RegimeCell, RegimePoint
from hauteur_experiments.mpv_mcts.regime_nets import (
    LARGE_SIZE,
    SMALL_SIZES,
    TEACHER,
    cost_texts,
    costs_of,
    labels_of,
    learned_setting,
)
from hauteur_experiments.mpv_mcts.regime_play import (
    PROBE,
    TEST,
    TEST_LEVEL,
    TEST_OUTSIDE,
    TUNING,
    Dial,
    far_points,
    level_points,
    match_spec,
    stages,
    tested_level,
    tested_outside,
    tuned_map,
)
from hauteur_experiments.player_pool import field_seconds

LARGEST_BUDGET = 256
"""Units a move; the other budgets are a quarter of it and a sixteenth."""
LEAST_BUDGET = 8
GAME = "connect4"
COST = 8.0
"""Evaluations of the paper's small net for one of its large net."""
SIGMAS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6)


def budgets(setting: ExperimentSetting) -> list[int]:
    """The budgets of the map; ValueError for a largest one that is too small."""
    largest = setting.visits_or(LARGEST_BUDGET)
    if largest < LEAST_BUDGET:
        raise ValueError(f"--visits is the largest budget, at least {LEAST_BUDGET}, got {largest}")
    return [budget for budget in (largest // 16, largest // 4, largest) if budget >= LEAST_BUDGET]


def make_noise_map(setting: ExperimentSetting) -> Result:
    """The map with a dial of noise."""
    large = Path(setting.net(setting.game or GAME))
    cell = partial(_noisy_cell, setting, large)
    cells = [cell(sigma, budget) for budget in budgets(setting) for sigma in SIGMAS]
    spec = load_game(setting.game or GAME).spec
    scope = f"{spec}; the small net is the large one with noise, declared 1/{_cost(setting):g} of its cost"
    return _made(setting, "mpv-regime", cells, cell, scope)


def _noisy_cell(setting: ExperimentSetting, large: Path, sigma: float, budget: int) -> RegimeCell:
    small = noisy_net(large, setting.folder / "nets", sigma, setting.first_seed)
    return RegimeCell(noise_name(sigma), Pair(small, large, 1 / _cost(setting)), budget, sigma)


def _cost(setting: ExperimentSetting) -> float:
    return COST if setting.cost is None else setting.cost


def make_net_map(setting: ExperimentSetting) -> Result:
    """The map with real nets."""
    setting = learned_setting(setting)
    files = supervised_nets(setting, (*SMALL_SIZES, LARGE_SIZE), TEACHER)
    cells = _net_cells(setting, files, costs_of(setting, files, store=True))
    scope = f"{cells[0].pair.game}; other nets"
    return _made(setting, "mpv-regime-nets", cells, None, scope)


def _net_cells(setting: ExperimentSetting, files: Sequence[Path], costs: Sequence[float]) -> list[RegimeCell]:
    """All small nets, in their order, at all budgets. costs: of each, in evaluations of the large one."""
    *smalls, large = files
    pairs = [Pair(small, large, cost) for small, cost in zip(smalls, costs, strict=True)]
    named = list(zip(labels_of(setting, smalls), pairs, strict=True))
    return [RegimeCell(label, pair, budget) for budget in budgets(setting) for label, pair in named]


def _made(setting: ExperimentSetting, key: str, cells: Sequence[RegimeCell], dial: Dial | None, scope: str) -> Result:
    """Play the map, choose, test."""
    tune, test = stages(setting)
    points = tuned_map(tune, cells, dial)
    chosen = level_points(points)
    for point in chosen:
        setting.show(f"level: B = {point.cell.budget}, {point.cell.label}, S against L {point.gap}")
    levels, outside = tested_level(test, chosen), tested_outside(test, far_points(points))
    texts = [regime_result.table(points, levels, outside)]
    if dial is None:
        texts.append("\n".join(cost_texts(tune, points)))
    title = f"Two nets in one tree by how they compare alone: {cells[0].pair.game}"
    return Result(
        regime_result.rows(points, levels, outside),
        regime_result.findings(points, levels, outside, scope),
        [regime_result.figure(key, title, points, levels, outside)],
        texts,
        _facts(setting, points),
    )


def _facts(setting: ExperimentSetting, points: Sequence[RegimePoint]) -> dict[str, Any]:
    """Return the rules that were fixed beforehand."""
    rules = {"band": BAND, "near": NEAR, "outside": OUTSIDE}
    games = {"probe": PROBE, "tuning": TUNING, "test": TEST, "test_level": TEST_LEVEL, "test_outside": TEST_OUTSIDE}
    scaled = {name: games_of(setting, number) for name, number in games.items()}
    cells = [{"budget": point.cell.budget, "small": point.cell.label, "cost": point.cell.pair.cost} for point in points]
    return {"rules": rules, "games": scaled, "tuning_seed": setting.first_seed, "cells": cells}


def noise_seconds(setting: ExperimentSetting) -> float:
    """Estimate of the map with a dial of noise: the small net is as fast as the large one."""
    large = Path(setting.net(setting.game or GAME))
    pair = Pair(large, large, 1 / _cost(setting))
    return _seconds(setting, [RegimeCell("noise", pair, budget) for budget in budgets(setting) for _ in SIGMAS])


def net_seconds(setting: ExperimentSetting) -> float:
    """Estimate of the map with real nets: learning, unless they were given, and all matches."""
    setting = learned_setting(setting)
    with nets_for_estimate(setting, (*SMALL_SIZES, LARGE_SIZE)) as files:
        cells = _net_cells(setting, files, costs_of(setting, files, store=False))
        learning = learning_seconds(setting, files, TEACHER)
        return learning + _seconds(setting, cells)


def _seconds(setting: ExperimentSetting, cells: Sequence[RegimeCell]) -> float:
    """Matches, as if half of the cells were near the band, and one of each budget in it."""
    stages(setting)
    tests = setting.seeds - 1
    usual = (PROBE + TUNING) // 2
    specs: list[MatchSpec] = []
    for cell in cells:
        specs += _specs(setting, cell, usual, usual)
    for cell in {cell.budget: cell for cell in cells}.values():
        over = len(VARIANTS) * TUNING + tests * (TEST + TEST_OUTSIDE)
        specs += _specs(setting, cell, tests * TEST_LEVEL, over)
    return field_seconds(replace(setting, seeds=1), specs)


def _specs(setting: ExperimentSetting, cell: RegimeCell, level: int, over: int) -> list[MatchSpec]:
    """Return matches of a cell. level: games of S against L; over: of the pair against each."""
    both, small, large = cell.together(HALVES), cell.alone(0.0), cell.alone(1.0)
    sides = (((small, large), level), ((both, small), over), ((both, large), over))
    return [match_spec("estimate", cell, pair, games_of(setting, games)) for pair, games in sides]


EXPERIMENTS = (
    Experiment(
        "mpv-regime",
        f"{PAPER}, figure 2",
        "two nets in one tree: where the pair beats each alone, with a dial of noise",
        0.0,
        make_noise_map,
        seeds=3,
        uses=("nets", "visits", "game", "cost"),
        estimate_here=noise_seconds,
    ),
    Experiment(
        "mpv-regime-nets",
        f"{PAPER}, figure 2",
        "two nets in one tree: where the pair beats each alone, with nets of several sizes",
        0.0,
        make_net_map,
        seeds=3,
        uses=("nets", "visits", "game", "cost"),
        estimate_here=net_seconds,
    ),
)

"""The regime map of MPV-MCTS: where two nets in one tree beat each alone, by how the two compare at equal budget.

The paper's pair is above both of its nets (figure 2), whose strengths at equal budget are close: 277 and 309 Elo on
average. Here that closeness is a dial. `mpv-regime` makes the small net of the large one by noise on its weights and
declares it cheaper by a factor; `mpv-regime-nets` takes real nets, given or learned in several sizes from the same
games. In both the first seed plays the map and chooses cells by S against L, and the other seeds test them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Result, Setting, read_json, stated
from hauteur_experiments.grid import Match, net_speed
from hauteur_experiments.measured import columns
from hauteur_experiments.mpv_mcts import regime_result
from hauteur_experiments.mpv_mcts.noisy import noise_name, noisy_net
from hauteur_experiments.mpv_mcts.pairs import LAN, PAPER, Pair, Size, Teacher, described, size_name, supervised_nets
from hauteur_experiments.mpv_mcts.regime_map import (
    PROBE,
    TEST,
    TEST_LEVEL,
    TEST_OUTSIDE,
    TUNING,
    Dial,
    RegimeCell,
    far_points,
    level_points,
    match_spec,
    stages,
    tested_level,
    tested_outside,
    tuned_map,
)

LARGEST_BUDGET = 256
"""Units a move; the other budgets are a quarter of it and a sixteenth."""
LEAST_BUDGET = 8
GAME = "connect4"
COST = 8.0
"""Evaluations of the paper's small net for one of its large net."""
SIGMAS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6)

NET_GAME = "nogo(size=7)"
SMALL_SIZES: tuple[Size, ...] = ((8, 2), (16, 4), (24, 4))
LARGE_SIZE: Size = (32, 8)
TEACHER = Teacher(games=20_000, simulations=1000, budget=None, epochs=3)
"""About 0.8 million positions of 7x7, each in eight symmetries."""
SPEEDS = "speeds.json"


def budgets(setting: Setting) -> list[int]:
    """The budgets of the map; ValueError for a largest one that is too small."""
    largest = setting.visits_or(LARGEST_BUDGET)
    if largest < LEAST_BUDGET:
        raise ValueError(f"--visits is the largest budget, at least {LEAST_BUDGET}, got {largest}")
    return [budget for budget in (largest // 16, largest // 4, largest) if budget >= LEAST_BUDGET]


def make_noise_map(setting: Setting) -> Result:
    """The map with a dial of noise."""
    large = large_of(setting)
    cell = partial(_noisy_cell, setting, large)
    cells = [cell(sigma, budget) for budget in budgets(setting) for sigma in SIGMAS]
    spec = ht.load_game(setting.game or GAME).spec
    scope = f"{spec}; the small net is the large one with noise, declared 1/{_cost(setting):g} of its cost"
    return _made(setting, "mpv-regime", cells, cell, scope)


def large_of(setting: Setting) -> Path:
    """The large net: the one that was given, or that of the game."""
    if setting.net is not None:
        return setting.net
    game = setting.game or GAME
    found = [net.name for net in ht.nets(game) if net.where == "shipped"]
    if not found:
        raise ValueError(f"no net ships for {game}: name one with --net")
    return ht.load_network(found[0]).path


def _noisy_cell(setting: Setting, large: Path, sigma: float, budget: int) -> RegimeCell:
    small = noisy_net(large, setting.folder / "nets", sigma, setting.first_seed)
    return RegimeCell(noise_name(sigma), Pair(small, large, 1 / _cost(setting)), budget, sigma)


def _cost(setting: Setting) -> float:
    return COST if setting.cost is None else setting.cost


def make_net_map(setting: Setting) -> Result:
    """The map with real nets."""
    setting = learned_setting(setting)
    files = supervised_nets(setting, (*SMALL_SIZES, LARGE_SIZE), TEACHER)
    cells = _net_cells(setting, files, costs_of(setting, files, store=True))
    scope = f"{cells[0].pair.game}; other nets"
    return _made(setting, "mpv-regime-nets", cells, None, scope)


def _net_cells(setting: Setting, files: Sequence[Path], costs: Sequence[float]) -> list[RegimeCell]:
    """All small nets, in their order, at all budgets. costs: of each, in evaluations of the large one."""
    *smalls, large = files
    pairs = [Pair(small, large, cost) for small, cost in zip(smalls, costs, strict=True)]
    named = list(zip(labels_of(setting, smalls), pairs, strict=True))
    return [RegimeCell(label, pair, budget) for budget in budgets(setting) for label, pair in named]


def _made(setting: Setting, key: str, cells: Sequence[RegimeCell], dial: Dial | None, scope: str) -> Result:
    """Play the map, choose, test."""
    tune, test = stages(setting)
    points = tuned_map(tune, cells, dial)
    chosen = level_points(points)
    for point in chosen:
        setting.show(f"level: B = {point.cell.budget}, {point.cell.label}, S against L {point.gap}")
    levels, outside = tested_level(test, chosen), tested_outside(test, far_points(points))
    rows = regime_result.rows(points, levels, outside)
    texts = [columns(rows, *regime_result.SHOWN)]
    title = f"Two nets in one tree by how they compare alone: {cells[0].pair.game}"
    return Result(
        rows,
        regime_result.findings(points, levels, outside, scope),
        [regime_result.figure(key, title, points, levels, outside)],
        texts,
    )


def learned_setting(setting: Setting) -> Setting:
    """Return the setting with the game of the nets that are learned where none are given; ValueError for one net."""
    if setting.nets:
        if len(setting.nets) < 2:
            raise ValueError("this experiment needs two nets or more, --net SMALL ... --net LARGE, got 1")
        return setting
    return replace(setting, game=setting.game or NET_GAME)


def labels_of(setting: Setting, smalls: Sequence[Path]) -> list[str]:
    """Names of the small nets in folders and tables: their files', or the sizes that were learned."""
    if not setting.nets:
        return [size_name(size) for size in SMALL_SIZES]
    stems = [Path(net.name.removesuffix(".gz")).stem for net in smalls]
    return [stem if stems.count(stem) == 1 else f"{stem}-{number}" for number, stem in enumerate(stems, start=1)]


def costs_of(setting: Setting, files: Sequence[Path], *, store: bool) -> list[float]:
    """Return the cost of each small net in evaluations of the large one, the last file: declared, or by speeds.

    store: keep the speeds that are measured in the folder, so that an interrupted experiment goes on with them.
    """
    if setting.cost is not None:
        return [1 / setting.cost] * (len(files) - 1)
    path = setting.folder / SPEEDS
    if path.exists():
        speeds = read_json(path)["evaluations_per_second"]
    else:
        speeds = [net_speed(setting, described(net)[0], net) for net in files]
        if store:
            path.write_text(json.dumps({"evaluations_per_second": speeds}), encoding="utf-8")
    return [round(speeds[-1] / speed, 4) for speed in speeds[:-1]]


def noise_matches(setting: Setting) -> Iterator[Match]:
    """Matches of the map with a dial of noise: the small net is as fast as the large one."""
    large = large_of(setting)
    pair = Pair(large, large, 1 / _cost(setting))
    return _matches(setting, [RegimeCell("noise", pair, budget) for budget in budgets(setting) for _ in SIGMAS])


def net_matches(setting: Setting) -> Iterator[Match]:
    """Matches of the map with real nets, where they were given; else those of the teacher."""
    setting = learned_setting(setting)
    if not setting.nets:
        yield TEACHER.match(setting)
        return
    yield from _matches(setting, _net_cells(setting, setting.nets, costs_of(setting, setting.nets, store=False)))


def _matches(setting: Setting, cells: Sequence[RegimeCell]) -> Iterator[Match]:
    """Yield matches as if half of the cells were near the band, and one of each budget in it."""
    stages(setting)
    tests, usual = setting.seeds - 1, (PROBE + TUNING) // 2
    in_band = {cell.budget: cell for cell in cells}.values()
    over = tests * (TEST + TEST_OUTSIDE)
    for cell, level, each in [(c, usual, usual) for c in cells] + [(c, tests * TEST_LEVEL, over) for c in in_band]:
        both, small, large = cell.together(), cell.alone(0.0), cell.alone(1.0)
        for sides, games in (((small, large), level), ((both, small), each), ((both, large), each)):
            yield match_spec("estimate", cell, sides, max(1, setting.pairs(games) // setting.seeds))


CLAIMS = (
    *stated(
        f"{LAN}, figure 2",
        "beats-both | a pair of nets beats each alone at equal budget, where the two are worth about the same"
        " | 527 against 472 (large) and 323 (small) Elo",
    ),
    *stated(
        "this laboratory",
        "more-budget | where the nets are level, the pair's lead over them is greater at a larger budget"
        " | not in the paper (figure 2: +109 Elo on average, +55 at the largest budget)",
        "not-outside | where one net alone is clearly better, the pair is below it | not in the paper",
    ),
)

EXPERIMENTS = (
    Experiment(
        "mpv-regime",
        f"{PAPER}, figure 2",
        "two nets in one tree: where the pair beats each alone, with a dial of noise",
        make_noise_map,
        claims=CLAIMS,
        matches=noise_matches,
        seeds=3,
        uses=("nets", "visits", "game", "cost"),
    ),
    Experiment(
        "mpv-regime-nets",
        f"{PAPER}, figure 2",
        "two nets in one tree: where the pair beats each alone, with nets of several sizes",
        make_net_map,
        claims=CLAIMS,
        matches=net_matches,
        seeds=3,
        uses=("nets", "visits", "game", "cost"),
    ),
)

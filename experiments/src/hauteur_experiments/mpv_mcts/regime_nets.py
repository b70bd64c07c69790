"""Real nets for the regime map, given or learned in several sizes from the same games; their costs; how to choose them.

S and L are level at equal budget where the visits that S has more of are worth what L is better by, visit for visit. A
doubling of S's visits is worth less the more it has, and what L is better by grows with what both have learned. So a
match of S against S with half of its visits, beside S against L, shows at which cost of L the two would be level: where
L costs more than that the small net is too good for its price, and a larger one, or one that has learned less, is the
better partner, or a large net that has learned more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hauteur.system.files import write_json
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.mpv_mcts.nets import Teacher, speed_of
from hauteur_experiments.mpv_mcts.pairs import Size, size_name
from hauteur_experiments.mpv_mcts.points import Elo, elo_of
from hauteur_experiments.mpv_mcts.regime_cells import MIDDLE, RegimePoint, is_near
from hauteur_experiments.mpv_mcts.regime_play import TUNING, RegimeStage

GAME = "nogo(size=7)"
SMALL_SIZES: tuple[Size, ...] = ((8, 2), (16, 4), (24, 4))
LARGE_SIZE: Size = (32, 8)
TEACHER = Teacher(games=20_000, simulations=1000, budget=None, epochs=3)
"""About 0.8 million positions of 7x7, each in eight symmetries."""
SPEEDS = "speeds.json"


def learned_setting(setting: ExperimentSetting) -> ExperimentSetting:
    """Return the setting with the game of the nets that are learned where none are given; ValueError for one net."""
    if setting.nets:
        if len(setting.nets) < 2:
            raise ValueError("this experiment needs two nets or more, --net SMALL ... --net LARGE, got 1")
        return setting
    return replace(setting, game=setting.game or GAME)


def labels_of(setting: ExperimentSetting, smalls: Sequence[Path]) -> list[str]:
    """Names of the small nets in folders and tables: their files', or the sizes that were learned."""
    if not setting.nets:
        return [size_name(size) for size in SMALL_SIZES]
    stems = [Path(net.name.removesuffix(".gz")).stem for net in smalls]
    return [stem if stems.count(stem) == 1 else f"{stem}-{number}" for number, stem in enumerate(stems, start=1)]


def costs_of(setting: ExperimentSetting, files: Sequence[Path], *, store: bool) -> list[float]:
    """Return the cost of each small net in evaluations of the large one, the last file: declared, or by speeds.

    store: keep the speeds that are measured in the folder, so that an interrupted experiment goes on with them.
    """
    if setting.cost is not None:
        return [1 / setting.cost] * (len(files) - 1)
    path = setting.folder / SPEEDS
    if path.exists():
        speeds = json.loads(path.read_text(encoding="utf-8"))["evaluations_per_second"]
    else:
        speeds = [speed_of(setting, net) for net in files]
        if store:
            write_json(path, {"evaluations_per_second": speeds})
    return [round(speeds[-1] / speed, 4) for speed in speeds[:-1]]


def cost_texts(tune: RegimeStage, points: Sequence[RegimePoint]) -> list[str]:
    """Return for each cell the cost of the large net at which both would be level, on the tuning seed."""
    lines = [
        "S and L are level where an evaluation of L costs so many of S, by what a doubling of S's visits is worth:"
    ]
    for point in points:
        place = f"B = {point.cell.budget}, {point.cell.label}: S against L {point.gap}"
        if is_near(point):
            doubling = elo_of(tune.doubled(point.cell, TUNING))
            lines.append(f"{place}, a doubling {doubling}: {_level_text(point, doubling)}")
        else:
            lines.append(f"{place}: too far from the band to tell")
    return lines


def _level_text(point: RegimePoint, doubling: Elo) -> str:
    if doubling.low <= 0:
        return "not known, a doubling is worth nothing that these games show"
    cost = 1 / point.cell.pair.cost
    return f"level at {level_cost(cost, point.gap.value, doubling.value):.3g}, now {cost:.3g}"


def level_cost(cost: float, gap: float, doubling: float) -> float:
    """Return the cost of L at which S would be at the middle of the band.

    cost: of an evaluation of L now, in those of S; gap: Elo of S above L; doubling: Elo that twice the visits gain S.
    """
    return float(cost * 2 ** ((MIDDLE - gap) / doubling))

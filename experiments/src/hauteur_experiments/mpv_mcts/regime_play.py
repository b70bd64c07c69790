"""How the regime map of two nets is played: on one seed the map and its choices, on the others the tests.

On the first seed every cell plays S against L, PROBE games, and where S may be near L TUNING in all; with a dial of
noise, up to REFINED sigmas more are played at a budget that has no cell in the band. The pair then plays each net in as
many games. The other seeds play the cells that are chosen by S against L alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hauteur.matches.results import Tally
from hauteur.players.settings import PlayerSettings
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, play_matches
from hauteur_experiments.mpv_mcts.points import games_of
from hauteur_experiments.mpv_mcts.regime_cells import (
    HALVES,
    VARIANTS,
    Division,
    RegimeCell,
    RegimePoint,
    by_budget,
    is_near,
    level_point,
    outside_points,
    sigma_between,
)

PROBE = 100
"""First games of S against L, and all of a cell far from the band."""
TUNING = 400
"""Games of a match near the band on the tuning seed."""
TEST = 800
"""Games of the pair against each net, a test seed."""
TEST_LEVEL = 200
"""Games of S against L, a test seed."""
TEST_OUTSIDE = 400
"""Games of the pair against the better net outside of the band, a test seed."""
REFINED = 2
RANDOM_PLIES = 6
"""Random plies that a pair of games begins with: nets alone are deterministic, and Connect Four has but 49 positions
after two plies."""

Dial = Callable[[float, int], RegimeCell]
"""The cell of a sigma and a budget."""


@dataclass(frozen=True)
class RegimeStage:
    """The tuning seed, or the test seeds. name: of the folders of its matches."""

    name: str
    setting: ExperimentSetting

    def level(self, cell: RegimeCell, games: int) -> Tally:
        """S against L."""
        return self._play(cell, "s-vs-l", (cell.alone(0.0), cell.alone(1.0)), games)

    def over(self, cell: RegimeCell, share: float, games: int, division: Division = HALVES) -> Tally:
        """The pair against S (share 0) or L (share 1)."""
        name = f"{division.name}-vs-{'l' if share else 's'}"
        return self._play(cell, name, (cell.together(division), cell.alone(share)), games)

    def doubled(self, cell: RegimeCell, games: int) -> Tally:
        """S against S with half of the visits."""
        player = cell.alone(0.0)
        less = player.model_copy(update={"visits": max(1, player.visits // 2)})
        return self._play(cell, "s-vs-half", (player, less), games)

    def _play(self, cell: RegimeCell, name: str, sides: tuple[PlayerSettings, PlayerSettings], games: int) -> Tally:
        spec = match_spec(f"{self.name}-{cell.name}-{name}", cell, sides, games_of(self.setting, games))
        return play_matches(self.setting, [spec])[spec.name].tally


def match_spec(name: str, cell: RegimeCell, sides: tuple[PlayerSettings, PlayerSettings], games: int) -> MatchSpec:
    """Return a match of a cell."""
    return MatchSpec(name, *sides, games, game=cell.pair.game, random_plies=RANDOM_PLIES)


def stages(setting: ExperimentSetting) -> tuple[RegimeStage, RegimeStage]:
    """Return tuning and test; ValueError for a single seed."""
    if setting.seeds < 2:
        raise ValueError("this experiment needs --seeds 2 or more: the first chooses cells, the others test them")
    rest = replace(setting, first_seed=setting.first_seed + 1, seeds=setting.seeds - 1)
    return RegimeStage("tune", replace(setting, seeds=1)), RegimeStage("test", rest)


def tuned_map(tune: RegimeStage, cells: Sequence[RegimeCell], dial: Dial | None) -> list[RegimePoint]:
    """Play the map on the tuning seed. dial: makes cells between those, where nets come from one."""
    points = [_levelled(tune, cell) for cell in cells]
    if dial is not None:
        points += [point for mine in by_budget(points).values() for point in _refined(tune, mine, dial)]
    for point in points:
        games = TUNING if is_near(point) else PROBE
        _play_pair(tune, point, games, HALVES)
    for point in level_points(points):
        for division in VARIANTS:
            _play_pair(tune, point, TUNING, division)
    return points


def _levelled(tune: RegimeStage, cell: RegimeCell) -> RegimePoint:
    point = RegimePoint(cell, tune.level(cell, PROBE))
    return RegimePoint(cell, tune.level(cell, TUNING)) if is_near(point) else point


def _refined(tune: RegimeStage, points: Sequence[RegimePoint], dial: Dial) -> list[RegimePoint]:
    """The points of the dial between those of a budget, until one is in the band."""
    found: list[RegimePoint] = []
    while level_point([*points, *found]) is None and len(found) < REFINED:
        sigma = sigma_between([*points, *found])
        if sigma is None:
            break
        found.append(_levelled(tune, dial(sigma, points[0].cell.budget)))
    return found


def _play_pair(stage: RegimeStage, point: RegimePoint, games: int, division: Division) -> None:
    point.over_small[division] = stage.over(point.cell, 0.0, games, division)
    point.over_large[division] = stage.over(point.cell, 1.0, games, division)


def level_points(points: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Return the cells in the band that are tested, one a budget at most."""
    found = [level_point(mine) for mine in by_budget(points).values()]
    return [point for point in found if point is not None]


def far_points(points: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Return the cells outside of the band that are tested, two a budget at most."""
    return [point for mine in by_budget(points).values() for point in outside_points(mine)]


def tested_level(test: RegimeStage, points: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Play the chosen cells again on fresh seeds."""
    found = []
    for point in points:
        fresh = RegimePoint(point.cell, test.level(point.cell, TEST_LEVEL))
        _play_pair(test, fresh, TEST, HALVES)
        found.append(fresh)
    return found


@dataclass(frozen=True)
class OutsideTest:
    """The pair against the better net on fresh seeds. point: of the map, by which that net is the better one."""

    point: RegimePoint
    over_better: Tally


def tested_outside(test: RegimeStage, points: Sequence[RegimePoint]) -> list[OutsideTest]:
    """Play the pair against the net that was better on the tuning seed."""
    shares = [0.0 if point.small_is_better else 1.0 for point in points]
    tallies = [test.over(point.cell, share, TEST_OUTSIDE) for point, share in zip(points, shares, strict=True)]
    return [OutsideTest(point, tally) for point, tally in zip(points, tallies, strict=True)]

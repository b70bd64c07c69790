"""The regime map of two nets: a small net S beside a large one L at a budget, how the map is played, what is tested.

S and L are the small and the large net alone. The rules and sizes here are fixed before any game:

- BAND: S is level with L where S stands -60 to 0 Elo against L at equal budget. Of each budget the cell nearest to its
  middle is tested, if there is one.
- NEAR: a cell whose S against L is shown to be outside of -150 to 90 by its first games gets no more of them.
- OUTSIDE: on either side the cell nearest to 100 Elo outside of the band, of those that are shown to be outside.

On the first seed every cell plays S against L, PROBE games, and where S may be near L TUNING in all; with a dial of
noise, up to REFINED sigmas more are played at a budget that has no cell in the band. The pair then plays each net in as
many games. The other seeds play the cells that are chosen by S against L alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import hauteur as ht
from hauteur_experiments.experiment import Setting
from hauteur_experiments.grid import Match, play
from hauteur_experiments.mpv_mcts.ladder import Elo
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, Pair

BAND = (-60.0, 0.0)
MIDDLE = -30.0
NEAR = (-150.0, 90.0)
OUTSIDE = (-160.0, 100.0)

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


@dataclass(frozen=True)
class RegimeCell:
    """A pair of nets at a budget. label: of the small net; sigma: of its noise, None for a net of its own."""

    label: str
    pair: Pair
    budget: int
    sigma: float | None = None

    @property
    def name(self) -> str:
        """Its name in folders."""
        return f"b{self.budget}-{self.label}"

    def alone(self, share: float) -> str:
        """S (share 0) or L (share 1) with the whole budget."""
        return self.pair.player(self.budget, share)

    def together(self) -> str:
        """Both nets in one tree, as in the paper: half of the budget to each net, half of the value from each."""
        return self.pair.player(self.budget, BEST_SHARE, 0.5)


@dataclass
class RegimePoint:
    """Matches of a cell: S against L, and the pair against S and against L; None where they were not played."""

    cell: RegimeCell
    level: ht.Tally
    over_small: ht.Tally | None = None
    over_large: ht.Tally | None = None

    @property
    def gap(self) -> Elo:
        """Elo of S above L at equal budget."""
        return Elo.of(self.level)

    @property
    def small_is_better(self) -> bool:
        """Tell which net is the better one at this budget."""
        return self.gap.value > 0

    @property
    def over_better(self) -> ht.Tally | None:
        """The pair against the better net; None where it was not played."""
        return self.over_small if self.small_is_better else self.over_large


def is_near(point: RegimePoint) -> bool:
    """Return whether S may be near L: the 95 % interval reaches NEAR."""
    return point.gap.high >= NEAR[0] and point.gap.low <= NEAR[1]


def by_budget(points: Iterable[RegimePoint]) -> dict[int, list[RegimePoint]]:
    """Return the points of each budget, from the lowest to the highest S."""
    found: dict[int, list[RegimePoint]] = {}
    for point in sorted(points, key=lambda point: (point.cell.budget, point.gap.value)):
        found.setdefault(point.cell.budget, []).append(point)
    return found


def level_point(points: Iterable[RegimePoint]) -> RegimePoint | None:
    """Return the point in the band that is nearest to its middle; None where there is none."""
    inside = [point for point in points if BAND[0] <= point.gap.value <= BAND[1]]
    return min(inside, key=lambda point: abs(point.gap.value - MIDDLE), default=None)


def outside_points(points: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Return up to two points that are shown to be outside of the band: one where L is better, one where S is."""
    large = [point for point in points if point.gap.high < BAND[0]]
    small = [point for point in points if point.gap.low > BAND[1]]
    nearest = [
        min(side, key=lambda point: abs(point.gap.value - target), default=None)
        for side, target in zip((large, small), OUTSIDE, strict=True)
    ]
    return [point for point in nearest if point is not None]


def sigma_between(points: Iterable[RegimePoint]) -> float | None:
    """Return the sigma at which S should be at the middle of the band, by the line between the two points around it.

    None where there are no two around it, or where that sigma was played.
    """
    dialled = [(point.cell.sigma, point.gap.value) for point in points if point.cell.sigma is not None]
    row = sorted(dialled)
    for (less, higher), (more, lower) in pairwise(row):
        if higher > MIDDLE >= lower:
            found = round(less + (more - less) * (higher - MIDDLE) / (higher - lower), 3)
            return None if found in (less, more) else found
    return None


Dial = Callable[[float, int], RegimeCell]
"""The cell of a sigma and a budget."""


@dataclass(frozen=True)
class RegimeStage:
    """The tuning seed, or the test seeds. name: of the folders of its matches."""

    name: str
    setting: Setting

    def level(self, cell: RegimeCell, games: int) -> ht.Tally:
        """S against L."""
        return self._play(cell, "s-vs-l", (cell.alone(0.0), cell.alone(1.0)), games)

    def over(self, cell: RegimeCell, share: float, games: int) -> ht.Tally:
        """The pair against S (share 0) or L (share 1)."""
        return self._play(cell, f"r50-a50-vs-{'l' if share else 's'}", (cell.together(), cell.alone(share)), games)

    def _play(self, cell: RegimeCell, name: str, sides: tuple[str, str], games: int) -> ht.Tally:
        spec = match_spec(f"{self.name}-{cell.name}-{name}", cell, sides, self.setting.pairs(games))
        return play(self.setting, [spec])[spec.name].tally


def match_spec(name: str, cell: RegimeCell, sides: tuple[str, str], games: int) -> Match:
    """Return a match of a cell."""
    return Match(name, *sides, games, game=cell.pair.game, random_plies=RANDOM_PLIES)


def stages(setting: Setting) -> tuple[RegimeStage, RegimeStage]:
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
        _play_pair(tune, point, games)
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


def _play_pair(stage: RegimeStage, point: RegimePoint, games: int) -> None:
    point.over_small = stage.over(point.cell, 0.0, games)
    point.over_large = stage.over(point.cell, 1.0, games)


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
        _play_pair(test, fresh, TEST)
        found.append(fresh)
    return found


@dataclass(frozen=True)
class OutsideTest:
    """The pair against the better net on fresh seeds. point: of the map, by which that net is the better one."""

    point: RegimePoint
    over_better: ht.Tally


def tested_outside(test: RegimeStage, points: Sequence[RegimePoint]) -> list[OutsideTest]:
    """Play the pair against the net that was better on the tuning seed."""
    shares = [0.0 if point.small_is_better else 1.0 for point in points]
    tallies = [test.over(point.cell, share, TEST_OUTSIDE) for point, share in zip(points, shares, strict=True)]
    return [OutsideTest(point, tally) for point, tally in zip(points, tallies, strict=True)]

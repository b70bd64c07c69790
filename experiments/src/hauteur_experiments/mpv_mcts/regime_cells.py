"""Cells of the regime map of two nets: a small net beside a large one at a budget, and which of them are tested.

S and L are the small and the large net alone. The rules here and the sizes in `regime_play` are fixed before any game:

- BAND: S is level with L where S stands -60 to 0 Elo against L at equal budget. Of each budget the cell nearest to its
  middle is tested, if there is one.
- NEAR: a cell whose S against L is shown to be outside of -150 to 90 by its first games gets no more of them.
- OUTSIDE: on either side the cell nearest to 100 Elo outside of the band, of those that are shown to be outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hauteur.matches.results import Tally
from hauteur.players.settings import PlayerSettings
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, Pair
from hauteur_experiments.mpv_mcts.points import Elo, elo_of

BAND = (-60.0, 0.0)
MIDDLE = -30.0
NEAR = (-150.0, 90.0)
OUTSIDE = (-160.0, 100.0)


@dataclass(frozen=True)
class Division:
    """How a pair divides a budget and mixes values. share: r, of the large net; alpha: weight of the small net."""

    share: float = BEST_SHARE
    alpha: float = 0.5

    @property
    def name(self) -> str:
        """Its name in folders."""
        return f"r{round(100 * self.share)}-a{round(100 * self.alpha)}"


HALVES = Division()
"""The paper's: half of the budget to each net, half of the value from each."""
VARIANTS = (Division(share=0.25), Division(share=0.75), Division(alpha=0.25), Division(alpha=0.75))
"""Played on the tuning seed in the cells that are tested; what is tested is HALVES."""


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

    def alone(self, share: float) -> PlayerSettings:
        """S (share 0) or L (share 1) with the whole budget."""
        return self.pair.player(self.budget, share)

    def together(self, division: Division) -> PlayerSettings:
        """Both nets in one tree."""
        return self.pair.player(self.budget, division.share, division.alpha)


@dataclass
class RegimePoint:
    """What was played in a cell: S against L, and the pair against S and against L by its division."""

    cell: RegimeCell
    level: Tally
    over_small: dict[Division, Tally] = field(default_factory=dict)
    over_large: dict[Division, Tally] = field(default_factory=dict)

    @property
    def gap(self) -> Elo:
        """Elo of S above L at equal budget."""
        return elo_of(self.level)

    @property
    def small_is_better(self) -> bool:
        """Which net is the better one at this budget."""
        return self.gap.value > 0

    def over_better(self, division: Division = HALVES) -> Tally | None:
        """The pair against the better net; None where it was not played."""
        return (self.over_small if self.small_is_better else self.over_large).get(division)


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
        min(side, key=lambda point: abs(point.gap.value - wanted), default=None)
        for side, wanted in zip((large, small), OUTSIDE, strict=True)
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

"""Result of the regime map of two nets: claims, table, rows and the map as a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Finding
from hauteur_experiments.grid import COLOURS
from hauteur_experiments.measured import MatchElo
from hauteur_experiments.mpv_mcts.ladder import Elo
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, turns
from hauteur_experiments.mpv_mcts.regime_map import (
    BAND,
    OutsideTest,
    RegimeCell,
    RegimePoint,
    by_budget,
)
from hauteur_experiments.verdict import SMALLEST_ELO, Claim, Inequality

LEAST_TESTED = 400
"""Games of the pair against each net, in a cell of the band, below which nothing is concluded."""
LEAST_OUTSIDE = 200
"""Games of the pair against the better net, outside of the band, below which nothing is concluded."""

HALF_OF_PUBLISHED = (527 - 472) / 2
"""Elo over the better net that matters: half of what the source has at its largest budget."""


def findings(
    points: Sequence[RegimePoint], levels: Sequence[RegimePoint], outside: Sequence[OutsideTest], scope: str
) -> list[Finding]:
    """The claims. points: the map; levels, outside: the chosen cells on fresh seeds."""
    found = [_beats_both(point, len(levels), scope) for point in levels] or [_no_level(points, scope)]
    return [*found, _not_outside(outside, scope), _more_budget(levels, scope)]


def _beats_both(point: RegimePoint, cells: int, scope: str) -> Finding:
    sides = {"pair over the small net": point.over_small, "over the large net": point.over_large}
    claim = Claim(
        tuple(
            Inequality(what, MatchElo(_known(tally)), 0.0, "above", LEAST_TESTED, unit="Elo", matters=HALF_OF_PUBLISHED)
            for what, tally in sides.items()
        ),
        cells=cells,
    )
    games = point.level.record.games
    shown = f"{_place(point.cell)}: small net against large net {point.gap} on fresh seeds, {games:,} games"
    return Finding.of("beats-both", claim, shown, scope)


def _no_level(points: Sequence[RegimePoint], scope: str) -> Finding:
    gaps = "; ".join(f"{_place(point.cell)} {point.gap}" for point in points)
    return Finding("beats-both", f"no cell in the band; small net against large net: {gaps}", "open", scope=scope)


def _not_outside(tests: Sequence[OutsideTest], scope: str) -> Finding:
    if not tests:
        text = f"no cell is shown to be outside of {BAND[0]:g} to {BAND[1]:g} Elo"
        return Finding("not-outside", text, "open", scope=scope)
    sides = tuple(
        Inequality(
            _outside_text(test),
            MatchElo(test.over_better),
            0.0,
            "below",
            LEAST_OUTSIDE,
            unit="Elo",
            matters=-SMALLEST_ELO,
        )
        for test in tests
    )
    return Finding.of("not-outside", Claim(sides), scope=scope)


def _outside_text(test: OutsideTest) -> str:
    better = "small" if test.point.small_is_better else "large"
    return f"{_place(test.point.cell)}, small against large {test.point.gap}: pair over the {better} net"


def _more_budget(levels: Sequence[RegimePoint], scope: str) -> Finding:
    if len(levels) < 2:
        text = f"cells in the band at {len(levels)} of the budgets: two are needed"
        return Finding("more-budget", text, "open", scope=scope)
    ends = sorted(levels, key=lambda point: point.cell.budget)
    first, last = ends[0], ends[-1]
    games = min(_known(one).record.games for point in (first, last) for one in (point.over_small, point.over_large))
    ends_of = mean_lead(first), mean_lead(last)
    gain = Elo.normal(ends_of[1].value - ends_of[0].value, math.hypot(*(one.half for one in ends_of)))
    more = gain.measured(games)
    what = f"lead at B = {last.cell.budget} above that at {first.cell.budget}"
    side = Inequality(what, more, 0.0, "above", LEAST_TESTED, unit="Elo", matters=SMALLEST_ELO)
    claim = Claim((side,))
    shown = ", ".join(f"B = {point.cell.budget}: {mean_lead(point)}" for point in ends)
    return Finding.of("more-budget", claim, shown, scope)


def mean_lead(point: RegimePoint) -> Elo:
    """Return the mean of the pair's Elo over either net, whose matches are independent."""
    small, large = (Elo.of(_known(tally)) for tally in (point.over_small, point.over_large))
    return Elo.normal((small.value + large.value) / 2, math.hypot(small.half, large.half) / 2)


def _known(tally: ht.Tally | None) -> ht.Tally:
    if tally is None:
        raise ValueError("the pair of a tested cell has not played")
    return tally


def _place(cell: RegimeCell) -> str:
    return f"B = {cell.budget}, {cell.label}"


def rows(
    points: Sequence[RegimePoint], levels: Sequence[RegimePoint], outside: Sequence[OutsideTest]
) -> list[dict[str, Any]]:
    """A row a cell: the map (seeds: tuning), then the tests."""
    found = [_row("tuning", point) for point in points] + [_row("test", point) for point in levels]
    return found + [_outside_row(test) for test in outside]


def _row(seeds: str, point: RegimePoint) -> dict[str, Any]:
    tallies = {"s_l": point.level, "pair_s": point.over_small, "pair_l": point.over_large}
    return _place_of(seeds, point.cell) | _elos(tallies)


def _outside_row(test: OutsideTest) -> dict[str, Any]:
    small = test.point.small_is_better
    over = {"pair_s": test.over_better if small else None, "pair_l": None if small else test.over_better}
    return _place_of("test", test.point.cell) | _elos({"s_l": None, **over})


def _place_of(seeds: str, cell: RegimeCell) -> dict[str, Any]:
    small, large = turns(cell.budget, BEST_SHARE, cell.pair.cost)
    return {
        "seeds": seeds,
        "small": cell.label,
        "sigma": cell.sigma,
        "cost": cell.pair.cost,
        "budget": cell.budget,
        "small_turns": small,
        "large_turns": large,
    }


def _elos(tallies: dict[str, ht.Tally | None]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, tally in tallies.items():
        elo = None if tally is None else Elo.of(tally)
        games = 0 if tally is None else tally.record.games
        ends = {"": elo and elo.value, "_low": elo and elo.low, "_high": elo and elo.high}
        found |= {f"{name}_games": games} | {f"{name}_elo{end}": value for end, value in ends.items()}
    return found


SHOWN = ("seeds", "budget", "small", "s_l_elo", "pair_s_elo", "pair_l_elo", "pair_s_games", "pair_l_games")
"""Columns of the rows that are shown; the intervals are in result.csv."""


def figure(
    key: str, title: str, points: Sequence[RegimePoint], levels: Sequence[RegimePoint], outside: Sequence[OutsideTest]
) -> ht.Figure:
    """The map: the pair's Elo over the better net by that of S over L, a line a budget; points: fresh seeds."""
    lines = []
    for number, (budget, mine) in enumerate(by_budget(points).items()):
        colour = COLOURS[number % len(COLOURS)]
        lines.append(_series(f"B = {budget}", colour, _places(mine)))
        fresh = _places(point for point in levels if point.cell.budget == budget)
        fresh += [
            (test.point.gap.value, Elo.of(test.over_better)) for test in outside if test.point.cell.budget == budget
        ]
        if fresh:
            lines.append(_series(f"B = {budget}, fresh seeds", colour, fresh, joined=False))
    return ht.Figure(
        key,
        title,
        "The pair of both nets in halves against the better net alone, at equal budget. Bars: 95 % intervals.",
        "Elo of the pair over the better net",
        "Elo of the small net alone over the large net alone, at equal budget",
        lines=tuple(lines),
        threshold=0.0,
        threshold_name="as strong as the better net",
    )


def _places(points: Iterable[RegimePoint]) -> list[tuple[float, Elo]]:
    over = [(point.gap.value, point.over_better) for point in points]
    return [(gap, Elo.of(tally)) for gap, tally in over if tally is not None]


def _series(name: str, colour: str, places: Sequence[tuple[float, Elo]], *, joined: bool = True) -> ht.Series:
    return ht.Series(
        name,
        [gap for gap, _ in places],
        [elo.value for _, elo in places],
        colour,
        low=[elo.low for _, elo in places],
        high=[elo.high for _, elo in places],
        dashed=not joined,
        joined=joined,
    )

"""Where two nets in one tree beat each alone, by how the two compare alone at equal budget.

The paper's pair is above both of its nets (figure 2), whose strengths at equal budget are close: 277 and 309 Elo on
average. Here given small nets S meet a large one L at several budgets. The pair then plays both in the cells that are
chosen by S against L alone, so that the choice tells nothing of the pair's games. The rules are fixed before any game:

- BAND: S is level with L at -60 to 0 Elo. Of each budget the cell nearest to its middle is chosen, if there is one.
- OUTSIDE: on either side the cell nearest to 100 Elo outside of the band, of those that are shown to be outside; there
  the pair plays the better net.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import COLOURS, Match, play, points
from hauteur_experiments.measured import Interval, MatchElo, columns, contrast, elo_columns, elo_text
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, LAN, PAPER, Pair, game_of, scope_of, turns
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import SMALLEST_ELO, Claim, Inequality

BAND = (-60.0, 0.0)
MIDDLE = -30.0
OUTSIDE = (-160.0, 100.0)

LARGEST_BUDGET, LEAST_BUDGET = 256, 8
"""Units a move; the other budgets are a quarter of the largest and a sixteenth."""

MAP_GAMES, LEVEL_GAMES, OUTSIDE_GAMES = 400, 600, 300
"""Games a seed: of S against L, of the pair against each net in the band, and against the better one outside of it."""

LEAST_TESTED, LEAST_OUTSIDE = 400, 200
"""Games of the pair against a net below which nothing is concluded, in the band and outside of it."""

HALF_OF_PUBLISHED = (527 - 472) / 2
"""Elo over the better net that matters: half of what the source has at its largest budget."""

RANDOM_PLIES = 6
"""Random plies that a pair of games begins with: nets alone are deterministic."""

LEVEL, OVER_SMALL, OVER_LARGE = "s-vs-l", "r50-a50-vs-s", "r50-a50-vs-l"
SIDES = {LEVEL: (0.0, 1.0), OVER_SMALL: (BEST_SHARE, 0.0), OVER_LARGE: (BEST_SHARE, 1.0)}
"""Shares of the large net of both players, by match."""

COLUMNS = {LEVEL: "s_l", OVER_SMALL: "pair_s", OVER_LARGE: "pair_l"}
SHOWN = ("chosen", "budget", "small", "s_l_elo", "pair_s_elo", "pair_l_elo", "pair_s_games", "pair_l_games")
"""Columns of the rows that are shown; the intervals are in result.csv."""


@dataclass(frozen=True)
class RegimeCell:
    """A pair of nets at a budget. label: of the small net."""

    label: str
    pair: Pair
    budget: int

    def match(self, setting: Setting, name: str, games: int) -> Match:
        """A match of the cell, one of SIDES."""
        a, b = (self.pair.player(self.budget, share) for share in SIDES[name])
        name = f"b{self.budget}-{self.label}-{name}"
        return Match(name, a, b, setting.pairs(games), game=self.pair.game, random_plies=RANDOM_PLIES)

    def played(self, setting: Setting, name: str, games: int) -> MatchElo:
        """Play a match of the cell; its difference."""
        match = self.match(setting, name, games)
        return MatchElo(play(setting, [match])[match.name].tally)

    def __str__(self) -> str:
        return f"B = {self.budget}, {self.label}"


@dataclass(frozen=True)
class RegimePoint:
    """A cell with the Elo of its matches by name. chosen: for which claim the pair plays in it."""

    cell: RegimeCell
    elos: dict[str, MatchElo]
    chosen: str = ""

    @property
    def level(self) -> MatchElo:
        """S against L."""
        return self.elos[LEVEL]

    @property
    def better(self) -> str:
        """The match of the pair against the net that is the better one at this budget."""
        return OVER_SMALL if self.level.value > 0 else OVER_LARGE

    @property
    def lead(self) -> Interval:
        """The mean of the pair's Elo over both nets."""
        return contrast((0.5, self.elos[OVER_SMALL]), (0.5, self.elos[OVER_LARGE]))

    def tested(self, setting: Setting, chosen: str, games: int, *matches: str) -> RegimePoint:
        """Return the point with these matches of the pair played."""
        elos = {name: self.cell.played(setting, name, games) for name in matches}
        return RegimePoint(self.cell, self.elos | elos, chosen)

    def row(self) -> dict[str, Any]:
        """The cell's row in the table."""
        cell = self.cell
        small, large = turns(cell.budget, BEST_SHARE, cell.pair.cost)
        row: dict[str, Any] = {
            "chosen": self.chosen,
            "small": cell.label,
            "cost": cell.pair.cost,
            "budget": cell.budget,
            "small_turns": small,
            "large_turns": large,
        }
        for match, name in COLUMNS.items():
            elo = self.elos.get(match)
            row[f"{name}_games"] = 0 if elo is None else elo.units
            row |= elo_columns(elo, f"{name}_elo")
        return row


def make(setting: Setting) -> Result:
    """Play every S against L, choose, play the pair."""
    cells = cells_of(setting)
    points = []
    for cell in cells:
        played = cell.played(setting, LEVEL, MAP_GAMES)
        points.append(RegimePoint(cell, {LEVEL: played}))
    levels = [one.tested(setting, "level", LEVEL_GAMES, OVER_SMALL, OVER_LARGE) for one in level_points(points)]
    outside = [one.tested(setting, "outside", OUTSIDE_GAMES, one.better) for one in outside_points(points)]
    tested = {str(one.cell): one for one in (*levels, *outside)}
    rows = [tested.get(str(one.cell), one).row() for one in points]
    found = findings(points, levels, outside)
    scoped = []
    for one, scope in zip(found, scopes(cells, levels, len(found)), strict=True):
        scoped.append(replace(one, scope=scope))
    return Result(rows, scoped, [figure([*levels, *outside])], [columns(rows, *SHOWN)])


def scopes(cells: Sequence[RegimeCell], levels: Sequence[RegimePoint], findings: int) -> list[str]:
    """In what each finding differs from the paper: those of the chosen cells, which come first, by their budget."""
    game = cells[0].pair.game
    costs = {cell.pair.cost for cell in cells}
    cost = costs.pop() if len(costs) == 1 else None
    own = [scope_of(game, [point.cell.budget], cost) for point in levels]
    every = scope_of(game, [cell.budget for cell in cells], cost)
    return [*own, *[every] * (findings - len(own))]


def cells_of(setting: Setting) -> list[RegimeCell]:
    """All small nets, in their order, at all budgets; the last net is the large one.

    An evaluation of a small net costs what the setting declares, else what its size does. ValueError for a single net,
    for nets of different games, and for a largest budget that is too small.
    """
    if len(setting.nets) < 2:
        needed = "two nets or more, --net SMALL ... --net LARGE"
        raise ValueError(f"this experiment needs {needed}, got {len(setting.nets)}")
    game_of(setting)
    *smalls, large = setting.nets
    largest = setting.visits_or(LARGEST_BUDGET)
    if largest < LEAST_BUDGET:
        raise ValueError(f"--visits is the largest budget, at least {LEAST_BUDGET}, got {largest}")
    budgets = [budget for budget in (largest // 16, largest // 4, largest) if budget >= LEAST_BUDGET]
    pairs = [Pair(small, large, setting.cost and 1 / setting.cost) for small in smalls]
    named = list(zip(labels_of(smalls), pairs, strict=True))
    return [RegimeCell(label, pair, budget) for budget in budgets for label, pair in named]


def labels_of(smalls: Sequence[Path]) -> list[str]:
    """Names of given nets in folders and tables: their files', with a number where several have the same."""
    stems = [Path(net.name.removesuffix(".gz")).stem for net in smalls]
    return [stem if stems.count(stem) == 1 else f"{stem}-{number}" for number, stem in enumerate(stems, start=1)]


def level_points(every: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Return the points in the band that are tested, one a budget at most: the nearest to its middle."""
    found: dict[int, RegimePoint] = {}
    for point in sorted(every, key=lambda point: abs(point.level.value - MIDDLE)):
        if BAND[0] <= point.level.value <= BAND[1]:
            found.setdefault(point.cell.budget, point)
    return sorted(found.values(), key=lambda point: point.cell.budget)


def outside_points(every: Sequence[RegimePoint]) -> list[RegimePoint]:
    """Return the points that are shown to be outside of the band and are tested: up to one a side of each budget."""
    found: dict[tuple[int, bool], RegimePoint] = {}
    for point in every:
        low, high = point.level.interval(0.95)
        if high < BAND[0] or low > BAND[1]:
            side = low > BAND[1]
            other = found.setdefault((point.cell.budget, side), point)
            nearest = min(other, point, key=lambda one: abs(one.level.value - OUTSIDE[side]))
            found[point.cell.budget, side] = nearest
    return list(found.values())


def findings(
    every: Sequence[RegimePoint], levels: Sequence[RegimePoint], outside: Sequence[RegimePoint]
) -> list[Finding]:
    """The claims. every: S against L everywhere; levels, outside: the chosen cells with the pair."""
    gaps = "; ".join(f"{point.cell} {elo_text(point.level)}" for point in every)
    none = Finding("beats-both", f"no cell in the band; small net against large net: {gaps}", "open")
    found = [_beats_both(point, len(levels)) for point in levels] or [none]
    return [*found, _not_outside(outside), _more_budget(levels)]


def _beats_both(point: RegimePoint, cells: int) -> Finding:
    sides = {"pair over the small net": OVER_SMALL, "over the large net": OVER_LARGE}
    leads = [_over(what, point.elos[match]) for what, match in sides.items()]
    claim = Claim(tuple(leads), cells=cells)
    shown = f"{point.cell}: small net against large net {elo_text(point.level)}, {point.level.units:,} games"
    return Finding.of("beats-both", claim, shown)


def _over(what: str, elo: MatchElo | Interval, matters: float = HALF_OF_PUBLISHED) -> Inequality:
    return Inequality(what, elo, 0.0, "above", LEAST_TESTED, unit="Elo", matters=matters)


def _not_outside(outside: Sequence[RegimePoint]) -> Finding:
    if not outside:
        return Finding("not-outside", f"no cell is shown to be outside of {BAND[0]:g} to {BAND[1]:g} Elo", "open")
    nets = {OVER_SMALL: "small", OVER_LARGE: "large"}
    sides = [
        Inequality(
            f"{point.cell}, pair over the {nets[point.better]} net",
            point.elos[point.better],
            0.0,
            "below",
            LEAST_OUTSIDE,
            unit="Elo",
            matters=-SMALLEST_ELO,
            given=(f"{point.cell}, small against large", point.level),
        )
        for point in outside
    ]
    return Finding.of("not-outside", Claim(tuple(sides)))


def _more_budget(levels: Sequence[RegimePoint]) -> Finding:
    if len(levels) < 2:
        text = f"cells in the band at {len(levels)} of the budgets: two are needed"
        return Finding("more-budget", text, "open")
    first = levels[0]
    last = levels[-1]
    what = f"lead at B = {last.cell.budget} above that at {first.cell.budget}"
    shown = ", ".join(f"B = {point.cell.budget}: {elo_text(point.lead)}" for point in levels)
    difference = contrast((1, last.lead), (-1, first.lead))
    side = _over(what, difference, SMALLEST_ELO)
    return Finding.of("more-budget", Claim((side,)), shown)


def figure(found: Sequence[RegimePoint]) -> ht.Figure:
    """The pair's Elo over the better net by that of S over L, a series a budget."""
    lines = []
    for number, budget in enumerate(dict.fromkeys(point.cell.budget for point in found)):
        mine = [point for point in found if point.cell.budget == budget]
        xs = [contrast((1, point.level)).value for point in mine]
        over = [point.elos[point.better] for point in mine]
        lines.append(points(f"B = {budget}", xs, over, COLOURS[number]))
    style: dict[str, Any] = {"threshold": 0.0, "threshold_name": "as strong as the better net"}
    return ht.Figure(
        "mpv-regime-nets",
        "Two nets in one tree by how they compare alone",
        "The pair of both nets in halves against the better net alone, at equal budget. Bars: 95 % intervals.",
        "Elo of the pair over the better net",
        "Elo of the small net alone over the large net alone, at equal budget",
        lines=tuple(lines),
        **style,
    )


def matches(setting: Setting) -> list[Match]:
    """The matches of S against L."""
    return [cell.match(setting, LEVEL, MAP_GAMES) for cell in cells_of(setting)]


EXPERIMENTS = (
    Experiment(
        "mpv-regime-nets",
        f"{PAPER}, figure 2",
        "two nets in one tree: where the pair beats each alone, with nets of several sizes",
        make,
        claims=(
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
        ),
        matches=matches,
        seeds=3,
        uses=("nets", "visits", "game", "cost"),
    ),
)

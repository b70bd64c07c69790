"""Positions that the net misjudges: the kinds that are counted, their rates by search, and the paper's statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur_experiments.bootstrap_ci import Rate, rate_of, ratio_of
from hauteur_experiments.experiment import ExperimentSetting, Finding
from hauteur_experiments.measured import Interval
from hauteur_experiments.search_contempt.settings import HYBRID, LEAST_GAMES, VISITS, Options, contempt, game_of
from hauteur_experiments.verdict import Claim, Inequality

LOW = 5
"""Visits of the shallow judgement: the N_scl of the games."""

DEEPER = 4
"""Visits of the deep judgement, in units of those of the games."""

SHIFT = 0.2
SWING = 0.4
GRAVE = 0.8
GAP = 0.3

SETS: Mapping[str, tuple[str, Options]] = {
    "n5": ("N_scl 5", contempt(5)),
    "n32": ("N_scl 32", contempt(32)),
    "puct": ("PUCT", HYBRID),
}
"""The games by the name of their folder: title and options; those of figure 2."""

PLAIN = "puct"


class MeasuredPosition(BaseModel):
    """A position of a game and what was found of it; values are for the player to move.

    low, high: values at few visits and at many; gap: how much the best move is better than the second; change: whether
    the deep search plays another move than the shallow one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: int
    ply: int
    fen: str
    before: str
    move: str
    white_to_move: bool
    low: float
    high: float
    best: str
    gap: float | None
    change: bool

    @property
    def swing(self) -> float:
        """Absolute change of the value between few visits and many."""
        return abs(self.high - self.low)


Kind = Callable[[MeasuredPosition], bool]

KINDS: Mapping[str, Kind] = {
    "shifted": lambda one: one.swing >= SHIFT,
    "misjudged": lambda one: one.swing >= SWING,
    "gravely misjudged": lambda one: one.swing >= GRAVE,
    "puzzle": lambda one: one.swing >= SWING and one.change and one.gap is not None and one.gap >= GAP,
    "mistake": lambda one: one.high - one.low >= SWING,
    "trap": lambda one: one.low - one.high >= SWING,
}
"""What is counted. puzzle: the best move is one that the shallow search does not play, and better than every other by
GAP; mistake: who moved into the position is worse off than it looks; trap: better off."""


MORE = 1.25
"""Times as many that matter, of the statement without a number."""

COUNTED = ("shifted", "misjudged", "puzzle")
"""Kinds that the statements are tested with, beside each other."""


def deep(setting: ExperimentSetting) -> int:
    """Visits of the deep judgement."""
    return max(LOW + 1, DEEPER * setting.visits_or(VISITS))


def _rate(found: Sequence[MeasuredPosition], kind: str) -> Rate:
    return rate_of([(one.game, KINDS[kind](one)) for one in found])


def kind_row(setting: ExperimentSetting, name: str, found: Sequence[MeasuredPosition], kind: str) -> dict[str, Any]:
    """A line of result.csv: how often a kind occurs in the games of a name of SETS, per 1,000 positions."""
    rate = _rate(found, kind)
    return {
        "games": name,
        "kind": kind,
        "positions": len(found),
        "count": rate.counted,
        "per_1000": 1000 * rate.share,
        "low_95": 1000 * rate.low,
        "high_95": 1000 * rate.high,
        "low_visits": LOW,
        "high_visits": deep(setting),
    }


def table(found: Mapping[str, Sequence[MeasuredPosition]]) -> str:
    """Positions of each kind per 1,000, and how many times as many with search-contempt."""
    sought = [name for name in found if name != PLAIN]
    heads = [SETS[name][0] for name in found] + [f"{SETS[name][0]} : PUCT" for name in sought]
    lines = [f"{'per 1,000 positions':20}" + "".join(f"{head:>24}" for head in heads)]
    for kind in KINDS:
        rates = [1000 * np.array(_rate(found_of, kind)[1:]) for found_of in found.values()]
        ratios = [_ratio(found, name, kind) for name in sought]
        texts = [f"{value:.1f} [{low:.1f}, {high:.1f}]" for value, low, high in rates]
        texts += [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in ratios]
        lines.append(f"{kind:20}" + "".join(f"{text:>24}" for text in texts))
    return "\n".join(lines)


def _ratio(
    found: Mapping[str, Sequence[MeasuredPosition]], name: str, kind: str, confidence: float = 0.95
) -> tuple[float, float, float]:
    with_contempt, with_puct = ([(one.game, KINDS[kind](one)) for one in found[of]] for of in (name, PLAIN))
    return ratio_of(with_contempt, with_puct, confidence=confidence)


def findings(found: Mapping[str, Sequence[MeasuredPosition]]) -> list[Finding]:
    """The statement of section 4.2.1 beside three ways to count, with its factor of 20 and without it, by N_scl."""
    strong = "'interesting' positions are 20 to 30 times as frequent with a low N_scl"
    weak = "'interesting' positions are more frequent with a low N_scl"
    return [
        _finding(found, name, kind, text, bound)
        for text, bound in ((weak, 1.0), (strong, 20.0))
        for name in found
        if name != PLAIN
        for kind in COUNTED
    ]


def _finding(
    found: Mapping[str, Sequence[MeasuredPosition]], name: str, kind: str, statement: str, bound: float
) -> Finding:
    pair = {of: found[of] for of in (name, PLAIN)}
    rates = "; ".join(f"{SETS[of][0]} {1000 * _rate(mine, kind).share:.1f}" for of, mine in pair.items())
    games = min(len({one.game for one in mine}) for mine in pair.values())
    ratio = Interval(_ratio(found, name, kind)[0], games, lambda confidence: _ratio(found, name, kind, confidence)[1:])
    matters = max(bound, MORE)
    side = Inequality(f"times as many {kind} positions", ratio, bound, "above", LEAST_GAMES, matters=matters)
    cells = len(COUNTED) * (len(found) - 1)
    return Finding.of(statement, Claim((side,), cells=cells), f"{SETS[name][0]}, per 1,000 positions: {rates}")


def figure(setting: ExperimentSetting, found: Mapping[str, Sequence[MeasuredPosition]]) -> Figure:
    """The rates with their intervals."""
    lines = []
    for number, (name, colour) in enumerate(zip(found, LINE_COLOURS, strict=False)):
        rates = [_rate(found[name], kind) for kind in KINDS]
        places = [place + 0.16 * number - 0.08 for place in range(1, len(KINDS) + 1)]
        values, lows, highs = ([1000 * value for value in row] for row in zip(*(r[1:] for r in rates), strict=True))
        lines.append(Series(SETS[name][0], places, values, colour, low=lows, high=highs, joined=False))
    text = (
        f"Positions whose value at {LOW} visits and at {deep(setting)} differs by {SWING} (shifted: {SHIFT}, gravely: "
        f"{GRAVE}); self-play of {game_of(setting)} at {setting.visits_or(VISITS):,} visits; 95 % intervals by game."
    )
    return Figure(
        "contempt-positions",
        "Misjudged positions in self-play",
        text,
        "per 1,000 positions",
        "",
        lines=tuple(lines),
        from_zero=True,
        x_names=tuple(KINDS),
    )

"""The figure of what holds: a row a claim in Elo, the source's difference as a hollow mark, ours as intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hauteur_experiments.deciding import GAMES, OWN_GAMES, Row, by_claim, by_game

COLOURS = {"chess": "#1f6cb4", "minichess": "#c9561a", "connect4": "#1a8a67", "nogo": "#a8578c"}
INK, SOFT, NOT_RUN = "#1d1d1b", "#65625c", "#b8b4ab"
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
SOURCE = re.compile(r"([-+]\d+(?:\.\d+)?) Elo")
MEASURED = re.compile(rf"({NUMBER}) \[({NUMBER}|-inf), ({NUMBER}|inf)\] Elo$")

LINEAR = 50.0
"""Elo up to which the axis is linear; beyond it is logarithmic."""

MOST = 1000.0
INCHES_A_ROW = 0.3


class Line(NamedTuple):
    """A row of the figure.

    source: the published difference in Elo; measured: value and ends by game; undecided: games where the claim is open.
    """

    claim: str
    source: float
    measured: Mapping[str, tuple[float, float, float]]
    undecided: frozenset[str] = frozenset()


def elo_lines(rows: Sequence[Row]) -> list[Line]:
    """The claims whose figure in the source is in Elo, in their order, with the numbers of the table: what the deciding
    run of each game measured.
    """
    found = []
    for (subject, claim), lines in by_claim(rows).items():
        published = SOURCE.search(lines[0]["figure"]) if subject in OWN_GAMES else None
        if published is None:
            continue
        measured = {}
        games = by_game(lines)
        for game, one in games.items():
            number = MEASURED.search(one.row["decides"])
            if number is not None:
                value, low, high = (float(text.replace(",", "")) for text in number.groups())
                measured[game] = (value, max(-MOST, low), min(MOST, high))
        undecided = frozenset(game for game, one in games.items() if one.verdict == "open")
        found.append(Line(claim.partition(": ")[2], float(published.group(1)), measured, undecided))
    return found


def draw_claims(rows: Sequence[Row], path: Path) -> None:
    """Write the figure as a PNG. ImportError without matplotlib (the extra `report`)."""
    from matplotlib.figure import Figure

    lines = elo_lines(rows)
    sheet = Figure(figsize=(9.5, 1.4 + INCHES_A_ROW * len(lines)), dpi=150, layout="constrained")
    axes = sheet.subplots()
    axes.axvline(0, color=SOFT, linewidth=0.8)
    shown: dict[str, None] = {}
    for place, line in enumerate(lines):
        axes.plot(
            [line.source],
            [place],
            "D",
            markerfacecolor="none",
            markersize=6,
            color=INK if line.measured else NOT_RUN,
        )
        for number, (game, (value, low, high)) in enumerate(line.measured.items()):
            height = place + 0.18 * number
            colour = COLOURS.get(game, SOFT)
            label = GAMES[game] if game not in shown else None
            shown[game] = None
            axes.plot([low, high], [height, height], color=colour, linewidth=2.2)
            inside = "white" if game in line.undecided else colour
            axes.plot([value], [height], "o", color=colour, markerfacecolor=inside, markersize=5)
            axes.plot([], [], "o", color=colour, markersize=5, label=label)
    axes.plot([], [], "o", markerfacecolor="white", color=SOFT, markersize=5, label="open")
    axes.plot([], [], "D", markerfacecolor="none", color=INK, label="the source")
    axes.plot([], [], "D", markerfacecolor="none", color=NOT_RUN, label="the source, not run here")
    axes.set_yticks(range(len(lines)), [line.claim for line in lines], fontsize=8, color=INK)
    axes.set_xscale("symlog", linthresh=LINEAR)
    ticks = (-800, -400, -200, -100, -50, -25, 0, 25, 50, 100, 200, 400, 800)
    axes.set_xlim(-MOST, MOST)
    axes.set_xticks(ticks, [str(tick) for tick in ticks], fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddad3", linewidth=0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Elo, linear to 50; bars: 95 %", fontsize=8, color=SOFT)
    sheet.legend(loc="outside lower center", fontsize=8, frameon=False, ncols=7)
    sheet.savefig(path, metadata={"Software": None})

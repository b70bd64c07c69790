"""Figures 3, 4 and 6 of the implementation report, drawn of kept results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hauteur.plots.figure import Figure, Series

DRAWN = ("report-fig3", "report-fig4")
"""Runs whose result has the figure."""

MATCH = "report-fig6"
"""The run whose result has the matches of the trained player, a row a seed."""

NUMBERS = {"report-fig3": "Figure 3", "report-fig4": "Figure 4"}


def stored_figure(stored: Mapping[str, Any]) -> Figure:
    """Return a figure of a result, as result.json has it."""
    values = {key: value for key, value in stored.items() if key not in ("areas", "lines")}
    areas = tuple(Series(**one) for one in stored["areas"])
    lines = tuple(Series(**one) for one in stored["lines"])
    return Figure(**values, areas=areas, lines=lines)


def figure_of(name: str, result: Mapping[str, Any]) -> Figure:
    """Return the figure of a run by its name. result: as in result.json."""
    if name == MATCH:
        return match_figure(result["rows"])
    found = stored_figure(result["figures"][0])
    return replace(found, title=f"{NUMBERS[name]}: {found.title}")


def match_figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the shares of won, drawn and lost games of the trained player against the initial one, by seed."""
    xs = list(range(1, len(rows) + 1))
    games = [row["wins"] + row["draws"] + row["losses"] for row in rows]
    areas = []
    for name, colour in (("wins", "win"), ("draws", "draw"), ("losses", "loss")):
        shares = [row[name] / played for row, played in zip(rows, games, strict=True)]
        areas.append(Series(name, xs, shares, colour))
    scores = [(row["wins"] + row["draws"] / 2) / played for row, played in zip(rows, games, strict=True)]
    line = Series("score of the trained player", xs, scores, "ink")
    return Figure(
        MATCH,
        "Figure 6: the trained against the initial player",
        f"{games[0]} games a seed, sides in turns, moves drawn from the visits; 2,000 episodes, 100 MCTS iterations.",
        "share of games",
        "seed",
        areas=tuple(areas),
        lines=(line,),
        percent=True,
        threshold=0.5,
        threshold_name="even",
        x_names=tuple(str(row["seed"]) for row in rows),
    )

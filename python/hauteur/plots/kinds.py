"""The kinds of figures, as functions of plain numbers: shares of results, lines, and the spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hauteur.plots.colours import line_colour
from hauteur.plots.figure import Figure, Series, Values

Results = Sequence[tuple[int, int, int]]
"""Wins, draws and losses, one triple a step."""


def shares(
    key: str,
    title: str,
    text: str,
    *,
    xs: Sequence[float],
    results: Results,
    curve: str = "winrate",
    intervals: Sequence[tuple[float, float]] | None = None,
    names: tuple[str, str, str] = ("win", "draw", "loss"),
    **options: Any,
) -> Figure:
    """Shares of wins, draws and losses piled up, and the curve of the score (draws count half).

    results: a triple of counts for every place of xs; a step without games is left out. intervals: those of the curve
    at every place. options: of `Figure`.
    """
    kept = [(x, counts, i) for i, (x, counts) in enumerate(zip(xs, results, strict=True)) if sum(counts)]
    places = [x for x, _, _ in kept]
    rows = [[counts[part] / sum(counts) for _, counts, _ in kept] for part in range(3)]
    scores = [win + draw / 2 for win, draw in zip(rows[0], rows[1], strict=True)]
    low, high = ([intervals[i][end] for _, _, i in kept] if intervals else () for end in (0, 1))
    areas = zip(names, rows, ("win", "draw", "loss"), strict=True)
    return Figure(
        key,
        title,
        text,
        "share of games",
        areas=tuple(Series(name, places, row, colour) for name, row, colour in areas),
        lines=(Series(curve, places, scores, "ink", low=low, high=high),),
        percent=True,
        **options,
    )


def lines(
    key: str, title: str, text: str, y_name: str, *, xs: Sequence[float], rows: Mapping[str, Values], **options: Any
) -> Figure | None:
    """A line for every row that has a value (over the same places); None when none has. options: of `Figure`."""
    named = {name: row for name, row in rows.items() if any(value is not None for value in row)}
    found = [Series(name, xs, row, line_colour(i)) for i, (name, row) in enumerate(named.items())]
    return Figure(key, title, text, y_name, lines=tuple(found), **options) if named else None


def over_seeds(name: str, runs: Sequence[tuple[Values, Values]], *, colour: str, dashed: bool = False) -> Series:
    """Return the mean of several runs, step by step, with the spread from the lowest to the highest.

    runs: one a seed, places and values; steps missing from any of them are left out. Where places differ (wall time),
    the mean is at their mean.
    """
    steps = []
    for step in zip(*(zip(xs, values, strict=True) for xs, values in runs), strict=False):
        whole = [(x, value) for x, value in step if x is not None and value is not None]
        if len(whole) == len(runs):
            steps.append(([x for x, _ in whole], [value for _, value in whole]))
    shown = len(runs) > 1
    return Series(
        name,
        [_mean(xs) for xs, _ in steps],
        [_mean(values) for _, values in steps],
        colour,
        low=[min(values) for _, values in steps] if shown else (),
        high=[max(values) for _, values in steps] if shown else (),
        dashed=dashed,
    )


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else sum(values) / len(values)

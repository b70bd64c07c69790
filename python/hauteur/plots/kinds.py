"""The kinds of figures, as functions of plain numbers: shares of results, lines, and the spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    runs: Sequence[Results],
    curve: str = "winrate",
    threshold: float | None = None,
    intervals: Sequence[tuple[float, float]] | None = None,
    x_name: str = "generation",
    names: tuple[str, str, str] = ("win", "draw", "loss"),
) -> Figure:
    """Shares of wins, draws and losses piled up, the curve of the score (draws count half), the threshold.

    runs: one a seed, each with a triple of counts for every place of xs; with several the areas are the means of their
    shares, and the curve is the mean with the spread from the lowest to the highest seed. intervals: those of the curve
    at every place, for one run. A step in which some run has no games is left out. ValueError when there is no run.
    """
    if not runs:
        raise ValueError(f"figure {key!r}: shares of no run")
    steps = list(zip(*runs, strict=True))
    kept = [i for i, step in enumerate(steps) if all(sum(counts) > 0 for counts in step)]
    parts = [[[count / sum(counts) for count in counts] for counts in steps[i]] for i in kept]
    places = [xs[i] for i in kept]
    rows = [[_mean([run[part] for run in step]) for step in parts] for part in range(3)]
    scores = [[run[0] + run[1] / 2 for run in step] for step in parts]
    spread = [intervals[i] for i in kept] if intervals else [(min(s), max(s)) for s in scores]
    shown = bool(intervals) or len(runs) > 1
    line = Series(
        curve,
        places,
        [_mean(step) for step in scores],
        "ink",
        low=[low for low, _ in spread] if shown else (),
        high=[high for _, high in spread] if shown else (),
    )
    colours = ("win", "draw", "loss")
    areas = tuple(Series(name, places, row, colour) for name, row, colour in zip(names, rows, colours, strict=True))
    return Figure(
        key, title, text, "share of games", x_name, areas=areas, lines=(line,), percent=True, threshold=threshold
    )


def lines(
    key: str,
    title: str,
    text: str,
    y_name: str,
    *,
    xs: Sequence[float],
    rows: Mapping[str, Values],
    x_name: str = "generation",
    percent: bool = False,
    log: bool = False,
    from_zero: bool = False,
    x_from_zero: bool = False,
    threshold: float | None = None,
    threshold_name: str = "threshold",
) -> Figure | None:
    """A line for every row that has a value (over the same places); None when none has."""
    named = {name: row for name, row in rows.items() if any(value is not None for value in row)}
    if not named:
        return None
    found = [Series(name, xs, row, line_colour(i)) for i, (name, row) in enumerate(named.items())]
    return Figure(
        key,
        title,
        text,
        y_name,
        x_name,
        lines=tuple(found),
        percent=percent,
        log=log,
        from_zero=from_zero,
        x_from_zero=x_from_zero,
        threshold=threshold,
        threshold_name=threshold_name,
    )


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

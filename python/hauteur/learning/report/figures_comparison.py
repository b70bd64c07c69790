"""Figures that compare learning runs: each quantity by generation, games, normalised budget and wall time.

Runs of one recipe with different seeds are one line: their mean, with the spread from the lowest to the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hauteur.learning.report.axes import Axis, axes, axis_of
from hauteur.learning.report.columns import History, column, number
from hauteur.plots.colours import LINE_COLOURS, line_colour
from hauteur.plots.figure import Figure, Values
from hauteur.plots.kinds import over_seeds

Groups = Mapping[str, Sequence[History]]
"""Runs by the name of their line: one, or several that differ in their seed only."""


class Quantity(NamedTuple):
    """A quantity compared: key, title, text, unit, the value of every generation; at_zero: before the first."""

    key: str
    title: str
    text: str
    unit: str
    values: Callable[[History], Values]
    at_zero: float | None = None
    log: bool = False
    from_zero: bool = False


def _best_elo(history: History) -> Values:
    judged = any(number(line, "elo") is not None for line in history)
    return column(history, "best_elo") if judged else [None] * len(history)


def _ratio(history: History) -> Values:
    return [value if value else None for value in column(history, "games.ratio")]


def _metric(path: str) -> Callable[[History], Values]:
    return lambda history: column(history, path)


QUANTITIES = (
    Quantity(
        "elo",
        "Elo of the best net",
        "Every run's own ladder from its first net: shapes can be compared, heights only by a match.",
        "Elo",
        _best_elo,
        at_zero=0.0,
        from_zero=True,
    ),
    Quantity("policy-loss", "Policy loss", "On each run's own games.", "loss", _metric("train.policy_loss")),
    Quantity("value-loss", "Value loss", "On each run's own games.", "loss", _metric("train.value_loss")),
    Quantity(
        "policy-loss-large",
        "Policy loss, large net",
        "On each run's own games.",
        "loss",
        _metric("train_large.policy_loss"),
    ),
    Quantity(
        "value-loss-large",
        "Value loss, large net",
        "On each run's own games.",
        "loss",
        _metric("train_large.value_loss"),
    ),
    Quantity(
        "lengths",
        "Length of games",
        "Mean length of the games of self-play.",
        "plies",
        _metric("games.mean_length"),
        from_zero=True,
    ),
    Quantity(
        "ratio", "Decisive games a draw", "(w + l) / d of the games of self-play.", "(w + l) / d", _ratio, log=True
    ),
)


def comparison_figures(groups: Groups, axis: str | None = None) -> dict[str, list[Figure]]:
    """Build the figures by quantity title, one for each axis known to all runs; omit quantities unknown to all.

    axis: key of the one axis to draw them by; ValueError for one that not all runs have.
    """
    histories = [history for runs in groups.values() for history in runs]
    shared = axes(histories) if axis is None else [[one] for one in axis_of(histories, axis)]
    by_run = iter(shared)
    placed = {name: [(history, next(by_run)) for history in runs] for name, runs in groups.items()}
    kinds = shared[0] if shared else []
    found = {}
    for quantity in QUANTITIES:
        figures = [_figure(quantity, i, axis, placed) for i, axis in enumerate(kinds)]
        found[quantity.title] = [figure for figure in figures if any(series.points() for series in figure.lines)]
    return {title: figures for title, figures in found.items() if figures}


Placed = Mapping[str, Sequence[tuple[History, list[Axis]]]]


def _figure(quantity: Quantity, number_of_axis: int, axis: Axis, groups: Placed) -> Figure:
    lines = []
    for number_of_line, (name, runs) in enumerate(groups.items()):
        rows = [_with_start(quantity, own[number_of_axis].values, quantity.values(history)) for history, own in runs]
        colour, dashed = line_colour(number_of_line), number_of_line >= len(LINE_COLOURS)
        lines.append(over_seeds(name, rows, colour=colour, dashed=dashed))
    spread = " Shaded: from the lowest to the highest seed." if any(len(runs) > 1 for runs in groups.values()) else ""
    return Figure(
        f"{quantity.key}-by-{axis.key}",
        f"{quantity.title} by {axis.title}",
        quantity.text + spread,
        quantity.unit,
        axis.name,
        lines=tuple(line for line in lines if line.points()),
        log=quantity.log,
        from_zero=quantity.from_zero,
        x_from_zero=axis.key != "generation",
    )


def _with_start(quantity: Quantity, xs: Values, values: Values) -> tuple[Values, Values]:
    if quantity.at_zero is None or all(value is None for value in values):
        return xs, values
    return [0.0, *xs], [quantity.at_zero, *values]

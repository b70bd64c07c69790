"""Numbers of a run's metrics by name, generation by generation, and what its figures can be drawn by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hauteur.plots.figure import Figure, Series, Values

Line = Mapping[str, Any]
"""The metrics of a generation, as metrics.jsonl has them."""

History = Sequence[Line]
"""The metrics of a run's generations."""


def number(line: Line, path: str) -> float | None:
    """A finite number of the metrics by its dotted path; None where there is none."""
    value: Any = line
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def column(history: History, path: str) -> list[float | None]:
    """A number of every generation."""
    return [number(line, path) for line in history]


def section(line: Line, name: str) -> Mapping[str, Any]:
    """A section of the metrics, empty where it is absent."""
    value = line.get(name)
    return value if isinstance(value, Mapping) else {}


def generations(history: History) -> list[float]:
    """The numbers of the generations."""
    return [number(line, "generation") or i for i, line in enumerate(history, 1)]


def running_total(values: Values) -> list[float | None]:
    """The sum up to every place; None from the first missing value on."""
    sums: list[float | None] = []
    before: float | None = 0
    for value in values:
        before = None if before is None or value is None else before + value
        sums.append(before)
    return sums


TIME_UNITS = ((3 * 3600, 3600, "hours"), (3 * 60, 60, "minutes"), (0, 1, "seconds"))
"""From how many seconds on a unit is used, its seconds, its name."""

AXES = {
    "generation": "generation",
    "games": "games",
    "positions": "positions",
    "evaluations": "evaluations",
    "budget": "normalised budget",
    "processor": "processor time",
    "time": "time",
}
"""Key and words of every axis. Evaluations are those of self-play by the run's nets."""

REPORT_AXES = ("generation", "games", "budget", "time")
"""Those that pages have side by side, where no one can choose."""


class Axis(NamedTuple):
    """Something that grows over a run: key, words for titles, name at the axis, value after each generation."""

    key: str
    title: str
    name: str
    values: Values


def axes(histories: Sequence[History], keys: Sequence[str] = REPORT_AXES) -> list[list[Axis]]:
    """Return for every run those of the axes that all runs have. Times share one unit."""
    longest = {path: _longest(histories, path) for path in ("seconds", "cpu_seconds")}
    found = [[_axis(key, history, longest) for key in keys] for history in histories]
    known = [all(any(x is not None for x in axis.values) for axis in column) for column in zip(*found, strict=True)]
    return [[axis for axis, shown in zip(row, known, strict=True) if shown] for row in found]


def axis_of(histories: Sequence[History], key: str) -> list[Axis]:
    """Return an axis of every run; ValueError where there is no such axis, or a run does not have it."""
    if key not in AXES:
        raise ValueError(f"there is no axis {key!r}; there are {', '.join(AXES)}")
    found = axes(histories, (key,))
    if not all(found):
        raise ValueError(f"{AXES[key]} is not in the metrics of these runs")
    return [one for (one,) in found]


def on_axis(figure: Figure, axis: Axis, history: History) -> Figure:
    """Return a figure by generation with another axis; one by something else stays unchanged."""
    if figure.x_name != "generation" or axis.key == "generation":
        return figure
    places = dict(zip(generations(history), axis.values, strict=True))
    areas, lines = ([_moved(series, places) for series in part] for part in (figure.areas, figure.lines))
    return replace(figure, x_name=axis.name, x_from_zero=True, areas=tuple(areas), lines=tuple(lines))


def _moved(series: Series, places: dict[float, float | None]) -> Series:
    """Return the values of a row at other places, without those that have none."""
    kept = [(i, x) for i, x in enumerate(places.get(old) for old in series.xs) if x is not None]
    rows = (series.values, series.low, series.high)
    values, low, high = ([row[i] for i, _ in kept] if row else () for row in rows)
    return replace(series, xs=[x for _, x in kept], values=values, low=low, high=high)


def _longest(histories: Sequence[History], path: str) -> float:
    return max((number(line, path) or 0.0 for history in histories for line in history), default=0.0)


def _axis(key: str, history: History, longest: dict[str, float]) -> Axis:
    title = AXES[key]
    if key in ("time", "processor"):
        path, kind = ("seconds", "wall time") if key == "time" else ("cpu_seconds", title)
        size, unit = next((size, unit) for limit, size, unit in TIME_UNITS if longest[path] >= limit)
        times = [None if seconds is None else seconds / size for seconds in column(history, path)]
        return Axis(key, title, f"{kind}, {unit}", times)
    return Axis(key, title, title, _counts(key, history))


def _counts(key: str, history: History) -> Values:
    if key == "generation":
        return generations(history)
    if key == "budget":
        return column(history, "cost.normalised_total")
    if key == "evaluations":
        small, large = column(history, "cost.evaluations"), column(history, "cost.evaluations_large")
        pairs = zip(small, large, strict=True)
        return running_total([None if one is None else one + (other or 0) for one, other in pairs])
    return running_total(column(history, f"games.{key}"))

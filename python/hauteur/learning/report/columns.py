"""Numbers of a run's metrics by name, generation by generation; None where a generation does not have one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hauteur.plots.figure import Values

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

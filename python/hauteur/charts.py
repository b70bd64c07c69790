"""Small charts as inline SVG: stacked shares and lines over the generations of a run.

Colours are CSS variables of the page (hauteur.report), so the charts follow its light and dark form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 96, 14, 38

Values = Sequence[float | None]
"""One value a generation; None where there is none."""


@dataclass(frozen=True)
class Series:
    """A named row of values with its colour (a CSS variable without the dashes)."""

    name: str
    values: Values
    colour: str


def stacked_shares(
    parts: Sequence[Series], *, xs: Sequence[int], curve: Series, threshold: float | None, title: str
) -> str:
    """Areas of shares (0 to 1) piled up from below, a curve over them, and the threshold as a shaded line."""
    plot = _Plot(xs, 0.0, 1.0, percent=True)
    body = [plot.grid()]
    below = [0.0] * len(xs)
    for part in parts:
        above = [low + (value or 0.0) for low, value in zip(below, part.values, strict=True)]
        body.append(plot.area(below, above, part.colour))
        body.append(plot.area_label(below[-1], above[-1], part))
        below = above
    if threshold is not None:
        body.append(plot.band(threshold, f"threshold {threshold:.0%}"))
    body.append(plot.line(curve, places=plot.dots(curve, lambda y: f"{y:.1%}")))
    return plot.svg(title, body)


def lines(series: Sequence[Series], *, xs: Sequence[int], title: str, from_zero: bool = False) -> str:
    """Lines over the generations, each named at its end."""
    values = [value for row in series for value in row.values if value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    plot = _Plot(xs, min(0.0, low) if from_zero else low, high)
    body = [plot.grid()]
    ends = plot.apart([plot.y(_last(row.values)) for row in series])
    for row, end in zip(series, ends, strict=True):
        body.append(plot.line(row, places=plot.dots(row, lambda y: f"{y:.4g}")))
        body.append(plot.end_label(row, end))
    return plot.svg(title, body)


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers that cover low to high, about `wanted` of them."""
    span = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / wanted))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if span / (m * power) <= wanted)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def _last(values: Values) -> float:
    return next((value for value in reversed(values) if value is not None), 0.0)


class _Plot:
    """The coordinates of a chart and the SVG of its parts."""

    def __init__(self, xs: Sequence[int], low: float, high: float, *, percent: bool = False) -> None:
        self.xs = list(xs)
        self.percent = percent
        self.marks = [i / 4 for i in range(5)] if percent else ticks(low, high)
        self.low, self.high = self.marks[0], self.marks[-1]

    def x(self, index: int) -> float:
        """Place of a generation by its index; a single one stands in the middle."""
        share = index / (len(self.xs) - 1) if len(self.xs) > 1 else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def grid(self) -> str:
        """Horizontal lines with numbers, and the generations below."""
        parts = []
        for mark in self.marks:
            y = self.y(mark)
            text = f"{mark:.0%}" if self.percent else f"{mark:g}"
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        every = max(1, math.ceil(len(self.xs) / 12))
        for index in range(0, len(self.xs), every):
            x, y = self.x(index), HEIGHT - BOTTOM + 18
            parts.append(f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{self.xs[index]}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(f'<text class="tick" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">generation</text>')
        return "".join(parts)

    def area(self, below: Sequence[float], above: Sequence[float], colour: str) -> str:
        """The area between two rows of values."""
        if len(self.xs) == 1:  # one generation: a bar instead of an area without width
            below, above = [below[0]] * 2, [above[0]] * 2
            places = [self.x(0) - 40, self.x(0) + 40]
        else:
            places = [self.x(i) for i in range(len(self.xs))]
        forth = [f"{x:.1f},{self.y(v):.1f}" for x, v in zip(places, above, strict=True)]
        back = [f"{x:.1f},{self.y(v):.1f}" for x, v in zip(places, below, strict=True)]
        return f'<polygon class="area" fill="var(--{colour})" points="{" ".join(forth + back[::-1])}"/>'

    def area_label(self, below: float, above: float, part: Series) -> str:
        """The name of an area beside its right end, where there is room for it."""
        if above - below < 0.04:
            return ""
        y = (self.y(below) + self.y(above)) / 2 + 4
        return f'<text class="name" x="{WIDTH - RIGHT + 10}" y="{y:.1f}">{escape(part.name)}</text>'

    def band(self, value: float, name: str) -> str:
        """A shaded line across the chart."""
        y = self.y(value)
        return (
            f'<line class="band" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="mark" x="{LEFT + 6}" y="{y - 8:.1f}">{escape(name)}</text>'
        )

    def line(self, series: Series, *, places: str) -> str:
        """A line through the values that there are, broken where one is missing."""
        pieces: list[list[str]] = [[]]
        for index, value in enumerate(series.values):
            if value is None:
                pieces.append([])
            else:
                pieces[-1].append(f"{self.x(index):.1f},{self.y(value):.1f}")
        drawn = (f'<polyline points="{" ".join(piece)}"/>' for piece in pieces if len(piece) > 1)
        return f'<g class="line" stroke="var(--{series.colour})">{"".join(drawn)}</g>{places}'

    def dots(self, series: Series, text: Callable[[float], str]) -> str:
        """A dot a value, which tells its number when pointed at."""
        radius = 2.5 if len(self.xs) > 40 else 3.5
        parts = []
        for index, value in enumerate(series.values):
            if value is not None:
                told = escape(f"{series.name}, generation {self.xs[index]}: {text(value)}")
                place = f'cx="{self.x(index):.1f}" cy="{self.y(value):.1f}" r="{radius}"'
                parts.append(f'<circle {place} fill="var(--{series.colour})"><title>{told}</title></circle>')
        return "".join(parts)

    def end_label(self, series: Series, y: float) -> str:
        """The name of a line beside its right end."""
        place = f'x="{WIDTH - RIGHT + 10}" y="{y + 4:.1f}"'
        return f'<text class="name" {place}>{escape(series.name)}</text>'

    def apart(self, places: Sequence[float]) -> list[float]:
        """The places of labels, moved apart where they would cover each other."""
        order = sorted(range(len(places)), key=lambda i: places[i])
        result = list(places)
        for before, after in pairwise(order):
            result[after] = max(result[after], result[before] + 16)
        return result

    def svg(self, title: str, body: Sequence[str]) -> str:
        """The whole chart."""
        box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(body)}</svg>'

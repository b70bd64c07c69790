"""Figures as SVG for HTML pages. Colours are CSS variables (`page.STYLE`), so a figure follows light and dark.

Hovering over a value shows it; the names of the series are beside the drawing, in a legend of HTML that can wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import log10

from hauteur.plots.figure import Figure, Point, Series

WIDTH, HEIGHT = 460, 280
MOST_DOTS = 40
"""Dots of a series; where it has more values, evenly chosen ones have a dot. Its line goes through all."""

LEFT, RIGHT, TOP, BOTTOM = 50, 14, 30, 40


def svg(figure: Figure) -> str:
    """The drawing without title, text and legend."""
    marks = figure.y_ticks()
    low, high = figure.x_range()
    frame = _Frame(
        x=_Axis(low, high, LEFT, WIDTH - RIGHT, log=figure.x_log),
        y=_Axis(marks[0], marks[-1], HEIGHT - BOTTOM, TOP, log=figure.log, logit=figure.logit),
    )
    parts = [
        f"<title>{escape(figure.title)}</title><desc>{escape(figure.text)}</desc>",
        *(frame.area(slab.xs, slab.below, slab.above, slab.series.colour) for slab in figure.pile()),
        *_grid(figure, frame),
        *_threshold(figure, frame),
        *(_line(series, frame) if series.joined else _bars(series, frame) for series in figure.lines),
        *(_dots(series, frame, figure) for series in figure.lines),
    ]
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(figure.title)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


@dataclass(frozen=True)
class _Axis:
    """Values from low to high on the places from begin to end of the drawing."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    logit: bool = False

    def __call__(self, value: float) -> float:
        scale: Callable[[float], float] = _log_odds if self.logit else log10 if self.log else float
        if self.logit:
            value = min(max(value, self.low), self.high)
        share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return self.begin + share * (self.end - self.begin)


def _log_odds(share: float) -> float:
    return log10(share / (1 - share))


@dataclass(frozen=True)
class _Frame:
    x: _Axis
    y: _Axis

    def place(self, x: float, y: float) -> str:
        """A point of the drawing as SVG writes it."""
        return f"{self.x(x):.1f},{self.y(y):.1f}"

    def area(self, xs: Sequence[float], below: Sequence[float], above: Sequence[float], colour: str) -> str:
        forth = [self.place(x, y) for x, y in zip(xs, above, strict=True)]
        back = [self.place(x, y) for x, y in zip(xs, below, strict=True)]
        return f'<polygon class="area" fill="var(--{colour})" points="{" ".join(forth + back[::-1])}"/>'


def _grid(figure: Figure, frame: _Frame) -> list[str]:
    """Faint lines with numbers at the left, numbers below, and what both axes measure."""
    parts = []
    for mark in figure.y_ticks():
        y = frame.y(mark)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{figure.y_text(mark)}</text>')
    for number, mark in enumerate(figure.x_ticks(), 1):
        x, y = frame.x(mark), HEIGHT - BOTTOM + 17
        text = str(number) if figure.x_crowded else figure.x_text(mark)  # the page lists the names below
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>')
    parts.append(f'<text x="2" y="12">{escape(figure.y_name)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*parts, f'<text x="{middle}" y="{HEIGHT - 5}" text-anchor="middle">{escape(figure.x_name)}</text>']


def _threshold(figure: Figure, frame: _Frame) -> list[str]:
    """A shaded line across the drawing; the legend names it."""
    if figure.threshold is None:
        return []
    y = frame.y(figure.threshold)
    return [f'<line class="band" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>']


def _line(series: Series, frame: _Frame) -> str:
    """Lines through neighbouring values, broken where one is missing, and their spread."""
    parts = []
    for piece in series.pieces():
        if len(piece) > 1:
            xs, values, low, high = zip(*piece, strict=True)
            if series.low:
                parts.append(frame.area(xs, low, high, series.colour).replace('"area"', '"spread"'))
            places = " ".join(frame.place(x, y) for x, y in zip(xs, values, strict=True))
            parts.append(f'<polyline points="{places}"/>')
    dashes = ' stroke-dasharray="6 4"' if series.dashed else ""
    return f'<g class="line" stroke="var(--{series.colour})"{dashes}>{"".join(parts)}</g>'


def _bars(series: Series, frame: _Frame) -> str:
    """A bar a value, over its spread."""
    ends = [(frame.x(point.x), frame.y(point.low), frame.y(point.high)) for point in series.points()]
    bars = "".join(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>' for x, low, high in ends)
    return f'<g class="line" stroke="var(--{series.colour})">{bars}</g>'


def _dots(series: Series, frame: _Frame, figure: Figure) -> str:
    """Return dots at the values, which show their numbers on hover."""
    radius = 3 if len(series.xs) <= 30 else 1.8
    points = series.points()
    step = -(-len(points) // MOST_DOTS) if series.joined else 1
    parts = []
    for point in points[::-1][:: max(step, 1)][::-1]:  # the last one always
        place = f'cx="{frame.x(point.x):.1f}" cy="{frame.y(point.value):.1f}" r="{radius}"'
        tooltip = escape(_tooltip(series, point, figure))
        parts.append(f'<circle {place} fill="var(--{series.colour})"><title>{tooltip}</title></circle>')
    return "".join(parts)


def _tooltip(series: Series, point: Point, figure: Figure) -> str:
    spread = f" ({figure.value_text(point.low)} to {figure.value_text(point.high)})" if series.low else ""
    return f"{series.name}, {figure.x_name} {figure.x_text(point.x)}: {figure.value_text(point.value)}{spread}"

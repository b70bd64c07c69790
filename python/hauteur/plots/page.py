"""Standalone HTML pages: style, figures with their legends, tables. In light and dark, on phone and screen.

Figures are SVG whose colours are CSS variables (STYLE), so that a figure follows light and dark. Hovering over a value
shows it; the names of the series are beside the drawing, in a legend of HTML that can wrap.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from typing import Any

from hauteur.plots import boards
from hauteur.plots.figure import DARK, LIGHT, Figure, Point, Series


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


STYLE = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 1060px; margin: 0 auto; padding: 28px 16px 64px; }}
h1 {{ font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; }}
h2 {{ font-size: 1.25rem; margin: 36px 0 10px; }}
h3 {{ font-size: 1rem; margin: 0; }} main > h3 {{ margin-top: 20px; }}
p {{ margin: 2px 0 10px; color: var(--soft); max-width: 72ch; }}
figure p {{ font-size: .86rem; line-height: 1.4; margin-bottom: 8px; }}
.facts {{ display: flex; flex-wrap: wrap; gap: 8px; margin: 18px 0; }}
.facts div, figure, .scroll, pre {{ background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }}
.facts div {{ flex: 1 0 108px; padding: 9px 12px; box-sizing: border-box; }}
.facts b {{ display: block; font-size: 1.2rem; font-variant-numeric: tabular-nums; }}
.facts span {{ color: var(--soft); font-size: .85rem; }}
.figures {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 14px; }}
figure {{ margin: 0; padding: 12px 14px; display: flex; flex-direction: column; break-inside: avoid; }}
figure svg {{ margin-top: auto; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: .82rem; padding: 0 0 8px; margin: 0; }}
.legend li {{ list-style: none; overflow-wrap: anywhere; }}
.legend svg {{ display: inline-block; width: 22px; height: 10px; margin-right: 6px; vertical-align: baseline; }}
.names {{ font-size: .82rem; margin: 4px 0 0; padding-left: 2.2em; columns: 2 180px; overflow-wrap: anywhere; }}
svg {{ display: block; width: 100%; height: auto; overflow: visible; }}
svg text {{ font: 12.5px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }}
@media (max-width: 500px) {{ svg text {{ font-size: 14.5px; }} }}
svg .grid {{ stroke: var(--ink); stroke-width: 1; opacity: .16; }}
svg .spread {{ opacity: .2; stroke: none; }}
svg .band {{ stroke: var(--ink); stroke-width: 6; opacity: .25; }}
svg .line polyline {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
.view-board {{ max-width: 260px; margin: 8px 0 12px; }}
.scroll {{ overflow-x: auto; margin: 8px 0; }}
table {{ border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 5px 9px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }}
th:first-child, td:first-child, .words td, .words th {{ text-align: left; }}
.words td {{ white-space: normal; overflow-wrap: anywhere; }}
thead th {{ color: var(--soft); font-weight: 500; }} tbody th {{ font-weight: 600; }}
tbody tr:last-child > * {{ border-bottom: 0; }}
pre {{ padding: 12px; overflow-x: auto; font-size: .82rem; }}
summary {{ cursor: pointer; margin-top: 12px; }}
{boards.STYLE}"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page of these parts; where one of them has games on a board, with the script that moves them."""
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{view}<title>{escape(title)}</title><style>{STYLE}</style>'
    main = "".join(parts)
    script = f"<script>{boards.script()}</script>" if '<div class="walks">' in main else ""
    body = f"<body><main>{main}</main>{script}</body>"
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>\n'


def figures_html(figures: Iterable[Figure]) -> str:
    """Figures side by side, as many as fit."""
    return f'<div class="figures">{"".join(map(figure_html, figures))}</div>'


def figure_html(figure: Figure) -> str:
    """A figure with its title, what it shows, and its legend."""
    head = f"<h3>{escape(figure.title)}</h3><p>{escape(figure.text)}</p>"
    keys = ""
    for sign, name in _legend(figure):
        keys += f"<li>{sign}{escape(name)}</li>"
    listed = ""
    if figure.x_crowded:
        names = "".join(f"<li>{escape(name)}</li>" for name in figure.x_names)
        listed = f'<ol class="names">{names}</ol>'
    return f'<figure><figcaption>{head}</figcaption><ul class="legend">{keys}</ul>{svg(figure)}{listed}</figure>'


def _legend(figure: Figure) -> list[tuple[str, str]]:
    """Sign and name: boxes for areas, lines for lines, a shaded line for the threshold."""
    shapes = []
    for area in figure.areas:
        shapes.append((f'<rect width="22" height="10" rx="2" fill="var(--{area.colour})"/>', area.name))
    for line in figure.lines:
        dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
        stroke = f'stroke="var(--{line.colour})" stroke-width="3"{dashes}'
        shapes.append((f'<line x2="22" y1="6" y2="6" {stroke}/>', line.name))
    if figure.threshold is not None:
        shapes.append(('<line class="band" x2="22" y1="6" y2="6"/>', figure.threshold_text()))
    return [(f'<svg viewBox="0 0 22 10" aria-hidden="true">{shape}</svg>', name) for shape, name in shapes]


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    """Boxes of a value and what it is."""
    boxes = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in facts)
    return f'<div class="facts">{boxes}</div>'


class Markup(str):
    """Text that is markup already and stands on the page unchanged."""

    __slots__ = ()


def table_html(names: Sequence[str], rows: Iterable[Sequence[str]], *, words: bool = False) -> str:
    """A table; the first cell of a row names it. Cells are escaped, unless they are Markup.

    words: cells are text that may be long, not numbers.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{_cell(first)}</th>{cells}</tr>')
    kind = ' class="words"' if words else ""
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="scroll" tabindex="0"><table{kind}>{inner}</table></div>'


def _cell(text: str) -> str:
    return text if isinstance(text, Markup) else escape(text)


def settings_rows(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return settings with their values as text, without those that are not set."""
    rows = []
    for key, value in settings.items():
        text = value if isinstance(value, str) else json.dumps(value)
        if text not in ("null", "", "{}", "[]"):
            rows.append((key, text))
    return rows


def settings_html(settings: Mapping[str, Any]) -> str:
    """Return a table of settings, without those that are not set."""
    return table_html(("setting", "value"), settings_rows(settings), words=True)


def provenance_html(facts: Mapping[str, Any]) -> str:
    """Return a table of `provenance_rows`."""
    return table_html(("made with", ""), provenance_rows(facts), words=True)


def provenance_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return date, command, machine and versions of what a page shows, as `hauteur.system.provenance` records them.

    What is damaged is left out.
    """
    packages = facts.get("packages")
    command = facts.get("command")
    packages = packages if isinstance(packages, Mapping) else {}
    rows = [
        ("date", facts.get("created")),
        ("command", _command(command) if isinstance(command, list) else ""),
        ("machine", f"{facts.get('processor')}, {facts.get('cores')} cores, {facts.get('system')}"),
        ("host", facts.get("host")),
        ("commit", facts.get("commit")),
        ("Python", facts.get("python")),
        ("packages", ", ".join(f"{name} {version}" for name, version in packages.items() if version)),
    ]
    return [(name, str(value)) for name, value in rows if value]


def _command(words: Sequence[object]) -> str:
    program, *rest = [str(word) for word in words] or [""]
    name = program.replace("\\", "/").rpartition("/")[2]
    return shlex.join(["hauteur" if name == "__main__.py" else name, *rest])


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
    title = escape(figure.title)
    parts = [f"<title>{title}</title><desc>{escape(figure.text)}</desc>"]
    for slab in figure.pile():
        parts.append(frame.area(slab.xs, slab.below, slab.above, slab.series.colour))
    parts += _grid(figure, frame)
    parts += _threshold(figure, frame)
    for series in figure.lines:
        parts.append(_line(series, frame) if series.joined else _bars(series, frame))
    for series in figure.lines:
        parts.append(_dots(series, frame, figure))
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"'
    content = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{content}</svg>'


@dataclass(frozen=True)
class _Axis:
    """An axis: maps values to coordinates of the drawing."""

    low: float
    """Value at `begin`."""
    high: float
    """Value at `end`."""
    begin: float
    """First coordinate, in units of the drawing."""
    end: float
    """Last coordinate; below `begin` where values rise upwards."""
    log: bool = False
    """The scale is logarithmic."""
    logit: bool = False
    """The scale is that of the log odds of a share."""

    def __call__(self, value: float) -> float:
        """The place of a value; of shares on a scale of odds those beyond the ends are at the ends."""
        if self.logit:
            value = min(max(value, self.low), self.high)
        low = self.scale(self.low)
        high = self.scale(self.high)
        share = (self.scale(value) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    def scale(self, value: float) -> float:
        """What grows evenly along the axis: the value, its logarithm or its log odds."""
        if self.logit:
            return _log_odds(value)
        return log10(value) if self.log else value


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
        """Return the area between two heights at these places."""
        outline = [self.place(x, y) for x, y in zip(xs, above, strict=True)]
        back = [self.place(x, y) for x, y in zip(xs, below, strict=True)]
        outline += reversed(back)
        points = " ".join(outline)
        return f'<polygon class="area" fill="var(--{colour})" points="{points}"/>'


def _grid(figure: Figure, frame: _Frame) -> list[str]:
    """Faint lines with numbers at the left, numbers below, and what both axes measure."""
    parts = []
    right = WIDTH - RIGHT
    for mark in figure.y_ticks():
        y = frame.y(mark)
        text = figure.y_text(mark)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    below = HEIGHT - BOTTOM + 17
    for number, mark in enumerate(figure.x_ticks(), 1):
        x = frame.x(mark)
        text = str(number) if figure.x_crowded else figure.x_text(mark)  # the page lists the names below
        parts.append(f'<text x="{x:.1f}" y="{below}" text-anchor="middle">{escape(text)}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text x="2" y="12">{escape(figure.y_name)}</text>')
    parts.append(f'<text x="{middle}" y="{HEIGHT - 5}" text-anchor="middle">{escape(figure.x_name)}</text>')
    return parts


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
    bars = []
    for point in series.points():
        x = frame.x(point.x)
        low = frame.y(point.low)
        high = frame.y(point.high)
        bars.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
    return f'<g class="line" stroke="var(--{series.colour})">{"".join(bars)}</g>'


def _dots(series: Series, frame: _Frame, figure: Figure) -> str:
    """Return dots at the values, which show their numbers on hover."""
    radius = 3 if len(series.xs) <= 30 else 1.8
    points = series.points()
    step = -(-len(points) // MOST_DOTS) if series.joined else 1
    parts = []
    for point in points[::-1][:: max(step, 1)][::-1]:  # the last one always
        x = frame.x(point.x)
        y = frame.y(point.value)
        place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
        tooltip = escape(_tooltip(series, point, figure))
        parts.append(f'<circle {place} fill="var(--{series.colour})"><title>{tooltip}</title></circle>')
    return "".join(parts)


def _tooltip(series: Series, point: Point, figure: Figure) -> str:
    """Return a point as text: the place and the value, with its spread where there is one."""
    place = f"{figure.x_name} {figure.x_text(point.x)}"
    value = figure.value_text(point.value)
    if series.low:
        value += f" ({figure.value_text(point.low)} to {figure.value_text(point.high)})"
    return f"{series.name}, {place}: {value}"

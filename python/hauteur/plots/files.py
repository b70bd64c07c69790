"""Figures as files: PNG by matplotlib (extra `report`), CSV."""

from __future__ import annotations

import csv
import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.plots.figure import LIGHT, Figure, Series
from hauteur.system.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

PIXELS = (1600, 1000)
"""Width and height of a PNG."""

DPI = 200

LEGEND_SIGNS = 110
"""Signs that fit into a line of the legend."""


def write_png(figure: Figure, path: Path, *, pixels: tuple[int, int] = PIXELS) -> None:
    """Draw the whole figure on light ground, `pixels` wide and high. ImportError without matplotlib."""
    from matplotlib import style
    from matplotlib.figure import Figure as Sheet

    with style.context(["default", {"font.size": 8}]):
        sheet = Sheet(figsize=(pixels[0] / DPI, pixels[1] / DPI), dpi=DPI, layout="constrained")
        axes = sheet.add_subplot()
        _draw(figure, axes)
        _draw_words(figure, sheet, axes)
        buffer = io.BytesIO()
        sheet.savefig(buffer, format="png")
    write_bytes(path, buffer.getvalue())


def write_csv(figure: Figure, path: Path) -> None:
    """One row a value: series, x, value, and the lower and upper end of its spread where there is one."""
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(["series", figure.x_name, figure.y_name, "low", "high"])
    for series in figure.series:
        for point in series.points():
            place = figure.x_text(point.x) if figure.x_names else point.x
            spread = (point.low, point.high) if series.low else ("", "")
            rows.writerow([series.name, place, point.value, *spread])
    write_bytes(path, buffer.getvalue().encode())


def _draw(figure: Figure, axes: Axes) -> None:
    """Draw areas and lines with matplotlib."""
    for slab in figure.pile():
        colour = LIGHT[slab.series.colour]
        axes.fill_between(slab.xs, slab.below, slab.above, color=colour, linewidth=0, label=slab.series.name)
    if figure.threshold is not None:
        axes.axhline(figure.threshold, color=LIGHT["ink"], linewidth=4, alpha=0.25, label=figure.threshold_text())
    for series in figure.lines:
        if series.joined:
            _draw_line(series, axes)
        else:
            _draw_points(series, axes)
    _draw_axes(figure, axes)


def _draw_line(series: Series, axes: Axes) -> None:
    """Draw a line with its spread."""
    colour = LIGHT[series.colour]
    style = "--" if series.dashed else "-"
    marker = "o" if len(series.xs) <= 40 else None
    for number, piece in enumerate(series.pieces()):
        xs, values, low, high = zip(*piece, strict=True)
        name = series.name if number == 0 else None
        axes.plot(
            xs,
            values,
            style,
            color=colour,
            linewidth=1.5,
            marker=marker,
            markersize=3,
            label=name,
            clip_on=False,
        )
        if series.low:
            axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)


def _draw_points(series: Series, axes: Axes) -> None:
    """Points with bars from the lower to the upper end of their spread."""
    points = series.points()
    below = [point.value - point.low for point in points]
    above = [point.high - point.value for point in points]
    places = [point.x for point in points]
    values = [point.value for point in points]
    colour = LIGHT[series.colour]
    axes.errorbar(
        places,
        values,
        [below, above],
        fmt="o",
        color=colour,
        markersize=4,
        capsize=3,
        label=series.name,
    )


def _draw_axes(figure: Figure, axes: Axes) -> None:
    """Draw axes, grid and marks."""
    axes.set_xlabel(figure.x_name, color=LIGHT["soft"])
    axes.set_ylabel(figure.y_name, color=LIGHT["soft"])
    if figure.logit:
        axes.set_yscale("logit", nonpositive="clip")
    if figure.log:
        axes.set_yscale("log")
    if figure.x_log:
        axes.set_xscale("log")
    marks = figure.y_ticks()
    places = figure.x_ticks()
    axes.set_xticks(places, [figure.x_text(place) for place in places])
    if figure.x_crowded:
        for label in axes.get_xticklabels():
            label.set(rotation=25, ha="right", rotation_mode="anchor")
    axes.set_yticks(marks, [figure.y_text(mark) for mark in marks])
    axes.set_xticks([], minor=True)
    axes.set_yticks([], minor=True)
    axes.set_xlim(*figure.x_range())
    axes.set_ylim(marks[0], marks[-1])
    axes.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, labelcolor=LIGHT["soft"])


def _draw_words(figure: Figure, sheet: Sheet, axes: Axes) -> None:
    """Title, the line of text, and the names of the series."""
    sheet.suptitle(figure.title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    axes.set_title(textwrap.fill(figure.text, 115), loc="left", fontsize=7.5, color=LIGHT["soft"])
    longest = max((len(series.name) for series in figure.series), default=0)
    columns = min(5, max(1, LEGEND_SIGNS // (longest + 7)))
    if any(axes.get_legend_handles_labels()):  # a series without a value is not drawn
        sheet.legend(loc="outside lower left", ncols=columns, frameon=False)

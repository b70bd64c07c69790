"""A search tree as a picture: the root at the left, a column a ply, the most visited child on top."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import log
from pathlib import Path

from hauteur.plots.figure import DARK, LIGHT
from hauteur.system.files import write_bytes

COLUMN, ROW, MARGIN = 132, 24, 16
LARGEST = 10.0
"""Radius of the root."""
SMALLEST = 3.0
"""Radius of a node with one visit."""


class Picture:
    """An SVG document: displayed by notebooks, written by `save`."""

    def __init__(self, svg: str) -> None:
        """`svg`: a complete document."""
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG)"

    def save(self, path: str | Path) -> Path:
        """Write the picture; return its path. Raise ValueError unless the name ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"pictures are saved as .svg, got {str(path)!r}")
        write_bytes(Path(path), self.svg.encode())
        return Path(path)


@dataclass(frozen=True)
class TreeMark:
    """One node of the picture."""

    parent: int | None
    """Index of its parent, which comes earlier among the marks; None for the root."""
    label: str
    """Text next to the node."""
    text: str
    """Text shown when the pointer rests on the node."""
    visits: int
    """Visits, which the size of the node shows."""
    value: float
    """Value for the player at the root, -1 to 1, which its colour shows."""
    kind: str = ""
    """A class of the node and of the line to it, for a style sheet of the caller's."""


@dataclass
class _Places:
    """The positions of the nodes: column and row, rows counted by leaves."""

    children: list[list[int]]
    columns: list[int] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)


def tree_picture(marks: Sequence[TreeMark], title: str) -> Picture:
    """Draw a tree; ValueError without a root. Sizes follow the logarithm of visits, colours the value."""
    if not marks or marks[0].parent is not None:
        raise ValueError("a tree begins with its root")
    places = _places(marks)
    width = MARGIN * 2 + COLUMN * (max(places.columns) + 1)
    height = MARGIN * 2 + int(ROW * (max(places.rows) + 1))
    spots = []
    for column, row in zip(places.columns, places.rows, strict=True):
        x = MARGIN + LARGEST + COLUMN * column
        y = MARGIN + ROW / 2 + ROW * row
        spots.append((x, y))
    root_visits = marks[0].visits
    edges = ""
    nodes = ""
    for number, mark in enumerate(marks):
        edges += _edge(mark, spots, number, root_visits)
        nodes += _node(mark, spots[number], root_visits)
    frame = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" class="hauteur-tree"'
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame}><title>{escape(title)}</title>'
        f"<style>{_style(LIGHT)}@media (prefers-color-scheme: dark){{{_style(DARK)}}}</style>"
        f'<rect class="ground" width="{width}" height="{height}" rx="6"/>{edges}{nodes}</svg>\n'
    )


def _style(colours: dict[str, str]) -> str:
    """Return the style sheet of a picture in these colours."""
    return (
        f".hauteur-tree .ground{{fill:{colours['card']}}}"
        f".hauteur-tree text{{font:12px system-ui,sans-serif;fill:{colours['ink']};"
        f"paint-order:stroke;stroke:{colours['card']};stroke-width:4px}}"
        f".hauteur-tree .edge{{fill:none;stroke:{colours['rule']}}}"
        f".hauteur-tree .even{{fill:{colours['draw']};stroke:{colours['soft']}}}"
        f".hauteur-tree .good{{fill:{colours['win']}}}.hauteur-tree .bad{{fill:{colours['loss']}}}"
    )


def _places(marks: Sequence[TreeMark]) -> _Places:
    """Give each leaf a row of its own, and every other node the middle of its children."""
    places = _Places([[] for _ in marks], [0] * len(marks), [0.0] * len(marks))
    for number, mark in enumerate(marks):
        if mark.parent is not None:
            places.children[mark.parent].append(number)
            places.columns[number] = places.columns[mark.parent] + 1
    next_row = 0
    stack = [(0, False)]
    while stack:
        number, children_done = stack.pop()
        children = places.children[number]
        if children and not children_done:
            stack.append((number, True))
            ordered = sorted(children, key=lambda child: -marks[child].visits)
            stack.extend((child, False) for child in reversed(ordered))
        elif children:
            rows = [places.rows[child] for child in children]
            places.rows[number] = (min(rows) + max(rows)) / 2
        else:
            places.rows[number] = next_row
            next_row += 1
    return places


def _classes(*names: str) -> str:
    return " ".join(filter(None, names))


def _edge(mark: TreeMark, spots: Sequence[tuple[float, float]], number: int, most: int) -> str:
    """Return the line from a node to its parent as SVG."""
    if mark.parent is None:
        return ""
    x, y = spots[mark.parent]
    end_x, end_y = spots[number]
    middle = x + COLUMN * 0.6
    width = 1 + 5 * mark.visits / max(most, 1)
    # A cubic Bezier curve that leaves and arrives horizontally.
    curve = f"C{middle:.1f} {y:.1f} {middle:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}"
    path = f"M{x:.1f} {y:.1f}{curve}"
    return f'<path class="{_classes("edge", mark.kind)}" stroke-width="{width:.1f}" d="{path}"/>'


def _node(mark: TreeMark, spot: tuple[float, float], most: int) -> str:
    """Return a node with its label as SVG."""
    x, y = spot
    share = log(1 + mark.visits) / log(1 + max(most, 1))
    radius = SMALLEST + (LARGEST - SMALLEST) * share
    circle = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"'
    colour = "good" if mark.value > 0 else "bad"
    strength = min(1.0, abs(mark.value))
    return (
        f'<g class="{_classes("node", mark.kind)}"><title>{escape(mark.text)}</title><circle class="even" {circle}/>'
        f'<circle class="{colour}" opacity="{strength:.2f}" {circle}/>'
        f'<text x="{x + radius + 4:.1f}" y="{y + 4:.1f}">{escape(mark.label)}</text></g>'
    )

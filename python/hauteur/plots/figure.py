"""A figure as plain data: what it shows, not how it is drawn. Page, PNG and CSV are made of the same object.

The kinds of figures are functions of plain numbers: shares of results, lines, and the spread over seeds.

Colours have names, on light and on dark ground; they are distinguishable with any colour vision.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

LINE_COLOURS = ("blue", "orange", "green", "purple", "sky", "gold", "ink")
"""Colours of lines, in the order in which they are given out."""

LIGHT = {
    "page": "#fbfaf8",
    "card": "#ffffff",
    "ink": "#1d1d1b",
    "soft": "#65625c",
    "rule": "#dddad3",
    "win": "#7fb0de",
    "draw": "#dcd8ce",
    "loss": "#e79a78",
    "loss-ink": "#b3261e",
    "blue": "#1f6cb4",
    "orange": "#c9561a",
    "green": "#1a8a67",
    "purple": "#a8578c",
    "sky": "#4aa3d4",
    "gold": "#b98a10",
}

DARK = {
    "page": "#171716",
    "card": "#1f1f1d",
    "ink": "#edebe6",
    "soft": "#a9a69f",
    "rule": "#3a3936",
    "win": "#2f6396",
    "draw": "#55524b",
    "loss": "#9c5233",
    "loss-ink": "#ff8a75",
    "blue": "#6fb1f0",
    "orange": "#f0935c",
    "green": "#4cc49c",
    "purple": "#d98fc0",
    "sky": "#8fd0f5",
    "gold": "#dfb548",
}


def line_colour(number: int) -> str:
    """Colour of the line with this number, from 0; after the last the first comes again."""
    return LINE_COLOURS[number % len(LINE_COLOURS)]


LOGIT_MARKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Values that an axis of odds can mark; what is beyond them is drawn at its end."""
LEAST_MARKS = 4
"""Marks of such an axis."""

MOST_PLACES = 6
"""Up to this number, places on a logarithmic axis are marked themselves, in the place of round ones."""

NAMES_SIGNS = 50
"""Signs that names at the x axis can have side by side, at the width of a phone."""

Values = Sequence[float | None]
"""One value a place; None where there is none."""


class Point(NamedTuple):
    """A place, its value, and the ends of the value's spread (the value itself where there is none)."""

    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """A named row of values along the x axis. Raise ValueError if the rows differ in length or contain an infinity.

    >>> import hauteur as ht
    >>> ht.Series("PUCT", xs=(100, 800), values=(0.24, 0.47)).colour
    'blue'
    """

    name: str
    """Name in the legend."""
    xs: Sequence[float]
    """Positions on the x axis."""
    values: Values
    """One value for each x; None: a gap."""
    colour: str = "blue"
    """Name of a colour of hauteur.plots.figure."""
    low: Values = ()
    """Lower ends of the values' spread; empty: no spread. Both ends or neither are given."""
    high: Values = ()
    """Upper ends of the values' spread."""
    dashed: bool = False
    """Draw dashes, a second way to distinguish lines."""
    joined: bool = True
    """Join the values by a line; otherwise they are points with bars."""

    def __post_init__(self) -> None:
        rows = {"values": self.values, "low": self.low or self.xs, "high": self.high or self.xs}
        for part, row in rows.items():
            if len(row) != len(self.xs):
                raise ValueError(f"series {self.name!r}: {len(row)} {part} at {len(self.xs)} places, must be as many")
            if not all(value is None or math.isfinite(value) for value in row):
                raise ValueError(f"series {self.name!r}: {part} must be finite numbers, or None where there is none")

    def points(self) -> list[Point]:
        return [point for piece in self.pieces() for point in piece]

    def pieces(self) -> list[list[Point]]:
        """The points in stretches without a gap."""
        found: list[list[Point]] = [[]]
        for i, (x, value) in enumerate(zip(self.xs, self.values, strict=True)):
            if value is None:
                found.append([])
            else:
                low = self.low[i] if self.low else None
                high = self.high[i] if self.high else None
                if low is None:
                    low = value
                if high is None:
                    high = value
                found[-1].append(Point(x, value, low, high))
        return [piece for piece in found if piece]


BAR = (-0.35, -0.35, 0.35, 0.35)
"""Where the corners of a bar are, beside its place."""


def _bars(heights: Sequence[float]) -> list[float]:
    """The edge of bars of these heights: from the ground up and down again at each."""
    return [value for height in heights for value in (0.0, height, height, 0.0)]


class Slab(NamedTuple):
    """An area of a pile: its places, its lower and its upper edge."""

    series: Series
    xs: list[float]
    below: list[float]
    above: list[float]


@dataclass(frozen=True)
class Figure:
    """Stacked areas (shares, or any amounts) and lines over them.

    >>> import hauteur as ht
    >>> score = ht.Series("PUCT", xs=(100, 800), values=(0.24, 0.47))
    >>> ht.Figure("odds", "Odds", "Score by visits", "score", "visits", lines=(score,), percent=True).key
    'odds'
    """

    key: str
    """Name of its files."""
    title: str
    """Title."""
    text: str
    """One line that describes it."""
    y_name: str
    """Quantity of the y axis, with its unit."""
    x_name: str = "generation"
    """Quantity of the x axis, with its unit."""
    areas: tuple[Series, ...] = ()
    """Areas, stacked from the first one up."""
    lines: tuple[Series, ...] = ()
    """Lines over the areas."""
    percent: bool = False
    """Values are shares from 0 to 1, shown as percentages."""
    logit: bool = False
    """Odds of such shares have even steps, so 2 and 4 % are as far apart as 96 and 98 %, over the range that the lines
    need."""
    log: bool = False
    """The y axis is logarithmic; values are above 0."""
    x_log: bool = False
    """The x axis is logarithmic; positions are above 0."""
    from_zero: bool = False
    """The y axis begins at 0 or below."""
    x_from_zero: bool = False
    """The x axis begins at 0 or below."""
    threshold: float | None = None
    """Height of a shaded line; None: there is none."""
    threshold_name: str = "threshold"
    """Name of that line."""
    x_names: Sequence[str] = ()
    """Words in place of the numbers 1, 2, ... of the x axis."""

    def __post_init__(self) -> None:
        if any(list(area.xs) != list(self.areas[0].xs) for area in self.areas):
            raise ValueError(f"figure {self.key!r}: areas that are piled up must have the same places")
        if any(None in area.values for area in self.areas):
            raise ValueError(f"figure {self.key!r}: areas that are piled up must have a value at every place")
        if self.log and any(point.low <= 0 for point in self.line_points()):
            raise ValueError(f"figure {self.key!r}: values on a logarithmic axis must be above 0")
        if self.x_log and (self.x_from_zero or any(x <= 0 for x in self.all_xs())):
            raise ValueError(f"figure {self.key!r}: places on a logarithmic axis must be above 0")

    @property
    def series(self) -> tuple[Series, ...]:
        """All rows: areas from below, then lines."""
        return (*self.areas, *self.lines)

    def line_points(self) -> list[Point]:
        """Return the points of all lines."""
        return [point for line in self.lines for point in line.points()]

    def all_xs(self) -> list[float]:
        """Return the places of all rows, one row after another."""
        return [x for series in self.series for x in series.xs]

    def x_range(self) -> tuple[float, float]:
        """Smallest and largest place; half a place around names or a single one (a factor of 2 on a log axis)."""
        if self.x_names:
            return 0.5, len(self.x_names) + 0.5
        places = self.all_xs()
        if self.x_from_zero:
            places.append(0.0)
        if not places:
            return (1.0, 2.0) if self.x_log else (0.0, 1.0)
        low = min(places)
        high = max(places)
        if high > low:
            return low, high
        if self.x_log:
            return (low / 2, high * 2)
        return (low - 0.5, high + 0.5)

    def y_range(self) -> tuple[float, float]:
        values: list[float] = []
        for point in self.line_points():
            values += (point.low, point.high)
        for at_place in zip(*(area.values for area in self.areas), strict=True):
            values.append(sum(value or 0.0 for value in at_place))
        if self.from_zero or self.areas:
            values.append(0.0)
        if self.threshold is not None:
            values.append(self.threshold)
        low = min(values, default=1.0)
        high = max(values, default=1.0)
        if self.percent:
            return 0.0, 1.0 if high > 0.5 else high
        return low, high

    def pile(self) -> list[Slab]:
        """Every area with its edges; bars where places have names, or where there is one place only."""
        found = []
        places = list(self.areas[0].xs) if self.areas else []
        bars = bool(self.x_names) or len(places) == 1
        edges = [x + side for x in places for side in BAR] if bars else places
        below = [0.0] * len(places)
        for area in self.areas:
            above = [low + (value or 0.0) for low, value in zip(below, area.values, strict=True)]
            if bars:
                found.append(Slab(area, edges, _bars(below), _bars(above)))
            else:
                found.append(Slab(area, edges, below, above))
            below = above
        return found

    def x_ticks(self) -> list[float]:
        """Round places inside the x axis, those with names, or the few places of a logarithmic one."""
        if self.x_names:
            return [float(number) for number in range(1, len(self.x_names) + 1)]
        low, high = self.x_range()
        if self.x_log:
            places = sorted({float(x) for x in self.all_xs()})
            if len(places) <= MOST_PLACES:
                return places
            return [mark for mark in log_ticks(low, high) if low <= mark <= high]
        marks = [mark for mark in ticks(low, high) if low <= mark <= high]
        if all(float(x).is_integer() for x in self.all_xs()):
            return [mark for mark in marks if float(mark).is_integer()]
        return marks

    def y_ticks(self) -> list[float]:
        """Round values that cover the y axis from its lower end to its upper one."""
        if self.logit:
            return logit_ticks([point.value for series in self.lines for point in series.points()])
        low, high = self.y_range()
        if self.percent and high == 1.0:
            return [i / 4 for i in range(5)]
        if self.log:
            return log_ticks(low, high)
        return ticks(low, high)

    @property
    def x_crowded(self) -> bool:
        """True where names at the axis are too long to fit side by side."""
        return (max(map(len, self.x_names), default=0) + 1) * len(self.x_names) > NAMES_SIGNS

    def x_text(self, place: float) -> str:
        if self.x_names:
            return self.x_names[round(place) - 1]
        return short(place)

    def y_text(self, value: float) -> str:
        if self.percent:
            return f"{100 * value:.3g}%"
        return short(value)

    def value_text(self, value: float) -> str:
        if self.percent:
            return f"{value:.1%}"
        if abs(value) < 1e4:
            return f"{value:,.4g}"
        return f"{value:,.0f}"

    def threshold_text(self) -> str:
        """The threshold's name in the legend."""
        return f"{self.threshold_name} {self.y_text(self.threshold or 0.0)}"


def figure_values(figure: Figure) -> dict[str, Any]:
    """Return a figure as JSON can hold it."""
    found = asdict(figure)
    found["areas"] = [_plain(series) for series in found["areas"]]
    found["lines"] = [_plain(series) for series in found["lines"]]
    found["x_names"] = list(figure.x_names)
    return found


def _plain(series: dict[str, Any]) -> dict[str, Any]:
    """Return a series with its numbers as floats."""
    found = dict(series)
    for part in ("xs", "values", "low", "high"):
        found[part] = [None if value is None else float(value) for value in series[part]]
    return found


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers that cover low to high, about `count` of them."""
    size = max(abs(low), abs(high))
    span = high - low
    if span <= 1e-9 * size:
        span = size if size > 1e-200 else 1.0
    power = 10.0 ** math.floor(math.log10(span / count))
    step = power
    for multiple in (1, 2, 2.5, 5, 10, 20):
        step = multiple * power
        if span / step <= count:
            break
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    digits = 2 - math.floor(math.log10(step))
    return [round(i * step, digits) for i in range(first, max(last, first + 1) + 1)]


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return 1, 2, 5, 10 ... around low to high (above 0); if too many, powers of ten only, or some of those."""
    first = math.floor(math.log10(low))
    last = max(math.ceil(math.log10(high)), first + 1)
    for steps in ((1, 2, 5), (1,)):
        marks = []
        for power in range(first, last + 1):
            for multiple in steps:
                marks.append(round(multiple * 10.0**power, 12 - power))
        begin, end = _around(marks, low * (1 + 1e-9), high * (1 - 1e-9))
        inside = marks[begin : max(end, begin + 1) + 1]
        if len(inside) <= most:
            return inside
    every = math.ceil((last - first) / (most - 1))
    return [10.0**power for power in range(first, last + every, every)]


def _around(marks: Sequence[float], low: float, high: float) -> tuple[int, int]:
    """Return the last of ascending marks that is not above `low` and the first not below `high`, else the outermost."""
    begin = max(bisect_right(marks, low) - 1, 0)
    end = min(bisect_left(marks, high), len(marks) - 1)
    return begin, end


def logit_ticks(values: Iterable[float]) -> list[float]:
    """Return those of LOGIT_MARKS that cover the values, 50 % where there are none: at least LEAST_MARKS."""
    given = list(values) or [0.5]
    first, last = _around(LOGIT_MARKS, min(given), max(given))
    while last - first + 1 < LEAST_MARKS:
        first = max(first - 1, 0)
        last = min(last + 1, len(LOGIT_MARKS) - 1)
    return list(LOGIT_MARKS[first : last + 1])


def short(value: float) -> str:
    """A number of few signs: 20k, 1.5M, 0.25."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.4g}{unit}"
    return f"{value:.5g}"


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
    places = []
    wins: list[float] = []
    draws: list[float] = []
    losses: list[float] = []
    low = []
    high = []
    for i, (x, counts) in enumerate(zip(xs, results, strict=True)):
        games = sum(counts)
        if not games:
            continue
        places.append(x)
        wins.append(counts[0] / games)
        draws.append(counts[1] / games)
        losses.append(counts[2] / games)
        if intervals:
            low.append(intervals[i][0])
            high.append(intervals[i][1])
    scores = [win + draw / 2 for win, draw in zip(wins, draws, strict=True)]
    win, draw, loss = names
    return Figure(
        key,
        title,
        text,
        "share of games",
        areas=(
            Series(win, places, wins, "win"),
            Series(draw, places, draws, "draw"),
            Series(loss, places, losses, "loss"),
        ),
        lines=(Series(curve, places, scores, "ink", low=low, high=high),),
        percent=True,
        **options,
    )


def lines(
    key: str,
    title: str,
    text: str,
    y_name: str,
    *,
    xs: Sequence[float],
    rows: Mapping[str, Values],
    **options: Any,
) -> Figure | None:
    """A line for every row that has a value (over the same places); None when none has. options: of `Figure`."""
    found: list[Series] = []
    for name, row in rows.items():
        if any(value is not None for value in row):
            found.append(Series(name, xs, row, line_colour(len(found))))
    if not found:
        return None
    return Figure(key, title, text, y_name, lines=tuple(found), **options)


def over_seeds(name: str, runs: Sequence[tuple[Values, Values]], *, colour: str, dashed: bool = False) -> Series:
    """Return the mean of several runs, step by step, with the spread from the lowest to the highest.

    runs: one a seed, places and values; steps missing from any of them are left out. Where places differ (wall time),
    the mean is at their mean.
    """
    steps = []
    for step in zip(*(zip(xs, values, strict=True) for xs, values in runs), strict=False):
        xs = [x for x, _ in step if x is not None]
        values = [value for _, value in step if value is not None]
        if len(xs) == len(values) == len(runs):
            steps.append((xs, values))
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
    if len(values) == 1:
        return values[0]
    return sum(values) / len(values)

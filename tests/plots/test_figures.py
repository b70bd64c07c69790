"""Figures: the numbers of drawings and files are those that were given."""

import csv
import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.plots import Figure, Series, lines, over_seeds, shares, svg, write_csv, write_png
from hauteur.plots.figure import DARK, LIGHT, LINE_COLOURS, figure_values, log_ticks, short, ticks
from hauteur.plots.page import figure_html

pytestmark = pytest.mark.quick

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure: Figure | None) -> ElementTree.Element:
    assert figure is not None
    return ElementTree.fromstring(svg(figure))


def corners(element: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in element.attrib["points"].split())]


def results(threshold: float | None = 0.5) -> Figure:
    counts = [(10, 5, 5), (4, 6, 10)]
    return shares("results", "Results", "Who won.", xs=[1, 2], results=counts, threshold=threshold)


def test_shares_of_one_run() -> None:
    figure = results()
    assert [list(area.values) for area in figure.areas] == [[0.5, 0.2], [0.25, 0.3], [0.25, 0.5]]
    assert list(figure.lines[0].values) == pytest.approx([0.625, 0.35])
    assert not figure.lines[0].low


def test_the_curve_has_its_intervals() -> None:
    ends = [(0.4, 0.8), (0.1, 0.2), (0.2, 0.5)]
    figure = shares("r", "R", "t", xs=[1, 2, 3], results=[(1, 0, 0), (0, 0, 0), (0, 0, 1)], intervals=ends)
    assert (list(figure.lines[0].low), list(figure.lines[0].high)) == ([0.4, 0.2], [0.8, 0.5])
    assert list(figure.areas[0].xs) == [1, 3], "a step without games is left out"


def test_the_mean_over_seeds_stands_at_the_mean_place() -> None:
    series = over_seeds("a", [([1, 2, 3], [1, None, 5]), ([3, 4], [3, 4])], colour="blue")
    assert (list(series.xs), list(series.values)) == ([2], [2])
    assert (list(series.low), list(series.high)) == ([1], [3])


def test_areas_pile_up_to_the_whole_and_the_threshold_lies_at_its_height() -> None:
    chart = drawn(results())
    areas = [corners(element) for element in chart.iter(f"{SVG}polygon")]
    assert len(areas) == 3
    for lower, upper in pairwise(areas):
        assert lower[:2] == upper[:1:-1]  # the upper edge of one is the lower edge of the next
    grid = [float(e.attrib["y1"]) for e in chart.iter(f"{SVG}line") if e.attrib["class"] == "grid"]
    assert areas[0][-1][1] == pytest.approx(max(grid), abs=0.1)
    assert areas[-1][0][1] == pytest.approx(min(grid), abs=0.1)
    (band,) = (e for e in chart.iter(f"{SVG}line") if e.attrib["class"] == "band")
    assert float(band.attrib["y1"]) == pytest.approx((max(grid) + min(grid)) / 2, abs=0.1)


def test_points_tell_their_values() -> None:
    chart = drawn(lines("a", "A", "t", "loss", xs=[1, 2], rows={"policy & value": [1.25, 12345.0]}))
    titles = [title.text for circle in chart.iter(f"{SVG}circle") for title in circle]
    assert titles == ["policy & value, generation 1: 1.25", "policy & value, generation 2: 12,345"]
    assert chart.find(f"{SVG}title") is not None
    assert chart.find(f"{SVG}desc") is not None


def test_one_generation_and_missing_values_draw() -> None:
    one = drawn(shares("r", "R", "t", xs=[1], results=[(1, 1, 1)]))
    assert all(len({x for x, _ in corners(bar)}) == 2 for bar in one.iter(f"{SVG}polygon"))
    gap = drawn(lines("a", "A", "t", "y", xs=[1, 2, 3, 4, 5], rows={"a": [1.0, 2.0, None, 3.0, 4.0]}))
    assert len(list(gap.iter(f"{SVG}polyline"))) == 2
    assert lines("a", "A", "t", "y", xs=[1], rows={"a": [None]}) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series("a", [1, 2], [1.0]), "1 values at 2 places"),
        (lambda: Series("a", [1], [1.0], low=[1.0, 2.0]), "2 low at 1 places"),
        (lambda: Series("a", [1], [float("nan")]), "finite"),
        (lambda: Figure("f", "F", "t", "y", areas=(Series("a", [1], [1.0]), Series("b", [2], [1.0]))), "same places"),
        (lambda: Figure("f", "F", "t", "y", areas=(Series("a", [1], [None]),)), "a value at every place"),
        (lambda: Figure("f", "F", "t", "y", lines=(Series("a", [1], [0.0]),), log=True), "above 0"),
        (lambda: Figure("f", "F", "t", "y", lines=(Series("a", [0], [1.0]),), x_log=True), "above 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()


def test_places_on_a_logarithmic_axis_are_marked_themselves_where_they_are_few() -> None:
    few = Figure("f", "F", "t", "y", lines=(Series("a", [100, 400, 1600], [1.0, 2.0, 3.0]),), x_log=True)
    assert few.x_ticks() == [100, 400, 1600]
    xs = [x for x, _ in corners(next(drawn(few).iter(f"{SVG}polyline")))]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.11)
    many = Figure("f", "F", "t", "y", lines=(Series("a", range(3, 900), [1.0] * 897),), x_log=True)
    assert many.x_ticks() == [10, 100]
    assert Figure("f", "F", "t", "y", lines=(Series("a", [8], [1.0]),), x_log=True).x_range() == (4, 16)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0.0, 311.0, [0, 100, 200, 300, 400]), (-3.0, 12.0, [-5, 0, 5, 10, 15])],
)
def test_ticks_are_round_and_cover_the_values(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
def test_ticks_cover_any_values(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 8
    slack = 1e-6 * max(abs(low), span, 1e-190)
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack


@given(st.floats(1e-9, 1e9), st.floats(1, 1e9))
def test_logarithmic_ticks_cover_any_values(low: float, factor: float) -> None:
    found = log_ticks(low, low * factor)
    assert 2 <= len(found) <= 8
    assert found == sorted(set(found))
    assert found[0] <= low * (1 + 1e-6)
    assert found[-1] >= low * factor * (1 - 1e-6)


def test_short_numbers() -> None:
    assert [short(v) for v in (0.25, 3, 9999, 20_000, 1_500_000, -2.5e9)] == [
        "0.25",
        "3",
        "9999",
        "20k",
        "1.5M",
        "-2.5G",
    ]


def test_every_colour_is_there_on_light_and_dark_ground() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert set(LINE_COLOURS) | {"win", "draw", "loss"} <= LIGHT.keys()
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in [*LIGHT.values(), *DARK.values()])


def test_csv_has_the_numbers(tmp_path: Path) -> None:
    write_csv(results(), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["series"] for row in rows] == ["win", "win", "draw", "draw", "loss", "loss", "winrate", "winrate"]
    assert [float(row["share of games"]) for row in rows] == [0.5, 0.2, 0.25, 0.3, 0.25, 0.5, 0.625, 0.35]
    assert {row["generation"] for row in rows} == {"1", "2"}


@pytest.mark.parametrize("pixels", [(1600, 1000), (640, 480)])
def test_png_has_the_size_and_something_on_it(tmp_path: Path, pixels: tuple[int, int]) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    write_png(results(), tmp_path / "a.png", pixels=pixels)
    picture = imread(tmp_path / "a.png")
    assert picture.shape[:2] == (pixels[1], pixels[0])
    assert len({tuple(colour) for colour in picture.reshape(-1, picture.shape[2])[::97]}) > 4


def points() -> Figure:
    """Two players with names, measured twice, the second time without knowing how sure it is."""
    here = Series("here", [0.9, 1.9], [10, -20], "blue", low=[0, -45], high=[20, 5], joined=False)
    there = Series("paper", [1.1, 2.1], [31, None], "orange", low=[19, None], high=[44, None], joined=False)
    return Figure("points", "Elo", "Both.", "Elo", "player", lines=(here, there), x_names=("solver", "noise"))


def test_points_have_bars_and_names() -> None:
    root = drawn(points())
    bars = [group.findall(f"{SVG}line") for group in root.iter(f"{SVG}g") if group.get("class") == "line"]
    assert [len(row) for row in bars] == [2, 1]
    assert not list(root.iter(f"{SVG}polyline"))
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert "solver" in words
    assert "noise" in words
    titles = [title.text for circle in root.iter(f"{SVG}circle") for title in circle]
    assert titles[0] == "here, player solver: 10 (0 to 20)"


@pytest.mark.parametrize("figure", [points(), results()])
def test_a_figure_is_plain_json(figure: Figure) -> None:
    values = json.loads(json.dumps(figure_values(figure)))
    assert [row["values"] for row in values["lines"]] == [list(line.values) for line in figure.lines]
    assert values["x_names"] == list(figure.x_names)


def test_points_as_files(tmp_path: Path) -> None:
    write_csv(points(), tmp_path / "points.csv")
    assert (tmp_path / "points.csv").read_text().splitlines() == [
        "series,player,Elo,low,high",
        "here,solver,10,0,20",
        "here,noise,-20,-45,5",
        "paper,solver,31,19,44",
    ]
    pytest.importorskip("matplotlib")
    write_png(points(), tmp_path / "points.png")
    assert (tmp_path / "points.png").read_bytes().startswith(b"\x89PNG")


def width_of(text: str) -> float:
    """Width of a label at the axis on a phone, where letters are largest: about 8 units of the drawing a sign."""
    return 8.0 * len(text)


@given(st.lists(st.text("abc ", min_size=1, max_size=40), min_size=1, max_size=12, unique=True))
def test_names_at_the_axis_never_overlap_and_none_is_lost(names: list[str]) -> None:
    """Names that do not fit side by side become numbers, and the page lists them."""
    series = Series("s", [float(n) for n in range(1, len(names) + 1)], [0.5] * len(names), joined=False)
    figure = Figure("k", "T", "t", "y", "x", lines=(series,), x_names=names)
    labels = [e for e in drawn(figure).iter(f"{SVG}text") if e.get("text-anchor") == "middle"][:-1]
    ends = [(float(e.attrib["x"]), width_of(e.text or "")) for e in labels]
    assert len(ends) == len(names)
    for (x, width), (next_x, next_width) in pairwise(ends):
        assert x + width / 2 <= next_x - next_width / 2
    html = figure_html(figure)
    assert html.count("<li>") == 1 + (len(names) if figure.x_crowded else 0)
    assert figure.x_crowded or [e.text for e in labels] == names

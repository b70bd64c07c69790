"""The report of a run: one page that stands alone, with the numbers of the run in its charts."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hauteur.charts import Series, lines, stacked_shares, ticks
from hauteur.recipe import Recipe, parse_recipe
from hauteur.report import page, write_report
from hauteur.run_folder import RunFolder

SVG = "{http://www.w3.org/2000/svg}"


def line(generation: int, **changes: Any) -> dict[str, Any]:
    """Metrics of a generation."""
    shares = {"network_share": 0.8, "search_share": 0.1, "python_share": 0.1, "cache_hit_rate": 0.3}
    speeds = {"games_per_second": 3.0, "visits_per_second": 1234.5, "evaluations_per_second": 900.0}
    values = {
        "generation": generation,
        "games": {
            "games": 50,
            "positions": 400,
            "first_wins": 25,
            "draws": 15,
            "second_wins": 10,
            "mean_length": 8.0,
        },
        "selfplay": shares | speeds | {"mean_batch_fill": 0.9},
        "train": {"policy_loss": 2.0 / generation, "value_loss": 1.0},
        "gate": {"games": 20, "wins": 10, "draws": 4, "losses": 6, "score": 0.6, "promoted": True},
        "elo": 70.0 * generation,
        "best": generation,
        "best_elo": 70.0 * generation,
        "train_steps": 10 * generation,
        "seconds": 60.0 * generation,
        "cpu_seconds": 100.0 * generation,
        "resident_bytes": 123_000_000,
    }
    return values | changes


def recipe(**sections: Any) -> Recipe:
    return parse_recipe({"game": "tictactoe", **sections}, "test")


def charts_of(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(chart) for chart in re.findall(r"<svg.*?</svg>", text)]


def test_the_page_needs_nothing_else_and_follows_light_and_dark() -> None:
    text = page(recipe(), [line(1), line(2), line(3)], {"seed": 1})
    assert not re.search(r'(src|href)="|url\(|@import|<script', text)
    assert "prefers-color-scheme: dark" in text
    used = set(re.findall(r"var\(--(\w+)\)", text))
    for theme in re.findall(r":root \{(.*?)\}", text, re.DOTALL):
        assert used <= set(re.findall(r"--(\w+):", theme))


def test_numbers_of_the_run_are_on_the_page() -> None:
    text = page(recipe(), [line(1), line(2), line(3)], {"seed": 1, "host": "somewhere"})
    for expected in ("<b>150</b>", "<b>1,200</b>", "<b>+210</b>", "<b>3:00</b>", "<b>5:00</b>", "somewhere"):
        assert expected in text
    assert "samples_per_position" in text
    assert len(charts_of(text)) == 4
    titles = [title.text for chart in charts_of(text) for title in chart.iter(f"{SVG}title")]
    assert "winrate, generation 2: 60.0%" in titles
    assert "policy, generation 2: 1" in titles


def test_a_gate_that_is_off_has_no_figure() -> None:
    history = [line(1, gate={"games": 0, "wins": 0, "draws": 0, "losses": 0}, elo=None)]
    text = page(recipe(gate={"by": "off"}), history, {})
    assert "Candidate against best net" not in text
    assert "<h2>Elo</h2>" not in text
    assert len(charts_of(text)) == 2


def test_names_from_outside_are_escaped() -> None:
    text = page(recipe(), [line(1)], {"host": "<script>alert(1)</script>"})
    assert "<script" not in text


def polygon(element: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in element.attrib["points"].split())]


def test_areas_pile_up_to_the_whole_and_the_threshold_lies_at_its_height() -> None:
    parts = [Series("win", [0.5, 0.2], "win"), Series("draw", [0.25, 0.3], "draw"), Series("loss", [0.25, 0.5], "loss")]
    chart = ElementTree.fromstring(
        stacked_shares(parts, xs=[1, 2], curve=Series("winrate", [0.6, 0.3], "ink"), threshold=0.5, title="t")
    )
    areas = [polygon(element) for element in chart.iter(f"{SVG}polygon")]
    assert len(areas) == 3
    for lower, upper in pairwise(areas):
        assert lower[:2] == upper[:1:-1]  # the upper edge of one is the lower edge of the next
    grid = [float(e.attrib["y1"]) for e in chart.iter(f"{SVG}line") if e.attrib["class"] == "grid"]
    assert areas[0][-1][1] == pytest.approx(max(grid), abs=0.1)
    assert areas[-1][0][1] == pytest.approx(min(grid), abs=0.1)
    (band,) = (e for e in chart.iter(f"{SVG}line") if e.attrib["class"] == "band")
    assert float(band.attrib["y1"]) == pytest.approx((max(grid) + min(grid)) / 2, abs=0.1)


def test_one_generation_and_missing_values_draw() -> None:
    one = lines([Series("a", [1.0], "one")], xs=[1], title="t")
    assert len(list(ElementTree.fromstring(one).iter(f"{SVG}circle"))) == 1
    gap = ElementTree.fromstring(lines([Series("a", [1.0, 2.0, None, 3.0, 4.0], "one")], xs=[1, 2, 3, 4, 5], title="t"))
    assert len(list(gap.iter(f"{SVG}polyline"))) == 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0.0, 311.0, [0, 100, 200, 300, 400]), (-3.0, 12.0, [-5, 0, 5, 10, 15])],
)
def test_ticks_are_round_and_cover_the_values(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_ticks_of_a_single_value() -> None:
    for value in (0.0, 2.0, -5.0):
        found = ticks(value, value)
        assert len(found) >= 2
        assert found[0] <= value <= found[-1]


def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not the folder of a run: it has no config\.toml"):
        write_report(RunFolder(tmp_path))


def test_a_run_without_a_finished_generation_is_told(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(recipe())
    with pytest.raises(ValueError, match="no generation is finished yet"):
        write_report(folder)

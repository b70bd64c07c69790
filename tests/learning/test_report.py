"""The report of a run: one page that stands alone, with the numbers of the run in its figures."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_toys import CONTEMPT, charts_of, folder_with, line, paths, recipe, structure, without

from hauteur.learning.report.figures import FigureSetting, run_figures
from hauteur.learning.report.page import report_of, run_report, write_report
from hauteur.learning.report.series import History, axes, number, running_total
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import Figure

SVG = "{http://www.w3.org/2000/svg}"


def figures_of(history: History, setting: FigureSetting | None = None) -> dict[str, Figure]:
    """The figures of a run by key."""
    sections = run_figures(history, setting or FigureSetting())
    return {figure.key: figure for figures in sections.values() for figure in figures}


def drawn(history: History, key: str) -> dict[str, list[float | None]]:
    """Names and values of the series of a figure."""
    return {series.name: list(series.values) for series in figures_of(history)[key].series}


def test_the_page_needs_nothing_else_and_follows_light_and_dark() -> None:
    text = report_of(recipe(), [line(1), line(2), line(3)], {"seed": 1}).html()
    assert not re.search(r'(src|href)="|url\(|@import|<script', text)
    assert "prefers-color-scheme: dark" in text
    used = set(re.findall(r"var\(--(\w+)\)", text))
    for theme in re.findall(r":root \{(.*?)\}", text, re.DOTALL):
        assert used <= set(re.findall(r"--(\w+):", theme))


def test_numbers_of_the_run_are_on_the_page() -> None:
    text = report_of(recipe(), [line(1), line(2), line(3)], {"seed": 1, "host": "somewhere"}).html()
    for expected in (
        "<b>150</b>",
        "<b>1,200</b>",
        "<b>+210</b>",
        "<b>3:00</b>",
        "<b>5:00</b>",
        "<b>750</b>",
        "somewhere",
    ):
        assert expected in text
    assert "samples_per_position" in text
    titles = [title.text for chart in charts_of(text) for title in chart.iter(f"{SVG}title")]
    assert "winrate, generation 2: 60.0% (40.0% to 75.0%)" in titles
    assert "policy, small net, generation 2: 1" in titles


def test_every_figure_has_title_text_and_legend() -> None:
    text = report_of(recipe(), [line(1), line(2)], {}).html()
    names = structure(text)
    figures = figures_of([line(1), line(2)])
    assert names.count("figure") == names.count("figcaption") == len(charts_of(text)) == len(figures) == 14
    for figure in figures.values():
        assert f"<h3>{figure.title}</h3><p>" in text
        assert figure.text.endswith(".")
        assert len(figure.text) <= 130
        for series in figure.series:
            assert f"{series.name}</li>" in text


def test_figures_have_the_numbers_of_the_metrics() -> None:
    history = [line(1), line(2), line(3)]
    assert drawn(history, "candidate") == {"win": [0.5] * 3, "draw": [0.2] * 3, "loss": [0.3] * 3, "winrate": [0.6] * 3}
    assert drawn(history, "learner") == {"win": [0.6] * 3, "draw": [0.2] * 3, "loss": [0.2] * 3, "score": [0.7] * 3}
    assert drawn(history, "elo") == {"best net": [70, 140, 210], "candidate": [70, 140, 210]}
    assert drawn(history, "losses")["policy, large net"] == [1.5, 0.75, 0.5]
    assert drawn(history, "ratio") == {"(w + l) / d": [35 / 15] * 3}
    assert drawn(history, "search-contempt") == {"N_scl": [4, 8, 12], "N, visits a move": [100, 100, 100]}
    assert drawn(history, "repeats") == {f"generation {g}": [0.25, 0.5 + 0.01 * g] for g in (1, 2, 3)}
    assert list(figures_of(history)["repeats"].lines[0].xs) == [2, 4]
    assert drawn(history, "resignation") == {"games resigned": [0.2] * 3, "played out, not lost": [0.25] * 3}
    assert drawn(history, "fill") == {"batch fill": [0.9] * 3, "cache hits": [0.3] * 3, "device busy": [0.7] * 3}
    assert drawn(history, "speed") == {"evaluations": [900.0] * 3, "visits": [1234.5] * 3}
    assert drawn(history, "time-of-selfplay") == {"network": [0.8] * 3, "search": [0.125] * 3, "Python": [0.075] * 3}
    assert drawn(history, "memory")["process"] == [123.0] * 3


def test_axes_grow_with_the_run() -> None:
    (found,) = axes([[line(1), line(2)]])
    assert {axis.key: list(axis.values) for axis in found} == {
        "generation": [1, 2],
        "games": [50, 100],
        "budget": [250, 500],
        "time": [60, 120],
    }
    assert [axis.name for axis in axes([[line(200)]])[0]][-1] == "wall time, hours"
    assert running_total([1, None, 2]) == [1, None, None]


def drawn_by(axis: str) -> dict[str, Figure]:
    sections = run_figures([line(1, cost=None), line(2), line(3)], FigureSetting(), axis)
    return {figure.key: figure for figures in sections.values() for figure in figures}


def test_all_figures_by_another_axis() -> None:
    by_generation = drawn_by("generation")
    figures = drawn_by("processor")
    assert len(figures) == len(by_generation)
    assert {figure.x_name for figure in figures.values()} == {"processor time, minutes", "ply"}
    assert list(figures["losses"].lines[0].xs) == pytest.approx([100 / 60, 200 / 60, 5])
    assert figures["losses"].lines[0].values == by_generation["losses"].lines[0].values
    assert list(figures["candidate"].lines[0].low) == [0.4] * 3
    assert list(figures["repeats"].lines[0].xs) == [2, 4]
    assert list(drawn_by("positions")["results"].areas[0].xs) == [400, 800, 1200]
    assert list(figures["elo"].lines[1].xs) == pytest.approx([100 / 60, 200 / 60, 5])


@pytest.mark.parametrize(("axis", "message"), [("evaluations", "evaluations is not in"), ("x", "no axis 'x'; there")])
def test_axes_that_there_are_not(axis: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawn_by(axis)


def test_threshold_and_target_come_from_the_recipe() -> None:
    figures = figures_of([line(1)], FigureSetting("its games", threshold=0.5, target_ratio=1.0))
    assert figures["candidate"].threshold == 0.5
    assert "in its games;" in figures["candidate"].text
    assert (figures["ratio"].threshold, figures["ratio"].threshold_name) == (1.0, "target")


def test_a_gate_that_is_off_has_no_figure() -> None:
    history = [line(1, gate={"games": 0, "wins": 0, "draws": 0, "losses": 0}, elo=None)]
    assert not figures_of(history).keys() & {"candidate", "elo"}
    assert "Candidate against best net" not in report_of(recipe(gate={"by": "off"}), history, {}).html()


@given(st.lists(st.sets(st.sampled_from(paths(line(1))), max_size=12), min_size=1, max_size=4))
def test_whatever_is_absent_the_page_is_well_formed(absent: list[set[str]]) -> None:
    history = [without(line(i), gone) for i, gone in enumerate(absent, 1)]
    text = report_of(recipe(), history, {}).html()
    structure(text)
    assert len(charts_of(text)) == len(figures_of(history))


def test_numbers_are_finite_numbers() -> None:
    values = {"a": {"b": 1, "c": True, "d": float("nan"), "e": "1"}, "f": 2.5}
    assert [number(values, path) for path in ("a.b", "a.c", "a.d", "a.e", "a.x", "f", "f.g", "a")] == [
        *(1, None, None, None, None, 2.5, None, None)
    ]


def test_report_and_figures_of_a_folder(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "run", [line(1), line(2)], controller={"target": 2.0}, **CONTEMPT)
    assert write_report(folder) == folder.report
    assert write_report(folder, tmp_path / "page.html").read_bytes() == folder.report.read_bytes()
    report = run_report(folder)
    figures = report.figures
    assert {figure.key: figure.threshold for figure in figures if figure.threshold} == {"candidate": 0.55, "ratio": 2.0}
    report.write_files(csv=tmp_path / "csv")
    assert sorted(path.stem for path in (tmp_path / "csv").iterdir()) == sorted(figure.key for figure in figures)


def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not the folder of a run: it has no config\.toml"):
        write_report(RunFolder(tmp_path))

"""The report of a run: one page that stands alone, with the numbers of the run; parts of it while the run goes on."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_toys import CONTEMPT, charts_of, folder_with, line, paths, recipe, structure, without

from hauteur.cluster.scheduler import numbers_in_words
from hauteur.learning.recipe import Recipe
from hauteur.learning.report.figures import History, axes, column, number, run_figures, running_total
from hauteur.learning.report.page import axes_of, live_report, progress_html, progress_lines, report_of, run_report
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import Figure
from hauteur.system.files import write_json

pytestmark = pytest.mark.quick

EPISODES = CONTEMPT["selfplay"] | {"episodes": "candidate-versus-best"}
SVG = "{http://www.w3.org/2000/svg}"


def figures_of(history: History, settings: Recipe | None = None, axis: str = "generation") -> dict[str, Figure]:
    """The figures of a run by key."""
    sections = run_figures(settings or recipe(), history, axis)
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
    assert "policy, generation 2: 1" in titles


def test_every_figure_has_title_text_and_legend() -> None:
    text = report_of(recipe(), [line(1), line(2)], {}).html()
    names = structure(text)
    figures = figures_of([line(1), line(2)])
    assert names.count("figure") == names.count("figcaption") == len(charts_of(text)) == len(figures) == 10
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
    assert drawn(history, "resignation") == {"games resigned": [0.2] * 3, "played out, not lost": [0.25] * 3}
    assert drawn(history, "speed") == {"evaluations": [900.0] * 3, "visits": [1234.5] * 3}
    assert drawn(history, "lengths") == {"mean": [9, 10, 11]}


def test_axes_grow_with_the_run() -> None:
    assert {axis.key: list(axis.runs[0]) for axis in axes([[line(1), line(2)]]).values()} == {
        "generation": [1, 2],
        "games": [50, 100],
        "budget": [250, 500],
        "time": [1, 2],
        "cpu": [pytest.approx(100 / 60), pytest.approx(200 / 60)],
    }
    assert axes([[line(200)]])["time"].name == "wall time, hours"
    assert running_total([1, None, 2]) == [1, None, None]


def test_all_figures_by_another_axis() -> None:
    history = [line(1, cost=None), line(2), line(3)]
    by_generation = figures_of(history)
    by_time = figures_of(history, axis="time")
    assert len(by_time) == len(by_generation)
    assert {figure.x_name for figure in by_time.values()} == {"wall time, minutes"}
    assert list(by_time["losses"].lines[0].xs) == pytest.approx([1, 2, 3])
    assert by_time["losses"].lines[0].values == by_generation["losses"].lines[0].values
    assert list(by_time["candidate"].lines[0].low) == [0.4] * 3
    by_budget = figures_of(history, axis="budget")
    assert list(by_budget["results"].areas[0].xs) == [500, 750]  # generations without a place are left out
    with pytest.raises(ValueError, match="no axis 'x' of this run; there are generation, games"):
        figures_of(history, axis="x")


def test_threshold_and_target_come_from_the_recipe() -> None:
    chosen = recipe(gate={"by": "episodes", "threshold": 0.5}, controller={"target": 1.0}, selfplay=EPISODES)
    figures = figures_of([line(1)], chosen)
    assert figures["candidate"].threshold == 0.5
    assert "in the games that it played as episodes;" in figures["candidate"].text
    assert (figures["ratio"].threshold, figures["ratio"].threshold_name) == (1.0, "target")
    of_each = recipe(controller={"targets": [3.0, 0.5]})
    assert figures_of([line(1)], of_each)["ratio"].threshold is None


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
    assert [number({"a": [1, 2.5]}, path) for path in ("a.0", "a.1", "a.2")] == [1, 2.5, None]
    assert column([{"a": 1, "b": 4}, {"a": 1, "b": 0}, {"b": 4}], "a / b") == [0.25, None, None]


def test_report_and_figures_of_a_folder(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "run", [line(1), line(2)], controller={"target": 2.0}, **CONTEMPT)
    report = run_report(folder)
    assert "samples_per_position" in report.write(tmp_path / "page.html").read_text()
    figures = report.figures
    assert {figure.key: figure.threshold for figure in figures if figure.threshold} == {"candidate": 0.55, "ratio": 2.0}
    report.write_files(csv=tmp_path / "csv")
    assert sorted(path.stem for path in (tmp_path / "csv").iterdir()) == sorted(figure.key for figure in figures)


def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not the folder of a run: it has no config\.toml$"):
        run_report(RunFolder(tmp_path))
    run = tmp_path / "runs" / "connect4" / "default"
    run.mkdir(parents=True)
    (run / "config.toml").write_text("")
    with pytest.raises(ValueError, match=rf"it has no config\.toml; below it are {run}$"):
        run_report(RunFolder(tmp_path / "runs"))


# -- while the run goes on ---------------------------------------------------------------------------------------------


STEP = {"generation": 3, "generations": 5, "step": "self-play", "done": 20, "total": 50, "first": 10}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return folder_with(tmp_path / "run", [line(1), line(2)], run={"generations": 5})


def test_progress_of_a_running_run(run: RunFolder) -> None:
    write_json(run.progress, STEP | {"begun": 100.0, "written": 110.0})
    text = progress_html(run, "running", now=115.0)
    assert '<progress aria-label="run" value="2" max="5">' in text
    assert "2 of 5 generations, about 3:00 left<" in text
    assert '<progress aria-label="step" value="20" max="50">' in text
    assert "generation 3 of 5: self-play, 20 of 50, 0:25 left<" in text


def test_what_workers_have_done_is_shown(run: RunFolder) -> None:
    numbers = {"present": 2.0, "in_flight": 3.5, "units": 40, "retried": 3}
    write_json(run.progress, STEP | {"begun": 100.0, "written": 110.0, "numbers": numbers | {"idle_share": 0.0625}})
    text = progress_html(run, "running", now=115.0)
    for value, words in numbers_in_words(numbers | {"idle_share": 0.0625}):
        assert f"<b>{value}</b><span>{words}</span>" in text
    assert "<b>6.2%</b>" in text
    assert "<b>3.5</b><span>units in flight, on average</span>" in text
    assert progress_lines(run) == []  # no process works on it
    with run.locked():
        assert progress_lines(run)[0] == "generation 3 of 5: self-play, 20 of 50"
        assert "workers, on average 2.0, units in flight, on average 3.5, units played 40" in progress_lines(run)[1]


def test_progress_of_others(run: RunFolder) -> None:
    assert "generation 3 begins<" in progress_html(run, "running")
    assert ">2 of 5 generations, stopped<" in progress_html(run, "stopped")
    assert ">2 of 5 generations, finished in 2:00<" in progress_html(run, "finished")
    write_json(run.progress, STEP | {"begun": 100.0, "written": 110.0})
    assert ">2 of 5 generations, stopped in generation 3, self-play<" in progress_html(run, "stopped")


def test_figures_until_now_by_an_axis(run: RunFolder) -> None:
    text = live_report(run, "games").body()
    assert "<b>100</b><span>games</span>" in text
    assert len(charts_of(text)) == len(charts_of(live_report(run, "time").body())) == 10
    assert "style=" not in text
    assert "2 of 5 generations" in text
    with pytest.raises(ValueError, match="no axis 'evaluations'"):
        live_report(run, "evaluations").body()
    assert list(axes_of(run)) == ["generation", "games", "budget", "time", "cpu"]

"""Parts of a page about a run while it goes on."""

from pathlib import Path

import pytest
from report_toys import charts_of, folder_with, line

from hauteur.cluster.scheduler import numbers_in_words
from hauteur.learning.report.page import axes_of, live_report, progress_html, progress_lines
from hauteur.learning.run_folder import RunFolder
from hauteur.system.files import write_json

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
    assert list(axes_of(run)) == ["generation", "games", "budget", "time"]

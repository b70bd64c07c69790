"""Comparing runs: lines of the same recipe go together, differences are listed, numbers are those of the metrics."""

from pathlib import Path
from typing import Any

import pytest
from report_toys import charts_of, folder_with, line, recipe, structure

from hauteur.cli.main import main
from hauteur.learning.report.compared_run import ComparedRun
from hauteur.learning.report.comparison import comparison, differences, grouped, read_runs
from hauteur.plots import Figure

pytestmark = pytest.mark.quick


def run(name: str, *, seed: int = 1, visits: int = 100, generations: int = 3, **changes: Any) -> ComparedRun:
    chosen = recipe(run={"seed": seed, "tag": name}, selfplay={"visits": visits})
    return ComparedRun(name, chosen, [line(i, **changes) for i in range(1, generations + 1)])


def by_key(runs: list[ComparedRun]) -> dict[str, Figure]:
    return {figure.key: figure for figure in comparison(grouped(runs)).figures}


def test_runs_that_differ_in_their_seed_are_one_line() -> None:
    runs = [run("a-s1"), run("b", visits=50), run("a-s2", seed=2)]
    groups = grouped(runs)
    assert {name: [run.name for run in group] for name, group in groups.items()} == {
        "a-s1 (2 seeds)": ["a-s1", "a-s2"],
        "b": ["b"],
    }
    assert differences(groups) == (["setting", "a-s1 (2 seeds)", "b"], [["selfplay.visits", "100", "50"]])


def test_means_over_seeds_have_their_spread() -> None:
    runs = [run("a-1"), run("a-2", seed=2, generations=2, train={"policy_loss": 3.0, "value_loss": 1.0})]
    (series,) = by_key(runs)["policy-loss-by-generation"].lines
    assert list(series.xs) == [1, 2]
    assert list(series.values) == [2.5, 2.0]
    assert (list(series.low), list(series.high)) == ([2.0, 1.0], [3.0, 3.0])


def test_every_quantity_by_every_axis() -> None:
    figures = by_key([run("a"), run("b", visits=50)])
    quantities = ("elo", "policy-loss", "value-loss", "policy-loss-large", "value-loss-large", "lengths", "ratio")
    assert set(figures) == {
        f"{name}-by-{axis}" for name in quantities for axis in ("generation", "games", "budget", "time", "cpu")
    }
    elo = figures["elo-by-budget"].lines[0]
    assert (list(elo.xs), list(elo.values)) == ([250, 500, 750], [70, 140, 210])


@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_pages_are_well_formed(count: int) -> None:
    groups = grouped([run(f"run{i}", visits=10 + i) for i in range(count)])
    report = comparison(groups)
    text = report.html()
    assert structure(text).count("figure") == len(charts_of(text)) == 35
    assert text.count('scope="row"') == count + 1
    lines = next(section for section in report.sections if section.title == "Policy loss").figures[0].lines
    assert len({(series.colour, series.dashed) for series in lines}) == count


def test_folders_are_read_and_named(tmp_path: Path) -> None:
    places = [tmp_path / "one" / "run", tmp_path / "two" / "run"]
    for seed, place in enumerate(places):
        folder_with(place, [line(1)], run={"seed": seed})
    runs = read_runs(places)
    assert [run.name for run in runs] == ["one/run", "two/run"]
    page = comparison(grouped(runs)).write(tmp_path / "page.html")
    assert "one/run (2 seeds)" in page.read_text(encoding="utf-8")


def test_the_command_writes_page_figures_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, visits in (("a", 10), ("b", 20)):
        folder_with(tmp_path / name, [line(1), line(2)], selfplay={"visits": visits})
    words = ["report", str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(tmp_path / "page.html")]
    assert main([*words, "--csv", str(tmp_path / "csv")]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "page.html"), str(tmp_path / "csv")]
    rows = (tmp_path / "csv" / "lengths-by-games.csv").read_text(encoding="utf-8").splitlines()
    assert rows == ["series,games,plies,low,high", "a,50,9.0,,", "a,100,10.0,,", "b,50,9.0,,", "b,100,10.0,,"]
    assert main(["report", str(tmp_path / "a")]) == 0
    assert (tmp_path / "a" / "report.html").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ttt", "ttt"], "is given twice"),
        (["ttt", "nothing"], "nothing: there is no such folder"),
        (["ttt", "c4"], "only runs of one game can be compared"),
        (["ttt", "begun"], "no generation is finished yet"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, names: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_with(tmp_path / "ttt", [line(1)])
    folder_with(tmp_path / "c4", [line(1)], game="connect4")
    folder_with(tmp_path / "begun", [])
    assert main(["report", *(str(tmp_path / name) for name in names)]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1

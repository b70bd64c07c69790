"""`hauteur cluster simulate`: its table, JSON and figure, and what it answers to bad input."""

import json
from pathlib import Path

import pytest

from hauteur.cli.main import main

QUICK = ("cluster", "simulate", "connect4", "--seeds", "2", "--generations", "2")


def test_a_table_with_a_row_for_each_number_and_lag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--workers", "1,8", "--lag", "0,1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [["1", "0"], ["8", "0"], ["1", "1"], ["8", "1"]]
    assert lines[-1].startswith("full, by arithmetic: ")


def test_json_has_constants_limits_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "unit.seconds=7", "--loss", "2", "--workers", "5", "--lag", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["costs"]["unit"]["seconds"] == 7
    assert found["costs"]["machine"]["lost_per_hour"] == 2
    assert [limit["workers"] for limit in found["limits"]] == sorted(limit["workers"] for limit in found["limits"])
    (row,) = found["rows"]
    assert row["low"] <= row["positions"] <= row["high"]
    assert sum(row["waits"].values()) == pytest.approx(row["idle"], abs=1e-6)


def test_a_file_of_constants_and_a_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, figure = tmp_path / "mine.toml", tmp_path / "shares.svg"
    shipped = Path(__file__).parents[2] / "python/hauteur/cluster/model/connect4.toml"
    file.write_bytes(shipped.read_bytes())
    assert main(["cluster", "simulate", str(file), *QUICK[3:], "--workers", "1,4", "--figure", str(figure)]) == 0
    assert b"<svg" in figure.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.toml"], "nothing.toml: is neither a TOML file of constants nor one of "),
        (["connect4", "--workers", "1,x"], "--workers must be whole numbers separated by commas, got '1,x'"),
        (["connect4", "--workers", "0"], "--workers must be 1 to 100,000, got 0"),
        (["connect4", "--lag", "3"], "--lag must be 0 to 2, got 3"),
        (["connect4", "--seeds", "0"], "--seeds must be 1 to 100, got 0"),
        (["connect4", "--loss", "-1"], "connect4: machine.lost_per_hour: Input should be greater than or equal to 0"),
        (["connect4", "--figure", "nowhere/a.svg"], "nowhere/a.svg: the folder nowhere is not there"),
        (["connect4", "--figure", "a.png"], "--figure a.png: must end in .svg"),
        (["connect4", "unit.seconds=600", "--loss", "60"], "a unit takes 10 times as long as a machine lives"),
        (
            ["connect4", "--workers", "10", "generation.units_per_worker=1e4", "generation.games=100000000"],
            "at most 2,000,000",
        ),
        (["connect4", "unit.second=1"], "unit.second is not a setting (did you mean seconds?)"),
        (["connect4", "unit.seconds"], "'unit.seconds' is not of the form section.key=value"),
        (["connect4", "unit.seconds=nan"], "connect4: unit.seconds: Input should be less than or equal to 1000000"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "simulate", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error

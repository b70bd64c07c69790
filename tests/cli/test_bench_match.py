"""hauteur bench match: what its line says."""

import json

import pytest

from hauteur.cli.main import main


def test_both_ways_of_playing_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["visits=4 net=uniform", "random", "--game", "tictactoe", "--games", "8", "--alone", "4", "--threads", "1"]
    assert main(["bench", "match", *words]) == 0
    line = json.loads(capsys.readouterr().out)
    assert list(line["nets"]) == ["uniform"]
    assert set(line["nets"]["uniform"]) == {"batch_1", "batch_32"}
    assert line["one_by_one"]["rows_per_batch"] == 1.0
    assert line["together"]["rows_per_batch"] > 1.0
    for key, ratio in line["faster"].items():
        assert ratio == pytest.approx(line["together"][key] / line["one_by_one"][key], abs=0.02)


def test_no_games_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "match", "random", "random", "--game", "tictactoe", "--alone", "0"]) == 2
    assert "alone must be" in capsys.readouterr().err

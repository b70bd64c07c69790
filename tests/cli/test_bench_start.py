"""hauteur bench start: what it prints, and starts that fail."""

import json
from pathlib import Path

import pytest

from hauteur.cli.commands.bench_start import StartTime, measure
from hauteur.cli.main import main
from hauteur.networks.lc0 import random_net


def test_every_start_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "start", "--net", str(random_net(tmp_path / "net.pb.gz")), "--rounds", "1"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    starts = ["import hauteur", "hauteur --help", "hauteur uci to uciok", "hauteur uci to bestmove, net.pb.gz"]
    assert [line["what"] for line in lines] == starts
    for line in lines:
        assert 0 < line["seconds"]["min"] <= line["seconds"]["median"] <= line["seconds"]["max"]
        assert line["cpu_seconds"]["min"] > 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(["-c", "raise SystemExit('it broke')"], "it broke"), (["-c", "print('hello')"], "no answer")],
)
def test_a_start_that_fails_is_named(words: list[str], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"a start failed: {complaint}"):
        measure(StartTime("a start", words, until="uciok"))


def test_a_net_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "start", "--net", "none.pb.gz"]) == 2
    assert "none.pb.gz" in capsys.readouterr().err

"""hauteur bench train: its line of numbers, for random nets and for lc0's."""

import json
from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.networks.lc0 import random_net

SMALL = ("--batch", "32", "--steps", "2", "--rounds", "2")


def line_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["bench", "train", *words, *SMALL]) == 0
    line: dict[str, object] = json.loads(capsys.readouterr().out)
    return line


def test_a_line_for_a_random_net(capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(capsys, "tictactoe", "--filters", "8", "--blocks", "1", "--setting", "optimiser=sgd")
    assert (line["bench"], line["game"], line["batch"]) == ("train", "tictactoe", 32)
    assert str(line["net"]).startswith("resnet 8x1")
    for name in ("samples_per_second", "samples_per_cpu_second", "step_ms", "draw_ms", "plain_samples_per_second"):
        numbers = line[name]
        assert isinstance(numbers, dict)
        assert 0 < numbers["min"] <= numbers["median"] <= numbers["max"]


def test_a_line_for_a_net_of_lc0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    net = random_net(tmp_path / "net.pb.gz")
    assert str(line_of(capsys, "chess", "--net", str(net), "--setting", "mask_illegal=true")["net"]).startswith("lc0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tictactoe", "--setting", "optimizer=sgd"), "train.optimizer is not a setting"),
        (("connect4", "--steps", "0"), "--steps must be"),
    ],
)
def test_mistakes_are_one_clear_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert main(["bench", "train", *words]) == 2
    assert message in capsys.readouterr().err

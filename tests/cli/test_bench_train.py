"""hauteur bench train: its line of numbers, for random nets and for lc0's."""

import json
import os
import subprocess
import sys
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


WATCHED = """
import importlib.abc, os, sys
from hauteur.cli.main import main

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("torch is looked for with", os.environ.get("OMP_WAIT_POLICY"))

sys.meta_path.insert(0, Watch())
sys.exit(main(["bench", "train", "tictactoe", "--filters", "8", "--blocks", "1", "--threads", "2", *sys.argv[1:]]))
"""


@pytest.mark.parametrize(("given", "policy"), [(None, "passive"), ("active", "active")])
def test_waiting_threads_sleep_unless_the_user_says_otherwise(given: str | None, policy: str) -> None:
    """OpenMP reads the variable when it is loaded, with torch; threads that spin do not end on a busy machine."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    environment |= {} if given is None else {"OMP_WAIT_POLICY": given}
    command = [sys.executable, "-c", WATCHED, "--batch", "8", "--steps", "1", "--rounds", "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    looked_for = [line for line in done.stdout.splitlines() if line.startswith("torch")]
    assert looked_for[-1] == f"torch is looked for with {policy}", "the last time it is imported"

"""Matches with engines of other projects (`checks/judged_match.py`): what is printed, and what cannot be played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gomoku_judge
import hexhex_judge
from hauteur.networks.names import resolve_net
from hauteur.networks.onnx import onnx_bytes
from hauteur.networks.registry import load_network


def said_of(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr of a command that printed nothing else."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_match_prints_its_result_and_what_a_move_of_either_side_takes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gomoku9", "--size", "9", "--visits", "2", "--games", "2", "--seed", "5"]
    assert gomoku_judge.main(words) == 0
    first, score, seconds = capsys.readouterr().out.splitlines()
    facts = json.loads(first)
    assert facts["engine"] == "patterns and fours"
    assert (facts["visits"], facts["games"], facts["seed"]) == (2, 2, 5)
    assert facts["wins"] + facts["draws"] + facts["losses"] == 2
    assert min(facts["cpu_seconds_a_move"].values()) > 0
    assert score.endswith("of 2 games")
    assert "patterns and fours" in seconds


@pytest.mark.quick
def test_a_file_that_onnx_runtime_cannot_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hexhex.onnx"
    path.write_text("<html>not found</html>")
    assert hexhex_judge.main([str(path)]) == 2
    said = said_of(capsys)
    assert said.startswith(f"{path}: ONNX Runtime cannot compute it as HexHex: ")


@pytest.mark.quick
def test_a_net_of_something_else_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = load_network(resolve_net("tictactoe").path)
    path = tmp_path / "other.onnx"
    path.write_bytes(onnx_bytes(net.architecture, net.tensors))
    assert hexhex_judge.main([str(path)]) == 2
    assert said_of(capsys).startswith(f"{path}: ONNX Runtime cannot compute it as HexHex: ")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-net"], "there is no net 'no-such-net'"),
        (["gomoku9", "--size", "9", "--games", "3"], "number of games must be even, got 3"),
        (["gomoku9", "--size", "1"], "size must be a whole number from 5 to 15"),
    ],
)
def test_what_cannot_be_played_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gomoku_judge.main(words) == 2
    assert message in said_of(capsys)

"""Everything that plays takes the net that ships for its game when none is named."""

import io
import json
from pathlib import Path

import pytest
from gtp_table import Table
from shipped_toys import ship_nets

from hauteur.cli import main
from hauteur.engine.streams import Output
from hauteur.engine.uci.engine import UciEngine

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of nets that ship for NoGo and chess."""
    monkeypatch.chdir(tmp_path)
    return ship_nets(tmp_path / "data", monkeypatch)


def test_the_uci_engine(shipped: Path) -> None:
    stream = io.StringIO()
    UciEngine(Output(stream), seed=1).run([b"uci", b"isready", b"go nodes 5", b"quit"])
    said = stream.getvalue().splitlines()
    assert "option name WeightsFile type string default <shipped>" in said
    assert f"info string net: {shipped / 'chess.safetensors'} (shipped with hauteur)" in said
    assert not any("error" in line for line in said)


def test_a_name_as_weights_file() -> None:
    stream = io.StringIO()
    lines = [
        "setoption name WeightsFile value maia-1500",
        "isready",
        "setoption name WeightsFile value chess",
        "isready",
    ]
    UciEngine(Output(stream), seed=1).run([line.encode() for line in lines])
    first, second = stream.getvalue().split("readyok")[:2]
    assert "error: the net cannot be used: the net maia-1500 is not downloaded yet: hauteur net get maia-1500" in first
    assert "error" not in second


def test_the_gtp_engine() -> None:
    table = Table(game="nogo", player="visits=3")
    assert table.ask("genmove b")
    assert table.refused("boardsize 5").startswith("unacceptable size: no net ships for nogo(size=5): give --player")
    assert table.ask("boardsize 7") == "", "another net ships for this size"
    assert table.ask("genmove b")


@pytest.mark.parametrize("spec", ["chess", "nogo(size=7)"])
def test_analysis_and_matches(spec: str, capsys: Capture) -> None:
    assert main.main(["analyse", spec, "--visits", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["visits"] == 3
    words = ["--games", "2", "--max-plies", "4", "--random-plies", "0", "--json"]
    assert (
        main.main(
            ["match", "visits=1", f"net={'chess' if spec == 'chess' else 'nogo7'} visits=1", "--game", spec, *words]
        )
        == 0
    )


def test_a_net_for_another_game(capsys: Capture) -> None:
    assert main.main(["analyse", "chess", "--net", "nogo7"]) == main.EXIT_BAD_INPUT
    assert "is a net for nogo(size=7)" in capsys.readouterr().err

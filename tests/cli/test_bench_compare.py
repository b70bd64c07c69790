"""hauteur bench compare: programs in turns, what it says of them, and what it refuses."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_toys import random_net

from hauteur.cli.commands.bench_compare import other_engine
from hauteur.cli.commands.bench_programs import answers_of, features_of
from hauteur.cli.main import main
from hauteur.games.registry import load_game
from hauteur.players.engines.speed import EngineWork, cpu_seconds, work_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are driven through process groups")

FAKE = Path(__file__).parent.parent / "support" / "fake_engine.py"
AZPB = FAKE.parent / "fake_azpb"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")


def fake(fault: str = "good", more: str = "") -> str:
    return f"uci:{shlex.quote(shlex.join([sys.executable, str(FAKE), fault]))} start-timeout=60 {more}"


def compare(*words: str, net: str = "uniform", rounds: int = 2) -> int:
    return main(["bench", "compare", "--net", net, "--rounds", str(rounds), *words])


def values(line: dict[str, Any], what: str, program: str) -> list[float]:
    """Return the values of the rounds in one row of the JSON object."""
    (row,) = [row for row in line["rows"] if row["what"] == what]
    found: list[float] = row["programs"].get(program, {"rounds": []})["rounds"]
    return found


def test_a_program_and_hauteur_take_turns(capsys: pytest.CaptureFixture[str]) -> None:
    program = fake(more="Hash=32")
    assert compare(program, "--nodes", "100", "--nodes", "600", "--option", "MinibatchSize=8", "--json") == 0
    line = json.loads(capsys.readouterr().out)
    assert (line["net"], line["rounds"], line["options"]) == ("uniform", 2, ["MinibatchSize=8"])
    for nodes in ("100 nodes", "600 nodes"):
        assert all(0 < value <= 1 for value in values(line, f"{nodes}: evaluations / node", "hauteur"))
        assert all(1 <= value <= 8 for value in values(line, f"{nodes}: rows / batch", "hauteur"))
        assert values(line, f"{nodes}: rows / batch", program) == []
    for what in ("600 nodes: nodes / s", "first move: s"):
        ours, other = (values(line, what, name) for name in ("hauteur", program))
        assert (len(ours), len(other)) == (2, 2)
        ratios = [b / a if what == "first move: s" else a / b for a, b in zip(ours, other, strict=True)]
        (row,) = [row for row in line["rows"] if row["what"] == what]
        assert row["hauteur_times_as_good"][program]["max"] == pytest.approx(max(ratios), rel=1e-3)
    assert not any("self-play" in row["what"] for row in line["rows"])


@pytest.fixture
def net(tmp_path: Path) -> str:
    """A small net that lc0 could read."""
    return str(random_net(tmp_path / "net.pb.gz"))


@pytest.fixture
def lc0(tmp_path: Path) -> str:
    """A program with lc0's options, of whose backends `onednn` is quickest and `blas` broken."""
    program = tmp_path / "lc0"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(FAKE)])} --lc0 "$@"\n')
    program.chmod(0o755)
    return f"lc0:{program}"


def test_lc0_searches_with_its_quickest_backend(lc0: str, net: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--nodes", "10", "--games", "0"]
    assert compare(lc0, *words, "--json", net=net, rounds=1) == 0
    assert len(values(json.loads(capsys.readouterr().out), "10 nodes: nodes / s", "lc0 onednn")) == 1
    assert compare(lc0, *words, "--lc0-backend", "onnx-cpu", net=net, rounds=1) == 0
    assert "hauteur : lc0 onnx-cpu" in capsys.readouterr().out
    assert compare(lc0, *words, "--lc0-backend", "blas", net=net) == 2
    assert compare(lc0, *words, "--lc0-backend", "nonsense", net=net) == 2
    assert "Backend must be one of onnx-cpu, onednn, blas, random" in capsys.readouterr().err


def test_lc0_without_a_net_answers_by_chance(lc0: str) -> None:
    assert other_engine(lc0, "uniform", 1).options == {"Threads": "1", "SmartPruningFactor": "0", "Backend": "random"}


def test_self_play_of_lc0_and_hauteur(lc0: str, net: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--nodes", "10", "--games", "2", "--visits", "2", "--json"]
    assert compare(lc0, *words, net=net, rounds=1) == 0
    line = json.loads(capsys.readouterr().out)
    for what in ("self-play: moves / CPU s", "self-play: games / CPU s"):
        assert [len(values(line, what, name)) for name in ("hauteur", "lc0 onednn")] == [1, 1]
    (moves,), (games,) = (values(line, f"self-play: {what} / CPU s", "lc0 onednn") for what in ("moves", "games"))
    assert moves / games == pytest.approx(100 / 2)


def test_self_play_of_azpb_and_hauteur(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--rounds", "1", "--games", "3", "--visits", "20", "--precision", "float32", "--json"]
    assert main(["bench", "compare", f"azpb:{AZPB}", *words]) == 0
    line = json.loads(capsys.readouterr().out)
    assert values(line, "self-play: evaluations / move", "azpb") == [1.0]
    assert len(values(line, "self-play: moves / CPU s", "hauteur")) == 1


def test_planes_of_alphazero_are_the_movers() -> None:
    rows = np.zeros((2, 4, 6, 7), np.float32)
    rows[0, 2], rows[1, 3] = 1, 1  # the first moves, the second
    rows[:, 0, 5, 3], rows[:, 1, 5, 2] = 1, 1
    state = load_game("connect4").new_initial_state()
    for action in (3, 2):
        state.apply(action)
    features, second = features_of(rows, 3)
    np.testing.assert_array_equal(features[0], state.features())
    np.testing.assert_array_equal(features[1, :2], state.features()[1::-1])
    found, priors = answers_of(np.zeros((2, 7), np.float32), np.array([[0.5, 0.3, 0.2]] * 2, np.float32), second)
    np.testing.assert_allclose(found, [[0.5, 0.2, 0.3], [0.2, 0.5, 0.3]])
    np.testing.assert_allclose(priors, 1 / 7)


def test_a_match_warns_of_a_movetime_that_the_overhead_takes_up(capsys: pytest.CaptureFixture[str]) -> None:
    program = f"uci:{sys.executable} {FAKE} --lc0 movetime=150"
    words = ["match", "--games", "2", "--max-plies", "4", "--random-plies", "0", "random"]
    assert main([*words, program]) == 0
    assert "its option MoveOverheadMs (200 ms) is no less than movetime=150" in capsys.readouterr().err
    assert main([*words, f"{program} MoveOverheadMs=0"]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["uci:no-such-program"], "no program 'no-such-program'"),
        (["lc0:no-such-lc0"], "lc0:no-such-lc0: no such program on the path"),
        (["stockfish"], "a program must be lc0, lc0:PATH or uci:PROGRAM"),
        ([fake(more="NoOption=1")], "no option 'NoOption'"),
        ([fake("mute", more="move-timeout=0.3")], "no bestmove within 0.3 s"),
        ([fake("start-crash")], "out of ideas"),
        ([fake(), "--nodes", "0"], "--nodes must be 1 or more"),
        ([fake(), "--option", "Hash"], "--option must be NAME=VALUE"),
        ([fake(), "--option", "Hesh=1"], "did you mean Hash?"),
        ([fake(), "--games", "-1"], "--games must be 0 or more"),
        (["azpb:no-such-folder"], "azpb:no-such-folder: no module alphazero in no-such-folder"),
        (["azpb", "lc0"], "azpb is compared alone"),
    ],
)
def test_what_does_not_work_is_said_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(*words) == 2
    found = capsys.readouterr()
    assert said in found.err
    assert (found.err.count("\n"), found.out) == (1, "")


def test_the_work_of_a_search_is_read_from_its_lines() -> None:
    lines = ["info depth 1 nodes 5 nps 10", "info depth 2 nodes 90 nps 10", "info string nodes 7"]
    assert work_of(lines, 2.0, None) == EngineWork(90, 2.0, None)
    told = work_of([*lines, "info string evaluations 80, batches 10, fill 0.5000"], 2.0, 1.0)
    assert told == EngineWork(90, 2.0, 1.0, 80, 10, 160.0)
    assert told + work_of(lines, 1.0, None) == EngineWork(180, 3.0, None, 80, 10, 160.0)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_group_without_processes_has_used_no_time() -> None:
    assert cpu_seconds(2**22 + 1) == 0.0


@pytest.mark.skipif(STOCKFISH is None, reason="Stockfish is not installed")
def test_stockfish_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(f"uci:{STOCKFISH} Threads=1", "--nodes", "2000") == 0
    assert "hauteur : uci:" in capsys.readouterr().out


def test_a_net_that_lc0_does_not_read(lc0: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compare", lc0]) == 2
    assert "lc0 does not read" in capsys.readouterr().err

"""hauteur bench compare: programs in turns, what it says of them, and what it refuses."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from hauteur.cli.commands.bench_compare import other_engine, our_engine, without_overhead
from hauteur.cli.main import main
from hauteur.players.engines.speed import EngineWork, cpu_seconds, work_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are driven through process groups")

FAKE = Path(__file__).parent.parent / "support" / "fake_engine.py"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")


def fake(fault: str = "good", more: str = "") -> str:
    return f"uci:{shlex.quote(shlex.join([sys.executable, str(FAKE), fault]))} start-timeout=60 {more}"


def compare(*words: str) -> int:
    return main(["bench", "compare", "--net", "uniform", "--rounds", "2", *words])


def test_a_program_and_hauteur_take_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    positions, page = tmp_path / "positions.epd", tmp_path / "page.html"
    positions.write_text("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;\n\n# none\n4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\n")
    words = ["--nodes", "600", "--positions", str(positions), "--html", str(page), "--option", "MinibatchSize=8"]
    assert compare(fake(more="Hash=32"), *words, "--json") == 0
    line = json.loads(capsys.readouterr().out)
    ours, other = line["programs"]
    assert (line["positions"], line["options"], ours["program"], other["name"]) == (
        2,
        ["MinibatchSize=8"],
        "hauteur",
        "Fake 1.0",
    )
    assert [work["nodes"] for work in ours["work"]] == [1200, 1200]
    assert [work["nodes"] for work in other["work"]] == [20, 20]
    assert 0 < ours["evaluations_per_node"]["min"] <= 1
    assert 1 <= ours["rows_per_batch"]["median"] <= 8
    assert ours["batch_fill"]["median"] == pytest.approx(ours["rows_per_batch"]["median"] / 8, rel=0.02)
    assert other["evaluations_per_cpu_second"] is None
    assert ours["ratio"] == {"min": 1.0, "median": 1.0, "max": 1.0}
    text = page.read_text(encoding="utf-8")
    assert all(words in text for words in ("Fake 1.0", "Hash=32", "600"))


def test_games_are_played_where_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    positions = tmp_path / "one.fen"
    positions.write_text("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n")
    words = ["--nodes", "50", "--positions", str(positions), "--elo", "2", "--limit", "nodes=20"]
    assert compare(fake(), *words) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("nodes / cpu second", "hauteur against uci:", "(95 %)"))


@pytest.fixture
def lc0(tmp_path: Path) -> str:
    """A program with lc0's options, of whose backends `onednn` is quickest and `blas` broken."""
    program = tmp_path / "lc0"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(FAKE)])} --lc0 "$@"\n')
    program.chmod(0o755)
    return f"lc0:{program}"


def test_lc0_searches_with_its_quickest_backend(lc0: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(lc0, "--nodes", "10", "--json") == 0
    program = json.loads(capsys.readouterr().out)["programs"][1]
    assert program["program"] == f"{lc0} onednn"
    assert program["name"] == "Fake 1.0 --lc0 --task-workers=0"
    assert program["work"][0]["nodes"] == 6_000_000
    assert compare(lc0, "--nodes", "10", "--json", "--lc0-backend", "onnx-cpu") == 0
    assert json.loads(capsys.readouterr().out)["programs"][1]["program"] == f"{lc0} onnx-cpu"
    assert compare(lc0, "--nodes", "10", "--lc0-backend", "blas") == 2
    assert compare(lc0, "--lc0-backend", "nonsense") == 2
    assert "Backend must be one of onnx-cpu, onednn, blas, random" in capsys.readouterr().err


def test_a_movetime_belongs_to_the_search(lc0: str) -> None:
    """lc0 would subtract its overhead from it, and play one node a move."""
    engine = other_engine(lc0, "uniform", 1, "onednn")
    assert without_overhead(engine, "movetime=100").options["MoveOverheadMs"] == "0"
    assert "MoveOverheadMs" not in without_overhead(engine, "tc=1+0.1").options
    assert without_overhead(our_engine("uniform", 1, None, ()), "movetime=100").options["MoveOverheadMs"] == "0"
    own = our_engine("uniform", 1, None, ("MoveOverheadMs=5",))
    assert without_overhead(own, "movetime=100").options["MoveOverheadMs"] == "5"


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
        ([fake(), "--elo", "3"], "--elo must be an even number"),
        ([fake(), "--nodes", "0"], "--nodes must be 1 or more"),
        ([fake(), "--option", "Hash"], "--option must be NAME=VALUE"),
        ([fake(), "--option", "Hesh=1"], "did you mean Hash?"),
        ([fake(), "--positions", str(FAKE)], "fake_engine.py, line 1"),
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
    assert compare(f"uci:{STOCKFISH} Threads=1", "--nodes", "2000", "--json") == 0
    ours, other = json.loads(capsys.readouterr().out)["programs"]
    assert other["name"].startswith("Stockfish")
    assert all(work["nodes"] >= 6 * 2000 for work in (*ours["work"], *other["work"]))

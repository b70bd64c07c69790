"""The commands of puzzles: their output, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.studies.puzzles.mine import Mine
from hauteur.studies.puzzles.solve import Solve


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games"
    out = tmp_path / "mine"
    match = ["match", "random", "random", "--game", "connect4", "--games", "60", "--out", str(games)]
    assert main.main(match) == 0
    capsys.readouterr()
    words = ["--game", "connect4", "--low", "5", "--high", "200", "--swing", "0.2", "--gap", "0.2"]
    more = ["--positions", "600", "--json", "--first-ply", "6", "--out", str(out)]
    assert main.main(["puzzles", "mine", str(games), *words, *more]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["puzzles"] == len(json.loads((out / "puzzles.json").read_text())) > 0
    solve = ["puzzles", "solve", str(out / "puzzles.json"), "--game", "connect4"]
    assert main.main([*solve, "--visits", "2,400", "--json"]) == 0
    solved = json.loads(capsys.readouterr().out)["players"]["connect4"]["solved"]
    assert solved["2"]["count"] < solved["400"]["count"]
    assert solved["400"]["of"] == result["puzzles"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine", "games.pgn", "--out", "mined"], "mining interrupted; the same command goes on with it in mined"),
        (["solve", "suite.epd"], "solving interrupted; nothing is kept without --out"),
        (["solve", "suite.epd", "--out", "solved"], "solving interrupted; the same command goes on with it in solved"),
    ],
)
def test_an_interrupt_says_what_goes_on(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    Path("suite.epd").write_text("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8;\n")
    for work in (Mine, Solve):
        monkeypatch.setattr(work, "run", interrupted)
    assert main.main(["puzzles", *words]) == main.EXIT_INTERRUPTED
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["mine"],
        ["mine", "no-such-file.pgn"],
        ["mine", "x.pgn", "--positions", "0"],
        ["mine", "x.pgn", "--low", "900"],
        ["mine", "x.pgn", "--player", "random"],
        ["mine", "x.pgn", "--swing", "3"],
        ["solve", "no-such-file.epd"],
        ["solve", "x.epd", "--visits", "10,10"],
        ["solve", "x.epd", "--visits", "ten"],
        ["solve", "x.epd", "--limit", "0"],
        ["solve", "x.epd", "--game", "connect4"],
        ["solve", "x.epd", "--player", "random"],
    ],
    ids=" ".join,
)
def test_bad_input(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.epd").write_text("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7;\n")
    (tmp_path / "x.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n')
    net = [] if "--player" in words else ["--player", "net=uniform"]
    extra = ["--out", "o", "--first-ply", "0"] if words[0] == "mine" else []
    assert main.main(["puzzles", *words, *net, *extra]) == main.EXIT_BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line for line in shown.err.splitlines() if line.startswith("hauteur:")] == shown.err.splitlines()[-1:]
    assert words[-1] != "no-such-file.pgn" or not (tmp_path / "o").exists()

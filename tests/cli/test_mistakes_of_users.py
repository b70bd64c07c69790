"""Mistakes that people make at first: each is one line that says what was given and what is meant, before any game."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hauteur as ht
from hauteur.cli import main

TINY = ["--games", "2", "--game", "tictactoe"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a match of tic-tac-toe, the folder of a run, and a file of the user's that fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)  # importing own.py leaves no file
    ht.play_match("random", "random", "tictactoe", games=2, out="match")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "best.safetensors").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    (tmp_path / "own.py").write_text("value = 1\nvalue / 0\n")
    (tmp_path / "result.txt").write_text("")
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    (tmp_path / "folder.txt").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["match", "random", "random", "--pgn", "empty"], "--pgn empty: expected a file *.pgn"),
        (["match", "random", "random", "--pgn", "games.txt"], "--pgn games.txt: expected a file *.pgn"),
        (["match", "random", "random", "--pgn", "missing/a.pgn"], "missing/a.pgn: the folder missing is not there"),
        (["match", "random", "random", "--sgf", "a.sgf"], "games of chess cannot be written as SGF"),
        (["sprt", "random", "random", "--pgn", "a.pgn", "--game", "nogo"], "games of nogo cannot be written as PGN"),
        (["tournament", "random", *TINY], "a tournament has two or more players, got 1"),
        (["review", "match", "--out", "match"], "got a folder"),
        (["review", "result.csv"], "result.csv: No such file"),
        (["review", "own.py"], "expected a .pgn (chess), an .sgf (Go, Gomoku, NoGo) or a .txt (any game)"),
        (["puzzles", "mine", "match", "--out", "mined"], "its games are of tictactoe, not of chess; --game names"),
        (["analyse", "tictactoe", "--net", "run"], "the net of this run is run/best.safetensors"),
        (["analyse", "tictactoe", "--net", "empty"], "empty is a folder, a net is a file (.pb.gz, .safetensors)\n"),
        (["analyse", "tictactoe", "--net", ""], "a net has no name"),
        (["analyse", "connect4", "--fen", "x"], "--fen is for games that have FENs, chess and minichess, got connect4"),
        (["analyse", "chess", "--visits", "99999999999999999999"], "--visits must be 1 to 1,000,000,000"),
        (["analyse", "chess", "--batch-size", "65537"], 'Invalid value "65537" for --batch-size. Must be <= 65536'),
        (["gtp", "--batch-size", "0"], 'Invalid value "0" for --batch-size. Must be >= 1'),
        (["train", "tictactoe", "run.threads=1025"], "run.threads must be a whole number from 0 to 1,024, got '1025'"),
        (["match", "random", "random", *TINY, "--out", ""], "--out: a file or folder has no name: its text is empty"),
        (["match", "random", "random", *TINY, "--pgn="], "--pgn: a file or folder has no name: its text is empty"),
        (["report", "result.txt"], "result.txt: is a file, expected a folder"),
        (["report", "run", "nowhere"], "nowhere: there is no such folder"),
        (["review", "game.pgn", "--out", "result.txt"], "result.txt: is a file, expected a folder"),
        (["tournament", "random", "mcts:2", *TINY, "--out", "result.txt"], "result.txt: is a file, expected a folder"),
        (["play", "tictactoe", "--save", "folder.txt"], "folder.txt: is a folder, expected the name of a file"),
        (["check-game", "own.py"], "is a file of Python: hauteur --import own.py, then its game by name"),
        (["analyse", "my game.pgn"], "is a file of games: hauteur review 'my game.pgn'"),
        (["web", "match", "--host", "999.1.1.1", "--port", "0"], "--host 999.1.1.1: there is no such address"),
        (["doctor", "now"], "unexpected argument 'now'"),
        (["gtp", "tictactoe", "net=rollout", "visits=50"], 'write --player "net=rollout visits=50"'),
        (["play", "chess", "net=chess", "visits=9"], "write --net chess --visits 9"),
        (["doctor", "net=chess"], "unexpected argument 'net=chess'"),
        (["tune", "strength", "visits=1", "--parameter", "cpuct.init=1:2"], "--out is missing (see hauteur tune"),
        (["net", "info"], "FILE is missing (see hauteur net info --help)"),
        (["match", "a", "b", "--game"], "parameter --game requires an argument"),
        (["tune", "now"], "there is no command 'tune now'; there is strength"),
        (["--import", "own.py", "doctor"], "own.py, line 2: ZeroDivisionError: division by zero"),
    ],
)
def test_mistakes_are_named(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    before = sorted(folder.rglob("*"))
    capsys.readouterr()
    assert main.main(words) == main.EXIT_BAD_INPUT
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert (printed.out, sorted(folder.rglob("*"))) == ("", before)


@pytest.mark.parametrize("work", ["match", "tournament"])
def test_a_folder_of_other_work_is_left_alone(folder: Path, work: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even named as damaged, which would have its owner delete something."""
    (folder / "review").mkdir()
    (folder / "review" / "result.json").write_text('{"games": []}')
    capsys.readouterr()
    assert main.main([work, "random", "mcts:2", *TINY, "--out", "review"]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert f"it is not the folder of a {work}; name another folder with --out" in said
    assert "delete" not in said


def test_a_folder_that_is_closed_is_named_before_any_game(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the tests may write everywhere, as root does; so the system's answer is that of another user."""
    monkeypatch.setattr("hauteur.system.files.os.access", lambda path, mode: Path(path).name != "empty")
    command = ["match", "random", "random", "--games", "2", "--game", "chess", "--pgn", "empty/a.pgn"]
    assert main.main(command) == main.EXIT_BAD_INPUT
    assert "empty/a.pgn: no permission to write in the folder empty" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["empty.pgn", "wrong.pgn"])
def test_a_mining_without_games_begins_nothing(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (folder / "empty.pgn").write_text("")
    (folder / "wrong.pgn").write_text("1. e4 e9 *")
    assert main.main(["puzzles", "mine", name, "--out", "mined", "--player", "net=uniform"]) == main.EXIT_BAD_INPUT
    assert f"{name}: has no game that can be read" in capsys.readouterr().err
    assert not (folder / "mined").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["play", "--save", "x.txt"],
        ["analyse", "--visits", "2"],
        ["explain", "--visits", "2"],
        ["gtp", "--player", "random"],
        ["check-game", "--games", "1"],
        ["prove", "--net", "uniform"],
    ],
    ids=lambda words: words[0],
)
def test_a_game_is_named_alike_in_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """As the first word, and by --game as in the commands whose first words are players; by the same names."""
    command, *options = words
    said = []
    for given in (["go9"], ["--game", "go9"], ["--spec", "go9"]):
        assert main.main([command, *given, *options]) == main.EXIT_BAD_INPUT
        said.append(capsys.readouterr().err)
    assert main.main(["match", "random", "random", "--games", "2", "--game", "go9"]) == main.EXIT_BAD_INPUT
    said.append(capsys.readouterr().err)
    assert len(set(said)) == 1
    assert said[0].startswith("hauteur: no game 'go9' (did you mean go(size=9)?); known games: ")


def test_every_option_of_a_file_is_known(root: Path) -> None:
    """Those of the commands whose values are paths; files that are first words are opened, so none is the folder."""
    named = re.compile(r"^    (\w+): (?:Path\b|Annotated\[Path\b)", re.MULTILINE)
    found = set()
    for module in (root / "python" / "hauteur" / "cli" / "commands").glob("*.py"):
        found |= {name.replace("_", "-") for name in named.findall(module.read_text(encoding="utf-8"))}
    assert found - {"file", "net", "source", "target"} <= set(main.OF_FILES)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_finds_no_room_is_told_in_words() -> None:
    words = [sys.executable, "-m", "hauteur.cli", "--version"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (main.EXIT_BAD_INPUT, "hauteur: No space left on device\n")

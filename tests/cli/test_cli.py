"""The command line: every command is there, exit statuses, one readable line for bad input, never a traceback."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from hauteur import __version__
from hauteur.cli import main

GARBAGE = bytes(range(256)) * 8


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([word]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert all(command.words.split()[0] in listed for command in main.COMMANDS)


def test_every_command_stands_under_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for members in main.SECTIONS.values() for word in members]
    assert len(words) == len(set(words))
    assert set(words) == {command.words.split()[0] for command in main.COMMANDS} | set(main.OUTSIDE)
    assert main.main(["help"]) == 0
    listed = capsys.readouterr().out
    places = [listed.index(f"─ {heading} ─") for heading in main.SECTIONS]
    assert places == sorted(places)


def test_help_as_a_word_is_the_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "net", "info"], ["net", "info", "--help"]):
        assert main.main(words) == 0
        assert "Usage: hauteur net info" in capsys.readouterr().out
    assert main.main(["help", "plya"]) == main.EXIT_BAD_INPUT
    assert "did you mean play?" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
@pytest.mark.slow
def test_completion_can_be_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert main.main(["--install-completion"]) == 0
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("tournament" in text and "--visits" in text for text in written)


@pytest.mark.parametrize("command", main.COMMANDS, ids=lambda command: command.words)
def test_every_command_explains_itself(command: main.Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([*command.words.split(), "--help"]) == 0
    assert f"Usage: hauteur {command.words}" in capsys.readouterr().out


BAD_INPUT = [
    ["nonsense"],
    ["net", "nonsense"],
    ["doctor", "--nonsense"],
    ["perft", "nonsense", "2"],
    ["perft", "nogo(sise=9)", "2"],
    ["perft", "chess(fen=nonsense)", "1"],
    ["play", "tictactoe", "--seed", "-1"],
    ["analyse", "connect4", "--seed", "-1"],
    ["uci", "--seed", "99999999999999999999"],
    ["prove", "tictactoe", "--net", "missing.safetensors"],
    ["analyse", "chess", "--net", "missing.pb.gz"],
    ["analyse", "chess", "--net", "uniform", "--fen", "nonsense"],
    ["net", "info", "missing.pb.gz"],
    ["net", "info", "garbage.safetensors"],
    ["net", "info", "empty.safetensors"],
    ["net", "info", "."],
    ["net", "convert", "garbage.pb.gz", "out.safetensors"],
    ["train", "missing.toml"],
    ["train", "unknown.toml"],
    ["report", "missing"],
    ["bench", "search", "nonsense"],
    ["bench", "evaluator", "--net", "missing.pb.gz"],
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with broken files."""
    for name in ("garbage.pb.gz", "garbage.safetensors", "garbage.toml", "garbage.json"):
        (tmp_path / name).write_bytes(GARBAGE)
    (tmp_path / "empty.safetensors").write_bytes(b"")
    (tmp_path / "unknown.toml").write_text('game = "tictactoe"\nnonsense = 3\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", BAD_INPUT, ids=" ".join)
def test_bad_input_gives_one_line(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert main.main(words) == main.EXIT_BAD_INPUT
    printed = capsys.readouterr()
    assert printed.err.startswith("hauteur: ")
    assert printed.err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before, "something was left behind"


def raising(error: BaseException) -> Callable[[], int]:
    def action() -> int:
        raise error

    return action


class Limits(BaseModel):
    visits: int = Field(ge=1)


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (raising(ValueError("first\n  second")), "first second"),
        (
            raising(FileNotFoundError(errno.ENOENT, "No such file or directory", "a.gz")),
            "a.gz: No such file or directory",
        ),
        (lambda: Limits(visits=0).visits, "visits must be 1 or more, got 0"),
    ],
)
def test_errors_are_one_line(action: Callable[[], int], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.guarded(action) == main.EXIT_BAD_INPUT
    assert capsys.readouterr().err == f"hauteur: {line}\n"


def test_missing_extra_says_how_to_install_it(capsys: pytest.CaptureFixture[str]) -> None:
    error = ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
    assert main.guarded(raising(error)) == main.EXIT_BAD_INPUT
    assert "pip install 'hauteur[report]'" in capsys.readouterr().err


def test_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.guarded(raising(KeyboardInterrupt())) == main.EXIT_INTERRUPTED
    assert "Traceback" not in capsys.readouterr().err


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        main.guarded(raising(ZeroDivisionError()))
    monkeypatch.setenv("HAUTEUR_TRACEBACK", "1")
    with pytest.raises(ValueError, match="wrong"):
        main.guarded(raising(ValueError("wrong")))


@pytest.mark.skipif(os.name != "posix", reason="closed pipes are a matter of POSIX")
def test_closed_pipe_is_quiet() -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m hauteur.cli.main doctor | head -c 0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ["match", "second-net=on solver=on", "random", "--game", "chess"],
        ["match", "visits=0", "random", "--game", "tictactoe"],
        ["match", "search.solver=x", "random", "--game", "chess"],
        ["analyse", "tictactoe", "--net", "uniform", "--search.fpu.kind", "none"],
        ["train", "recipe.toml"],
    ],
)
def test_messages_name_settings_not_classes(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text('game = "tictactoe"\n[selfplay]\nsearch = 3\n[train]\nwindow_games = -1\n')
    assert main.main(words) == main.EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    for word in ("function-after", "SearchParams", "MatchSettings", "PlayerSettings", "Recipe", "pydantic", "http"):
        assert word not in error


# -- words that are nearly right ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plya", "chess"], "there is no command 'plya' (did you mean play?)"),
        (["net", "gte"], "there is no command 'net gte' (did you mean get?)"),
        (["perft", "conect4", "2"], "no game 'conect4' (did you mean connect4?)"),
        (["analyse", "connect4", "--net", "conect4"], "there is no net 'conect4' (did you mean connect4?)"),
        (["analyse", "chess", "--net", "maia-190"], "there is no net 'maia-190' (did you mean maia-1900?)"),
        (["match", "visit=3", "random", "--game", "connect4"], "visit is not a setting (did you mean visits?)"),
        (
            ["match", "ScLimit=3", "random", "--game", "connect4"],
            "ScLimit is lc0's name of search-contempt.n-scl: write search-contempt.n-scl=...",
        ),
        (["match", "TempDecayMoves=3", "random"], "TempDecayMoves is lc0's name of temperature.decay-moves"),
        (["xyzzy"], "there is no command 'xyzzy'; there are"),
    ],
)
def test_the_word_that_was_meant_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line

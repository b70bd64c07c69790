"""Inputs that the tools fuzz_readers.py and fail_writes.py have found: each is refused in one short, printable line."""

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hauteur import _core
from hauteur.cluster.worker import MOST_CONTENT, read_message
from hauteur.games.game_line import BadGame
from hauteur.learning.report.figures import number
from hauteur.matches.folder import MatchFolder
from hauteur.matches.report.stored import read_stored
from hauteur.matches.results import MatchGame
from hauteur.players.settings import parse_player
from hauteur.system.errors import explain
from hauteur.system.files import write_bytes
from hauteur.system.formatting import MOST_LINE


@pytest.mark.parametrize("error", [ValueError("a\x1b[2J\n\ud800" + "x" * 10**6), OSError(2, "none", "a\x1b[2J")])
def test_a_line_is_short_and_printable(error: Exception) -> None:
    line = explain(error)
    assert line is not None
    assert line.isprintable()
    assert len(line) <= MOST_LINE + 5


def test_a_bad_game_is_a_printable_line() -> None:
    with pytest.raises(ValueError, match="expected GM") as error:
        _core.sgf_spec("(;GM[4\x1b[2J\n]SZ[9])")
    assert str(BadGame("file", str(error.value))).isprintable()


@pytest.mark.parametrize(
    "size", ["-1", "1.5", '"3"', "[]", "true", str(MOST_CONTENT + 1), pytest.param("[" * 100_000, id="deep")]
)
def test_a_message_of_a_wrong_size_is_none(size: str) -> None:
    with pytest.raises(ValueError, match="not a message"):
        read_message(io.BytesIO(f'{{"bytes": {size}}}\nabc'.encode()))


def test_a_text_of_a_player_is_short() -> None:
    with pytest.raises(ValueError, match="the text has 300,001 characters, allowed are 20,000"):
        parse_player("a" * 300_001)


def test_a_game_of_absurd_numbers_is_refused(tmp_path: Path) -> None:
    game = {"index": 1, "a": "first", "score": 1.0, "end": "", "plies": 3}
    with pytest.raises(ValueError, match="plies"):
        MatchGame.model_validate({**game, "plies": 2**31})
    MatchFolder(tmp_path).append(MatchGame.model_validate({**game, "index": 2**31}))
    with pytest.raises(ValueError, match="line 1: game 2147483648 is far beyond the others"):
        list(MatchFolder(tmp_path).games())


@pytest.mark.parametrize("key", ["work", "written", "settings", "sprt"])
def test_a_damaged_result_is_named(tmp_path: Path, key: str) -> None:
    settings: dict[str, Any] = {"settings": {"game": "connect4", "games": 2}, "names": ["a", "b"]}
    (tmp_path / "match.json").write_text(json.dumps(settings))
    (tmp_path / "result.json").write_text(json.dumps({key: 0.5}))
    with pytest.raises(ValueError, match=rf"result\.json: its {key} is no object"):
        read_stored(MatchFolder(tmp_path))
    (tmp_path / "match.json").write_text(json.dumps({"settings": {}, "names": ["a", "b"]}))
    with pytest.raises(ValueError, match="no game"):
        read_stored(MatchFolder(tmp_path))


@pytest.mark.parametrize("seconds", ["1", [], 1e999, 10**400, True])
def test_a_time_that_is_no_number_is_left_out(tmp_path: Path, seconds: object) -> None:
    settings = {"settings": {"game": "connect4", "games": 2}, "names": ["a", "b"]}
    (tmp_path / "match.json").write_text(json.dumps(settings))
    (tmp_path / "result.json").write_text(json.dumps({"work": {"seconds": seconds}, "games": 1}))
    assert "games" in read_stored(MatchFolder(tmp_path)).state_text


@pytest.mark.parametrize("value", [10**400, float("nan"), float("inf"), -(10**400), True])
def test_a_metric_that_no_float_holds_is_none(value: float) -> None:
    assert number({"a": value}, "a") is None


@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Met while the file goes to disk, or its folder."""
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space") as error:
        write_bytes(tmp_path / "file", b"x")
    assert explain(error.value) == f"{tmp_path / 'file'}: No space left on device"
    assert not list(tmp_path.glob(".*"))

"""Folders with values of a wrong kind in their JSON: the report is made, or says in a line what is wrong."""

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur.cli import main
from hauteur.matches.report.pages import write_page

PLAYERS = ["net=uniform visits=6 temperature=1", "random", "mcts:3"]
WRONG: list[Any] = [None, "x", "", 3, -1, 2.5, [], {}, True, [1], {"a": 1}, 10**30, float("inf"), float("nan")]
FILES = {
    "match": ["match.json", "result.json"],
    "test": ["match.json", "result.json"],
    "cup": ["tournament.json", "result.json", "1-2/result.json"],
    "tuning": ["tune.json", "result.json"],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of each kind."""
    place = tmp_path_factory.mktemp("results")
    ht.play_match(PLAYERS[0], PLAYERS[1], "tictactoe", games=4, threads=1, out=place / "match")
    ht.sprt(PLAYERS[0], PLAYERS[2], "tictactoe", max_games=8, threads=1, out=place / "test")
    ht.tournament(PLAYERS, "tictactoe", games=2, threads=1, out=place / "cup")
    words = ["tune", "strength", PLAYERS[0], "--parameter", "cpuct.init=0.5:3", "--iterations", "2", "--games", "2"]
    more = ["--verification", "2", "--game", "tictactoe", "--threads", "1", "--out", str(place / "tuning")]
    assert main.main([*words, *more]) == 0
    return place


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value of a JSON text."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def changed(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """The JSON value with another one in this place."""
    if not at:
        return new
    found = copy.deepcopy(value)
    inner = found
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = new
    return found


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FILES.items() for name in names])
def test_values_of_a_wrong_kind_are_no_faults_of_the_program(
    kind: str, name: str, folders: Path, tmp_path: Path
) -> None:
    folder = tmp_path / kind
    shutil.copytree(folders / kind, folder)
    file = folder / name
    whole = json.loads(file.read_text("utf-8"))
    refused: list[str] = []
    where = [at for at in places(whole) if not ("player" in at or "resources" in at or len(at) > 4)]
    for number, at in enumerate(where):
        for new in WRONG[number % 7 :: 7]:
            file.write_text(json.dumps(changed(whole, at, new)), "utf-8")
            try:
                write_page(folder, tmp_path / "page.html")
            except (ValueError, OSError) as error:
                refused.append(str(error))
    assert refused
    assert not any("\n" in message for message in refused)


@pytest.mark.parametrize(
    ("at", "new", "part"),
    [
        (("settings", "games"), "many", "its settings.games is no number of games, got 'many'"),
        (("sprt",), {"elo0": 0}, "its sprt is no sequential test"),
        (("sprt", "alpha"), 7, "its sprt is no sequential test"),
        (("work",), 3, "its work is no object"),
    ],
)
def test_the_command_names_the_damage(
    at: tuple[str, ...], new: object, part: str, folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "test"
    shutil.copytree(folders / "test", folder)
    file = folder / "result.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text("utf-8")), at, new)), "utf-8")
    assert main.main(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert part in error
    assert str(file) in error

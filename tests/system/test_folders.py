"""Finding folders of work below roots: kinds, names, states, limits; links are not followed."""

import json
from pathlib import Path

import pytest

from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import RunSettings
from hauteur.matches.folder import MatchFolder
from hauteur.system import folders
from hauteur.system.folders import FolderList
from hauteur.system.lock import LOCK_FILE, is_locked, locked


def make_run(path: Path, *, generations: int = 2, done: int = 0) -> RunFolder:
    folder = RunFolder(path)
    folder.create(Recipe(game="tictactoe", run=RunSettings(generations=generations, tag=path.name)))
    if done:
        folder.write_metrics({"generation": number} for number in range(1, done + 1))
    return folder


def make_match(path: Path, *, complete: bool) -> MatchFolder:
    folder = MatchFolder(path)
    folder.begin({"game": "tictactoe"}, names=["one", "two"])
    folder.write_result({"complete": complete})
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "runs"
    make_run(root / "tictactoe" / "first", done=1)
    make_run(root / "tictactoe" / "second", done=2)
    make_match(root / "cup" / "1-2", complete=True)
    (root / "cup" / "tournament.json").write_text(json.dumps({"settings": {"players": ["one", "two"]}}))
    (root / "cup" / "result.json").write_text(json.dumps({"complete": False}))
    (root / "notes").mkdir()
    return root


def test_kinds_names_and_states(root: Path) -> None:
    listing = FolderList([root])
    found = {one.name: (one.kind, one.inside, listing.facts(one)) for one in listing.look()}
    facts_by_name = {name: (kind, inside, facts.title, facts.state) for name, (kind, inside, facts) in found.items()}
    assert facts_by_name == {
        "runs/cup": ("tournament", None, "tournament of 2 players", "stopped"),
        "runs/cup/1-2": ("match", "runs/cup", "tictactoe: one – two", "finished"),
        "runs/tictactoe/first": ("run", None, "tictactoe: first", "stopped"),
        "runs/tictactoe/second": ("run", None, "tictactoe: second", "finished"),
    }
    assert not listing.cut
    assert listing.find("runs/cup/1-2").folder.path == (root / "cup" / "1-2").resolve()


def test_a_run_in_which_a_process_works(root: Path) -> None:
    listing = FolderList([root])
    run = listing.find("runs/tictactoe/first", "run")
    assert listing.facts(run).state == "stopped"
    with locked(run.folder.path, "learning"):
        assert is_locked(run.folder.path)
        assert listing.facts(run).state == "running"
    assert listing.facts(run).state == "stopped"
    (run.folder.path / LOCK_FILE).touch()  # what a killed process leaves behind
    assert listing.facts(run).state == "stopped"


def test_facts_follow_the_files(root: Path) -> None:
    listing = FolderList([root])
    run = listing.find("runs/tictactoe/first", "run")
    before = listing.facts(run)
    assert isinstance(run.folder, RunFolder)
    run.folder.write_metrics([{"generation": 1}, {"generation": 2}])
    assert (before.state, listing.facts(run).state) == ("stopped", "finished")


def test_damaged_files_are_told(root: Path) -> None:
    (root / "tictactoe" / "first" / "config.toml").write_text("game = ")
    listing = FolderList([root])
    facts = listing.facts(listing.find("runs/tictactoe/first"))
    assert facts.title == "first"
    assert facts.problem is not None
    assert "not a TOML file" in facts.problem


@pytest.mark.parametrize("name", ["", "runs", "runs/../runs/cup", "/etc", "runs/cup/", "runs/notes", "x\0y"])
def test_names_that_are_not_listed(root: Path, name: str) -> None:
    with pytest.raises(ValueError, match="there is no folder"):
        FolderList([root]).find(name)
    with pytest.raises(ValueError, match="there is no run 'runs/cup' here"):
        FolderList([root]).find("runs/cup", "run")


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "elsewhere" / "secret")
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "loop").symlink_to(root)
    assert not [one for one in FolderList([root]).look() if "link" in one.name or "loop" in one.name]


def test_names_of_two_roots_differ(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "more" / "runs"
    make_run(other / "third")
    names = [one.name for one in FolderList([root, other, root]).look()]
    assert "runs (2)/third" in names
    assert len(names) == len(set(names)) == 5


def test_limits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(root.joinpath(*["deep"] * 12))
    listing = FolderList([root])
    assert len(listing.look()) == 4
    assert listing.cut
    monkeypatch.setattr(folders, "MOST_LOOKED_AT", 3)
    assert len(listing.look()) <= 3
    assert listing.cut


def test_unknown_names_do_not_make_it_look_all_the_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("hauteur.system.folders.time.monotonic", lambda: clock[0])
    listing = FolderList([root])
    with pytest.raises(ValueError, match="there is no folder 'runs/new' here"):
        listing.find("runs/new")
    make_run(root / "new")
    with pytest.raises(ValueError, match="there is no folder 'runs/new' here"):
        listing.find("runs/new")
    clock[0] += 0.3
    assert listing.find("runs/new").kind == "run"

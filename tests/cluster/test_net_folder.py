"""Folders of workers' nets: what a killed worker leaves is removed, what a living one holds stays."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from hauteur.cluster.net_folder import NEW_SECONDS, PREFIX, NetFolder
from hauteur.system.lock import LOCK_FILE, locked

pytestmark = pytest.mark.quick


def left_folder(root: Path, name: str, age: float) -> Path:
    """A folder with a net and a lock that nobody holds, written so many seconds ago."""
    folder = root / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / "net.safetensors").write_bytes(b"weights")
    lock = folder / LOCK_FILE
    lock.touch()
    os.utime(lock, (time.time() - age,) * 2)
    return folder


def test_folders_of_killed_workers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = left_folder(tmp_path, "killed", 2 * NEW_SECONDS)
    just_made = left_folder(tmp_path, "new", 0)
    without_lock = tmp_path / f"{PREFIX}other"
    without_lock.mkdir()
    another = left_folder(tmp_path, "lives", 0)
    with locked(another, "keeping nets"):
        os.utime(another / LOCK_FILE, (time.time() - 2 * NEW_SECONDS,) * 2)
        mine = NetFolder()
        assert sorted(tmp_path.iterdir()) == sorted([just_made, without_lock, another, mine.path])
    assert not killed.exists()


def test_the_folder_goes_with_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = NetFolder()
    (folder.path / "net.safetensors").write_bytes(b"weights")
    del folder
    assert list(tmp_path.iterdir()) == []

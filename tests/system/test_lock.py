"""The lock of a folder: it lies in the folder, holds against every other process, and ends with its own."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hauteur.system.lock import LOCK_FILE, is_locked, locked

pytestmark = pytest.mark.quick

HOLDER = """
import sys, time
from pathlib import Path
from hauteur.system.lock import locked
with locked(Path(sys.argv[1]), "learning"):
    print("held", flush=True)
    time.sleep(600)
"""


def holder(folder: Path, temporary: Path) -> subprocess.Popen[str]:
    """A process with its own temporary folder that holds the lock."""
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", HOLDER, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_processes_with_other_temporary_folders_are_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    mine = tmp_path / "mine"
    mine.mkdir()
    process = holder(folder, tmp_path / "other")
    try:
        monkeypatch.setenv("TMPDIR", str(mine))
        with (
            pytest.raises(ValueError, match=r"run: another process is learning in this folder"),
            locked(folder, "learning"),
        ):
            pass
        assert list(mine.iterdir()) == list((tmp_path / "other").iterdir()) == []
    finally:
        process.kill()
        process.wait()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "run")
    process = holder(tmp_path / "run", tmp_path / "other")
    assert is_locked(tmp_path / "run")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (tmp_path / "run" / LOCK_FILE).exists()
    assert not is_locked(tmp_path / "run")
    with locked(tmp_path / "run", "learning"):
        pass
    assert list((tmp_path / "run").iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, what in (("run", "a file"), ("link", "a link to none")):
        with pytest.raises(ValueError, match=f"{name}: is {what}, expected a folder"), locked(tmp_path / name, "work"):
            pass
    with pytest.raises(OSError, match="run"), locked(tmp_path / "run" / "inner", "learning"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "run"]


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
@pytest.mark.skipif(sys.platform == "win32", reason="there is no flock")
def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    import fcntl

    def unsupported(*given: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    message = r"run: its file system has no locks \(.*name a folder on another one"
    with pytest.raises(ValueError, match=message), locked(tmp_path / "run", "learning"):
        pass
    assert list(tmp_path.iterdir()) == []

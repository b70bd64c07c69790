"""What nodes leave on the disk of their machine: where `auto` finds a cluster, and folders of sessions."""

import os
from pathlib import Path

import pytest

from hauteur.cluster import ray_session
from hauteur.cluster.ray_kept import LOCAL_FILE, KeptNode, mark_local
from hauteur.cluster.ray_session import running_address


@pytest.mark.parametrize(
    ("noted", "kept", "expected"),
    [
        ("10.0.0.1:6379", (), "10.0.0.1:6379"),
        ("", ("10.0.0.1:6379", "10.0.0.1:6379"), "10.0.0.1:6379"),
        ("10.0.0.2:6379", ("10.0.0.1:6379",), "10.0.0.1:6379"),
        ("10.0.0.2:6379", ("10.0.0.1:6379", "10.0.0.2:6379"), "10.0.0.2:6379"),
        ("", ("10.0.0.1:6379", "10.0.0.2:6379"), "several clusters run here: give one of 10.0.0.1:6379, 10.0.0.2:6379"),
        ("", (), "no node of a cluster runs here"),
    ],
)
def test_auto_finds_a_cluster_that_this_machine_has_joined(
    noted: str, kept: tuple[str, ...], expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_session, "kept_nodes", lambda: [KeptNode(1, address, "worker") for address in kept])
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text(noted)
    if expected[0].isdigit():
        assert running_address() == expected
    else:
        with pytest.raises(ValueError, match=expected):
            running_address()


def test_folders_of_killed_processes_are_deleted(tmp_path: Path) -> None:
    for name in ("killed", "kept", "own", "parent"):
        (tmp_path / f"session_{name}" / "logs").mkdir(parents=True)
    (tmp_path / "session_killed" / LOCAL_FILE).write_text("4000000")
    (tmp_path / "session_parent" / LOCAL_FILE).write_text(str(os.getppid()))
    mark_local(tmp_path / "session_own")
    assert {path.name for path in tmp_path.iterdir()} == {"session_kept", "session_own", "session_parent"}
    assert (tmp_path / "session_own" / LOCAL_FILE).read_text() == str(os.getpid())

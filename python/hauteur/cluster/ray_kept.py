"""What nodes that were started on this machine leave on its disk: the nodes that run, and folders of Ray's sessions."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hauteur.system.files import read_json
from hauteur.system.hardware import cache_directory
from hauteur.system.lock import is_locked

NODE_FILE = "node.json"
LOCAL_FILE = "hauteur-local"
"""Marks the folder of a session that lives as long as one command."""


@dataclass(frozen=True)
class KeptNode:
    """A node that was started on this machine. process: its keeper; role: head or worker."""

    process: int
    address: str
    role: str


def nodes_folder() -> Path:
    """Return the folder with a folder for each node."""
    return cache_directory() / "cluster" / "nodes"


def kept_nodes() -> list[KeptNode]:
    """Return the nodes that this user has started on this machine, and that run."""
    found = [folder for folder in nodes_folder().glob("*") if is_locked(folder) and (folder / NODE_FILE).is_file()]
    return [KeptNode(**read_json(folder / NODE_FILE)) for folder in sorted(found)]


def mark_local(session: Path) -> None:
    """Mark the folder of a session that ends with this process, and delete those of processes that were killed."""
    with suppress(OSError):
        (session / LOCAL_FILE).write_text(str(os.getpid()))
    for mark in session.parent.glob(f"session_*/{LOCAL_FILE}"):
        with suppress(OSError, ValueError):
            if not mark.parent.is_symlink() and not _runs(int(mark.read_text())):
                shutil.rmtree(mark.parent, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # of another user
    return True

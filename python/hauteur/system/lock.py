"""The lock of a folder: one process at a time works in it."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path, work: str) -> Iterator[None]:
    """Keeps other processes of this machine out of a folder; ValueError when one is at work in it, doing such `work`.

    The system ends the hold with the process, however that ends.
    """
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"hauteur-{name}.lock").open("a") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise ValueError(f"{folder}: another process is {work} in this folder") from None
        yield


def _lock(descriptor: int) -> None:
    """Locks an open file until it is closed; OSError when another one has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

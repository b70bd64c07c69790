"""The folder of a worker's nets. Ray ends its workers by a kill, so that none of them removes its own."""

import shutil
import tempfile
import time
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path

from hauteur.system.lock import LOCK_FILE, is_locked, locked

PREFIX = "hauteur-nets-"

NEW_SECONDS = 60.0
"""A folder that is younger may be about to be locked, and stays."""


class NetFolder:
    """A new temporary folder, locked as long as this process lives; folders that others have left are removed first.

    path: of the folder.
    """

    def __init__(self) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = ExitStack()
        self._lock.enter_context(locked(self.path, "keeping nets"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove the folders of workers that were killed: those whose lock no process holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another user's folder cannot be looked into, and another worker may remove one at this moment.
        with suppress(OSError):
            lock = folder / LOCK_FILE
            age = time.time() - lock.stat().st_mtime
            if age > NEW_SECONDS and not is_locked(folder):
                shutil.rmtree(folder)

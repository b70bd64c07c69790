"""Matches, tournaments and tunings as pages show them: the last few stay in memory and are read on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from hauteur.matches.report.stored import Stored, read_stored, summary_line
from hauteur.system.errors import explain
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory

MOST_KEPT = 8
"""Folders that stay in memory."""

Made = TypeVar("Made")


class StoredFolders:
    """Reads folders for pages. Threads may use it together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, KeptFolder] = OrderedDict()
        self._lines: dict[Path, tuple[Mapping[str, str], str]] = {}

    def get(self, folder: RunDirectory, make: Callable[[Stored], Made]) -> Made:
        """Return what `make` makes of the folder. Raise ValueError for damaged files."""
        with self._lock:
            kept = self._kept.setdefault(folder.path, KeptFolder(folder))
            self._kept.move_to_end(folder.path)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept.get(make)

    def line(self, folder: RunDirectory) -> str:
        """Return the result in a line, which is read again where it was written since; damaged: what is wrong."""
        stamps = folder.stamps()
        known = self._lines.get(folder.path)
        if known is None or known[0] != stamps:
            try:
                line = summary_line(folder)
            except (ValueError, KeyError, TypeError, OSError) as error:
                line = str(explain(error))
            known = self._lines[folder.path] = stamps, line
        return known[1]


class KeptFolder:
    """One folder in memory."""

    def __init__(self, folder: RunDirectory) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._stored: Stored | None = None
        self._version: Mapping[str, str] = {}

    def get(self, make: Callable[[Stored], Made]) -> Made:
        """Return what `make` makes of the folder as its files are now."""
        with self._lock:
            version = {**self._folder.stamps(), "running": str(is_locked(self._folder.path))}
            if self._stored is None:
                self._stored = read_stored(self._folder)
            elif version != self._version:
                self._stored.refresh()
            self._version = version
            return make(self._stored)

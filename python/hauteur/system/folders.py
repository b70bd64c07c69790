"""The folders of work below given folders: runs, matches, tournaments, tunings, rating lists, reviews, experiments.

They are found by their files of settings. No link is followed, and depth and number are limited, so that a look at a
large disk ends.
"""

import math
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Literal

from hauteur.system.errors import explain
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory

KINDS = {
    "config.toml": "hauteur.learning.run_folder:RunFolder",
    "tournament.json": "hauteur.matches.folder:TournamentFolder",
    "match.json": "hauteur.matches.folder:MatchFolder",
    "tune.json": "hauteur.matches.tuning:TuningFolder",
    "review.json": "hauteur.studies.review.run:ReviewFolder",
    "mine.json": "hauteur.studies.puzzles.mine:MiningFolder",
    "experiment.json": "hauteur.studies.experiments:ExperimentFolder",
}
"""Kinds of folders by their file of settings; one that has several is of the first. Imported when one is found."""

WITH_OTHERS = ("tournament.json", "tune.json", "experiment.json")
"""Folders of these kinds have others in them."""

MOST_DEPTH = 8
"""Depth to which folders below a root are looked into."""

PAUSE = 0.2
"""Seconds after a look in which a name that it has not found is not looked for again."""

REST = 10
"""Times their own length that looks in the background are apart, at least."""

MOST_LOOKED_AT = 20_000
"""Folders that one look takes."""

State = Literal["running", "finished", "stopped"]


@dataclass(frozen=True)
class FoundFolder:
    """A folder of work. name: unique in its listing, its root's name and the path below it; inside: name of the folder
    of work that it is part of.
    """

    name: str
    folder: RunDirectory
    inside: str | None = None

    @property
    def kind(self) -> str:
        """The kind of work, in a word or two, such as `run` or `rating list`."""
        return self.folder.CONTENT.partition(" ")[2]


@dataclass(frozen=True)
class FolderFacts:
    """The facts of a folder in a list. changed: seconds since 1970; problem: why its files cannot be read."""

    title: str
    state: State
    changed: float
    problem: str | None = None


@dataclass
class FolderList:
    """The folders of work below some roots. Clients name folders by what `look` has found; no path is made of a name.

    Threads may use it together.
    """

    roots: Sequence[Path]
    """Folders that are searched."""
    cut: bool = False
    """The last look met MOST_LOOKED_AT or MOST_DEPTH."""
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    _looked: float = -math.inf
    _took: float = 0.0
    _found: dict[str, FoundFolder] = field(default_factory=dict)
    _facts: dict[str, tuple[Mapping[str, str], FolderFacts]] = field(default_factory=dict)

    def look(self) -> list[FoundFolder]:
        """Return the folders that there are now, by name."""
        with self._one_at_a_time:
            began = time.monotonic()
            found = self._look()
            self._looked = time.monotonic()
            self._took = self._looked - began
        return found

    def renew(self, period: float) -> None:
        """Look again, unless that was done within `period` seconds, or within REST times what it takes."""
        if time.monotonic() >= self._looked + max(period, REST * self._took):
            self.look()

    def known(self) -> list[FoundFolder]:
        return list(self._found.values())

    def known_as(self, name: str) -> FoundFolder | None:
        return self._found.get(name)

    def find(self, name: str, kind: str = "folder") -> FoundFolder:
        """Return the folder of a name; ValueError where there is none, or not of this kind."""
        if name not in self._found:
            self.renew(PAUSE)
        found = self._found.get(name)
        if found is None or kind not in ("folder", found.kind):
            raise ValueError(f"there is no {kind} {name[:200]!r} here")
        return found

    def first_root(self) -> tuple[str, Path]:
        """Return the first root, where new work lies, after its name in the listing. ValueError without roots."""
        found = next(self._labels(), None)
        if found is None:
            raise ValueError("there is no folder for new work: start the server with one, hauteur web FOLDER")
        return found

    def facts(self, found: FoundFolder) -> FolderFacts:
        """Return the facts of a folder; its files are read again only after they have changed."""
        stamps = found.folder.stamps()
        running = is_locked(found.folder.path)
        known = self._facts.get(found.name)
        if known is None or known[0] != stamps:
            known = self._facts[found.name] = stamps, read_facts(found.folder, stamps)
        if running:
            return replace(known[1], state="running")
        return known[1]

    def _look(self) -> list[FoundFolder]:
        self.cut = False
        looked = 0
        found: dict[str, FoundFolder] = {}
        for label, root in self._labels():
            for one in self._below(root, label):
                looked += 1
                if looked > MOST_LOOKED_AT:
                    self.cut = True
                    break
                if one is not None:
                    found[one.name] = one
        self._found = dict(sorted(found.items()))
        self._facts = {name: known for name, known in list(self._facts.items()) if name in found}
        return self.known()

    def _labels(self) -> Iterator[tuple[str, Path]]:
        seen: list[str] = []
        for root in dict.fromkeys(root.resolve() for root in self.roots):
            seen.append(root.name or "root")
            count = seen.count(seen[-1])
            yield (seen[-1] if count == 1 else f"{seen[-1]} ({count})"), root

    def _below(self, root: Path, label: str) -> Iterator[FoundFolder | None]:
        """Yield the folders of work, and None for every other folder that is looked at."""
        waiting: list[tuple[Path, str, int, str | None]] = [(root, label, 0, None)]
        while waiting:
            path, name, depth, inside = waiting.pop()
            names = entries_of(path)
            settings = settings_file(names)
            yield None if settings is None else FoundFolder(name, kind_of(settings)(path), inside)
            if settings is not None and settings not in WITH_OTHERS:
                continue
            below = [one for one, is_folder in names.items() if is_folder and not one.startswith(".")]
            if depth == MOST_DEPTH:
                self.cut = self.cut or bool(below)
                continue
            part_of = inside if settings is None else name
            for one in sorted(below, reverse=True):
                waiting.append((path / one, f"{name}/{one}", depth + 1, part_of))


def entries_of(path: Path) -> dict[str, bool]:
    """Return the names in a folder, True for those of folders; nothing where it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError:
        return {}


def folders_below(root: Path) -> Iterator[tuple[Path, Path, list[str]]]:
    """Yield a root and every folder below it, without those whose names begin with a dot.

    Of each: the root's name and the path below it, the folder, and the names of its files in order.
    """
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        path = Path(folder)
        yield Path(root.name) / path.relative_to(root), path, sorted(files)


def settings_file(names: Mapping[str, bool]) -> str | None:
    """Return the file of settings among these names (True: they are folders); None where there is none."""
    is_run = names.get("meta.json") is False  # another program may have a config.toml
    known = [one for one in KINDS if is_run or one != "config.toml"]
    return next((one for one in known if names.get(one) is False), None)


@lru_cache
def kind_of(settings: str) -> type[RunDirectory]:
    """Return the kind of folders that have this file of settings."""
    module, _, name = KINDS[settings].partition(":")
    kind: type[RunDirectory] = getattr(import_module(module), name)
    return kind


def read_facts(folder: RunDirectory, stamps: Mapping[str, str]) -> FolderFacts:
    """Return the facts of a folder whose files have these stamps and in which no process works."""
    times = [int(stamp.partition("-")[0], 16) for stamp in stamps.values()]
    changed = max(times, default=0) / 1e9
    try:
        return FolderFacts(folder.title(), "finished" if folder.is_complete() else "stopped", changed)
    except (ValueError, KeyError, TypeError, OSError) as error:
        return FolderFacts(folder.path.name, "stopped", changed, explain(error))

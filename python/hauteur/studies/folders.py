"""The folders of work below given folders: runs, matches, tournaments, tunings, rating lists, reviews, experiments.

They are found by their files of settings. No link is followed, and depth and number are limited, so that a look at a
large disk ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hauteur.learning.run_folder import RunFolder
from hauteur.matches.folder import MatchFolder, RatingFolder, TournamentFolder
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.studies.papers.experiment import ExperimentFolder
from hauteur.studies.puzzles.mine import MiningFolder
from hauteur.studies.review.folder import ReviewFolder
from hauteur.system.errors import explain
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory

KINDS: tuple[type[RunDirectory], ...] = (
    RunFolder,
    TournamentFolder,
    MatchFolder,
    TuningFolder,
    RatingFolder,
    ReviewFolder,
    MiningFolder,
    ExperimentFolder,
)
"""Kinds of folders; one that has the files of several is of the first."""

LEAVES = (RunFolder, MatchFolder, RatingFolder, ReviewFolder, MiningFolder)
"""Kinds of folders in which there are no others."""

MOST_DEPTH = 8
"""Folders below a root are looked into so deep."""

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
        """What the folder holds, in a word or two, such as `run` or `rating list`."""
        return self.folder.CONTENT.partition(" ")[2]


@dataclass(frozen=True)
class FolderFacts:
    """What is told of a folder in a list. changed: seconds since 1970; problem: why its files cannot be read."""

    title: str
    state: State
    changed: float
    problem: str | None = None


@dataclass
class FolderList:
    """The folders of work below some roots. Clients name folders by what `look` has found; no path is made of a name.

    cut: the last look met MOST_LOOKED_AT or MOST_DEPTH.
    """

    roots: Sequence[Path]
    cut: bool = False
    _found: dict[str, FoundFolder] = field(default_factory=dict)
    _facts: dict[str, tuple[Mapping[str, str], FolderFacts]] = field(default_factory=dict)

    def look(self) -> list[FoundFolder]:
        """Return the folders that there are now, by name."""
        self.cut, looked, found = False, 0, dict[str, FoundFolder]()
        for label, root in self._labels():
            for one in self._below(root, label):
                looked += 1
                if looked > MOST_LOOKED_AT:
                    self.cut = True
                    break
                if one is not None:
                    found[one.name] = one
        self._found = dict(sorted(found.items()))
        self._facts = {name: known for name, known in self._facts.items() if name in found}
        return list(self._found.values())

    def find(self, name: str, kind: type[RunDirectory] | None = None) -> FoundFolder:
        """Return the folder of a name; ValueError where there is none, or of another kind."""
        if name not in self._found:
            self.look()
        found = self._found.get(name)
        if found is None or (kind is not None and not isinstance(found.folder, kind)):
            raise ValueError(f"there is no {kind.CONTENT.partition(' ')[2] if kind else 'folder'} {name!r} here")
        return found

    def name_of(self, path: Path) -> str | None:
        """Return the name under which a folder is listed, now or once there is work in it; None: outside the roots."""
        place = path.resolve()
        for label, root in self._labels():
            if place.is_relative_to(root):
                return "/".join((label, *place.relative_to(root).parts))
        return None

    def facts(self, found: FoundFolder) -> FolderFacts:
        """Return what is told of a folder; its files are read again only after they have changed."""
        stamps, running = found.folder.stamps(), is_locked(found.folder.path)
        known = self._facts.get(found.name)
        if known is None or known[0] != stamps:
            known = self._facts[found.name] = stamps, read_facts(found.folder, stamps)
        return replace(known[1], state="running") if running else known[1]

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
            try:
                with os.scandir(path) as entries:
                    names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
            except OSError:
                continue
            kind = kind_of(names)
            yield None if kind is None else FoundFolder(name, kind(path), inside)
            if kind is not None and issubclass(kind, LEAVES) and kind is not TournamentFolder:
                continue
            below = [one for one, is_folder in names.items() if is_folder and not one.startswith(".")]
            if depth == MOST_DEPTH:
                self.cut = self.cut or bool(below)
                continue
            part_of = inside if kind is None else name
            waiting += [(path / one, f"{name}/{one}", depth + 1, part_of) for one in sorted(below, reverse=True)]


def kind_of(names: Mapping[str, bool]) -> type[RunDirectory] | None:
    """Return the kind of a folder with files of these names (True: they are folders); None where it is of none."""
    for kind in KINDS:
        if names.get(kind.SETTINGS) is False and (kind is not RunFolder or names.get("meta.json") is False):
            return kind
    return None


def read_facts(folder: RunDirectory, stamps: Mapping[str, str]) -> FolderFacts:
    """Return what is told of a folder whose files have these stamps and in which no process works."""
    changed = max((int(stamp.partition("-")[0], 16) / 1e9 for stamp in stamps.values()), default=0.0)
    try:
        return FolderFacts(folder.title(), "finished" if folder.is_complete() else "stopped", changed)
    except (ValueError, KeyError, TypeError, OSError) as error:
        return FolderFacts(folder.path.name, "stopped", changed, explain(error))

"""A folder in which interrupted work resumes: a file of settings with provenance, a lock, a result.

Runs, matches, tournaments, tunings, minings and experiments keep their files in such folders. Work resumes only with
the settings that it was begun with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hauteur.system.files import read_json, write_json
from hauteur.system.lock import LOCK_FILE, locked
from hauteur.system.provenance import provenance

OTHER_FOLDER = "name another folder with --out"


class InFolder:
    """The path of something in a folder of work, by its name there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: RunDirectory, owner: type[RunDirectory]) -> Path:
        return folder.path / self._name


@dataclass(frozen=True)
class RunDirectory:
    """A folder of work."""

    path: Path
    """The folder."""

    SETTINGS: ClassVar[str]
    """Name of the file of settings."""
    CONTENT: ClassVar[str]
    """What the folder holds, for messages, such as `a match`."""
    WORK: ClassVar[str]
    """What is done in it, for messages, such as `match`."""
    GROWING: ClassVar[tuple[str, ...]] = ()
    """Names of files that change while the work continues, besides result.json."""

    result_file = InFolder("result.json")
    """The result, of all that is done so far."""

    @property
    def settings_file(self) -> Path:
        """The settings that the work was begun with, and where, when and with what."""
        return self.path / self.SETTINGS

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes out of the folder, which is made; ValueError when one works in it."""
        return locked(self.path, self.WORK)

    @contextmanager
    def open(self, settings: Mapping[str, Any]) -> Iterator[None]:
        """Begin or resume the work, with other processes kept out; ValueError for other settings."""
        with self.locked():
            self.check(settings)
            self.begin(settings)
            yield

    def begin(self, settings: Mapping[str, Any], **more: Any) -> None:
        """Make the folder and write the settings with their provenance, unless they are there."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.settings_file.exists():
            write_json(self.settings_file, {"settings": settings, **more, "begun": provenance()})

    def stored(self) -> dict[str, Any]:
        """Return what the file of settings holds; ValueError when it is damaged."""
        stored = read_json(self.settings_file)
        if not isinstance(stored.get("settings"), dict):
            raise ValueError(f"{self.settings_file}: has no settings of {self.CONTENT}")
        return stored

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError where the folder holds such work with other settings, or other work."""
        if self.settings_file.exists():
            as_stored = json.loads(json.dumps(settings))  # tuples are lists there
            self.refuse(changes(self.stored()["settings"], as_stored))
        self.refuse_other_work()

    def refuse_other_work(self) -> None:
        """Raise ValueError where the folder has a result, but not of such work."""
        if self.result_file.exists() and not self.settings_file.exists():
            what = f"has a result.json but no {self.SETTINGS}: it is not the folder of {self.CONTENT}"
            raise ValueError(f"{self.path} {what}; {OTHER_FOLDER}")

    def refuse(self, changed: Iterable[str], advice: str = OTHER_FOLDER) -> None:
        if listed := "; ".join(changed):
            raise ValueError(f"{self.path} holds {self.CONTENT} with other settings: {listed}; {advice}")

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Replace result.json, with provenance where the result has none."""
        write_json(self.result_file, result if "written" in result else {**result, "written": provenance()})

    def title(self) -> str:
        """Return what is done in the folder, in a few words; ValueError where its settings cannot be read."""
        return self.path.name

    def is_complete(self) -> bool:
        """Return whether all the work is done; ValueError when what tells so is damaged."""
        return self.result_file.exists() and bool(read_json(self.result_file).get("complete", True))

    def stamps(self) -> dict[str, str]:
        """Return when the files that show the work were written last, and their sizes, by name; of those there are."""
        found = {}
        for name in (self.SETTINGS, "result.json", *self.GROWING, LOCK_FILE):
            with suppress(OSError):
                facts = (self.path / name).stat()
                found[name] = f"{facts.st_mtime_ns:x}-{facts.st_size:x}"
        return found


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a text for every setting that differs."""
    found = []
    for key in {**before, **now}:
        old = before.get(key)
        new = now.get(key)
        if old != new:
            found.append(f"{key} was {old!r} and is now {new!r}")
    return found

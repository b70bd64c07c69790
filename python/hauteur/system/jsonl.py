"""An append-only file of JSON lines, so that interrupted work can be resumed."""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from hauteur.system.files import write_bytes

Entry = TypeVar("Entry", bound=BaseModel)


@dataclass(frozen=True)
class Journal(Generic[Entry]):
    """The entries of a file, each a line; what: an entry, for messages."""

    path: Path
    model: type[Entry]
    what: str = "an entry of this file"

    def entries(self) -> Iterator[Entry]:
        """Yield all entries. A last line that was cut off is removed; ValueError names any other that is damaged."""
        if self.path.exists():
            self._remove_torn_line()
            for number, line in enumerate(_lines(self.path), 1):
                yield self._entry(number, line)

    def append(self, entry: Entry) -> None:
        """Add an entry; it is on disk when this returns."""
        line = json.dumps(entry.model_dump(exclude_defaults=True)) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())
            os.fsync(file.fileno())

    def _entry(self, number: int, line: bytes) -> Entry:
        try:
            return self.model.model_validate_json(line)
        except ValidationError:
            start = line[:60].decode(errors="replace").rstrip("\n")
            raise ValueError(f"{self.path}, line {number}: not {self.what}: {start!r}") from None

    def _remove_torn_line(self) -> None:
        """A line without end is what is left when the machine stopped while it was written."""
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            write_bytes(self.path, data[: data.rfind(b"\n") + 1])


def read_objects(path: Path, *needed: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one a line; ValueError names the first line that is none or lacks a key."""
    return [_object(f"{path}, line {number}", line, needed) for number, line in enumerate(_lines(path), 1)]


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _object(where: str, line: bytes, needed: tuple[str, ...]) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON: {error}") from None
    if not isinstance(values, dict) or any(key not in values for key in needed):
        raise ValueError(f"{where}: must be a JSON object with {', '.join(needed)}, got {reprlib.repr(values)}")
    return values

"""An append-only file of JSON lines, so that interrupted work can be resumed."""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from hauteur.system.files import naming, write_bytes

Entry = TypeVar("Entry", bound=BaseModel)


class LinePlace(NamedTuple):
    """The beginning of a line of a file: its number, from 1, and its first byte, from 0."""

    line: int = 1
    byte: int = 0


@dataclass(frozen=True)
class Journal(Generic[Entry]):
    """The entries of a file, each a line; what: an entry, for messages.

    A last line without its end is still being written, or was cut off: readers pass it over, and the next entry takes
    its place. So a file may be read while another process adds to it.
    """

    path: Path
    model: type[Entry]
    what: str = "an entry of this file"

    def entries(self) -> Iterator[Entry]:
        """Yield all entries; ValueError names a line that is damaged."""
        for _, _, entry in self.entries_from(LinePlace()):
            yield entry

    def entries_from(self, place: LinePlace) -> Iterator[tuple[LinePlace, LinePlace, Entry]]:
        """Yield the entries from a place on, each with its own place and the one that follows; errors as `entries`."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(place.byte)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                after = LinePlace(place.line + 1, place.byte + len(line))
                yield place, after, self._entry(place.line, line)
                place = after

    def append(self, *entries: Entry) -> None:
        """Add entries; they are on disk when this returns."""
        with naming(self.path), self.path.open("a+b", buffering=0) as file:
            _cut_torn_line(file)
            lines = _lines_of(entries)
            while lines:  # a disk that is almost full takes a part
                lines = lines[file.write(lines) :]
            os.fsync(file.fileno())

    def rewrite(self, entries: Iterable[Entry]) -> None:
        """Replace all entries; the file is another one then."""
        write_bytes(self.path, _lines_of(entries))

    def _entry(self, number: int, line: bytes) -> Entry:
        try:
            return self.model.model_validate_json(line)
        except ValidationError:
            start = line[:60].decode(errors="replace").rstrip("\n")
            raise ValueError(f"{self.path}, line {number}: not {self.what}: {start!r}") from None


def _lines_of(entries: Iterable[BaseModel]) -> bytes:
    return "".join(f"{json.dumps(entry.model_dump(exclude_defaults=True))}\n" for entry in entries).encode()


def _cut_torn_line(file: FileIO) -> None:
    """Cut a line without end, which is what is left when the machine stopped while it was written."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if size and file.read(1) != b"\n":
        file.seek(0)
        file.truncate(file.readall().rfind(b"\n") + 1)


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

"""An append-only file of JSON lines, so that interrupted work can be resumed."""

import hashlib
import json
import os
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from hauteur.system import host
from hauteur.system.files import naming

Entry = TypeVar("Entry", bound=BaseModel)


CHECK = b'"check": "'
"""Mark before the check sum at the end of a line."""
CLOSE = b'"}\n'
"""Mark after the check sum at the end of a line."""
DIGITS = 16
"""Digits of a check sum, hexadecimal."""
ADVICE = "put the file back from a copy, or delete the lines from there on: what is missing is done again"


class LinePlace(NamedTuple):
    """The beginning of a line of a file: its number, from 1, and its first byte, from 0."""

    line: int = 1
    byte: int = 0


FIRST_LINE = LinePlace()


@dataclass(frozen=True)
class Journal(Generic[Entry]):
    """The entries of a file, each a line; what: an entry, for messages.

    Each line ends with a check sum of itself and of its place in the file, so that a changed, doubled, removed or
    exchanged line is found. A last line without its end is still being written, or was cut off: readers pass it over,
    and the next entry takes its place. So a file may be read while another process adds to it.
    """

    path: Path
    model: type[Entry]
    what: str = "an entry of this file"

    def entries(self) -> Iterator[Entry]:
        """Yield all entries; ValueError names a line that is damaged."""
        for _, _, entry in self.entries_from(FIRST_LINE):
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
                entry = self._entry(place.line, _split(line)[0])  # what is not an entry at all is reported so
                try:
                    checked_line(line, place.byte)
                except ValueError as error:
                    raise ValueError(f"{self.path}, line {place.line}: {error}; {ADVICE}") from None
                after = LinePlace(place.line + 1, place.byte + len(line))
                yield place, after, entry
                place = after

    def append(self, *entries: Entry) -> None:
        """Add entries; they are on disk when this returns."""
        with naming(self.path), host.disk.open(self.path, "a+b") as file:
            begin = _cut_torn_line(file)
            if not begin:
                # The name of a new file is not on disk yet. It must be before the first line is: of a file with lines
                # nobody would know that its name is missing, where the writer was killed in between.
                host.disk.sync_folder(self.path.parent)
            host.write_all(file, lines_of(entries, begin))
            host.disk.sync(file)

    def _entry(self, number: int, line: bytes) -> Entry:
        try:
            return self.model.model_validate_json(line)
        except ValidationError:
            start = line[:60].decode(errors="replace").rstrip("\n")
            raise ValueError(f"{self.path}, line {number}: not {self.what}: {start!r}") from None


def lines_of(entries: Iterable[BaseModel], begin: int = 0) -> bytes:
    """Return entries as lines with their check sums. begin: the byte of the file at which the first one will stand."""
    lines = bytearray()
    for entry in entries:
        body = json.dumps(entry.model_dump(exclude_defaults=True))
        digits = _digest(begin + len(lines), f"{body}\n".encode()).decode()
        comma = ", " if len(body) > 2 else ""
        lines += f'{body[:-1]}{comma}"check": "{digits}"}}\n'.encode()
    return bytes(lines)


def checked_line(line: bytes, begin: int) -> bytes:
    """Return a line, which begins at this byte, without its check sum; ValueError where it is another line."""
    body, found = _split(line)
    if not found:
        raise ValueError("it has no whole check sum, which the lines of this file have")
    if _digest(begin, body) != found:
        raise ValueError("its check sum is not that of this line in this place: lines were changed")
    return body


def _split(line: bytes) -> tuple[bytes, bytes]:
    """Return a line without its check sum, and the check sum, empty where it has none."""
    sum_ends = len(line) - len(CLOSE)
    begins = sum_ends - DIGITS - len(CHECK)
    if begins < 1 or not line.endswith(CLOSE) or not line.startswith(CHECK, begins):
        return line, b""
    return line[:begins].removesuffix(b", ") + b"}\n", line[sum_ends - DIGITS : sum_ends]


def _digest(begin: int, body: bytes) -> bytes:
    """Return the check sum of a line that begins at a byte, in hexadecimal digits."""
    return hashlib.blake2b(b"%d %b" % (begin, body), digest_size=DIGITS // 2).hexdigest().encode()


def _cut_torn_line(file: IO[bytes]) -> int:
    """Cut a line without end, which is what is left when the machine stopped while it was written; return the size."""
    end = file.seek(0, os.SEEK_END)
    tail = b""
    size = 0
    while b"\n" not in tail and size < end:
        size = min(end, max(4096, 4 * size))
        file.seek(end - size)
        tail = file.read(size)
    whole = end - len(tail) + tail.rfind(b"\n") + 1
    if whole < end:
        file.truncate(whole)
    return whole


def read_objects(path: Path, *needed: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one a line; ValueError names the first line that is none or lacks a key."""
    with path.open("rb") as file:
        return [_object(f"{path}, line {number}", line, needed) for number, line in enumerate(file, 1)]


def _object(where: str, line: bytes, needed: tuple[str, ...]) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON: {error}") from None
    if not isinstance(values, dict) or any(key not in values for key in needed):
        raise ValueError(f"{where}: must be a JSON object with {', '.join(needed)}, got {reprlib.repr(values)}")
    return values

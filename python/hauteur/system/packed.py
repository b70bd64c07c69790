"""Packed files, as games and openings are downloaded: gzip, bzip2, xz, zip and zstd are unpacked to be read.

`plain_file(path)` is the file to read in place of one that may be packed, `content_suffix(path)` what kind of file that
is. What was unpacked is in a temporary folder until the process ends.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo


class Readable(Protocol):
    """What is read in pieces."""

    def read(self, count: int, /) -> bytes: ...


MOST_UNPACKED = 2**31
"""Most bytes that a file may have when it is unpacked."""

PIECE = 2**20

MARKS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}
"""What packed files begin with, and what they are: names are often wrong."""

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip", ".zst")

JOINED = (".pgn", ".sgf")
"""Kinds of files of which a zip may hold several: of one after the other all games are read."""

BY_HAND = {"gzip": "gzip -dk", "bzip2": "bzip2 -dk", "xz": "xz -dk", "zip": "unzip", "zstd": "zstd -d"}
"""Commands that unpack."""


def content_suffix(path: Path) -> str:
    """Return the suffix of what a file holds, in small letters, `.pgn` for games.pgn.gz, without unpacking it.

    Raise ValueError for a zip that holds neither one file nor games of one kind.
    """
    suffix = path.suffix.lower()
    if suffix not in PACKED_SUFFIXES:
        return suffix
    if suffix == ".zip" and path.is_file():
        from zipfile import ZipFile  # here: most files are not packed

        with _whole(path), ZipFile(path) as archive:
            return _suffix(_members(path, archive)[0])
    return Path(path.stem).suffix.lower()


def plain_file(path: Path) -> Path:
    """Return the path of a file, or of what was unpacked from it, which has the name that it had before it was packed.

    Of a zip with several files of games it is one file of all, in the order of their names. Raise ValueError for a file
    that is damaged, has more than MOST_UNPACKED bytes when unpacked, or is a zip of other files than games; OSError for
    one that cannot be read.
    """
    if not path.is_file():
        return path
    with path.open("rb") as file:
        begin = file.read(6)
    form = next((form for mark, form in MARKS.items() if begin.startswith(mark)), None)
    if form is None:
        return path
    known = path.stat()
    return _unpacked(path, form, known.st_mtime_ns, known.st_size)


@cache
def _unpacked(path: Path, form: str, _changed: int, _size: int) -> Path:
    """Unpack a file once, as long as it does not change."""
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    with _whole(path), _OPENERS[form](path) as (name, packed):
        plain = folder / name
        _copy(path, form, packed, plain)
    return plain


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hauteur-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _copy(path: Path, form: str, packed: Readable, plain: Path) -> None:
    count = 0
    with plain.open("wb") as file:
        while piece := packed.read(PIECE):
            count += len(piece)
            if count > MOST_UNPACKED:
                file.truncate(0)
                by_hand = f"unpack it with `{BY_HAND[form]} {path}` first"
                raise ValueError(f"{path}: unpacks to more than {MOST_UNPACKED:,} bytes; {by_hand}")
            file.write(piece)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Name the file in what the modules that unpack raise for one that is damaged."""
    import lzma
    import zlib
    from zipfile import BadZipFile

    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{path}: cannot be unpacked: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{path}: cannot be unpacked: {error}") from None


def _plain_name(path: Path) -> str:
    return path.stem if path.suffix.lower() in PACKED_SUFFIXES else path.name


@contextmanager
def _stream(path: Path, module: str) -> Iterator[tuple[str, Readable]]:
    """Open a file that holds one other. module: of Python, with an `open` for its form."""
    with import_module(module).open(path) as file:
        yield _plain_name(path), file


@contextmanager
def _zip(path: Path) -> Iterator[tuple[str, Readable]]:
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        members = _members(path, archive)
        if len(members) == 1:
            with archive.open(members[0]) as file:
                yield Path(members[0].filename).name, file
            return
        with closing(_Joined(archive, members)) as joined:
            yield path.stem + _suffix(members[0]), joined


class _Joined:
    """Several files of a zip, read as one; each begins on a line of its own."""

    def __init__(self, archive: ZipFile, members: list[ZipInfo]) -> None:
        self._archive = archive
        self._left = members
        self._file: IO[bytes] | None = None

    def read(self, count: int, /) -> bytes:
        """Return up to this many bytes; none at the end of the last file."""
        while True:
            if self._file is None:
                if not self._left:
                    return b""
                self._file = self._archive.open(self._left[0])
                self._left = self._left[1:]
            if piece := self._file.read(count):
                return piece
            self._file.close()
            self._file = None
            return b"\n"

    def close(self) -> None:
        """Close the file that is open."""
        if self._file is not None:
            self._file.close()


@contextmanager
def _zstd(path: Path) -> Iterator[tuple[str, Readable]]:
    # Python has no zstd before 3.14; pyarrow, which files of self-play need, brings it.
    try:
        import pyarrow as pa
    except ImportError:
        by_hand = f"unpack it with `{BY_HAND['zstd']} {path}`, or install hauteur[parquet]"
        raise ValueError(f"{path}: is packed by zstd: {by_hand}") from None
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as packed:
        yield _plain_name(path), packed


Opener = Callable[[Path], AbstractContextManager[tuple[str, Readable]]]
"""Opens a packed file: the name of what is in it, and its content."""

_OPENERS: dict[str, Opener] = {
    "gzip": partial(_stream, module="gzip"),
    "bzip2": partial(_stream, module="bz2"),
    "xz": partial(_stream, module="lzma"),
    "zip": _zip,
    "zstd": _zstd,
}


def _members(path: Path, archive: ZipFile) -> list[ZipInfo]:
    """Return the one file that a zip holds, or its files of games, by name; what macOS adds does not count."""
    files = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
    if len(files) == 1:
        return files
    games = [member for member in files if _suffix(member) in JOINED]
    kinds = sorted({_suffix(member) for member in games})
    if len(kinds) != 1:
        held = f"holds {len(files)} files, {' and '.join(kinds) or 'none of them games'}"
        wanted = f"one file, or games of one kind ({', '.join(JOINED)})"
        raise ValueError(f"{path}: {held}; expected {wanted}; unpack it with `unzip {path}` first")
    return sorted(games, key=lambda member: member.filename)


def _suffix(member: ZipInfo) -> str:
    """Return the suffix of a file in a zip, in small letters."""
    return Path(member.filename).suffix.lower()

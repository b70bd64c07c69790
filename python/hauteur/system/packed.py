"""Packed files, as games and openings are downloaded: gzip, bzip2, xz, zip and zstd are unpacked to be read.

`plain_file(path)` is the file to read in place of one that may be packed, `content_suffix(path)` what kind of file that
is. What was unpacked is in a temporary folder until the process ends.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

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

BY_HAND = {"gzip": "gzip -dk", "bzip2": "bzip2 -dk", "xz": "xz -dk", "zip": "unzip", "zstd": "zstd -d"}
"""Commands that unpack."""


def content_suffix(path: Path) -> str:
    """Return the suffix of what a file holds, in small letters, `.pgn` for games.pgn.gz, without unpacking it.

    Raise ValueError for a zip that holds anything else than one file.
    """
    suffix = path.suffix.lower()
    if suffix not in PACKED_SUFFIXES:
        return suffix
    if suffix == ".zip" and path.is_file():
        from zipfile import ZipFile  # here: most files are not packed

        with _whole(path), ZipFile(path) as archive:
            return Path(_only_member(path, archive).filename).suffix.lower()
    return Path(path.stem).suffix.lower()


def plain_file(path: Path) -> Path:
    """Return the path of a file, or of what was unpacked from it, which has the name that it had before it was packed.

    Raise ValueError for a file that is damaged, has more than MOST_UNPACKED bytes when unpacked, or is a zip of several
    files; OSError for one that cannot be read.
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
        member = _only_member(path, archive)
        with archive.open(member) as file:
            yield Path(member.filename).name, file


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


def _only_member(path: Path, archive: ZipFile) -> ZipInfo:
    """Return the file that a zip holds; folders and what macOS adds do not count."""
    files = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
    if len(files) != 1:
        raise ValueError(f"{path}: holds {len(files)} files, expected one; unpack it with `unzip {path}` first")
    return files[0]

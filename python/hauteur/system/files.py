"""Files written whole and renamed, hashes, leftovers of processes that ended while they wrote."""

import json
import os
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hauteur.system import host


def write_bytes(path: Path, data: bytes, *, lasting: bool = True) -> None:
    """Write a file whole: under a temporary name first, renamed when all is on disk.

    When this returns the file outlasts a loss of power, and so does every file that was written before it; not with
    lasting = False, which waits for no disk.
    """
    check_folder(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with naming(path):
            with host.disk.open(temporary, "wb") as file:
                host.write_all(file, data)
                if lasting:
                    host.disk.sync(file)
            host.disk.rename(temporary, path)
            if lasting:
                host.disk.sync_folder(path.parent)
    except BaseException:
        host.disk.remove(temporary)
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have errors of the system name this file: a full disk names none, others a temporary name or the folder."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        error.filename2 = None
        raise


def leftovers(folder: Path) -> list[Path]:
    """Files below a folder that `write_bytes` had not finished when its process ended."""
    return sorted(path for path in folder.rglob(".*.tmp") if path.is_file())


def sweep(folder: Path) -> None:
    """Delete the leftovers below a folder, and bring all names there to disk.

    A process that was killed between giving a file its name and syncing the folder has left a file which later
    work relies on, and which a loss of power would take away.
    """
    for path in leftovers(folder):
        host.disk.remove(path)
    below = sorted(path for path in folder.rglob("*") if path.is_dir())
    for changed in (folder, *below):
        host.disk.sync_folder(changed)


def check_folder(path: Path) -> None:
    """Raise ValueError unless a file can be written there: its folder exists, and is not closed to this user."""
    if not path.parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} is not there")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, expected the name of a file")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: no permission to write in the folder {path.parent}")


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes, hexadecimal."""
    import hashlib  # here: it loads OpenSSL, and a start needs no hash

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write JSON for people, whole or not at all."""
    write_bytes(path, (json.dumps(value, indent=2) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file; ValueError naming the file when it holds none."""
    try:
        values = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: must hold a JSON object, holds {reprlib.repr(values)}")
    return values

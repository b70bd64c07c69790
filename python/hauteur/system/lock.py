"""The lock of a folder: one process at a time works in it, on this machine or on another that shares the folder."""

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from hauteur.system import host

LOCK_FILE = ".lock"
"""It lies in the folder that it locks, empty, and is gone when the work ends; one that is left behind locks nothing."""

PATIENCE = 0.5
"""Seconds to wait for a process that is just leaving."""

TRIES = 1000
"""Times that a folder is made which another process removes at that moment."""


@contextmanager
def locked(folder: Path, work: str) -> Iterator[None]:
    """Keep other processes out of a folder while the body runs; the folder is made where it is missing.

    The lock is one of the operating system: it ends with the process, however that ends. Folders that were made here
    and are empty at the end are removed again. Raises ValueError when another process works in the folder, doing such
    `work`, and where the file system of the folder has no locks.
    """
    made = list[Path]()
    try:
        lock = FileLock(folder / LOCK_FILE, timeout=PATIENCE, thread_local=False, fallback_to_soft=False)
        _enter(lock, folder, work, made)
        try:
            yield
        finally:
            try:
                with suppress(OSError):  # Windows removes no file that is open
                    # Before the release: whoever waits for this file sees that it is gone.
                    host.disk.remove(folder / LOCK_FILE)
            finally:
                lock.release()
    finally:
        for path in sorted(made, reverse=True):  # the innermost first
            with suppress(OSError):
                path.rmdir()


def is_locked(folder: Path) -> bool:
    """Return whether a process works in the folder now; False too where that cannot be found out.

    Nothing is changed there, and any number of processes may ask at once.
    """
    try:
        with (folder / LOCK_FILE).open("r+b" if sys.platform == "win32" else "rb") as file:
            return not _can_be_locked(file.fileno())
    except OSError:
        return False


def _can_be_locked(descriptor: int) -> bool:
    """Try to lock an open file, as one of many that may (Windows knows no such lock); it is free again at once."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _enter(lock: FileLock, folder: Path, work: str, made: list[Path]) -> None:
    """Make the folder and those above it, and take its lock; errors as `_acquire`, and ValueError for a file there.

    made: takes the folders that were missing. Another process that has made them too removes them when it ends, which
    may be just now: then they are made again.
    """
    for left in reversed(range(TRIES)):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        made += [path for path in missing if path not in made]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _acquire(lock, folder, work)
        except (FileNotFoundError, FileExistsError):
            if _is_something_else(folder):
                what = "a link to none" if folder.is_symlink() else "a file"
                raise ValueError(f"{folder}: is {what}, expected a folder") from None
            if not left:
                raise
        else:
            return


def _is_something_else(folder: Path) -> bool:
    """Return whether there is a file instead of a folder, or a link to none; looked at once, as it may vanish."""
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        return not folder.is_dir()
    return not stat.S_ISDIR(mode)


def _acquire(lock: FileLock, folder: Path, work: str) -> None:
    """Take the lock; ValueError when another process has it, or where there are no locks."""
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"{folder}: another process is {work} in this folder") from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the file cannot be made: the folder is read-only, full or gone
        (folder / LOCK_FILE).unlink(missing_ok=True)
        raise ValueError(
            f"{folder}: its file system has no locks ({error}), so that two processes could work in this folder at "
            "once; name a folder on another one"
        ) from None

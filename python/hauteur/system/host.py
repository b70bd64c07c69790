"""What work asks of the machine that it runs on: changes of files, and the time.

`disk` and `clock` of this module are the machine's own. `checks/simulate.py` puts others in their place, which lose
what was not synced and let time pass at once; nothing else does.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal


class Disk:
    """Changes of files. What is not synced may be lost with the power, a name as well as a content."""

    def open(self, path: Path, mode: Literal["wb", "a+b"]) -> IO[bytes]:
        """Open a file to write it anew, or to add to it; what is written is not buffered here."""
        return path.open(mode, buffering=0)

    def sync(self, file: IO[bytes]) -> None:
        """Bring the content of an open file to disk."""
        os.fsync(file.fileno())

    def sync_folder(self, folder: Path) -> None:
        """Bring the names in a folder to disk, where the system can do so (not on Windows)."""
        if not hasattr(os, "O_DIRECTORY"):
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, path: Path, to: Path) -> None:
        """Give a file another name in its folder, in the place of the file that has it."""
        path.replace(to)

    def remove(self, path: Path) -> None:
        """Remove a file, where it is there."""
        path.unlink(missing_ok=True)


class HostClock:
    """The time, in seconds."""

    def now(self) -> float:
        """Return the seconds since 1970; they may jump."""
        return time.time()

    def passed(self) -> float:
        """Return seconds that only grow, from any beginning."""
        return time.perf_counter()

    def processor(self) -> float:
        """Return the processor seconds of this process."""
        return time.process_time()


disk = Disk()
clock = HostClock()


@contextmanager
def replaced(other_disk: Disk, other_clock: HostClock) -> Iterator[None]:
    """Put another disk and clock in the place of the machine's while the body runs."""
    before: dict[str, Any] = {"disk": disk, "clock": clock}
    globals().update(disk=other_disk, clock=other_clock)
    try:
        yield
    finally:
        globals().update(before)


def write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of the data: a disk that is almost full takes a part at first."""
    while data:
        data = data[file.write(data) :]

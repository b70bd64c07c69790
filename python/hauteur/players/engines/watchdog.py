"""Cleanup of leftover engines: a process that outlives hauteur, however that ends, and then kills the engines left.

An engine that hangs does not notice that its client is gone. The keeper reads `+GROUP` and `-GROUP`, the running
process groups, from a pipe. The system closes the pipe when hauteur has ended, also by SIGKILL.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

KEEPS = sys.platform != "win32"
"""Windows has no process groups."""


class Keeper:
    """Tells the process which groups there are; it is started with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Have a process group killed when this process dies."""
        if KEEPS and self._process is None:
            command = [sys.executable, "-I", "-S", __file__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self._tell(f"+{group}")

    def forget(self, group: int) -> None:
        """Stop watching a process group that has ended."""
        self._tell(f"-{group}")

    def close(self) -> None:
        """Kill the remaining groups and exit."""
        if self._process is not None:
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _tell(self, line: str) -> None:
        """Send a line to the watching process."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # the keeper was killed by others
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()


def kill_group(group: int) -> None:
    """Kill every process of one of our groups; one that has ended is not an error."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def left_over(lines: Iterable[bytes]) -> set[int]:
    """Return the groups still running after these lines; invalid groups are ignored."""
    groups: set[int] = set()
    for line in lines:
        sign = line[:1]
        number = line[1:].strip()
        if number.isdigit() and int(number) > 1:
            group = {int(number)}
            groups = groups | group if sign == b"+" else groups - group
    return groups


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for left in left_over(sys.stdin.buffer):
        kill_group(left)

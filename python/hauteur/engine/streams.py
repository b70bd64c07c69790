"""What engines of every protocol share: reading lines as they come, writing whole lines, noting both in a log."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO


class Output:
    """Writes lines to the program and, if wanted, the whole conversation to a log file. Any thread may call it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._log: TextIO | None = None

    def lines(self, *lines: str) -> None:
        """Writes lines that stay together."""
        with self._lock:
            self._write_log("<", lines)
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()

    def info(self, text: str) -> None:
        """An `info string` (UCI) of one line."""
        self.lines(f"info string {' '.join(text.split())}")

    def heard(self, line: str) -> None:
        """Notes a line of the program in the log."""
        with self._lock:
            self._write_log(">", (line,))

    def log_to(self, path: str) -> None:
        """Appends the conversation to a file from now on; empty: no longer."""
        log = Path(path).open("a", encoding="utf-8") if path else None  # noqa: SIM115  (open until the next log_to)
        with self._lock:
            if self._log is not None:
                self._log.close()
            self._log = log

    def _write_log(self, mark: str, lines: tuple[str, ...]) -> None:
        if self._log is not None:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._log.writelines(f"{now} {mark} {line}\n" for line in lines)
            self._log.flush()


def input_lines(descriptor: int) -> Iterator[bytes]:
    """Lines of a file, as they come. Not by sys.stdin: a thread that waits in it would break the end of the program."""
    rest = b""
    while chunk := os.read(descriptor, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    yield rest

"""What workers write to stderr: passed on line by line, with their names, and never too much of it."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import IO

from hauteur.system.formatting import printable

MOST_LINES = 100
"""Lines at once, of a worker."""
LINES_A_SECOND = 1.0
"""Lines that a worker may add every second."""
MOST_LINE = 1000
"""Bytes of a line; a longer one goes on in the next."""


class StderrLines(threading.Thread):
    """Passes on what a worker writes to stderr. last: the last line with text."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        super().__init__(name=f"{name} stderr", daemon=True)
        self.last = ""
        self._worker, self._stream = name, stream
        self._allowed, self._looked = float(MOST_LINES), time.monotonic()
        self._left_out = 0

    def run(self) -> None:
        """Read to the end."""
        with suppress(OSError), self._stream:
            while line := self._stream.readline(MOST_LINE):
                text = printable(line.decode(errors="replace")).rstrip()
                self.last = text.strip() or self.last
                self._pass_on(text)
        self._report_left_out()

    def _pass_on(self, text: str) -> None:
        now = time.monotonic()
        self._allowed = min(MOST_LINES, self._allowed + (now - self._looked) * LINES_A_SECOND)
        self._looked = now
        if self._allowed < 1:
            self._left_out += 1
            return
        self._allowed -= 1
        self._report_left_out()
        self._write(text)

    def _report_left_out(self) -> None:
        if self._left_out:
            self._write(f"({self._left_out} lines left out)")
            self._left_out = 0

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError, AttributeError):  # the driver's stderr may be closed, or none
            sys.stderr.write(f"{self._worker}: {text}\n")
            sys.stderr.flush()

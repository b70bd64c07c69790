"""Drives the UCI engine in a process of its own: lines in, lines out, never waiting for ever."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60.0
"""How long a line is waited for before the test fails; an engine that works answers far sooner."""


class Client:
    """An engine process and its output."""

    def __init__(self, *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hauteur.cli.main", "uci", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        self.seen: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, *lines: str) -> None:
        """Sends lines."""
        self.send_bytes("".join(f"{line}\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def expect(self, beginning: str, *, seconds: float = SECONDS) -> str:
        """The next line that begins so; the lines before it are in `seen`."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(
                    f"no line {beginning!r} within {seconds} s; last lines: {self.seen[-5:]}"
                ) from None
            assert line is not None, f"the engine left while {beginning!r} was waited for: {self.errors()}"
            self.seen.append(line)
            if line.startswith(beginning):
                return line

    def until(self, beginning: str) -> list[str]:
        """The lines up to the next one that begins so, which is the last."""
        before = len(self.seen)
        self.expect(beginning)
        return self.seen[before:]

    def ready(self) -> list[str]:
        """Sends uci and isready, waits for the answers; the lines up to the second."""
        self.send("uci", "isready")
        return self.until("readyok")

    def rest(self) -> list[str]:
        """All lines up to the end of the output."""
        lines = []
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            lines.append(line)
        self.seen += lines
        return lines

    def errors(self) -> str:
        """Return what the process wrote to stderr; ends it."""
        self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            self._lines.put(raw.decode().rstrip("\r\n"))
        self._lines.put(None)


@contextmanager
def engine(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Iterator[Client]:
    """An engine for the length of a block, killed at its end."""
    client = Client(*arguments, cwd=cwd, env=env)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.wait()

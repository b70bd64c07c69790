"""The process of a local worker as the driver sees it: what goes in, what comes out, and how it ends."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from hauteur import __version__
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left
from hauteur.cluster.framing import MOST_REPORT, DoneReport, JoinedReport, read_content, read_header, report_of
from hauteur.cluster.stderr_lines import StderrLines
from hauteur.cluster.unit import UnitResult

PATIENCE = 2.0
"""Seconds that a process has to end after it has closed a pipe."""
MOST_CAUSE = 500
"""Characters that say why a process was ended."""


class LocalProcess:
    """A process and the threads at its pipes: whatever it does, the caller never waits for it.

    put: takes what happens; the last event is `Left`, also where the process could not be started.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], put: Callable[[Event], None]
    ) -> None:
        self.name = name
        self.has_joined = False
        self._command, self._environment, self._put = command, environment, put
        self._process: subprocess.Popen[bytes] | None = None
        self._units: set[str] = set()  # given and not reported
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._cause: str | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def start(self) -> None:
        """Start the process, unless it was ended before."""
        try:
            with self._lock:
                if self._cause is None:
                    self._process = subprocess.Popen(
                        self._command,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        env=self._environment,
                        start_new_session=True,  # Ctrl-C in a terminal is for the driver, which then ends its workers
                        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                    )
            if self._process is not None:
                threading.Thread(target=self._read, args=(self._process,), name=self.name, daemon=True).start()
                return
        except (OSError, ValueError, RuntimeError) as error:  # no program, processes, descriptors or threads
            self.end(f"could not be started: {error}")
            if self._process is not None:
                self._process.wait()
        self._leave(self._cause or "")

    def send(self, key: str, message: bytes) -> None:
        """Send a unit, some time; a process that is gone, or going, ignores it."""
        self._units.add(key)
        self._outgoing.put(message)

    def end(self, cause: str) -> None:
        """Kill the process, and what it started in its group. cause: why, where it is the first one."""
        with self._lock:
            self._cause = self._cause or cause[:MOST_CAUSE]
            if self._process is None or self._process.returncode is not None:
                return
            if sys.platform == "win32":
                self._process.kill()
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def join(self, seconds: float) -> None:
        """Wait until the process has ended and its pipes are closed."""
        self._ended.wait(seconds)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = StderrLines(self.name, process.stderr)
        writer = threading.Thread(target=self._write, args=(process,), name=f"{self.name} input", daemon=True)
        try:
            lines.start()
            writer.start()
            while (event := self._next_event(process)) is not None:
                self._put(event)
        except ValueError as error:
            self.end(f"sent what is no report: {error}")
        except (OSError, MemoryError, RuntimeError) as error:
            self.end(f"could not be read: {type(error).__name__}: {error}")
        self._await_end(process, "closed its output")
        self._outgoing.put(None)
        process.stdout.close()
        for thread in (lines, writer):
            if thread.ident is not None:
                thread.join(PATIENCE)
        self._leave(self._cause or _ended_with(process.returncode, lines.last))

    def _next_event(self, process: subprocess.Popen[bytes]) -> Event | None:
        """Return what the worker reports; None at the end. ValueError for what it must not send."""
        assert process.stdout is not None
        header = read_header(process.stdout, MOST_REPORT)
        if header is None:
            return None
        fields, size = header
        report = report_of(fields)
        if isinstance(report, JoinedReport):
            if self.has_joined or size:
                raise ValueError("it joined twice" if self.has_joined else "it joined with content")
            if report.facts.version != __version__:
                raise ValueError(f"it runs hauteur {report.facts.version[:100]}, the driver {__version__}")
            self.has_joined = True
            return Joined(self.name, report.facts)
        if report.key not in self._units:
            raise ValueError(f"it has no unit {report.key[:12]}")
        if not isinstance(report, DoneReport):
            if size:
                raise ValueError("it failed with content")
            self._units.discard(report.key)
            return Failed(self.name, report.key, report.cause)
        content = read_content(process.stdout, size)
        self._units.discard(report.key)
        return None if content is None else Finished(self.name, UnitResult(report.key, content, report.facts))

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        try:
            with process.stdin:
                while (message := self._outgoing.get()) is not None:
                    process.stdin.write(message)
                    process.stdin.flush()
        except OSError:
            self._await_end(process, "closed its input")

    def _await_end(self, process: subprocess.Popen[bytes], cause: str) -> None:
        """Wait until a process that has closed a pipe has ended; it is killed if it goes on."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end(cause)
            process.wait()

    def _leave(self, cause: str) -> None:
        self._ended.set()
        self._put(Left(self.name, cause))


def _ended_with(status: int, line: str) -> str:
    """Return how a process ended, in words. line: the last that it wrote to stderr."""
    if status >= 0:
        return f"ended with exit status {status}" + (f": {line}" if line and status else "")
    name = signal.Signals(-status).name if -status in {one.value for one in signal.Signals} else f"signal {-status}"
    return f"was killed by {name}" + (", as happens where memory is short" if name == "SIGKILL" else "")

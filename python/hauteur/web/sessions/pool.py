"""The processes of the sessions: started ahead, limited in number, ended with their clients."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from hauteur.system.hardware import memory_bytes, resident_bytes, usable_cores
from hauteur.system.plugins import VARIABLE, imported
from hauteur.web.settings import WebSettings

MOST_LINE = 32 * 2**20
"""Bytes of a line from a session; saved trees and reviewed games are the longest."""
PATIENCE = 1.0
"""Seconds that a session has to end by itself."""

IDLE = 300.0
"""Seconds without a word to or from a session, after which another one may have its place."""
LOOKS = 0.5
"""Seconds between two looks at the memory of the sessions."""

OnLine = Callable[[str, str], None]
"""Takes the kind of a line and its JSON (see worker.py)."""
OnEnd = Callable[[str, bool], None]
"""Takes why a process ended that nobody closed, in words, and whether the page should get another one."""


class BusyError(RuntimeError):
    """As many sessions are open as the server allows."""


class SessionProcess:
    """A session in its process. on_line, on_end: set before `open`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._reader: asyncio.Task[None] | None = None
        self._cause: tuple[str, bool] | None = None
        self.heard = time.monotonic()
        """When the last word came from it or went to it."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Tell whether the process is gone."""
        return self._process.returncode is not None

    def open(self, session: str, settings: Mapping[str, Any], on_line: OnLine, on_end: OnEnd) -> None:
        """Give the process its session. Lines go to on_line; on_end is called when it ends without `close`."""
        self._write({"session": session, "settings": settings})
        self._reader = asyncio.create_task(self._read(on_line, on_end))

    async def request(self, number: int, do: str, fields: Mapping[str, Any]) -> None:
        """Send a request; its reply comes as a line."""
        self.heard = time.monotonic()
        self._write({"id": number, "do": do, "fields": fields})
        if self._process.stdin is not None:
            try:
                await self._process.stdin.drain()
            except ConnectionError:
                return  # it has ended: on_end reports it

    async def close(self) -> None:
        """End the process."""
        if self._reader is not None:
            self._reader.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), PATIENCE)
        except TimeoutError:
            self._kill()
            await self._process.wait()

    def end(self, cause: str, *, again: bool) -> None:
        """End the process at once; on_end is called with the cause."""
        self._cause = self._cause or (cause, again)
        self._kill()

    def _kill(self) -> None:
        """Kill the process and what it has started: its programs are in its group."""
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self, on_line: OnLine, on_end: OnEnd) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self.heard = time.monotonic()
                kind, _, text = line.decode().rstrip("\n").partition(" ")
                on_line(kind, text)
        except ValueError:
            self.end(f"this page was to get more than {MOST_LINE // 2**20} MB at once", again=True)
        status = await self._process.wait()
        end = f"by signal {-status}" if status < 0 else f"with status {status}"
        on_end(*(self._cause or (f"the process of this page ended {end}", True)))


class Pool:
    """All sessions of a server, and one process that waits for the next."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.open: set[SessionProcess] = set()
        self._starting = 0
        self._spare: asyncio.Task[SessionProcess] | None = None
        self._looking: asyncio.Task[None] | None = None

    def prepare(self) -> None:
        """Start the process that waits, in the background."""
        if self._spare is None:
            self._spare = asyncio.create_task(self._start())

    async def take(self, session: str, on_line: OnLine, on_end: OnEnd) -> SessionProcess:
        """Open a session in a process of its own. Raise BusyError where there are as many as the server allows.

        Then the one that did nothing for the longest time has to go, if that was IDLE seconds.
        """
        if len(self.open) + self._starting >= self.settings.sessions:
            self._make_room()
        self.prepare()
        spare, self._spare = self._spare, None
        assert spare is not None
        self._starting += 1
        try:
            process = await spare
            while process.has_ended:  # while it waited
                process = await self._start()
        finally:
            self._starting -= 1
        process.heard = time.monotonic()
        self.open.add(process)
        process.open(session, self._session_settings(), on_line, partial(self._ended, process, on_end))
        self.prepare()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_at_memory())
        return process

    def _make_room(self) -> None:
        quiet = min(self.open, key=lambda process: process.heard, default=None)
        if quiet is None or time.monotonic() - quiet.heard < IDLE:
            raise BusyError(
                f"the server allows {self.settings.sessions} searches, games and reviews at a time, and all are in "
                "use: close another tab, or start the server with a larger --sessions"
            )
        self.open.discard(quiet)
        quiet.end("this page did nothing for long, and another one needed its place: reload it to go on", again=False)

    def _ended(self, process: SessionProcess, on_end: OnEnd, cause: str, again: bool) -> None:
        self.open.discard(process)
        on_end(cause, again)

    async def _look_at_memory(self) -> None:
        """End the largest session where all together need more than is allowed."""
        allowed = self._memory_mb() * 10**6
        while self.open:
            held = {process: resident_bytes(process.pid) or 0 for process in self.open}
            if sum(held.values()) > allowed:
                largest = max(held, key=lambda process: held[process])
                needed = f"this page needed {held[largest] / 1e6:,.0f} MB of memory, more than is left for it"
                largest.end(f"{needed} (hauteur web --memory-mb N allows more)", again=True)
            await asyncio.sleep(LOOKS)

    def _memory_mb(self) -> int:
        """Return the megabytes for all sessions together: half of the machine's, where none are set."""
        return self.settings.memory_mb or (memory_bytes()[0] or 8 * 10**9) // 2_000_000

    async def give_back(self, process: SessionProcess) -> None:
        """End a session."""
        self.open.discard(process)
        await process.close()

    async def close(self) -> None:
        """End all sessions."""
        waiting = [] if self._spare is None else [await self._spare]
        self._spare = None
        await asyncio.gather(*(process.close() for process in (*self.open, *waiting)))
        self.open.clear()

    def _session_settings(self) -> dict[str, Any]:
        """Return the settings of a session: any of them may use all cores, there are not many."""
        settings = self.settings
        return {
            "threads": settings.threads or max(1, usable_cores()),
            "allow_programs": settings.allow_programs,
            "memory_mb": self._memory_mb(),
            "roots": [str(root) for root in settings.roots],
        }

    async def _start(self) -> SessionProcess:
        environment = {
            **os.environ,
            VARIABLE: ",".join([*filter(None, [os.environ.get(VARIABLE)]), *imported()]),
        }
        command = (sys.executable, "-m", "hauteur.web.sessions.worker")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env=environment, limit=MOST_LINE, start_new_session=True
        )
        return SessionProcess(process)

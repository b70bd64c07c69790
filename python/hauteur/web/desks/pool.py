"""The processes of the desks: started ahead, limited in number, ended with their clients."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from typing import Any

from hauteur.system.hardware import usable_cores
from hauteur.system.plugins import VARIABLES, imported
from hauteur.web.settings import WebSettings

MOST_LINE = 32 * 2**20
"""Bytes of a line from a desk; saved trees and reviewed games are the longest."""
PATIENCE = 1.0
"""Seconds that a desk has to end by itself."""

OnLine = Callable[[str, str], None]
"""Takes the kind of a line and its JSON (see worker.py)."""
OnEnd = Callable[[int], None]
"""Takes the exit status of a process that ended by itself, negative: the number of a signal."""


class BusyError(RuntimeError):
    """As many desks are open as the server allows."""


class DeskProcess:
    """A desk in its process. on_line, on_end: set before `open`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def open(self, desk: str, settings: Mapping[str, Any], on_line: OnLine, on_end: OnEnd) -> None:
        """Give the process its desk. Lines go to on_line; on_end is called when it ends without `close`."""
        self._write({"desk": desk, "settings": settings})
        self._reader = asyncio.create_task(self._read(on_line, on_end))

    async def request(self, number: int, do: str, fields: Mapping[str, Any]) -> None:
        """Send a request; its reply comes as a line."""
        self._write({"id": number, "do": do, "fields": fields})
        if self._process.stdin is not None:
            try:
                await self._process.stdin.drain()
            except ConnectionError:
                return  # it has ended: on_end tells

    async def close(self) -> None:
        """End the process."""
        if self._reader is not None:
            self._reader.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), PATIENCE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self, on_line: OnLine, on_end: OnEnd) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            kind, _, text = line.decode().rstrip("\n").partition(" ")
            on_line(kind, text)
        on_end(await self._process.wait())


class Pool:
    """All desks of a server, and one process that waits for the next."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.open: set[DeskProcess] = set()
        self._starting = 0
        self._spare: asyncio.Task[DeskProcess] | None = None

    def prepare(self) -> None:
        """Start the process that waits, in the background."""
        if self._spare is None:
            self._spare = asyncio.create_task(self._start())

    async def take(self, desk: str, on_line: OnLine, on_end: OnEnd) -> DeskProcess:
        """Open a desk in a process of its own. Raise BusyError where there are as many as the server allows."""
        if len(self.open) + self._starting >= self.settings.desks:
            raise BusyError(
                f"the server allows {self.settings.desks} searches, games and reviews at a time, and all are in use: "
                "close another tab (hauteur web --desks N allows more)"
            )
        self.prepare()
        spare, self._spare = self._spare, None
        assert spare is not None
        self._starting += 1
        try:
            process = await spare
        finally:
            self._starting -= 1
        self.open.add(process)
        process.open(desk, self._desk_settings(), on_line, on_end)
        self.prepare()
        return process

    async def give_back(self, process: DeskProcess) -> None:
        """End a desk."""
        self.open.discard(process)
        await process.close()

    async def close(self) -> None:
        """End all desks."""
        waiting = [] if self._spare is None else [await self._spare]
        self._spare = None
        await asyncio.gather(*(process.close() for process in (*self.open, *waiting)))
        self.open.clear()

    def _desk_settings(self) -> dict[str, Any]:
        """Return the settings of a desk; the cores are shared out between as many as are usual on this machine."""
        settings = self.settings
        return {
            "threads": settings.threads or max(1, usable_cores()),
            "allow_programs": settings.allow_programs,
            "memory_mb": settings.memory_mb,
            "roots": [str(root) for root in settings.roots],
        }

    async def _start(self) -> DeskProcess:
        environment = {
            **os.environ,
            VARIABLES[0]: ",".join([*filter(None, [os.environ.get(VARIABLES[0])]), *imported()]),
        }
        command = (sys.executable, "-m", "hauteur.web.desks.worker")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env=environment, limit=MOST_LINE, start_new_session=True
        )
        return DeskProcess(process)

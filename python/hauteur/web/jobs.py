"""Long commands of hauteur started from a page: a few at a time, with what they print; they end with the server.

A command is made of checked parts and never of one text: arguments do not begin with a dash, an option is one word
with its value. Work that was stopped goes on with the same command.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from hauteur.system.plugins import VARIABLES, imported

COMMANDS = frozenset({"train", "match", "sprt", "tournament", "tune strength", "tune ratio", "experiment"})
"""Commands that a page may start."""

RESULTS = {"sprt": (1, 3)}
"""Exit statuses that are results and no errors, by command."""

MOST_LINES, MOST_LINE = 200, 1000
"""Lines that are kept of what a command prints, and characters of each."""

MOST_ENDED = 20
"""Ended jobs that are remembered."""

NICENESS = 10
"""Added to the processor's priority number, so that pages and searches come first."""

PATIENCE = (30.0, 3.0)
"""Seconds for the work to end after an interrupt (SIGINT), and after SIGTERM; then it is killed."""

JobState = Literal["running", "stopping", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class JobCommand:
    """What is to be done: a command, its arguments and options (True: without a value), in which folder, in words.

    Raise ValueError for parts that could be taken for something else.
    """

    command: str
    title: str
    folder: Path
    arguments: Sequence[str] = ()
    options: Mapping[str, str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.command not in COMMANDS:
            raise ValueError(f"{self.command!r} cannot be started from a page; {', '.join(sorted(COMMANDS))} can")
        for text in (*self.arguments, *(value for value in self.options.values() if isinstance(value, str))):
            if not text or not text.isprintable() or len(text) > 4000:
                raise ValueError(f"not an argument: {text[:80]!r}")
        if wrong := next((text for text in self.arguments if text.startswith("-")), None):
            raise ValueError(f"an argument cannot begin with a dash: {wrong[:80]!r}")
        if bad := next((name for name in self.options if not re.fullmatch(r"[a-z][a-z0-9.-]*", name)), None):
            raise ValueError(f"not the name of an option: {bad[:80]!r}")

    @property
    def words(self) -> list[str]:
        """The command line behind `hauteur`."""
        options = [
            f"--{name}" if value is True else f"--{name}={value}" for name, value in self.options.items() if value
        ]
        return [*self.command.split(), *self.arguments, *options]


class Job:
    """A command that runs or ran. began: seconds since 1970."""

    def __init__(self, number: int, command: JobCommand) -> None:
        self.number = number
        self.command = command
        self.began = time.time()
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self.state: JobState = "running"
        self.printed = 0
        self._process: Process | None = None
        self._work: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Number of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self.state in ("running", "stopping")

    @property
    def stamp(self) -> str:
        """A text that changes with what the job prints, and with its state."""
        return f"{self.number}-{self.state}-{self.printed}"

    async def start(self) -> None:
        """Start the process. OSError where that cannot be."""
        names = ",".join([*filter(None, [os.environ.get(VARIABLES[0])]), *imported()])
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hauteur.cli", *self.command.words),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            env={**os.environ, VARIABLES[0]: names, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C in the server's terminal is for the server, which then stops the job
        )
        if hasattr(os, "setpriority"):
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        self._work = asyncio.create_task(self._read(self._process))

    def stop(self) -> None:
        """Let the job end: by an interrupt, then by force. It is not waited for."""
        if self.state == "running":
            self.state = "stopping"
            self._ending = asyncio.create_task(self._end())

    async def wait(self) -> None:
        """Wait until the process has ended."""
        if self._work is not None:
            await self._work

    async def _end(self) -> None:
        assert self._process is not None
        assert self._work is not None
        steps = zip(
            (signal.SIGINT if sys.platform != "win32" else signal.SIGTERM, signal.SIGTERM), PATIENCE, strict=True
        )
        for number, seconds in steps:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
            if (await asyncio.wait([self._work], timeout=seconds))[0]:
                return
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _read(self, process: Process) -> None:
        """Keep the last lines until the end."""
        assert process.stdout is not None
        rest = ""
        while part := await process.stdout.read(2**16):
            *whole, rest = (rest + part.decode(errors="replace")).split("\n")
            self._keep(whole)
            rest = rest[-MOST_LINE:]
        self._keep([rest] if rest else [])
        status = await process.wait()
        failed = status and status not in RESULTS.get(self.command.command, ())
        self.state = "stopped" if self.state == "stopping" else "failed" if failed else "finished"

    def _keep(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.lines.append(line.rpartition("\r")[2][:MOST_LINE])
        self.printed += len(lines)


class Jobs:
    """The jobs of a server. most: that run at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._jobs: dict[int, Job] = {}
        self._number = 0
        self._scratch: TemporaryDirectory[str] | None = None

    @property
    def scratch(self) -> Path:
        """A folder for files that commands read when they begin; it goes with the server."""
        self._scratch = self._scratch or TemporaryDirectory(prefix="hauteur-web-")
        return Path(self._scratch.name)

    @property
    def all(self) -> list[Job]:
        """The jobs, the newest first."""
        return list(self._jobs.values())[::-1]

    def of(self, folder: Path) -> Job | None:
        """Return the newest job in a folder."""
        place = folder.resolve()
        return next((job for job in self.all if job.command.folder.resolve() == place), None)

    def find(self, number: int) -> Job:
        """Return a job; ValueError where there is none of this number."""
        if number not in self._jobs:
            raise ValueError(f"there is no job {number}: it ended long ago, or the server was started again since")
        return self._jobs[number]

    async def start(self, command: JobCommand) -> Job:
        """Start a command. ValueError where as many run as may, or one in the same folder."""
        running = [job for job in self.all if job.is_running]
        if len(running) >= self.most:
            raise ValueError(f"{len(running)} jobs run, the most at a time; stop one, or wait until it ends")
        if (there := self.of(command.folder)) is not None and there.is_running:
            raise ValueError(f"{there.command.title} runs in this folder already")
        self._number += 1
        job = self._jobs[self._number] = Job(self._number, command)
        try:
            await job.start()
        except BaseException:
            del self._jobs[job.number]
            raise
        ended = [job.number for job in self._jobs.values() if not job.is_running]
        for number in ended[:-MOST_ENDED]:
            del self._jobs[number]
        return job

    async def close(self) -> None:
        """Stop all jobs and wait for their end."""
        running = [job for job in self.all if job.is_running]
        for job in running:
            job.stop()
        await asyncio.gather(*(job.wait() for job in running))
        if self._scratch is not None:
            self._scratch.cleanup()

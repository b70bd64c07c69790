"""A program driven by lines of text, with limits on everything it may do; why it loses a game off the board; its clock.

Everything runs in one event loop; nothing here waits without a deadline set by the caller. Memory stays bounded
whatever the program writes: a line that is too long, or too many of them for one answer, ends it.
"""

import asyncio
import errno
import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Self, cast

from hauteur import _core
from hauteur.players.engines.settings import EngineSettings, clock_of
from hauteur.players.engines.watchdog import Keeper, kill_group
from hauteur.players.move_player import ChosenMove, EngineFailure, MoveRequest
from hauteur.system.formatting import quoted

START_FAILED = "engine start failed"
CRASHED = "engine crashed"
TIMEOUT = "engine timeout"
LOST_ON_TIME = "loss on time"
ILLEGAL_MOVE = "illegal move"
BAD_OUTPUT = "bad output"
FAILURES = (CRASHED, TIMEOUT, LOST_ON_TIME, ILLEGAL_MOVE, BAD_OUTPUT)
"""Ends of games that a program lost off the board."""
LONGEST_LINE = 65_536
"""Bytes of a line."""
MOST_BYTES = 2**24
"""Of output for one answer."""
MOST_LINES = 100_000
"""Of output for one answer."""
ERRORS_KEPT = 1000
"""Bytes of standard error, the last ones."""
LAST_WORDS = 0.5
"""Seconds that a program which has ended is given for what it wrote before."""
FAREWELL = 1.0
"""Seconds that a program is given to end by itself."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of this machine, not of the program."""


@asynccontextmanager
async def within(seconds: float, failure: EngineFailure) -> AsyncIterator[None]:
    """Stop the block after this many seconds and raise `failure`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise failure from None


def no_answer(to: str, seconds: float) -> EngineFailure:
    """Return the failure of an engine that did not respond or act within this many seconds."""
    return EngineFailure(TIMEOUT, f"no {to} within {seconds:g} s")


class Process(asyncio.SubprocessProtocol):
    """A running program, in its own process group."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._errors = b""
        self._bytes = self._count = 0
        self._failure: EngineFailure | None = None
        self._closed = False
        self._killed = False
        self._news = asyncio.Event()
        self._exited = asyncio.Event()
        self.gone = asyncio.Event()
        """Set once it has ended and nothing is open any more."""

    @classmethod
    async def start(cls, command: Sequence[str], keeper: Keeper) -> Self:
        """Start the program; EngineFailure where the system refuses that, RuntimeError where this machine is full."""
        loop = asyncio.get_running_loop()
        try:
            _, process = await loop.subprocess_exec(lambda: cls(keeper), *command, start_new_session=True)
        except OSError as error:
            if error.errno in EXHAUSTED:
                raise RuntimeError(f"cannot start {command[0]}: {error.strerror}; play fewer games at once") from None
            raise EngineFailure(START_FAILED, f"{command[0]}: {error.strerror}") from None
        keeper.watch(process._transport.get_pid())
        return process

    @property
    def is_well(self) -> bool:
        """True while it runs and has kept to the limits."""
        return self._failure is None and not self._closed and not self._killed

    def send(self, *lines: str) -> None:
        """Start writing these lines and reset the limits on the answer."""
        self._bytes = self._count = 0
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            text = "".join(f"{line}\n" for line in lines)
            cast("asyncio.WriteTransport", pipe).write(text.encode())

    async def line(self) -> str:
        """The next line without its end; EngineFailure where there is none because it has ended or breaks a limit."""
        while not self._lines:
            if self._failure is not None:
                raise self._failure
            if self._closed:
                raise await self._crash()
            self._news.clear()
            await self._news.wait()
        return self._lines.popleft().decode("utf-8", "replace").strip()

    async def quit(self, farewell: str) -> None:
        """Request it to exit, and kill it if it does not."""
        if self.is_well:
            self.send(farewell)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), FAREWELL)
        self.kill()

    def kill(self) -> None:
        if not self._killed:
            self._killed = True
            pid = self._transport.get_pid()
            kill_group(pid)
            self._keeper.forget(pid)
            if self._exited.is_set():
                self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Handle its start (called by the event loop)."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Handle its output (called by the event loop)."""
        self._bytes += len(data)
        if fd == 2:
            self._errors = (self._errors + data)[-ERRORS_KEPT:]
        else:
            self._take(data)
        if self._bytes > MOST_BYTES or self._count > MOST_LINES:
            self._fail(f"more than {MOST_BYTES:,} bytes or {MOST_LINES:,} lines for one answer")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """Handle a closed pipe (called by the event loop)."""
        if fd == 1:
            self._close()

    def process_exited(self) -> None:
        """Handle its exit (called by the event loop); earlier output may still arrive."""
        self._exited.set()
        if self._killed:  # not before: closing asks for the exit status, which asyncio then misses and complains about
            self._transport.close()
        asyncio.get_running_loop().call_later(LAST_WORDS, self._close)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Handle its exit with all pipes closed (called by the event loop)."""
        self.gone.set()

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        longest = max(map(len, (*lines, self._rest)))
        if longest > LONGEST_LINE:
            self._fail(f"a line of more than {LONGEST_LINE:,} bytes")
            return
        self._count += len(lines)
        self._lines.extend(lines)
        if lines:
            self._news.set()

    def _fail(self, detail: str) -> None:
        self._failure = self._failure or EngineFailure(BAD_OUTPUT, detail)
        self._lines.clear()
        self._rest = b""
        self.kill()
        self._news.set()

    def _close(self) -> None:
        self._closed = True
        self._news.set()

    async def _crash(self) -> EngineFailure:
        try:
            await asyncio.wait_for(self._exited.wait(), LAST_WORDS)
        except TimeoutError:
            return EngineFailure(CRASHED, "it has closed its output")
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        last_words = f"; its last words: {quoted(lines[-1])}" if lines else ""
        return EngineFailure(CRASHED, f"{_ending(self._transport.get_returncode())}{last_words}")


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit status {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


@dataclass
class EngineClock:
    """The time of one side, in seconds. margin: how far it may be overdrawn before it counts."""

    left: float
    increment: float
    margin: float

    @classmethod
    def of(cls, settings: EngineSettings) -> Self | None:
        """The clock at the start of a game; None without a time control."""
        if settings.tc is None:
            return None
        left, increment = clock_of(settings.tc)
        return cls(left, increment, settings.time_margin / 1000)

    @property
    def deadline(self) -> float:
        """Seconds after which the game is lost."""
        return self.left + self.margin

    def spend(self, seconds: float) -> None:
        """A move took so long; EngineFailure where that was too long."""
        if seconds > self.deadline:
            raise self.overdrawn()
        self.left = max(self.left - seconds, 0.0) + self.increment

    def overdrawn(self) -> EngineFailure:
        return EngineFailure(LOST_ON_TIME, f"no move within the {self.left:.2f} s on its clock")


def move_limit(settings: EngineSettings, clock: EngineClock | None) -> tuple[float, EngineFailure]:
    """Return the seconds without a move after which an engine has lost, and the failure."""
    seconds = settings.seconds_for_a_move
    if clock is not None and clock.deadline < seconds:
        return clock.deadline, clock.overdrawn()
    return seconds, no_answer("move", seconds)


class EngineConnection(ABC):
    """A running engine. Every method fails with EngineFailure; then it must not be used again but for `kill`."""

    def __init__(self, process: Process, settings: EngineSettings, game: _core.Game) -> None:
        self.process = process
        self.settings = settings
        self.game = game
        self.clocks: tuple[EngineClock | None, EngineClock | None] = (None, None)
        """Of the first and of the second player, in the present game."""

    @abstractmethod
    async def probe(self) -> str:
        """Return its name; ValueError where it lacks an option or command, or does not play the game."""

    @abstractmethod
    async def open(self) -> None:
        """Do the first thing after its start."""

    @abstractmethod
    async def new_game(self) -> None:
        """Let it forget the last game."""

    @abstractmethod
    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Choose a move in the current game."""

    async def begin(self, *, fresh: bool = False) -> None:
        """Begin a game, whatever was before; kill the engine where that does not come to its end.

        fresh: it was just started.
        """
        try:
            if fresh:
                await self.open()
            self.clocks = EngineClock.of(self.settings), EngineClock.of(self.settings)
            await self.new_game()
        except BaseException:
            self.kill()
            raise

    async def quit(self) -> None:
        """Request it to exit, and kill it if it does not."""
        await self.process.quit("quit")

    def kill(self) -> None:
        self.process.kill()

"""Engines as players: one process a running game, used again for later games."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from typing import Protocol

from hauteur import _core
from hauteur.players.engines.failures import START_FAILED
from hauteur.players.engines.gtp import GtpEngineConnection, board_size
from hauteur.players.engines.host import EngineHost
from hauteur.players.engines.probe import does_not_start, probed
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.engines.uci import UciSession
from hauteur.players.move_player import ChosenMove, EngineFailure, EngineResignation, MoveRequest


class EngineConnection(Protocol):
    """A running engine. Every method fails with EngineFailure; then it must not be used again but for `kill`."""

    async def open(self) -> None:
        """The first thing after its start."""

    async def begin(self) -> None:
        """A new game, whatever was before."""

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Choose a move in the current game."""

    async def quit(self) -> None:
        """Request it to exit, and kill it if it does not."""

    def kill(self) -> None:
        """End it at once."""


MOST_STARTS = 3
"""An engine that has failed to start so often, one time after another, ends the match."""


def make_engine(game: _core.Game, settings: EngineSettings, host: EngineHost, name: str = "") -> EnginePlayer:
    """The player for this game; ValueError where the program is missing, lacks an option or does not play the game."""
    probed(game, settings)
    return EnginePlayer(game, settings, host, name or settings.short_name)


class EnginePlayer:
    """A program that plays."""

    def __init__(self, game: _core.Game, settings: EngineSettings, host: EngineHost, name: str) -> None:
        self.name = name
        self._game = game
        self._settings = settings
        self._host = host
        self._probe = probed(game, settings)
        self._playing: dict[int, EngineConnection] = {}
        self._idle: list[EngineConnection] = []
        self._tasks: set[asyncio.Task[ChosenMove] | None] = set()

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        """Begin to look for a move."""
        return self._host.submit(self._answer(request))

    def end(self, game: int) -> None:
        """The game's process is free for another one."""
        self._host.call(self._release, game)

    def close(self) -> None:
        """End all processes."""
        self._host.run(self._end())

    async def _answer(self, request: MoveRequest) -> ChosenMove:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            async with self._host.thinking:
                return await self._chosen(request)
        finally:
            self._tasks.discard(task)

    async def _chosen(self, request: MoveRequest) -> ChosenMove:
        session = self._playing.get(request.game)
        if session is None:
            session = self._playing[request.game] = await self._seated()
        try:
            return await session.choose(request)
        except EngineResignation:
            raise
        except BaseException:  # also when it is stopped: what it says later must not be taken for another answer
            del self._playing[request.game]
            session.kill()
            raise

    async def _seated(self) -> EngineConnection:
        """Return an engine at the start of a game: an idle one, else a new one."""
        while self._idle:
            session = self._idle.pop()
            with suppress(EngineFailure):  # it has died since its last game, and that one is over
                await _begun(session)
                return session
        return await self._started()

    async def _started(self) -> EngineConnection:
        """Return a new process; ValueError, which no game is lost by, where none can be started."""
        failed = EngineFailure(START_FAILED)
        for _ in range(MOST_STARTS):
            try:
                return await self._opened()
            except EngineFailure as failure:
                failed = failure
        raise ValueError(f"{does_not_start(self._settings, failed)} ({MOST_STARTS} attempts)")

    async def _opened(self) -> EngineConnection:
        process = await self._host.start(self._probe.command)
        session: UciSession | GtpEngineConnection
        if self._settings.protocol == "gtp":
            session = GtpEngineConnection(process, self._settings, board_size(self._game))
        else:
            session = UciSession(process, self._settings, self._game)
        await _begun(session, fresh=True)
        return session

    def _release(self, game: int) -> None:
        session = self._playing.pop(game, None)
        if session is not None:
            self._idle.append(session)

    async def _end(self) -> None:
        tasks = [task for task in self._tasks if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        sessions = [*self._playing.values(), *self._idle]
        self._playing, self._idle = {}, []
        await asyncio.gather(*(session.quit() for session in sessions))


async def _begun(session: EngineConnection, *, fresh: bool = False) -> None:
    """Begin a game; kill the engine where that does not come to its end."""
    try:
        if fresh:
            await session.open()
        await session.begin()
    except BaseException:
        session.kill()
        raise

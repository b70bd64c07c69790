"""Engines as players: probed before a match, one process a running game, used again for later games.

Probing reports impossible requests in one line before a match begins. All engines of a match are spoken to in one
thread, that of their host.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.engines.gomocup import GomocupConnection
from hauteur.players.engines.gtp import GtpEngineConnection, board_size
from hauteur.players.engines.process import FAREWELL, START_FAILED, EngineConnection, Process
from hauteur.players.engines.settings import EngineSettings, Protocol, program_words
from hauteur.players.engines.uci import VARIANTS, UciSession
from hauteur.players.engines.watchdog import Keeper
from hauteur.players.move_player import ChosenMove, EngineFailure, EngineResignation, MoveRequest
from hauteur.system.closing import Closing

Result = TypeVar("Result")

GAMES_FOLDER = "/usr/games"
"""Where Debian puts chess programs; it is not on everybody's path."""


class EngineHost(Closing):
    """Runs what speaks to engines. thinking: how many of them may search at a time."""

    def __init__(self, thinking: int) -> None:
        self.thinking = asyncio.Semaphore(thinking)
        self._keeper = Keeper()
        self._processes: set[Process] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engines", daemon=True)
        self._thread.start()
        _allow_many_files()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin the work; cancelling the future stops it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the host's thread and return its result."""
        return self.submit(work).result()

    def call(self, function: Callable[[int], None], number: int) -> None:
        """Call the function in the thread, after all earlier requests."""
        self._loop.call_soon_threadsafe(function, number)

    async def start(self, command: Sequence[str]) -> Process:
        """Start a program, which ends with the host at the latest."""
        process = await Process.start(command, self._keeper)
        self._processes = {other for other in self._processes if not other.gone.is_set()} | {process}
        return process

    def close(self) -> None:
        """End all programs and the host's thread."""
        if not self._loop.is_closed():
            self.run(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._keeper.close()

    async def _end(self) -> None:
        """Cancel what still runs in the host's thread."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for process in self._processes:
            process.kill()
        ends = [asyncio.ensure_future(process.gone.wait()) for process in self._processes]
        if ends:
            _, late = await asyncio.wait(ends, timeout=FAREWELL)
            for task in late:
                task.cancel()


def _allow_many_files() -> None:
    """Raise the limit of open files where the system allows it: every program needs three pipes."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


CONNECTIONS: dict[Protocol, type[EngineConnection]] = {
    "uci": UciSession,
    "gtp": GtpEngineConnection,
    "gomocup": GomocupConnection,
}


class Probe(NamedTuple):
    """Result of probing an engine. name: its own, with its version."""

    command: tuple[str, ...]
    name: str


def probed(game: _core.Game, settings: EngineSettings) -> Probe:
    """Start the engine once and check the request.

    Raise ValueError if the program is missing, does not start, lacks one of the options, or does not play this game.
    """
    return _probed(game.spec, settings.model_dump_json())


@lru_cache(maxsize=64)
def _probed(spec: str, json: str) -> Probe:
    settings = EngineSettings.model_validate_json(json)
    game = load_game(spec)
    _check_game(game, settings)
    command = engine_command(settings)
    with EngineHost(1) as host:
        try:
            return host.run(_probe_engine(host, game, settings, command))
        except EngineFailure as failure:
            raise ValueError(does_not_start(settings, failure)) from None


def does_not_start(settings: EngineSettings, failure: EngineFailure) -> str:
    """Return the error line for a program that cannot be brought to play."""
    reason = failure.detail if failure.reason == START_FAILED else failure
    return f"{settings.protocol}:{settings.command}: the program does not start: {reason}"


def engine_command(settings: EngineSettings) -> tuple[str, ...]:
    """The program's path and its arguments; ValueError where there is no such program."""
    program, *words = program_words(settings.command)
    path = shutil.which(program) or shutil.which(program, path=GAMES_FOLDER)
    if path is None:
        reason = "there is no such program"
        if Path(program).is_file():
            reason = "it may not be executed"
        elif Path(program).name == program:
            reason = "not on the path"
        raise ValueError(f"{settings.protocol}:{settings.command}: no program {program!r}: {reason}")
    arguments = shlex.split(settings.args)
    return (str(Path(path).absolute()), *words, *arguments)


def _check_game(game: _core.Game, settings: EngineSettings) -> None:
    """Raise ValueError where a game has no form in the program's protocol."""
    if settings.protocol == "gtp":
        board_size(game)
    elif settings.protocol == "gomocup":
        if game.name != "gomoku":
            raise ValueError(f"the Gomocup's protocol is for gomoku, got {game.spec}")
    elif game.name != "chess" and game.name not in VARIANTS:
        raise ValueError(f"UCI is for chess and minichess, got {game.spec}; programs for nogo speak GTP: gtp:PROGRAM")


async def _probe_engine(
    host: EngineHost,
    game: _core.Game,
    settings: EngineSettings,
    command: tuple[str, ...],
) -> Probe:
    """Start the program once, and return what it says of itself."""
    connection = await _connected(host, game, settings, command)
    try:
        name = await connection.probe()
        await connection.quit()
        return Probe(command, name or Path(command[0]).name)
    finally:
        connection.kill()


async def _connected(
    host: EngineHost,
    game: _core.Game,
    settings: EngineSettings,
    command: tuple[str, ...],
) -> EngineConnection:
    """Start a program; it has not been spoken to."""
    process = await host.start(command)
    return CONNECTIONS[settings.protocol](process, settings, game)


def random_move(request: MoveRequest, share: float) -> ChosenMove | None:
    """Return a uniformly drawn legal move in this share of the requests, None in the others; by the request's seed."""
    if _core.random_u64(request.seed, 0) >= share * 2**64:
        return None
    actions = request.state.legal_actions()
    place = _core.random_u64(request.seed, 1) * len(actions) >> 64
    return ChosenMove(int(actions[place]), note=RANDOM_MOVE)


RANDOM_MOVE = "random move"
"""Note of a move that was drawn in the place of the program's."""
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
        """Ask a program for a move, in the host's thread."""
        return self._host.submit(self._answer(request))

    def dispute(self, over: MoveRequest) -> str:
        """Ask the program of a finished game for its score, and return what it says where it names another winner."""
        return self._host.run(self._dispute(over))

    async def _dispute(self, over: MoveRequest) -> str:
        session = self._playing.get(over.game)
        if not isinstance(session, GtpEngineConnection):  # the other protocols have no such question
            return ""
        try:
            said = await session.dispute(over)
            return f"{self.name} {said}" if said else ""
        except EngineFailure as failure:  # what it says later must not be taken for the answer to another question
            del self._playing[over.game]
            session.kill()
            return f"{self.name} did not count the finished game: {failure}"

    def end(self, game: int) -> None:
        """Free the program of a finished game for the next one."""
        self._host.call(self._release, game)

    def close(self) -> None:
        """End all programs of this player."""
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
        """Ask the program of this game, starting one if none is free; or draw a move, where the settings say so."""
        random = random_move(request, self._settings.random_moves)
        if random is not None:
            return random
        session = self._playing.get(request.game)
        if session is None:
            session = self._playing[request.game] = await self._ready_engine()
        try:
            return await session.choose(request)
        except EngineResignation:
            raise
        except BaseException:  # also when it is stopped: what it says later must not be taken for another answer
            del self._playing[request.game]
            session.kill()
            raise

    async def _ready_engine(self) -> EngineConnection:
        """Return an engine at the start of a game: an idle one, else a new one."""
        while self._idle:
            session = self._idle.pop()
            with suppress(EngineFailure):  # it has died since its last game, and that one is over
                await session.begin()
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
        """Start a program and begin its conversation."""
        session = await _connected(self._host, self._game, self._settings, self._probe.command)
        await session.begin(fresh=True)
        return session

    def _release(self, game: int) -> None:
        """Keep the program of a finished game for the next one."""
        session = self._playing.pop(game, None)
        if session is not None:
            self._idle.append(session)

    async def _end(self) -> None:
        tasks = [task for task in self._tasks if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        sessions = [*self._playing.values(), *self._idle]
        self._playing = {}
        self._idle = []
        await asyncio.gather(*(session.quit() for session in sessions))

"""The thread in which all engines of a match are spoken to, and how many of them may think at once."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from hauteur.players.engines.process import FAREWELL, Process
from hauteur.players.engines.watchdog import Keeper
from hauteur.system.closing import Closing

Result = TypeVar("Result")


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
        """Run the work and wait for its result."""
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
        """End all programs and the thread."""
        if not self._loop.is_closed():
            self.run(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._keeper.close()

    async def _end(self) -> None:
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

"""Processes of sessions: how many there are, what happens when one dies, needs too much memory, or does nothing."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from async_runs import run_async
from starlette.websockets import WebSocketDisconnect

from hauteur.web.live import MOST_ENDS, MOST_WAITING, Line
from hauteur.web.sessions import pool as pool_module
from hauteur.web.sessions.pool import BusyError, Pool, SessionProcess
from hauteur.web.settings import WebSettings

WORKER = r"""
import json, os, subprocess, sys, time
settings = json.loads(sys.stdin.readline())
kept = []
for line in sys.stdin:
    request = json.loads(line)
    do, fields = request["do"], request["fields"]
    if do == "eat":
        kept.append(b"x" * fields["bytes"])
    if do == "die":
        os._exit(fields["status"])
    if do == "child":
        print("event", json.dumps(subprocess.Popen(["sleep", "100"]).pid), flush=True)
    if do == "deaf":
        time.sleep(100)
    if do == "talk":
        print("event", "y" * fields["bytes"], flush=True)
    print("reply", json.dumps({"id": request["id"], "reply": do}), flush=True)
"""


class QuickPool(Pool):
    """Its processes are there at once, and do as they are told."""

    async def _start(self) -> SessionProcess:
        command = (sys.executable, "-S", "-E", "-c", WORKER)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, limit=2**16, start_new_session=True
        )
        return SessionProcess(process)


class FakeSocket:
    """The server's end of a websocket, driven by a test."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.closed: tuple[int, str] | None = None

    async def receive(self) -> dict[str, Any]:
        return await self.incoming.get()

    async def send_text(self, text: str) -> None:
        self.sent.append(json.loads(text))
        self.changed.set()

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    def ask(self, do: str, **fields: Any) -> None:
        text = json.dumps({"id": 1, "do": do, "fields": fields})
        self.incoming.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})

    async def wait_for(self, count: int, event: str) -> list[dict[str, Any]]:
        """Wait until so many such messages were sent, return their fields."""
        async with asyncio.timeout(30):
            while len(found := [one for one in self.sent if one.get("event") == event or event in one]) < count:
                self.changed.clear()
                await self.changed.wait()
        return [one.get("fields", one) for one in found]


def run(work: Callable[[QuickPool], Any], **settings: Any) -> None:
    """Run a test with a pool, close it, and see that nothing is left."""

    async def main() -> None:
        pool = QuickPool(WebSettings(**settings))
        await work(pool)
        await pool.close()
        assert pool.open == set()

    run_async(main())


def served(pool: Pool) -> tuple[FakeSocket, asyncio.Task[None]]:
    """A client that is served."""
    socket: Any = FakeSocket()
    return socket, asyncio.create_task(Line(socket, pool, "analyse").serve())


def is_running(pid: int) -> bool:
    """Return whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


async def ended(pid: int) -> None:
    """Wait until a process is gone."""
    async with asyncio.timeout(30):
        while is_running(pid):
            await asyncio.sleep(0.01)


def test_a_killed_process_is_replaced_and_the_page_told() -> None:
    async def work(pool: QuickPool) -> None:
        socket, task = served(pool)
        for number in range(1, MOST_ENDS + 1):
            await socket.wait_for(number, "ready")
            [process] = pool.open
            os.kill(process.pid, signal.SIGKILL)
            [*_, told] = await socket.wait_for(number, "ended")
            assert told["text"] == "the process of this page ended by signal 9; another one takes its place"
        await socket.wait_for(MOST_ENDS + 1, "ready")
        socket.ask("die", status=3)
        [*_, told] = await socket.wait_for(MOST_ENDS + 1, "ended")
        assert told["text"] == "the process of this page ended with status 3; reload the page to go on"
        assert pool.open == set()
        socket.ask("more")
        [reply] = await socket.wait_for(1, "error")
        assert reply["error"] == "there is no process for this page"
        socket.leave()
        await task

    run(work)


def test_a_spare_process_that_was_killed_is_no_problem() -> None:
    async def work(pool: QuickPool) -> None:
        pool.prepare()
        assert pool._spare is not None
        os.kill((await pool._spare).pid, signal.SIGKILL)
        socket, task = served(pool)
        await socket.wait_for(1, "ended")
        await socket.wait_for(2, "ready")
        socket.ask("something")
        await socket.wait_for(1, "reply")
        socket.leave()
        await task

    run(work)


def test_a_client_that_leaves_at_once_leaves_no_process() -> None:
    async def work(pool: QuickPool) -> None:
        for kill in (False, True):
            socket, task = served(pool)
            if kill:
                await socket.wait_for(1, "ready")
                [process] = pool.open
                os.kill(process.pid, signal.SIGKILL)
                await socket.wait_for(1, "ended")
            socket.leave()
            await task
            assert pool.open == set()

    run(work)


def test_more_than_the_most_are_refused_in_words_until_one_leaves() -> None:
    async def work(pool: QuickPool) -> None:
        clients = [served(pool) for _ in range(2)]
        for socket, _ in clients:
            await socket.wait_for(1, "ready")
        late, task = served(pool)
        [told] = await late.wait_for(1, "busy")
        assert "the server allows 2 searches" in told["text"]
        clients[0][0].leave()
        await clients[0][1]
        later, later_task = served(pool)
        await later.wait_for(1, "ready")
        for socket, its_task in ((late, task), (later, later_task), clients[1]):
            socket.leave()
            await its_task

    run(work, sessions=2)


def test_the_quietest_gives_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: QuickPool) -> None:
        clients = [served(pool) for _ in range(2)]
        for socket, _ in clients:
            await socket.wait_for(1, "ready")
        clients[0][0].ask("something")
        await clients[0][0].wait_for(1, "reply")
        with pytest.raises(BusyError):
            await pool.take("analyse", lambda kind, text: None, lambda cause, again: None)
        monkeypatch.setattr(pool_module, "IDLE", 0.0)
        new, task = served(pool)
        await new.wait_for(1, "ready")
        [told] = await clients[1][0].wait_for(1, "ended")
        assert "did nothing for long" in told["text"]
        assert len(pool.open) == 2
        for socket, its_task in (*clients, (new, task)):
            socket.leave()
            await its_task

    run(work, sessions=2)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of another process is read on Linux alone")
def test_the_largest_is_ended_where_memory_does_not_suffice() -> None:
    async def work(pool: QuickPool) -> None:
        (small, small_task), (large, large_task) = clients = served(pool), served(pool)
        for socket, _ in clients:
            await socket.wait_for(1, "ready")
        small.ask("eat", bytes=50_000_000)
        large.ask("eat", bytes=300_000_000)
        [told] = await large.wait_for(1, "ended")
        assert "MB of memory, more than is left for it (hauteur web --memory-mb N allows more)" in told["text"]
        await large.wait_for(2, "ready")
        assert not [one for one in small.sent if one.get("event") == "ended"]
        small.leave()
        large.leave()
        await asyncio.gather(small_task, large_task)

    run(work, memory_mb=300)


def test_a_line_that_is_too_long_ends_the_process_in_words() -> None:
    async def work(pool: QuickPool) -> None:
        socket, task = served(pool)
        await socket.wait_for(1, "ready")
        socket.ask("talk", bytes=2**18)
        [told] = await socket.wait_for(1, "ended")
        assert "MB at once" in told["text"]
        socket.leave()
        await task

    run(work)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system for a process")
def test_what_a_session_has_started_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "PATIENCE", 0.1)

    async def work(pool: QuickPool) -> None:
        lines: list[str] = []
        process = await pool.take("analyse", lambda kind, text: lines.append(text), lambda cause, again: None)
        await process.request(1, "child", {})
        async with asyncio.timeout(30):
            while not lines:
                await asyncio.sleep(0.01)
        await process.request(2, "deaf", {})
        await pool.give_back(process)
        await ended(int(lines[0]))

    run(work)


def test_a_client_that_does_not_read_is_left() -> None:
    async def main() -> None:
        pool = QuickPool(WebSettings())
        socket, task = served(pool)
        await socket.wait_for(1, "ready")
        reading = asyncio.Event()

        async def send_text(text: str) -> None:
            await reading.wait()

        socket.send_text = send_text  # type: ignore[method-assign]
        for _ in range(MOST_WAITING + 10):
            socket.ask("something")
        async with asyncio.timeout(30):
            while not socket.incoming.empty():
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        reading.set()
        await asyncio.wait_for(task, 30)
        assert socket.closed == (1008, "the client does not read what it is sent")
        assert pool.open == set()
        await pool.close()

    run_async(main())


def test_a_client_that_is_gone_while_it_is_sent_something_is_left() -> None:
    async def main() -> None:
        pool = QuickPool(WebSettings())
        socket, task = served(pool)
        await socket.wait_for(1, "ready")

        async def send_text(text: str) -> None:
            raise WebSocketDisconnect(1006)

        socket.send_text = send_text  # type: ignore[method-assign]
        socket.ask("something")
        socket.ask("more")
        await asyncio.wait_for(task, 30)
        assert pool.open == set()
        await pool.close()

    run_async(main())

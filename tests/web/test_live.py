"""Connections of pages: how many sessions there are, what a client that leaves or does not read costs, what waits."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from async_runs import run_async
from lab_browser import Windows, start_lab, stop_lab
from playwright.sync_api import Browser, expect
from starlette.websockets import WebSocketDisconnect

from hauteur.web.live import MOST_WAITING, MOST_WAITING_BYTES, Client, Mailbox
from hauteur.web.sessions import pool as pool_module
from hauteur.web.sessions.pool import Pool
from hauteur.web.sessions.session import Fields, PageSession
from hauteur.web.settings import WebSettings


class ToySession(PageSession):
    """It answers, fails, sends an event, and notes that it was closed."""

    name = "toy"
    closed = 0

    def do_something(self, **fields: Any) -> Fields:
        """Reply with the fields."""
        return fields

    def do_fail(self) -> Fields:
        """Fail as a fault of the program does."""
        raise KeyError("where")

    def do_emit(self) -> Fields:
        """Emit a number that JSON has not."""
        self.emit("number", {"value": float("nan")})
        return {}

    def close(self) -> None:
        """Note it."""
        ToySession.closed += 1


class FakeSocket:
    """The server's end of a websocket, driven by a test."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()
        self.closed: tuple[int, str] | None = None

    async def receive(self) -> dict[str, Any]:
        return await self.incoming.get()

    async def send_text(self, text: str) -> None:
        await self.reading.wait()
        self.sent.append(json.loads(text))
        self.changed.set()

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    def ask(self, do: str, **fields: Any) -> None:
        text = json.dumps({"id": 1, "do": do, "fields": fields})
        self.incoming.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})

    async def first(self, key: str) -> Any:
        """Wait for the first event of this name, or reply with this key; return its content."""
        while True:
            for one in self.sent:
                if one.get("event") == key:
                    return one["fields"]
                if key in one:
                    return one[key]
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 60)


def run(monkeypatch: pytest.MonkeyPatch, work: Callable[[Pool], Any], **settings: Any) -> None:
    """Run a test with a pool of toy sessions; at its end none is open."""
    monkeypatch.setattr(pool_module, "session_class", lambda name: ToySession)

    async def main() -> None:
        pool = Pool(WebSettings(**settings))
        await work(pool)
        await pool.close()
        assert pool.open == set()

    run_async(main())


def served(pool: Pool) -> tuple[Any, asyncio.Task[None]]:
    """A client that is served."""
    socket: Any = FakeSocket()
    return socket, asyncio.create_task(Client(socket, pool, "toy").serve())


def test_more_than_the_most_are_refused_in_words_until_one_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> None:
        clients = [served(pool) for _ in range(2)]
        for socket, _ in clients:
            await socket.first("ready")
        late, task = served(pool)
        assert "the server allows 2 searches" in (await late.first("busy"))["text"]
        late.ask("something")
        assert await late.first("error") == "there is no session for this page"
        clients[0][0].leave()
        await clients[0][1]
        later, later_task = served(pool)
        await later.first("ready")
        for socket, its_task in ((late, task), (later, later_task), clients[1]):
            socket.leave()
            await its_task

    run(monkeypatch, work, sessions=2)


def test_the_work_of_a_client_that_leaves_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> None:
        before = ToySession.closed
        socket, task = served(pool)
        socket.ask("something", a=1)
        assert await socket.first("reply") == {"a": 1}
        socket.leave()
        await task
        assert ToySession.closed == before + 1
        assert pool.open == set()

    run(monkeypatch, work)


@pytest.mark.parametrize(
    ("do", "text"),
    [("fail", "internal error: KeyError"), ("emit", "Out of range float"), ("dig", "there is no request 'dig'")],
)
def test_what_goes_wrong_in_a_session_is_a_line_and_the_session_goes_on(
    do: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(pool: Pool) -> None:
        socket, task = served(pool)
        socket.ask(do)
        assert text in await socket.first("error")
        socket.ask("something", b=2)
        assert await socket.first("reply") == {"b": 2}
        socket.leave()
        await task

    run(monkeypatch, work)


def test_a_client_that_does_not_read_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> None:
        socket: Any = FakeSocket()
        client = Client(socket, pool, "toy")
        task = asyncio.create_task(client.serve())
        await socket.first("ready")
        socket.reading.clear()
        while not client.mail.overflowed:
            socket.ask("something")
            await asyncio.sleep(0)
        socket.reading.set()
        await asyncio.wait_for(task, 60)
        assert socket.closed == (1008, "the client does not read what it is sent")
        assert pool.open == set()

    run(monkeypatch, work)


def test_a_client_that_is_gone_while_it_is_sent_something_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> None:
        socket, task = served(pool)
        await socket.first("ready")

        async def send_text(text: str) -> None:
            raise WebSocketDisconnect(1006)

        socket.send_text = send_text
        socket.ask("something")  # goes to the function that the sender holds already
        socket.ask("something")
        await asyncio.wait_for(task, 60)
        assert pool.open == set()

    run(monkeypatch, work)


def test_older_reports_are_replaced_and_none_comes_after_the_end_of_its_search() -> None:
    async def check() -> None:
        mail = Mailbox()
        for number in range(100):
            mail.put("latest:report", f"report {number}")
        mail.put("latest:progress", "half")
        mail.put("event", "done")
        mail.put("latest:report", "of the next search")
        assert [await mail.next() for _ in range(4)] == ["report 99", "half", "done", "of the next search"]

    run_async(check())


@pytest.mark.parametrize("size", [1, MOST_WAITING_BYTES // 2])
def test_too_many_or_too_long_replies_that_wait_are_noticed(size: int) -> None:
    mail = Mailbox()
    for number in range(10 * MOST_WAITING):
        mail.put("latest:report", f"report {number}")
    assert not mail.overflowed
    for _ in range(MOST_WAITING if size == 1 else 2):
        mail.put("reply", "x" * size)
    assert mail.overflowed


def test_a_server_that_comes_back_is_found_again(browser: Browser, tmp_path: Path) -> None:
    address = "/analyse?game=connect4&moves=4+4&visits=200"
    lab = start_lab(tmp_path)
    windows = Windows(browser, lab.url)
    try:
        page = windows.open(address)
        expect(page.locator("#board svg").first).to_be_visible()
        lab.process.kill()
        lab.process.wait()
        expect(page.get_by_role("status").first).to_contain_text("trying again")
        lab = start_lab(tmp_path, port=urlsplit(lab.url).port or 0)
        expect(page.get_by_role("status").first).to_have_text("")
        expect(page.locator("#board svg").first).to_be_visible()
        assert page.url.endswith(address)
    finally:
        stop_lab(lab)
        windows.expected = "net::ERR_"  # the server that was killed refuses, or cuts off what it was sending
        windows.close()

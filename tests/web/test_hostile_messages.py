"""Ten thousand websocket messages that no page sends: every desk answers each in a line and goes on working."""

import asyncio
import json
from importlib import import_module
from inspect import getmembers, isclass
from pathlib import Path
from typing import Any

import pytest
from async_runs import run_async
from hostile import Hostile
from starlette.types import Message

from hauteur.games.registry import names
from hauteur.system.hardware import resident_bytes
from hauteur.system.settings import Section
from hauteur.web.app import create_app
from hauteur.web.desks.desk import DeskSettings
from hauteur.web.desks.worker import DESKS, answer, desk_class
from hauteur.web.safety import Door, Guard
from hauteur.web.settings import WebSettings

MESSAGES = 10_000
MOST_GROWTH = 24e6
"""Bytes that the server may grow by; what desks need is limited by the pool."""


def requests_of(desk: str) -> tuple[str, ...]:
    """Requests that a desk knows."""
    return tuple(name[3:] for name in dir(desk_class(desk)) if name.startswith("do_"))


def words_of(desk: str) -> tuple[str, ...]:
    """Names of fields that the desk's module reads, of games, and of nets."""
    module = import_module(desk_class(desk).__module__)
    sections = [section for _, section in getmembers(module, isclass) if issubclass(section, Section)]
    return (*(field for section in sections for field in section.model_fields), *names(), "tictactoe", "random")


class FakeClient:
    """The other end of a websocket, in this process."""

    def __init__(self, guard: Guard, desk: str) -> None:
        headers = [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000")]
        self.scope = {
            "type": "websocket",
            "path": f"/live/{desk}",
            "raw_path": b"",
            "query_string": b"",
            "root_path": "",
        }
        self.scope |= {"headers": headers, "scheme": "ws", "server": ("127.0.0.1", 8000), "subprotocols": []}
        self.to_server: asyncio.Queue[Message] = asyncio.Queue()
        self.replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.ready = asyncio.Event()
        self.closed = False
        self.to_server.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.create_task(guard(self.scope, self.to_server.get, self.take))

    async def take(self, message: Message) -> None:
        """Take what the server sends."""
        self.closed = self.closed or message["type"] == "websocket.close"
        if message["type"] == "websocket.send":
            content = json.loads(message["text"])
            if "event" not in content:
                self.replies.put_nowait(content)
            elif content["event"] == "ready":
                self.ready.set()

    async def ask(self, message: str | bytes) -> dict[str, Any]:
        """Send a message, return the reply."""
        self.to_server.put_nowait(
            {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}
        )
        reply = asyncio.create_task(self.replies.get())
        await asyncio.wait({reply, self.task}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert reply.done(), f"no reply to {message!r:.300}"
        return reply.result()

    async def leave(self) -> None:
        """End the connection."""
        self.to_server.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await self.task


async def bombard(root: Path, desk: str, number: int, seed: int) -> None:
    """Send so many messages; every one gets one reply, from one and the same process; the server does not grow."""
    door = Door()
    app = create_app(WebSettings(roots=(root,), desks=2), door)
    client = FakeClient(Guard(app, door), desk)
    await asyncio.wait_for(client.ready.wait(), 60)
    [process] = app.state.lab.pool.open
    hostile, requests, start = Hostile(seed, words_of(desk)), requests_of(desk), 0
    for index in range(number):
        reply = await client.ask(hostile.message(requests))
        assert ("error" in reply) != ("reply" in reply)
        assert "internal error" not in reply.get("error", "")
        assert "\n" not in reply.get("error", "")
        if index == number // 2:
            start = resident_bytes() or 0
    grown = (resident_bytes() or 0) - start
    assert grown < MOST_GROWTH, f"memory of the server grew by {grown / 1e6:.0f} MB"
    assert app.state.lab.pool.open == {process}
    assert not client.closed
    await client.leave()
    await app.state.lab.pool.close()


@pytest.mark.parametrize("desk", DESKS)
def test_ten_thousand_messages(desk: str, tmp_path: Path) -> None:
    run_async(bombard(tmp_path, desk, MESSAGES // len(DESKS) + 1, seed=1))


def test_messages_to_what_watches_folders(tmp_path: Path) -> None:
    async def main() -> None:
        door = Door()
        client = FakeClient(Guard(create_app(WebSettings(roots=(tmp_path,)), door), door), "watch")
        await asyncio.wait_for(client.ready.wait(), 60)
        hostile = Hostile(1, ("names", "runs"))
        for _ in range(2000):
            reply = await client.ask(hostile.message(("watch",)))
            assert ("error" in reply) != ("reply" in reply)
        await client.leave()

    run_async(main())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("desk", DESKS)
def test_many_more_messages(desk: str, tmp_path: Path, seed: int) -> None:
    run_async(bombard(tmp_path, desk, MESSAGES, seed))


@pytest.mark.parametrize("desk", DESKS)
def test_a_desk_refuses_any_fields_in_a_line(desk: str, tmp_path: Path) -> None:
    hostile = Hostile(1, words_of(desk))
    opened = desk_class(desk)(lambda event, fields, latest=True: None, DeskSettings(roots=(str(tmp_path),)))
    for _ in range(150):
        request = {"id": 1, "do": hostile.random.choice(requests_of(desk)), "fields": hostile.fields(3)}
        reply = answer(opened, request)
        assert "internal error" not in reply.get("error", "")
    opened.close()

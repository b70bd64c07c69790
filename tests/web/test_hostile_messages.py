"""Ten thousand websocket messages that no page sends: every session answers each in a line and goes on working."""

import asyncio
import json
from importlib import import_module
from inspect import getmembers, isclass, signature
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
from hauteur.web.safety import AccessMiddleware, AccessPolicy
from hauteur.web.sessions.pool import SESSIONS, reply_of, session_class
from hauteur.web.sessions.session import SessionSettings
from hauteur.web.settings import WebSettings

MESSAGES = 10_000
MOST_GROWTH = 48e6
"""Bytes that the server may grow by in the second half: of a session of games it settles near 200 MB, +-25 MB."""


def requests_of(session: str) -> tuple[str, ...]:
    """Requests that a session knows."""
    return tuple(name[3:] for name in dir(session_class(session)) if name.startswith("do_"))


def words_of(session: str) -> tuple[str, ...]:
    """Names of fields that the session's module reads, of games, and of nets."""
    kind = session_class(session)
    module = import_module(kind.__module__)
    sections = [section for _, section in getmembers(module, isclass) if issubclass(section, Section)]
    fields = [field for section in sections for field in section.model_fields]
    fields += [field for name in requests_of(session) for field in signature(getattr(kind, f"do_{name}")).parameters]
    return (*fields, *names(), "tictactoe", "random")


class FakeClient:
    """The other end of a websocket, in this process."""

    def __init__(self, guarded: AccessMiddleware, session: str) -> None:
        headers = [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000")]
        self.scope = {
            "type": "websocket",
            "path": f"/live/{session}",
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
        self.task = asyncio.create_task(guarded(self.scope, self.to_server.get, self.take))

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


async def bombard(root: Path, session: str, number: int, seed: int) -> None:
    """Send `number` messages; every one gets one reply, from one and the same session; the server does not grow."""
    app = create_app(WebSettings(roots=(root,), sessions=2))
    client = FakeClient(AccessMiddleware(app, AccessPolicy()), session)
    await asyncio.wait_for(client.ready.wait(), 60)
    [opened] = app.state.lab.pool.open
    hostile = Hostile(seed, words_of(session))
    requests = requests_of(session)
    start = 0
    for index in range(number):
        reply = await client.ask(hostile.message(requests))
        assert ("error" in reply) != ("reply" in reply)
        assert "internal error" not in reply.get("error", "")
        assert "\n" not in reply.get("error", "")
        if index == number // 2:
            start = resident_bytes() or 0
    grown = (resident_bytes() or 0) - start
    assert grown < MOST_GROWTH, f"memory of the server grew by {grown / 1e6:.0f} MB"
    assert app.state.lab.pool.open == {opened}
    assert not client.closed
    await client.leave()
    await app.state.lab.pool.close()


@pytest.mark.parametrize("session", SESSIONS)
def test_ten_thousand_messages(session: str, tmp_path: Path) -> None:
    run_async(bombard(tmp_path, session, MESSAGES // len(SESSIONS) + 1, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("session", SESSIONS)
def test_many_more_messages(session: str, tmp_path: Path, seed: int) -> None:
    run_async(bombard(tmp_path, session, MESSAGES, seed))


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_refuses_any_fields_in_a_line(session: str, tmp_path: Path) -> None:
    hostile = Hostile(1, words_of(session))
    opened = session_class(session)(lambda event, fields, latest=True: None, SessionSettings(roots=(str(tmp_path),)))
    for _ in range(150):
        reply = reply_of(opened, 1, hostile.random.choice(requests_of(session)), hostile.fields(3))
        assert "internal error" not in reply.get("error", "")
    opened.close()

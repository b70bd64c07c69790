"""Two hundred clients at once at a real server: pages for all, searches for as many as are allowed, memory flat."""

import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from async_runs import run_async
from running_lab import RunningLab, start_lab, stop_lab
from websockets.asyncio.client import ClientConnection, connect

from hauteur.system.hardware import resident_bytes

CLIENTS, SESSIONS = 200, 2
MOST_GROWTH = 160e6
"""Bytes that the server may grow by for all clients together: buffers, two trees, what searches import."""


async def live(lab: RunningLab, session: str = "analyse") -> ClientConnection:
    """A client at a session."""
    host = urlsplit(lab.url).netloc
    return await connect(f"ws://{host}/live/{session}", origin=f"http://{host}", compression=None, open_timeout=60)  # type: ignore[arg-type]


async def first_event(socket: ClientConnection) -> str:
    """Return what the server says first: ready, or busy."""
    return str(json.loads(await asyncio.wait_for(socket.recv(), 60))["event"])


async def answer_of(socket: ClientConnection, do: str, **fields: object) -> dict[str, object]:
    """The reply to a request; events before it are passed over."""
    await socket.send(json.dumps({"id": 1, "do": do, "fields": fields}))
    while True:
        message: dict[str, object] = json.loads(await asyncio.wait_for(socket.recv(), 60))
        if "id" in message:
            return message


async def crowd(lab: RunningLab) -> None:
    """Open all of them, ask for pages meanwhile, search at the sessions that there are, let some never read."""
    pages = httpx.AsyncClient(base_url=lab.url, timeout=60)
    for _ in range(10):
        assert (await pages.get("/analyse")).status_code == 200
    before = resident_bytes(lab.process.pid) or 0
    sockets = await asyncio.gather(*(live(lab) for _ in range(CLIENTS)))
    events = await asyncio.gather(*(first_event(socket) for socket in sockets))
    assert sorted(events) == ["busy"] * (CLIENTS - SESSIONS) + ["ready"] * SESSIONS
    at_sessions = [socket for socket, event in zip(sockets, events, strict=True) if event == "ready"]
    for socket in at_sessions:
        reply = await answer_of(socket, "open", game="connect4", net="uniform")
        assert "error" not in reply
    assert "error" not in await answer_of(at_sessions[0], "start", visits=2**31)  # its reports are never read
    answers = await asyncio.gather(*(pages.get("/analyse") for _ in range(CLIENTS)))
    assert {answer.status_code for answer in answers} == {200}
    grown = (resident_bytes(lab.process.pid) or 0) - before
    assert grown < MOST_GROWTH, f"memory grew by {grown / 1e6:.0f} MB"
    await asyncio.gather(*(socket.close() for socket in sockets))
    late = await live(lab)
    assert await first_event(late) == "ready"
    await late.close()
    await pages.aclose()


def test_two_hundred_clients(tmp_path: Path) -> None:
    lab = start_lab(tmp_path, "--sessions", str(SESSIONS), "--threads", "1", "--memory-mb", "40")
    try:
        run_async(crowd(lab))
    finally:
        stop_lab(lab)

"""The websocket of a session, /live/NAME: requests of a client go to its session, reports of the session to the client.

A message of the client is {"id": number, "do": name, "fields": {...}}; it gets {"id", "reply"} or {"id", "error"}.
Events of the session are {"event", "fields"}. Where the client reads more slowly than the session reports, reports that
are not the newest of their kind are dropped, so nothing piles up.
"""

import asyncio
import json
from collections import deque
from typing import Annotated, Any, Protocol

from pydantic import Field
from starlette.websockets import WebSocket, WebSocketDisconnect

from hauteur.system.errors import one_line
from hauteur.system.settings import Section, validated
from hauteur.web.jobs import SESSION
from hauteur.web.sessions.pool import MOST_ERROR, SESSIONS, BusyError, OnLine, OpenSession

MOST_MESSAGE = 2**20
"""Bytes of a message of a client: a PGN of thousands of moves fits."""
MOST_WAITING = 256
"""Replies and kept events that wait for a client; one that does not read them is disconnected."""
MOST_WAITING_BYTES = 64 * 2**20
"""Bytes of these."""

NORMAL, GOING_AWAY, BAD_MESSAGE, TOO_SLOW = 1000, 1001, 1007, 1008


class ClientMessage(Section):
    """A message of a client."""

    id: Annotated[int, Field(ge=0, le=2**53)]
    do: Annotated[str, Field(pattern="^[a-z][a-z_]{0,40}$")]
    fields: dict[str, Any] = Field(default_factory=dict)


class Mailbox:
    """The queue of one client: all replies, and of each kind of report the newest."""

    def __init__(self) -> None:
        self._kept: deque[str] = deque()
        self._latest: dict[str, str] = {}
        self._filled = asyncio.Event()
        self._bytes = 0
        self.overflowed = False

    def put(self, kind: str, text: str) -> None:
        """Take a line of a session (see `OnLine`)."""
        if kind.startswith("latest:"):
            self._latest[kind] = text
        else:
            kept = [*self._latest.values(), text]  # a report from before must not come after
            self._latest.clear()
            self._kept.extend(kept)
            self._bytes += sum(map(len, kept))
            self.overflowed = len(self._kept) > MOST_WAITING or self._bytes > MOST_WAITING_BYTES
        self._filled.set()

    def event(self, name: str, **fields: Any) -> None:
        """Take an event of the server itself, which is kept like a reply."""
        self.put("event", json.dumps({"event": name, "fields": fields}))

    async def next(self) -> str:
        """Wait for the next line: replies and kept events in order, then reports, of each kind the newest."""
        while True:
            if self._kept:
                text = self._kept.popleft()
                self._bytes -= len(text)
                return text
            if self._latest:
                return self._latest.pop(next(iter(self._latest)))
            self._filled.clear()
            await self._filled.wait()


class Sessions(Protocol):
    """What opens sessions: the pool, or the desk of jobs."""

    def take(self, name: str, on_line: OnLine, /) -> OpenSession:
        """Open a session. Raise BusyError where there are as many as the server allows."""

    async def give_back(self, session: OpenSession, /) -> None:
        """End a session."""


class Client:
    """One client and its session: what it asks is taken in turn, what waits for it is sent."""

    def __init__(self, socket: WebSocket, pool: Sessions, session: str) -> None:
        self.mail = Mailbox()
        self._socket = socket
        self._pool = pool
        self._name = session
        self._session: OpenSession | None = None

    async def serve(self) -> None:
        """Serve the client until it leaves, or does not read what is sent to it."""
        sender = asyncio.create_task(self._send())
        listener: asyncio.Task[None] | None = None
        try:
            self._open()
            listener = asyncio.create_task(self._receive())
            done, _ = await asyncio.wait((sender, listener), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except WebSocketDisconnect:
            pass
        finally:
            sender.cancel()
            if listener is not None:
                listener.cancel()
            if self._session is not None:
                await self._pool.give_back(self._session)

    async def _receive(self) -> None:
        """Take messages until the client leaves; WebSocketDisconnect then."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", GOING_AWAY))
            await self._take(message.get("text") or "")

    async def _take(self, text: str) -> None:
        """Answer one message; whatever is wrong with it is its reply, and the session goes on."""
        try:
            request = validated(ClientMessage, json.loads(text), "message")
        except (ValueError, RecursionError) as error:
            self._refuse(None, f"not a message: {one_line(error)}")
            return
        try:
            if self._session is None:
                raise ValueError("there is no session for this page")
            await self._session.request(request.id, request.do, request.fields)
        except (ValueError, RecursionError) as error:
            self._refuse(request.id, one_line(error))

    def _refuse(self, number: int | None, error: str) -> None:
        """Reply with an error. number: of the message; None where it has none that can be read."""
        self.mail.put("reply", json.dumps({"id": number, "error": error[:MOST_ERROR]}))

    async def _send(self) -> None:
        """Send what comes, one at a time, until too much waits."""
        while not self.mail.overflowed:
            await self._socket.send_text(await self.mail.next())
        await self._socket.close(TOO_SLOW, "the client does not read what it is sent")

    def _open(self) -> None:
        """Open the session and tell the client that it is ready, or that the server is busy."""
        try:
            self._session = self._pool.take(self._name, self.mail.put)
        except BusyError as error:
            self.mail.event("busy", text=str(error))
        else:
            self.mail.event("ready")


async def live(socket: WebSocket) -> None:
    """Answer a websocket at /live/NAME."""
    session = socket.path_params["session"]
    await socket.accept()
    lab = socket.app.state.lab
    if session == SESSION:
        from hauteur.web.job_session import JobSessions  # here: only who begins work needs it

        await Client(socket, JobSessions(lab.desk), session).serve()
    elif session in SESSIONS:
        await Client(socket, lab.pool, session).serve()
    else:
        await socket.close(BAD_MESSAGE, f"there is no session {session!r}"[:100])

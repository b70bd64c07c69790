"""Connections that do nothing, or take nothing, are cut: uvicorn itself would keep them as long as the client does."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

MOST_UNREAD = 8 * 2**20
"""Bytes that wait for a client; what is sent waits for room, so that only answers to floods of pings come so far."""

HEARTBEAT = 4.0
"""Seconds between two pings of a websocket, and to wait for the answer: who is silent for both is cut, and its search
ends.
"""

WANTED_FILES = 4096
"""Files and connections that are enough for every use."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with a look at every connection now and then, the websockets that begin as one among them.

    A connection is cut that was at two looks in a row without a whole request header, or closing with a client that
    does not read what is left. A whole request that gets stuck is the matter of `safety.Guard`. More connections than
    `most` are closed at once.
    """

    seconds = 15.0
    """Between two looks."""
    most = 1000
    """Connections at a time."""
    _stuck: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
            return
        self.loop.call_later(self.seconds, self._look)

    def _look(self) -> None:
        transport = self.transport
        closing = transport.is_closing()
        waits = transport.get_protocol() is self and self.conn.their_state is h11.IDLE
        stuck = (closing, self.cycle) if closing or waits else None
        if (stuck is not None and stuck == self._stuck) or transport.get_write_buffer_size() > MOST_UNREAD:
            transport.abort()
            return
        self._stuck = stuck
        self.loop.call_later(self.seconds, self._look)


class AnsweredProtocol(WebSocketsSansIOProtocol):
    """Websockets; one that is refused with an HTTP answer is over, which uvicorn itself would report as an error."""

    async def send(self, message: ASGISendEvent) -> None:
        """Send, and note that the client has had its answer."""
        await super().send(message)
        self.handshake_complete = self.handshake_complete or self.close_sent


def most_connections() -> int:
    """Return how many connections this process may hold: half of the files that it may open, which are raised first."""
    if sys.platform == "win32":
        return WANTED_FILES // 2
    import resource  # here: not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted) // 2

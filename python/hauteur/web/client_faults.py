"""Faults of clients that are no faults of the program: no traceback of them stands in the terminal of the server.

A request that is no HTTP is answered or dropped by the server; who closes a connection while a reply waits gets none.
"""

import logging
from collections.abc import Iterator

import h11
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected
from websockets.exceptions import WebSocketException

OF_CLIENTS: tuple[type[BaseException], ...] = (
    h11.ProtocolError,
    ClientDisconnect,
    ClientDisconnected,
    WebSocketDisconnect,
    WebSocketException,
    ConnectionError,
)
"""What libraries raise where a client breaks its protocol or is gone."""

AFTER_THE_END = ("websocket.close", "close message", "is not connected", "response already completed")
"""Parts of the messages of the RuntimeErrors that they raise for what is sent to a client that is gone."""

LOGGERS = ("uvicorn.error", "asyncio")


class ClientFaults(logging.Filter):
    """Keeps records out that only have a fault of a client."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown."""
        error = record.exc_info[1] if record.exc_info else None
        return error is None or not all(map(is_of_client, _leaves(error)))


def is_of_client(error: BaseException) -> bool:
    """Return whether a client has brought this about."""
    if isinstance(error, RuntimeError):
        return any(part in str(error) for part in AFTER_THE_END)
    return isinstance(error, OF_CLIENTS)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, or the one that is none."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def keep_out_of_the_terminal() -> None:
    """Let the loggers of the server leave out the faults of clients."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(ClientFaults())

"""What clients do wrong leaves no traceback in the terminal of `hauteur web`; faults of the program do."""

import logging
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

import h11
import pytest
from starlette.websockets import WebSocketDisconnect

from hauteur.web.client_faults import ClientFaults

GONE = RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'")


def record_of(error: BaseException | None) -> logging.LogRecord:
    found = None if error is None else (type(error), error, None)
    return logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception in ASGI application", None, found)


@pytest.mark.parametrize(
    ("error", "is_shown"),
    [
        (h11.LocalProtocolError("x"), False),
        (h11.RemoteProtocolError("x"), False),
        (WebSocketDisconnect(1006), False),
        (BrokenPipeError(), False),
        (ConnectionResetError(), False),
        (GONE, False),
        (ExceptionGroup("two", [GONE, ConnectionResetError()]), False),
        (ExceptionGroup("two", [GONE, KeyError("fault")]), True),
        (RuntimeError("a fault"), True),
        (KeyError("fault"), True),
        (None, True),
    ],
)
def test_faults_of_the_program_are_shown(error: BaseException | None, is_shown: bool) -> None:
    assert ClientFaults().filter(record_of(error)) is is_shown


def send(port: int, *parts: bytes, reply: bool) -> bytes:
    """Send bytes, and close the connection without a farewell, before or after the first bytes of a reply."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for part in parts:
            connection.sendall(part)
        return connection.recv(4096) if reply else b""


def test_malformed_requests_and_closed_sockets_leave_no_traceback(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "hauteur.cli", "web", "--port", "0", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        assert found is not None
        port = int(found[1])
        host = f"Host: 127.0.0.1:{port}\r\n".encode()
        chunked = b"POST / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
        upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + f"Origin: http://127.0.0.1:{port}\r\n\r\n".encode()
        live = b"GET /live/analyse HTTP/1.1\r\n" + host + upgrade + key
        for _ in range(3):
            for reply in (False, True):
                send(port, b"\x00\xff\r\n\r\n", reply=reply)
                send(port, chunked, reply=reply)
                send(port, live, b"\x81\x82\x00\x00\x00\x00{}", reply=reply)
                send(port, live, b"\x81\xff\xff", reply=reply)
                send(port, b"GET /matches HTTP/1.1\r\n" + host + b"\r\n", reply=reply)
        assert send(port, b"GET / HTTP/1.1\r\n" + host + b"\r\n", reply=True).startswith(b"HTTP/1.1 ")
        server.terminate()
        assert "Traceback" not in server.stderr.read()

"""Clients that send nothing, half a header, or never read: their connections end, other clients are served."""

import http.client
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from hauteur.web.app import serve
from hauteur.web.connections import AnsweredProtocol, PatientProtocol, most_connections
from hauteur.web.safety import Door, Guard
from hauteur.web.settings import WebSettings

GET = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class QuickProtocol(PatientProtocol):
    seconds = 0.1


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """A word, or 64 MB of zeros."""
    parts = 1024 if scope["path"] == "/large" else 0
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(parts):
        await send({"type": "http.response.body", "body": bytes(2**16), "more_body": True})
    await send({"type": "http.response.body", "body": b"small"})


@dataclass
class Served:
    address: tuple[str, int]
    server: uvicorn.Server

    def wait_for_connections(self, number: int) -> None:
        """Wait until so many are open."""
        end = time.monotonic() + 20
        while len(self.server.server_state.connections) != number:
            assert time.monotonic() < end, f"{len(self.server.server_state.connections)} are open, not {number}"
            time.sleep(0.01)


@pytest.fixture
def served() -> Iterator[Served]:
    config = uvicorn.Config(
        Guard(application, Door(patience=0.2)), http=QuickProtocol, lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield Served(listener.getsockname(), server)
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("sent", [b"", b"GET / HT", GET[:-2], GET + b"GET / HTTP/1.1\r\nho"])
def test_a_header_that_does_not_end_is_cut(served: Served, sent: bytes) -> None:
    with socket.create_connection(served.address, timeout=20) as slow:
        slow.sendall(sent)
        received = b""
        try:
            while part := slow.recv(1000):
                received += part
        except ConnectionResetError:
            pass
        assert (b"small" in received) == sent.startswith(GET)


def test_requests_one_after_another_are_not_cut(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuickProtocol, "seconds", 0.7)  # much more than between two requests, on a busy machine too
    connection = http.client.HTTPConnection(*served.address, timeout=20)
    own = set()
    for _ in range(20):
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"small"
        own.add(connection.sock.getsockname())
        time.sleep(0.1)
    connection.close()
    assert len(own) == 1


def test_a_client_that_never_reads_is_cut(served: Served) -> None:
    with socket.create_connection(served.address, timeout=20) as deaf:
        deaf.sendall(GET.replace(b"/ ", b"/large "))
        served.wait_for_connections(1)
        served.wait_for_connections(0)


def test_many_idle_clients_do_not_keep_others_out(served: Served) -> None:
    idle = [socket.create_connection(served.address, timeout=20) for _ in range(200)]
    connection = http.client.HTTPConnection(*served.address, timeout=20)
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"small"
    connection.close()
    served.wait_for_connections(0)
    for client in idle:
        client.close()


def test_more_connections_than_the_most_are_closed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuickProtocol, "most", 5)
    monkeypatch.setattr(QuickProtocol, "seconds", 60)
    first = [socket.create_connection(served.address, timeout=20) for _ in range(5)]
    served.wait_for_connections(5)
    with socket.create_connection(served.address, timeout=20) as late, suppress(ConnectionResetError):
        assert late.recv(1) == b""
    first[0].sendall(GET)
    assert b"200 OK" in first[0].recv(1000)
    for client in first:
        client.close()


def test_there_is_room_for_many_connections() -> None:
    assert most_connections() >= 200


def test_a_flood_of_pipelined_requests_is_answered_in_turn(served: Served) -> None:
    with socket.create_connection(served.address, timeout=20) as eager:
        writer = threading.Thread(target=eager.sendall, args=(GET * 500,))
        writer.start()
        received = b""
        while received.count(b"small") < 500:
            received += eager.recv(2**16)
        writer.join()


def test_a_refused_websocket_leaves_no_line_on_stderr(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hauteur.cli", "web", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    found = re.search(r"http://(\S+?)/", process.stdout.readline())
    assert found is not None
    for origin, status in ((Origin("http://elsewhere.example"), 403), (None, 403)):
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(f"ws://{found[1]}/live/analyse", origin=origin),
        ):
            pass
        assert refused.value.response.status_code == status
        assert b"Origin" in (refused.value.response.body or b"")
    with connect(f"ws://{found[1]}/live/watch", origin=Origin(f"http://{found[1]}")):
        pass
    process.terminate()
    _, errors = process.communicate()
    assert errors == ""


def test_clients_are_asked_for_a_sign_of_life_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that gives none has its websocket closed, which ends its search."""
    seen = list[uvicorn.Config]()
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: seen.append(self.config))
    serve(WebSettings(roots=(tmp_path,), port=0))
    assert (seen[0].ws_ping_interval or 1e9) + (seen[0].ws_ping_timeout or 1e9) <= 10
    assert seen[0].ws is AnsweredProtocol
    assert capsys.readouterr().err == ""

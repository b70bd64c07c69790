"""The checks before the application: host, origin, methods, access token, sizes; headers on every answer."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from async_runs import run_async
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from hauteur.web.safety import HEADERS, AccessMiddleware, AccessPolicy, is_loopback

OWN = "http://127.0.0.1:8000"


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body())


async def this_file(request: Request) -> FileResponse:
    return FileResponse(__file__)


async def fails(request: Request) -> PlainTextResponse:
    raise RuntimeError("a fault of the application")


async def live(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())
    await socket.close()


ROUTES = [
    Route("/", echo, methods=["GET", "POST", "DELETE"]),
    Route("/file", this_file),
    Route("/fails", fails),
    WebSocketRoute("/live", live),
]


def client_of(policy: AccessPolicy, base_url: str = OWN) -> TestClient:
    """A browser's view of a small application behind the policy."""
    guarded = AccessMiddleware(Starlette(routes=ROUTES), policy)
    return TestClient(guarded, base_url=base_url, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def policy() -> AccessPolicy:
    return AccessPolicy.at("127.0.0.1", most_header=2000)


@pytest.fixture
def client(policy: AccessPolicy) -> Iterator[TestClient]:
    with client_of(policy) as client:
        yield client


def live_at(client: TestClient) -> str:
    """The whole address of the websocket: the test client knows no other way to say the host."""
    return f"ws://{client.base_url.netloc.decode()}/live"


def denied(client: TestClient, headers: dict[str, str]) -> int:
    """The code with which a websocket is closed in the place of a connection."""
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(live_at(client), headers=headers):
        pass
    return refused.value.code


@pytest.mark.parametrize("path", ["/", "/file", "/fails", "/absent", "/?host=evil"])
def test_every_answer_has_the_headers(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"host": "evil.example"} if "evil" in path else {})
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == ("no-cache" if path == "/file" else "no-store")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_own_names_are_let_in(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "evil@127.0.0.1",
    "127.0.0.1:x",
    "127.0.0.1/",
    "",
    "[::1",
    "10.0.0.1",
]


@pytest.mark.parametrize("host", HOSTS)
def test_other_hosts_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert answer.text == "this server is 127.0.0.1 or ::1 or localhost, not the host that was asked for\n"


def test_two_hosts_are_refused(client: TestClient) -> None:
    assert client.get("/", headers=[("host", "127.0.0.1"), ("host", "evil.example")]).status_code == 421


ORIGINS = ["http://evil.example", "null", "", "http://127.0.0.1:9000", "http://localhost:8000", "file://127.0.0.1:8000"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_open_no_websocket(client: TestClient, origin: str) -> None:
    assert denied(client, {"origin": origin}) == 1008


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_nothing_is_changed_by_a_request(client: TestClient, method: str) -> None:
    answer = client.request(method, "/", headers={"origin": OWN})
    assert (answer.status_code, answer.text) == (405, "this server has nothing that a request changes\n")


def test_a_websocket_must_name_its_origin(client: TestClient) -> None:
    assert denied(client, {}) == 1008


def test_a_websocket_of_the_own_origin_works(client: TestClient) -> None:
    with client.websocket_connect(live_at(client), headers={"origin": OWN}) as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_on_loopback_no_token_is_demanded(host: str) -> None:
    assert is_loopback(host)
    assert AccessPolicy.at(host).token is None


def test_another_address_demands_the_token() -> None:
    policy = AccessPolicy.at("10.1.2.3")
    origin = {"origin": "http://10.1.2.3:8000"}
    with client_of(policy, "http://10.1.2.3:8000") as client:
        for path in ("/", "/?token=x", "/?token=", "/absent"):
            assert client.get(path).status_code == 403
        assert denied(client, origin) == 1008
        moved = client.get(f"/absent%20b?x=1&token={policy.token}&y=%26")
        assert (moved.status_code, moved.headers["location"]) == (303, "/absent%20b?x=1&y=%26")
        assert re.fullmatch(r"hauteur_\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict", moved.headers["set-cookie"])
        assert client.get("/").status_code == 200
        with client.websocket_connect(live_at(client), headers=origin) as socket:
            socket.send_text("hello")
            assert socket.receive_text() == "hello"


def test_the_token_leads_to_no_other_host() -> None:
    policy = AccessPolicy.at("10.1.2.3")
    with client_of(policy, "http://10.1.2.3:8000") as client:
        location = client.get(f"//evil.example/?token={policy.token}").headers["location"]
        assert location.startswith("/")
        assert not location.startswith("//")


def test_all_addresses_are_figures_or_the_own_name() -> None:
    policy = AccessPolicy.at("0.0.0.0")
    with client_of(policy, "http://192.168.1.2:8000") as client:
        assert client.get(f"/?token={policy.token}").status_code == 303
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421


def test_long_headers_are_refused(client: TestClient) -> None:
    assert client.get("/", headers={"x-long": "x" * 2000}).status_code == 431
    assert client.get("/?" + "x" * 2000).status_code == 431


def test_unreadable_queries_and_cookies_are_none() -> None:
    policy = AccessPolicy.at("10.1.2.3")
    with client_of(policy, "http://10.1.2.3:8000") as client:
        assert client.get("/?" + "&".join("abc")).status_code == 403
        assert client.get("/?" + "&" * 500).status_code == 403
        for cookie in ("hauteur_8000", 'a="', "hauteur_8000=\xff\xfe", ";;;=,=", "[]=1"):
            assert client.get("/", headers=[(b"cookie", cookie.encode("latin-1"))]).status_code == 403


def test_lifespan_passes() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: object, send: object) -> None:
        seen.append(scope["type"])

    async def never(*_: object) -> Any:
        await asyncio.Event().wait()

    run_async(AccessMiddleware(app, AccessPolicy())({"type": "lifespan"}, never, never))
    assert seen == ["lifespan"]

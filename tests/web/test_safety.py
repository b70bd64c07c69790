"""The checks before the application: host, origin, CSRF token, access token, sizes, counts; headers on every answer."""

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
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from hauteur.web.safety import HEADERS, Door, Exchange, Guard, is_loopback

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


def client_of(door: Door, base_url: str = OWN) -> TestClient:
    """A browser's view of a small application behind the door."""
    guard = Guard(Starlette(routes=ROUTES), door)
    return TestClient(guard, base_url=base_url, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def door() -> Door:
    return Door.at("127.0.0.1", most_body=1000, most_header=2000)


@pytest.fixture
def client(door: Door) -> Iterator[TestClient]:
    with client_of(door) as client:
        yield client


def live_at(client: TestClient) -> str:
    """The whole address of the websocket: the test client knows no other way to say the host."""
    return f"ws://{client.base_url.netloc.decode()}/live"


def denied(client: TestClient, headers: dict[str, str]) -> int:
    """The status that a websocket gets in the place of a connection."""
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(live_at(client), headers=headers):
        pass
    return int(refused.value.status_code)


def with_csrf(door: Door, **more: str) -> dict[str, str]:
    return {"x-csrf-token": door.csrf, "origin": OWN} | more


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


def test_a_browser_gets_a_page(client: TestClient) -> None:
    answer = client.get("/", headers={"host": "evil.example", "accept": "text/html,*/*"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>421 Misdirected Request</h1>" in answer.text


ORIGINS = ["http://evil.example", "null", "", "http://127.0.0.1:9000", "http://localhost:8000", "file://127.0.0.1:8000"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_change_nothing(client: TestClient, door: Door, origin: str) -> None:
    answer = client.post("/", content="x", headers=with_csrf(door, origin=origin))
    assert (answer.status_code, "another site" in answer.text) == (403, True)
    assert denied(client, {"origin": origin}) == 403


def test_a_websocket_must_name_its_origin(client: TestClient) -> None:
    assert denied(client, {}) == 403


def test_a_websocket_of_the_own_origin_works(client: TestClient) -> None:
    with client.websocket_connect(live_at(client), headers={"origin": OWN}) as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello"


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH"])
@pytest.mark.parametrize("token", [None, "", "x", "é"])
def test_changing_requests_need_the_csrf_token(client: TestClient, method: str, token: str | None) -> None:
    headers = [(b"origin", OWN.encode())] + ([] if token is None else [(b"x-csrf-token", token.encode())])
    answer = client.request(method, "/", content="x", headers=headers)
    assert (answer.status_code, "CSRF" in answer.text) == (403, True)


def test_the_csrf_token_lets_in(client: TestClient, door: Door) -> None:
    assert client.post("/", content="x", headers=with_csrf(door)).text == "x"
    assert client.post("/", content="x", headers={"x-csrf-token": door.csrf}).text == "x"
    twice = [("x-csrf-token", door.csrf), ("x-csrf-token", "y")]
    assert client.post("/", content="x", headers=twice).status_code == 403


def test_the_csrf_token_is_of_one_start() -> None:
    assert Door().csrf != Door().csrf


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_on_loopback_no_token_is_demanded(host: str) -> None:
    assert is_loopback(host)
    assert Door.at(host).token is None


def test_another_address_demands_the_token() -> None:
    door = Door.at("10.1.2.3")
    origin = {"origin": "http://10.1.2.3:8000"}
    with client_of(door, "http://10.1.2.3:8000") as client:
        for path in ("/", "/?token=x", "/?token=", f"/?token={door.csrf}", "/absent"):
            assert client.get(path).status_code == 403
        assert denied(client, origin) == 403
        moved = client.get(f"/absent%20b?x=1&token={door.token}&y=%26")
        assert (moved.status_code, moved.headers["location"]) == (303, "/absent%20b?x=1&y=%26")
        assert re.fullmatch(r"hauteur_\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict", moved.headers["set-cookie"])
        assert client.get("/").status_code == 200
        assert client.post("/", content="x").status_code == 403
        assert client.post("/", content="x", headers={"x-csrf-token": door.csrf} | origin).text == "x"
        with client.websocket_connect(live_at(client), headers=origin) as socket:
            socket.send_text("hello")
            assert socket.receive_text() == "hello"


def test_the_token_leads_to_no_other_host() -> None:
    door = Door.at("10.1.2.3")
    with client_of(door, "http://10.1.2.3:8000") as client:
        location = client.get(f"//evil.example/?token={door.token}").headers["location"]
        assert location.startswith("/")
        assert not location.startswith("//")


def test_a_post_is_not_let_in_by_a_token_in_its_address() -> None:
    door = Door.at("10.1.2.3")
    with client_of(door, "http://10.1.2.3:8000") as client:
        assert client.post(f"/?token={door.token}", headers={"x-csrf-token": door.csrf}).status_code == 403


def test_all_addresses_are_figures_or_the_own_name() -> None:
    door = Door.at("0.0.0.0")
    with client_of(door, "http://192.168.1.2:8000") as client:
        assert client.get(f"/?token={door.token}").status_code == 303
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421


def test_long_bodies_are_refused(client: TestClient, door: Door) -> None:
    def parts() -> Iterator[bytes]:
        yield from [b"x" * 100] * 11

    assert client.post("/", content=b"x" * 1000, headers=with_csrf(door)).status_code == 200
    for content in (b"x" * 1001, parts()):
        answer = client.post("/", content=content, headers=with_csrf(door))
        assert answer.status_code == 413
        assert "the body is larger than 1000 bytes" in answer.text


@pytest.mark.parametrize(("length", "status"), [("-1", 400), ("1e3", 400), ("٣", 400), ("9" * 400, 413)])
def test_lengths_that_are_none(client: TestClient, door: Door, length: str, status: int) -> None:
    headers = [(b"content-length", length.encode()), (b"x-csrf-token", door.csrf.encode())]
    assert client.post("/", headers=headers).status_code == status


def test_long_headers_are_refused(client: TestClient) -> None:
    assert client.get("/", headers={"x-long": "x" * 2000}).status_code == 431
    assert client.get("/?" + "x" * 2000).status_code == 431


def test_unreadable_queries_and_cookies_are_none() -> None:
    door = Door.at("10.1.2.3")
    with client_of(door, "http://10.1.2.3:8000") as client:
        assert client.get("/?" + "&".join("abc")).status_code == 403
        assert client.get("/?" + "&" * 500).status_code == 403
        for cookie in ("hauteur_8000", 'a="', "hauteur_8000=\xff\xfe", ";;;=,=", "[]=1"):
            assert client.get("/", headers=[(b"cookie", cookie.encode("latin-1"))]).status_code == 403


Scope = dict[str, Any]


def scope_of(kind: str = "http", **more: object) -> Scope:
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1")]
    return {"type": kind, "method": "GET", "path": "/", "query_string": b"", "headers": headers} | more


async def no_message() -> Any:
    await asyncio.Event().wait()


async def never(message: Any) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_more_clients_than_the_most_are_refused(kind: str) -> None:
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    async def stays(scope: object, receive: object, send: object) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        guard = Guard(stays, Door(most_open=2))
        first = [asyncio.create_task(guard(scope_of(kind), no_message, keep)) for _ in range(2)]
        await asyncio.sleep(0)
        await guard(scope_of(kind, extensions={"websocket.http.response": {}}), no_message, keep)
        for task in first:
            task.cancel()
        await asyncio.gather(*first, return_exceptions=True)
        assert guard.open == {"http": 0, "websocket": 0}

    run_async(main())
    assert sent[0]["status"] == 503
    assert sent[1]["body"] == b"2 clients are served, the most at once; close pages or try again later\n"


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    door = Door(patience=0.01)
    app = Starlette(routes=ROUTES)
    headers = [(b"host", b"localhost"), (b"x-csrf-token", door.csrf.encode())]
    run_async(Guard(app, door)(scope_of(method="POST", headers=headers, root_path=""), no_message, keep))
    assert sent[0]["status"] == 408
    assert sent[1]["body"] == b"the body did not arrive within 0.01 s"


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_client_that_never_reads_is_left(kind: str) -> None:
    ended: list[bool] = []

    async def app(scope: object, receive: Any, send: Any) -> None:
        try:
            await send({"type": "websocket.accept" if kind == "websocket" else "http.response.start", "status": 200})
        finally:
            ended.append(True)

    run_async(Guard(app, Door(patience=0.01))(scope_of(kind), no_message, never))
    assert ended == [True]


def test_a_websocket_without_answers_in_words_is_closed() -> None:
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    run_async(Guard(Starlette(), Door(most_header=10))(scope_of("websocket"), no_message, keep))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_lifespan_passes() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: object, send: object) -> None:
        seen.append(scope["type"])

    run_async(Guard(app, Door())({"type": "lifespan"}, no_message, never))
    assert seen == ["lifespan"]


def test_a_visit_counts_nothing_but_the_body() -> None:
    async def main() -> None:
        visit = Exchange(scope_of(), no_message, never, Door())
        assert visit.check() is None
        assert visit.body == 0

    run_async(main())

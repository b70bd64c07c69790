"""Who may speak to the server and how much: checks before the application sees a request, headers on every answer.

A page on another site can make a visitor's browser send requests to this machine. So the Host must be a name of this
server (DNS rebinding), the Origin of changing requests and of websockets this server itself, and a changing request
carries a value that only our pages can read (CSRF). An address that other machines reach demands a token as well.
"""

import asyncio
import hmac
import html
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer, whatever the application answers."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::"})
"""Addresses that stand for all of this machine."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, so that they need neither Origin nor CSRF token."""

CLOSED = 1008
"""Websocket close code: policy violation."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that is bound to `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_of(host: str) -> frozenset[str]:
    """Return the names under which a server that is bound to `host` may be addressed."""
    own = {socket.gethostname().lower()} if host in EVERYWHERE else set()
    return LOOPBACK | {host.lower()} | own


@dataclass(frozen=True)
class Door:
    """What one start of the server lets in."""

    host: str = "127.0.0.1"
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str | None = None
    """Demanded where other machines reach the server; None: nothing is demanded."""
    names: frozenset[str] = LOOPBACK
    most_body: int = 2**21
    """Bytes of a request's body; games and puzzles come by websocket (`live.MOST_MESSAGE`)."""
    most_header: int = 16 * 2**10
    """Bytes of a request's address and headers together."""
    most_open: int = 1000
    """Requests that are answered at once, and as many websockets beside them."""
    patience: float = 30.0
    """Seconds that a client has to send a body, or to take in one message."""

    @classmethod
    def at(cls, host: str, **limits: Any) -> "Door":
        """Return the door of a server that is bound to `host`, with a new token where other machines reach it."""
        token = None if is_loopback(host) else secrets.token_urlsafe(32)
        return cls(host=host, token=token, names=names_of(host), **limits)


class Guard:
    """ASGI middleware around the whole application, its own error pages included."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self.door = door
        self.open = {"http": 0, "websocket": 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, count, and pass on what is let in."""
        kind = scope["type"]
        if kind not in self.open:
            await self.app(scope, receive, send)
            return
        visit = Exchange(scope, receive, send, self.door)
        self.open[kind] += 1
        try:
            if self.open[kind] > self.door.most_open:
                line = f"{self.door.most_open} clients are served, the most at once; close pages or try again later"
                raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, line)
            moved_to = visit.check()
            await (visit.move(moved_to) if moved_to else self.app(scope, visit.receive, visit.send))
        except HTTPException as refusal:
            await visit.refuse(refusal)
        except (ClientDisconnect, ClientTooSlowError):
            pass  # The server closes a connection whose answer was not finished.
        finally:
            self.open[kind] -= 1


class ClientTooSlowError(ConnectionError):
    """A client did not take in what it was sent."""


class Exchange:
    """One request, or one websocket from its handshake on."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, door: Door) -> None:
        self.scope = scope
        self.door = door
        self.wire_receive = receive
        self.wire_send = send
        self.headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.websocket = scope["type"] == "websocket"
        self.since = asyncio.get_running_loop().time()
        self.body = 0
        self.whole = False
        self.answered = False

    def check(self) -> str | None:
        """Raise HTTPException, or return where a browser that has the token in its address is sent, else None."""
        self._check_sizes()
        host = self._check_host()
        changing = self.websocket or self.scope["method"] not in READING
        if changing:
            self._check_origin(host)
        moved_to = self._check_token() if self.door.token is not None else None
        if changing and not self.websocket and not same(self._one("x-csrf-token"), self.door.csrf):
            line = "the request lacks this page's CSRF token; reload the page (the server may have been restarted)"
            raise HTTPException(HTTPStatus.FORBIDDEN, line)
        return moved_to

    def _one(self, name: str) -> str | None:
        """Return the value of a header that is there exactly once."""
        values = [value for key, value in self.headers if key == name.encode()]
        return values[0].decode("latin-1") if len(values) == 1 else None

    def _check_sizes(self) -> None:
        address = len(self.scope.get("raw_path") or b"") + len(self.scope["query_string"])
        if address + sum(len(key) + len(value) for key, value in self.headers) > self.door.most_header:
            line = f"address and headers are longer than {self.door.most_header} bytes"
            raise HTTPException(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, line)
        length = self._one("content-length") or "0"
        if not length.isascii() or not length.isdigit():
            raise HTTPException(HTTPStatus.BAD_REQUEST, "Content-Length is not a number")
        if len(length) > 18 or int(length) > self.door.most_body:
            raise self._too_large()

    def _too_large(self) -> HTTPException:
        line = f"the body is larger than {self.door.most_body} bytes, the most that is accepted"
        return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, line)

    def _check_host(self) -> str:
        host = self._one("host")
        name = host_name(host or "")
        if host is None or (name not in self.door.names and not (self.door.host in EVERYWHERE and is_ip(name))):
            line = f"this server is {' or '.join(sorted(self.door.names))}, not the host that was asked for"
            raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, line)
        return host

    def _check_origin(self, host: str) -> None:
        sent = any(key == b"origin" for key, _ in self.headers)
        if not sent and not self.websocket:
            return  # No browser, or an old one: the CSRF token alone decides.
        scheme, _, rest = (self._one("origin") or "").partition("://")
        if scheme not in ("http", "https") or rest.lower() != host.lower():
            raise HTTPException(
                HTTPStatus.FORBIDDEN, "the request comes from another site (its Origin is not this server)"
            )

    def _check_token(self) -> str | None:
        token, query = self.door.token, parse_query(self.scope["query_string"])
        given = [value for key, value in query if key == "token"]
        if given and self.scope.get("method") == "GET" and same(given[0], token):
            rest = urlencode([(key, value) for key, value in query if key != "token"])
            path = "/" + quote(self.scope["path"].lstrip("/"))
            return f"{path}?{rest}" if rest else path
        if not same(self._cookie(), token):
            line = "open the address with ?token=... that `hauteur web` printed when it started"
            raise HTTPException(HTTPStatus.FORBIDDEN, line)
        return None

    def _cookie_name(self) -> str:
        """Cookies know no ports: one name for each, so that two servers of a machine do not disturb each other."""
        return f"hauteur_{(self.scope.get('server') or ('', 0))[1] or 0}"

    def _cookie(self) -> str | None:
        try:
            found = SimpleCookie(self._one("cookie") or "").get(self._cookie_name())
        except CookieError:
            return None
        return None if found is None else found.value

    async def move(self, address: str) -> None:
        """Exchange the token in the address for a cookie that scripts cannot read."""
        cookie = f"{self._cookie_name()}={self.door.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", address.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await self.send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})

    async def receive(self) -> Message:
        """Pass on what the client sends, with limits on the size of a body and on the wait for all of it."""
        if self.websocket or self.whole:
            return await self.wire_receive()
        try:
            async with asyncio.timeout_at(self.since + self.door.patience):
                message = await self.wire_receive()
        except TimeoutError:
            line = f"the body did not arrive within {self.door.patience:g} s"
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, line) from None
        self.body += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.body > self.door.most_body:
            raise self._too_large()
        return message

    async def send(self, message: Message) -> None:
        """Pass on what the application answers, with the headers; ClientTooSlowError where nobody reads it."""
        if message["type"] in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
            self.answered = True
            message = {**message, "headers": with_headers(message.get("headers", ()))}
        try:
            async with asyncio.timeout(self.door.patience):
                await self.wire_send(message)
        except TimeoutError:
            raise ClientTooSlowError(f"nothing was read for {self.door.patience:g} s") from None

    async def refuse(self, refusal: HTTPException) -> None:
        """Report why, as a page where a browser asks for one; an answer that has begun is broken off."""
        if self.answered:
            return
        kind = "websocket.http.response" if self.websocket else "http.response"
        if self.websocket and kind not in self.scope.get("extensions", {}):
            await self.wire_send({"type": "websocket.close", "code": CLOSED, "reason": refusal.detail[:100]})
            return
        page = "text/html" in (self._one("accept") or "")
        body = (refusal_page(refusal) if page else f"{refusal.detail}\n").encode()
        headers = [
            (b"content-type", b"text/html; charset=utf-8" if page else b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await self.send({"type": f"{kind}.start", "status": refusal.status_code, "headers": headers})
        await self.send({"type": f"{kind}.body", "body": b"" if self.scope.get("method") == "HEAD" else body})


def with_headers(given: Any) -> list[tuple[bytes, bytes]]:
    """Return headers of an answer with those of every answer: what has an ETag may be kept and asked for again."""
    kept = [(key, value) for key, value in given if key.decode("latin-1").lower() not in HEADERS]
    names = {key.lower() for key, _ in kept}
    if b"cache-control" not in names:
        kept.append((b"cache-control", b"no-cache" if b"etag" in names else b"no-store"))
    return kept + [(key.encode(), value.encode()) for key, value in HEADERS.items()]


def host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets; empty where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.netloc == host and parts.username is None and (parts.port is None or parts.port >= 0)
        return (parts.hostname or "").lower() if plain else ""
    except ValueError:
        return ""


def is_ip(name: str) -> bool:
    """Return whether a name is an address in figures, which no other site can have for its own."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def same(given: str | None, expected: str | None) -> bool:
    """Return whether two secrets are equal, in a time that does not depend on how much of them is."""
    return given is not None and expected is not None and hmac.compare_digest(given.encode(), expected.encode())


def parse_query(query: bytes) -> list[tuple[str, str]]:
    """Return names and values of an address, none where it cannot be read."""
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []


def refusal_page(refusal: HTTPException) -> str:
    """Return a refusal as a page, without style: who is refused gets no files."""
    title = f"{refusal.status_code} {HTTPStatus(refusal.status_code).phrase}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: hauteur</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><main><h1>{title}</h1><p>{html.escape(refusal.detail)}</p></main></body></html>\n"
    )

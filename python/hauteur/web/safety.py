"""Access to the server: checks before the application sees a request, headers on every answer.

A page on another site can make a visitor's browser send requests to this machine. So the Host must be a name of this
server (DNS rebinding), the Origin of websockets this server itself, and there are no requests that change anything:
work is done and begun in websockets alone. An address that other machines reach demands a token as well.
"""

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.exceptions import HTTPException
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
READING = frozenset({"GET", "HEAD"})
"""Methods that are served."""


@dataclass(frozen=True)
class AccessPolicy:
    """The access policy of one start of the server.

    token: demanded where other machines reach the server, None: nothing is; names: under which it may be addressed;
    most_header: bytes of a request's address and headers together.
    """

    host: str = "127.0.0.1"
    token: str | None = None
    names: frozenset[str] = LOOPBACK
    most_header: int = 16 * 2**10

    @classmethod
    def at(cls, host: str, **limits: Any) -> "AccessPolicy":
        """Return the policy of a server that is bound to `host`, with a new token where other machines reach it."""
        own = {socket.gethostname().lower()} if host in EVERYWHERE else set()
        token = None if is_loopback(host) else secrets.token_urlsafe(32)
        return cls(host, token, LOOPBACK | {host.lower()} | own, **limits)

    def check(self, scope: Scope) -> str | None:
        """Raise HTTPException, or return where a browser that has the token in its address is sent, else None."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        size += sum(len(key) + len(value) for key, value in headers)
        if size > self.most_header:
            line = f"address and headers are longer than {self.most_header} bytes"
            raise HTTPException(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, line)
        host = header(scope, "host")
        name = host_name(host or "")
        is_own_address = self.host in EVERYWHERE and is_ip(name)
        if host is None or (name not in self.names and not is_own_address):
            line = f"this server is {' or '.join(sorted(self.names))}, not the host that was asked for"
            raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, line)
        if scope["type"] == "websocket":
            scheme, _, rest = (header(scope, "origin") or "").partition("://")
            if scheme not in ("http", "https") or rest.lower() != host.lower():
                line = "the request comes from another site (its Origin is not this server)"
                raise HTTPException(HTTPStatus.FORBIDDEN, line)
        elif scope["method"] not in READING:
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, "this server has nothing that a request changes")
        return None if self.token is None else self._check_token(scope)

    def _check_token(self, scope: Scope) -> str | None:
        """Return where the token goes into a cookie, None where it is there; HTTPException without a right one."""
        query = parse_query(scope["query_string"])
        given = [value for key, value in query if key == "token"]
        if given and scope.get("method") == "GET" and same(given[0], self.token):
            rest = urlencode([(key, value) for key, value in query if key != "token"])
            path = "/" + quote(scope["path"].lstrip("/"))
            return f"{path}?{rest}" if rest else path
        if not same(cookie_of(scope), self.token):
            line = "open the address with ?token=... that `hauteur web` printed when it started"
            raise HTTPException(HTTPStatus.FORBIDDEN, line)
        return None


class AccessMiddleware:
    """ASGI middleware around the whole application, its own error pages included."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, redirect or pass on a request; what is none, as the start of the server, passes."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": with_headers(message.get("headers", ()))}
            await send(message)

        try:
            moved_to = self.policy.check(scope)
        except HTTPException as refusal:
            await refuse(scope, answer, refusal)
            return
        if moved_to:
            await self._move(scope, answer, moved_to)
        else:
            await self.app(scope, receive, answer)

    async def _move(self, scope: Scope, send: Send, address: str) -> None:
        """Exchange the token in the address for a cookie that scripts cannot read."""
        cookie = f"{cookie_name(scope)}={self.policy.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", address.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def refuse(scope: Scope, send: Send, refusal: HTTPException) -> None:
    """Report why a request is refused, as a line of text; a websocket is closed."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.detail[:100]})
        return
    body = f"{refusal.detail}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope.get("method") == "HEAD" else body})


def header(scope: Scope, name: str) -> str | None:
    """Return the value of a header that is there exactly once."""
    values: list[bytes] = [value for key, value in scope["headers"] if key == name.encode()]
    if len(values) != 1:
        return None
    return values[0].decode("latin-1")


def cookie_name(scope: Scope) -> str:
    """Return the name of the token's cookie, one for each port: cookies know none."""
    return f"hauteur_{(scope.get('server') or ('', 0))[1] or 0}"


def cookie_of(scope: Scope) -> str | None:
    """Return the token that a browser has in its cookie."""
    try:
        found = SimpleCookie(header(scope, "cookie") or "").get(cookie_name(scope))
    except CookieError:
        return None
    return None if found is None else found.value


def with_headers(given: Any) -> list[tuple[bytes, bytes]]:
    """Return headers of an answer with those of every answer: what has an ETag may be kept and asked for again."""
    kept = []
    for key, value in given:
        if key.decode("latin-1").lower() not in HEADERS:
            kept.append((key, value))
    names = {key.lower() for key, _ in kept}
    if b"cache-control" not in names:
        kept.append((b"cache-control", b"no-cache" if b"etag" in names else b"no-store"))
    return kept + [(key.encode(), value.encode()) for key, value in HEADERS.items()]


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that is bound to `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets; empty where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        has_port = parts.port is None or parts.port >= 0  # raises ValueError for one that is no number
        plain = parts.netloc == host and parts.username is None and has_port
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
    if given is None or expected is None:
        return False
    return hmac.compare_digest(given.encode(), expected.encode())


def parse_query(query: bytes) -> list[tuple[str, str]]:
    """Return names and values of an address, none where it cannot be read."""
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []

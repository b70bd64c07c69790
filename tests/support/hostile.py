"""Requests and messages that no program sends by accident: random, but the same for the same seed."""

import json
import random
import string
from typing import Any
from urllib.parse import quote

from starlette.types import Message, Scope

METHODS = (
    *["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"],
    "X" * 300,
    "",
)
UP = ("../", "..%2f", "%2e%2e/", "..\\", "....//", "..%5c", "%252e%252e%252f", "/./", "..;/", "\0", "%00", "%c0%af")
TARGETS = ("etc/passwd", "pyproject.toml", "app.py", "windows/win.ini", "proc/self/environ", "", "~root", "x.js")
FORM = "application/x-www-form-urlencoded"
TYPES = ("application/json", FORM, "multipart/form-data; boundary=x", "text/html", "", "x")
HEADERS = ["accept", "cookie", "range", "if-none-match", "if-modified-since", "content-length", "x-forwarded-host"]
ODD_TEXTS = (
    *(
        "",
        " ",
        "\0",
        "é",
        "\ud800",
        "😀" * 50,
        "-1",
        "1e999",
        "NaN",
        "null",
        "true",
        "[]",
        "{}",
        "' or 1=1 --",
        "A" * 5000,
    ),
    *("<script>alert(1)</script>", "{{ 7 * 7 }}", "%s%n", "../../../etc/passwd", "uci:cat", "gtp:sh -c id"),
)
ODD_NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308, 5e-324)


class Hostile:
    """A source of such things. words: what the application itself knows: names of fields, games, nets."""

    def __init__(self, seed: int, words: tuple[str, ...] = ()) -> None:
        self.random = random.Random(seed)
        self.words = words

    def noise(self, most: int = 60) -> bytes:
        """Random bytes."""
        return self.random.randbytes(self.random.randrange(most))

    def text(self) -> str:
        """A text: a known word, a nasty one, or letters."""
        kind = self.random.randrange(4)
        if kind == 0 and self.words:
            return self.random.choice(self.words)
        if kind == 1:
            return "".join(self.random.choices(string.printable, k=self.random.randrange(30)))
        return self.random.choice(ODD_TEXTS)

    def value(self, depth: int = 3) -> Any:
        """A value as JSON has them, of any shape."""
        kind = self.random.randrange(8 if depth else 5)
        if kind < 2:
            return self.text()
        if kind == 2:
            return self.random.choice(ODD_NUMBERS)
        if kind < 5:
            return self.random.choice((None, True, False, self.random.randrange(100)))
        if kind == 5:
            return [self.value(depth - 1) for _ in range(self.random.choice((0, 1, 2, 3, 40)))]
        return self.fields(depth - 1)

    def fields(self, depth: int = 2) -> dict[str, Any]:
        """An object, often with names that mean something; rarely empty, which for many requests means the defaults."""
        number = self.random.choice((0, *(1, 2, 3, 4) * 8))
        return {self.text(): self.value(depth) for _ in range(number)}

    def path(self, paths: tuple[str, ...]) -> bytes:
        """A path as it stands in a request, percent signs included."""
        base = self.random.choice(paths)
        kind = self.random.randrange(9)
        if kind > 4:
            return base.encode()
        if kind == 1:
            return (
                base + "/" + self.random.choice(UP) * self.random.randrange(1, 9) + self.random.choice(TARGETS)
            ).encode()
        if kind == 2:
            return (
                "/static/" + self.random.choice(UP) * self.random.randrange(9) + self.random.choice(TARGETS)
            ).encode()
        if kind == 3:
            return b"/" + quote(self.noise()).encode()
        if kind == 0:
            return (base + "/" + quote(self.text().encode("utf-8", "surrogatepass"))).encode()
        return b"/" + self.noise()

    def query(self) -> bytes:
        """Return what follows the question mark."""
        if self.random.random() < 0.2:
            return quote(self.noise(), safe="&=+%").encode()
        pairs = [(self.text(), self.text()) for _ in range(self.random.randrange(4))]
        coded = [[quote(part.encode("utf-8", "surrogatepass")) for part in pair] for pair in pairs]
        return "&".join("=".join(pair) for pair in coded).encode()

    def body(self) -> bytes:
        """The body of a request: JSON, a form, or noise."""
        kind = self.random.randrange(5)
        if kind == 0:
            return b""
        if kind == 1:
            return self.noise(3000)
        if kind == 2:
            return self.query()
        if kind == 3:
            return b"[" * self.random.choice((1, 100, 100_000))
        return json.dumps(self.value()).encode()

    def headers(self, kept: dict[str, str]) -> list[tuple[bytes, bytes]]:
        """Those that are given, others beside them, sometimes one of them twice or wrong."""
        found = [(key.encode(), value.encode()) for key, value in kept.items()]
        for _ in range(self.random.randrange(4)):
            name = self.random.choice(HEADERS)
            found.append(
                (name.encode(), self.random.choice((b"", b"text/html", b"bytes=0-5,-9,x", b"*", self.noise())))
            )
        if self.random.random() < 0.1:
            found.append((self.random.choice(("host", "origin")).encode(), self.noise()))
        return [(name, value.replace(b"\n", b"").replace(b"\r", b"")) for name, value in found]

    def request(self, paths: tuple[str, ...], kept: dict[str, str]) -> tuple[Scope, list[Message]]:
        """A request as an ASGI server passes it on: its scope, and the messages of its body."""
        raw = self.path(paths)
        body = self.body()
        headers = self.headers({**kept, "content-type": self.random.choice(TYPES)})
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self.random.choice(METHODS),
            "scheme": "http",
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 5000),
            "root_path": "",
            "path": unquoted(raw),
            "raw_path": raw,
            "query_string": self.query(),
            "headers": headers,
        }
        parts = [body[: len(body) // 2], body[len(body) // 2 :]] if self.random.random() < 0.3 else [body]
        messages: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages[-1]["more_body"] = False
        if self.random.random() < 0.05:
            messages[-1] = {"type": "http.disconnect"}
        return scope, messages

    def message(self, requests: tuple[str, ...]) -> str | bytes:
        """A message for a session that knows these requests; most are none, some are refused, a few are done."""
        kind = self.random.choice((0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 6, 7))
        if kind == 0:
            return self.noise(300)
        if kind == 1:
            return self.noise(300).decode("latin-1")
        if kind == 2:
            return self.random.choice(("[" * 100_000, '{"a":' * 50_000, "9" * 10_000, "", "null", "NaN", '"', "1e400"))
        if kind == 3:
            return json.dumps(self.value())
        number = self.random.choice((1, 7, 2**40, *([self.value(1)] if kind == 4 else [])))
        do = self.text() if kind == 5 else self.random.choice(requests)
        return json.dumps({"id": number, "do": do, "fields": self.value() if kind == 6 else self.fields()})


def unquoted(raw: bytes) -> str:
    """The path as uvicorn gives it to the application."""
    from urllib.parse import unquote

    return unquote(raw.decode("latin-1"))

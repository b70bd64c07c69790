"""Ten thousand requests that no page sends: each gets an answer in words, none an internal error."""

import asyncio
import gc
import re
from collections import Counter
from pathlib import Path

import pytest
from async_runs import run_async
from hostile import Hostile
from starlette.routing import Mount, Route
from starlette.types import Message

from hauteur.games.registry import names
from hauteur.system.hardware import resident_bytes
from hauteur.web.app import create_app
from hauteur.web.safety import HEADERS, AccessMiddleware, AccessPolicy
from hauteur.web.settings import WebSettings

EXPECTED = {200, 204, 206, 303, 304, 307, 400, 403, 404, 405, 408, 413, 416, 421, 422, 431, 503}
MOST_GROWTH = 24e6
"""Bytes that the process may grow by over all requests but the first thousand."""

SECRET = b"root:x:0"
"""In the file of passwords, which some of the paths lead to."""


def paths_of(guarded: AccessMiddleware) -> tuple[str, ...]:
    """Every address that the application knows, names in them filled in."""
    routes = [route for route in guarded.app.routes if isinstance(route, Route | Mount)]  # type: ignore[attr-defined]
    static = ("/static/live.js", "/static/style.css", "/static", "//", "/live/analyse")
    return (*(re.sub(r"\{\w+(:\w+)?\}", "x", route.path) or "/" for route in routes), *static)


async def answers(guarded: AccessMiddleware, number: int, seed: int) -> Counter[int]:
    """Send `number` requests, check every answer, return how often each status came."""
    hostile = Hostile(
        seed, words=(*names(), "game", "fen", "moves", "net", "visits", "name", "run", "path", "token", "id")
    )
    paths = paths_of(guarded)
    kept = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}
    found: Counter[int] = Counter()
    grown = 0
    for index in range(number):
        if index == min(1000, number // 2):
            gc.collect()
            grown = -(resident_bytes() or 0)
        scope, body = hostile.request(paths, kept)
        left_early = body[-1]["type"] == "http.disconnect"
        sent: list[Message] = []

        async def receive(body: list[Message] = body) -> Message:
            if not body:
                await asyncio.Event().wait()
            return body.pop(0)

        async def send(message: Message, sent: list[Message] = sent) -> None:
            sent.append(message)

        await asyncio.wait_for(guarded(scope, receive, send), 60)
        if not left_early:
            check(scope["method"], sent)
            found[sent[0]["status"]] += 1
    gc.collect()
    grown += resident_bytes() or 0
    assert grown < MOST_GROWTH, f"memory grew by {grown / 1e6:.0f} MB"
    return found


def check(method: str, sent: list[Message]) -> None:
    """An answer is whole, has the headers, an expected status, and gives no file away."""
    start, *rest = sent
    headers = {key.decode().lower(): value.decode() for key, value in start["headers"]}
    assert start["type"] == "http.response.start"
    assert start["status"] in EXPECTED
    assert HEADERS.items() <= headers.items()
    assert rest
    assert not rest[-1].get("more_body", False)
    body = b"".join(part.get("body", b"") for part in rest)
    assert SECRET not in body
    if start["status"] >= 400 and method != "HEAD":
        assert body, f"{start['status']} without a word"


@pytest.fixture
def guarded(tmp_path: Path) -> AccessMiddleware:
    settings = WebSettings(roots=(tmp_path,))
    return AccessMiddleware(create_app(settings), AccessPolicy.at("127.0.0.1"))


def test_three_thousand_requests(guarded: AccessMiddleware) -> None:
    found = run_async(answers(guarded, 3_000, seed=1))
    assert found[200] > 60
    assert sum(count for status, count in found.items() if status >= 400) > 1500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_requests(guarded: AccessMiddleware, seed: int) -> None:
    run_async(answers(guarded, 50_000, seed))

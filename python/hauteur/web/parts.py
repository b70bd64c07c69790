"""Parts of pages that are made in a thread, and what stands in their place where that goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hauteur.system.errors import explain


async def part(make: Callable[[], str]) -> Response:
    """Return a part of a page, made in a thread; an error takes its place."""
    try:
        return HTMLResponse(await asyncio.to_thread(make))
    except (ValueError, OSError, ImportError) as error:
        return HTMLResponse(error_line(error))


def error_line(error: Exception) -> Markup:
    """Return an error as a line of a page."""
    return Markup('<p class="notice error">{}</p>').format(explain(error))


def made(make: Callable[[], str]) -> Markup:
    """Return a part of a page, or what went wrong with it."""
    try:
        return Markup(make())
    except (ValueError, OSError, ImportError) as error:
        return error_line(error)


def whole_number(request: Request, name: str) -> int | None:
    """Return a whole number of the address, None where there is none; ValueError for anything else."""
    text = request.query_params.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text) if text else None

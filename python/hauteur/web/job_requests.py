"""Requests of pages that start and stop long commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from hauteur.system.errors import explain
from hauteur.web.jobs import JobCommand


async def sent_with(request: Request) -> Any:
    """Return the JSON of a request. ValueError where it has none."""
    try:
        return await request.json()
    except (ValueError, RecursionError):
        raise ValueError("not a form: its fields must be JSON") from None


async def started_job(
    request: Request, command: Callable[[], JobCommand], address: Callable[[str], str]
) -> JSONResponse:
    """Start a command, which is made in a thread; the reply has the address of its folder's page, or an error line."""
    lab = request.app.state.lab
    try:
        job = await lab.jobs.start(await asyncio.to_thread(command))
    except (ValueError, OSError, ImportError) as error:
        return JSONResponse({"error": explain(error)}, 400)
    return JSONResponse({"address": address(lab.folders.name_of(job.command.folder) or "")})


def stopped_job(request: Request, refusal: str) -> JSONResponse:
    """Stop the newest job in the folder that a request names. refusal: the line where none runs there."""
    job = request.app.state.lab.watcher.job_of(request.path_params["name"])
    if job is None or not job.is_running:
        return JSONResponse({"error": refusal}, 400)
    job.stop()
    return JSONResponse({})

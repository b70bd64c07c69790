"""Parts of pages that follow files: a page asks for them again and again, and gets them after a change alone.

An element with the attributes of `followed` is such a part; static/watch.js asks. The state of the files is the part's
ETag (RFC 9110), so that what has not changed is answered with 304 and made once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hauteur.studies.folders import FolderList
from hauteur.system.lock import is_locked
from hauteur.web.render import made

LIST_PERIOD = 2.0
"""Seconds between two looks for folders that are new or gone, at least."""


def stamp_of(folders: FolderList, name: str, files: Sequence[str] = ()) -> str:
    """Return the state of these files of a folder as an ETag; of the list of all folders for the name "".

    The file `running` stands for a process that works in the folder.
    """
    if not name or folders.known_as(name) is None:
        folders.renew(LIST_PERIOD)
    found = folders.known_as(name)
    if not name:
        state: object = [(one.name, one.folder.stamps(), is_locked(one.folder.path)) for one in folders.known()]
    elif found is not None:
        stamps = {**found.folder.stamps(), "running": is_locked(found.folder.path)}
        state = [stamps.get(file) for file in files]
    else:
        state = None
    return f'"{sha256(repr(state).encode()).hexdigest()}"'


def followed(folders: FolderList, address: str, name: str, files: Sequence[str] = (), **query: Any) -> Markup:
    """Return the attributes of an element whose content, at this address, follows files. Ask before it is made."""
    where = f"{address}?{urlencode(query)}" if query else address
    return Markup('data-part="{}" data-stamp="{}"').format(where, stamp_of(folders, name, files))


async def part(request: Request, name: str, files: Sequence[str], make: Callable[[], str]) -> Response:
    """Return a part of a page, made in a thread, with an error in its place; 304 where the client has this state."""
    stamp = await asyncio.to_thread(stamp_of, request.app.state.lab.folders, name, files)
    headers = {"ETag": stamp, "Cache-Control": "no-store"}
    if request.headers.get("if-none-match") == stamp:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(await asyncio.to_thread(made, make), headers=headers)

"""Folders of work on pages: what is kept of them in memory and read on, and parts of pages that follow their files.

A page asks for such a part again and again, and gets it after a change alone. An element with the attributes of
`followed` is one; static/watch.js asks. The state of the files is the part's ETag (RFC 9110), so that what has not
changed is answered with 304 and made once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hauteur.matches.report.stored import Stored, read_stored, summary_line
from hauteur.system.errors import explain
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory
from hauteur.web.jobs import Desk, Job
from hauteur.web.render import made

MOST_KEPT = 8
"""Folders that stay in memory."""

Made = TypeVar("Made")


class StoredFolders:
    """Reads folders for pages. Threads may use it together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, KeptFolder] = OrderedDict()
        self._lines: dict[Path, tuple[Mapping[str, str], str]] = {}

    def get(self, folder: RunDirectory, make: Callable[[Stored], Made]) -> Made:
        """Return what `make` makes of the folder. Raise ValueError for damaged files."""
        with self._lock:
            kept = self._kept.setdefault(folder.path, KeptFolder(folder))
            self._kept.move_to_end(folder.path)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept.get(make)

    def line(self, folder: RunDirectory) -> str:
        """Return the result in a line, which is read again where it was written since; damaged: what is wrong."""
        stamps = folder.stamps()
        known = self._lines.get(folder.path)
        if known is None or known[0] != stamps:
            try:
                line = summary_line(folder)
            except (ValueError, KeyError, TypeError, OSError) as error:
                line = str(explain(error))
            known = self._lines[folder.path] = stamps, line
        return known[1]


class KeptFolder:
    """One folder in memory."""

    def __init__(self, folder: RunDirectory) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._stored: Stored | None = None
        self._version: Mapping[str, str] = {}

    def get(self, make: Callable[[Stored], Made]) -> Made:
        """Return what `make` makes of the folder as its files are now."""
        with self._lock:
            version = {**self._folder.stamps(), "running": str(is_locked(self._folder.path))}
            if self._stored is None:
                self._stored = read_stored(self._folder)
            elif version != self._version:
                self._stored.refresh()
            self._version = version
            return make(self._stored)


LIST_PERIOD = 2.0
"""Seconds between two looks for folders that are new or gone, at least."""


def stamp_of(desk: Desk, name: str, files: Sequence[str] = ()) -> str:
    """Return the state of these files of a folder as an ETag; of the list of all folders for the name "".

    The file `running` stands for a process that works in the folder, and for the job of this server there.
    """
    folders = desk.folders
    if not name or folders.known_as(name) is None:
        folders.renew(LIST_PERIOD)
    found = folders.known_as(name)
    if not name:
        known = []
        for one in folders.known():
            known.append((one.name, one.folder.stamps(), is_locked(one.folder.path)))
        state: object = (known, [_job_stamp(job) for job in desk.jobs.all()])
    elif found is not None:
        running = (is_locked(found.folder.path), _job_stamp(desk.jobs.find(name)))
        stamps = {**found.folder.stamps(), "running": running}
        state = [stamps.get(file) for file in files]
    else:
        state = None
    return f'"{sha256(repr(state).encode()).hexdigest()}"'


def _job_stamp(job: Job | None) -> tuple[str, ...] | None:
    """Return what pages show of a job, for the state of a part; None without a job."""
    if job is None:
        return None
    return (job.name, job.state, job.line)


def followed(desk: Desk, address: str, name: str, files: Sequence[str] = (), **query: Any) -> Markup:
    """Return the attributes of an element whose content, at this address, follows files. Ask before it is made."""
    where = f"{address}?{urlencode(query)}" if query else address
    return Markup('data-part="{}" data-stamp="{}"').format(where, stamp_of(desk, name, files))


async def part(request: Request, name: str, files: Sequence[str], make: Callable[[], str]) -> Response:
    """Return a part of a page, made in a thread, with an error in its place; 304 where the client has this state."""
    stamp = await asyncio.to_thread(stamp_of, request.app.state.lab.desk, name, files)
    headers = {"ETag": stamp, "Cache-Control": "no-store"}
    if request.headers.get("if-none-match") == stamp:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(await asyncio.to_thread(made, make), headers=headers)

"""Watching folders for the pages: one task looks at dates and sizes of files, and notifies the pages that show them.

A page asks /live/watch for names of folders, or "" for the list of all, and gets an event `changed` with the version
of each: at first, and after every change. What changed it then fetches by itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlencode

from markupsafe import Markup
from pydantic import Field
from starlette.websockets import WebSocket

from hauteur.studies.folders import FolderList
from hauteur.system.lock import is_locked
from hauteur.system.settings import Section, validated
from hauteur.web.live import Client, ClientMessage

PERIOD = 0.5
"""Seconds between two looks at the folders that are watched."""

LIST_PERIOD = 2.0
"""Seconds between two looks for folders that are new or gone."""

Version = dict[str, str]
"""When files were written last and how long they are, by name; `running`: a process works there.

Of the list of all folders: `list`.
"""


class WatchedNames(Section):
    """Names of the folders that a page watches; "" is the list of all."""

    names: Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Field(max_length=64)]


class Watcher:
    """Notifies pages of changes. It works only while a page listens."""

    def __init__(self, folders: FolderList) -> None:
        self.folders = folders
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None

    def version(self, name: str) -> Version:
        """Return the version of a folder, or of the list of all ("")."""
        if not name:
            listed = self.folders.known()
            states = [(one.name, one.folder.stamps(), is_locked(one.folder.path)) for one in listed]
            return {"list": sha256(repr(states).encode()).hexdigest()}
        found = self.folders.known_as(name)
        version = {} if found is None else found.folder.stamps()
        if found is not None and is_locked(found.folder.path):
            version["running"] = "yes"
        return version

    def stamp(self, names: Sequence[str], files: Sequence[str]) -> str:
        """Return what static/watch.js compares: the stamps of these files of folders, as they are now."""
        versions = [self.version(name) for name in names]
        return " ".join(version.get(file, "-") for version in versions for file in files)

    def part(self, address: str, names: Sequence[str], files: Sequence[str], **query: Any) -> Markup:
        """Return the attributes of an element whose content, at this address, follows files: see static/watch.js."""
        texts = {
            "part": f"{address}?{urlencode(query, doseq=True)}" if query else address,
            "watch": json.dumps(names),
            "files": " ".join(files),
            "stamp": self.stamp(names, files),
        }
        return Markup(" ").join(Markup('data-{}="{}"').format(key, text) for key, text in texts.items())

    def add(self, listener: Listener) -> None:
        """Begin to notify a page."""
        self._listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def remove(self, listener: Listener) -> None:
        """Notify a page no more."""
        self._listeners.discard(listener)

    async def _run(self) -> None:
        while self._listeners:
            names = {name for listener in self._listeners for name in listener.names}
            versions = await asyncio.to_thread(self._look, names)
            for listener in list(self._listeners):
                listener.send(versions)
            await asyncio.sleep(PERIOD)

    def _look(self, names: Iterable[str]) -> dict[str, Version]:
        unknown = any(not name or self.folders.known_as(name) is None for name in names)
        if unknown:
            self.folders.renew(LIST_PERIOD)
        return {name: self.version(name) for name in names}


class Listener(Client):
    """A page that watches folders."""

    def __init__(self, socket: WebSocket, watcher: Watcher) -> None:
        super().__init__(socket)
        self._watcher = watcher
        self._sent: dict[str, Version] = {}
        self.names: frozenset[str] = frozenset()

    async def opened(self) -> None:
        """Begin to listen."""
        self._watcher.add(self)
        self.mail.event("ready")

    async def take(self, request: ClientMessage) -> None:
        """Take the names to watch, in the place of those before."""
        if request.do != "watch":
            raise ValueError(f"watch: there is no request {request.do!r}; there is watch")
        self.names = frozenset(validated(WatchedNames, request.fields, "watch").names)
        self._sent.clear()
        self.mail.put("reply", json.dumps({"id": request.id, "reply": {}}))

    async def left(self) -> None:
        """Listen no more."""
        self._watcher.remove(self)

    def send(self, versions: dict[str, Version]) -> None:
        """Send the versions of what this page watches, where they are new to it."""
        for name in self.names & versions.keys():
            if self._sent.get(name) != versions[name]:
                self._sent[name] = versions[name]
                event = {"event": "changed", "fields": {"name": name, "version": versions[name]}}
                self.mail.put(f"latest:{name}", json.dumps(event))


async def watch(socket: WebSocket) -> None:
    """Answer a websocket at /live/watch."""
    await socket.accept()
    await Listener(socket, socket.app.state.lab.watcher).serve()

"""The base of all sessions: one client's work, driven by messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol

from hauteur.system.settings import Section

Fields = dict[str, Any]
"""Content of a message: a JSON object."""


class Emit(Protocol):
    """Sends an event to the client; any thread may call it."""

    def __call__(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """latest: an event of this name that was not sent yet is replaced by this one."""


class SessionSettings(Section):
    """Limits of a session: see WebSettings. threads: of the processor; tree_bytes: of the tree of a search."""

    threads: int = 1
    allow_programs: bool = False
    tree_bytes: int = 2**32
    roots: tuple[str, ...] = ()


class PageSession:
    """One client's work. A request `{"do": "open", "fields": {...}}` is answered by the method `do_open(fields)`.

    Methods return the content of the reply, a JSON object, within some 50 ms; what takes longer runs in a thread and
    emits events. ValueError and OSError become the one line that the client shows. Requests come one at a time.
    """

    name: ClassVar[str]
    """As in the address of the websocket, /live/NAME."""

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        self.settings = settings
        self._send = emit
        self._order = threading.Lock()
        self._replying = False
        self._held: list[tuple[str, Mapping[str, Any], bool]] | None = None

    def emit(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """Send an event, after the reply where `hold` was called. latest: see Emit."""
        with self._order:
            if self._held is None:
                self._send(event, fields, latest=latest)
            else:
                self._held.append((event, fields, latest))

    def hold(self) -> None:
        """Keep events back until the reply is sent: a request calls it before it begins work that emits some.

        The page then knows of the work from the reply before it gets the end of it, however short it is.
        """
        with self._order:
            if self._replying and self._held is None:
                self._held = []

    @contextmanager
    def replying(self) -> Iterator[None]:
        """Enclose a request and the sending of its reply."""
        self._replying = True
        try:
            yield
        finally:
            with self._order:
                self._replying = False
                for event, fields, latest in self._held or ():
                    self._send(event, fields, latest=latest)
                self._held = None

    def handle(self, do: str, fields: Fields) -> Fields:
        """Answer a request. Raise ValueError for one that there is not."""
        method: Callable[[Fields], Fields] | None = getattr(self, f"do_{do}", None)
        if method is None:
            known = sorted(name[3:] for name in dir(self) if name.startswith("do_"))
            raise ValueError(f"{self.name}: there is no request {do!r}; there are {', '.join(known)}")
        return method(fields)

    def close(self) -> None:
        """End all work: the client is gone."""

"""The sessions of a server: limited in number, each with a thread of its own for its requests."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from hauteur.system.errors import explain, one_line
from hauteur.system.hardware import memory_bytes, usable_cores
from hauteur.web.sessions.session import NothingYetError, PageSession, SessionSettings
from hauteur.web.settings import WebSettings

SESSIONS = {
    "analyse": "analyse:AnalyseSession",
    "explain": "explain:ExplainSession",
    "play": "play:PlaySession",
    "puzzles": "puzzles:PuzzlesSession",
    "review": "review:ReviewSession",
}
"""Every session: the module of this folder and the class."""
MOST_ERROR = 2000
"""Characters of an error line."""

OnLine = Callable[[str, str], None]
"""Takes the kind of a line (`reply`, `event`, or `latest:NAME` for an event that a newer one replaces) and its JSON."""


class BusyError(RuntimeError):
    """As many sessions are open as the server allows."""


def session_class(name: str) -> type[PageSession]:
    """Return the class of a session. Raise ValueError for one that there is not."""
    if name not in SESSIONS:
        raise ValueError(f"there is no session {name!r}; there are {', '.join(SESSIONS)}")
    module, _, attribute = SESSIONS[name].partition(":")
    found: type[PageSession] = getattr(import_module(f"hauteur.web.sessions.{module}"), attribute)
    return found


class OpenSession:
    """A session with the thread that answers its requests. on_line: is called in the event loop."""

    def __init__(self, made: Callable[..., PageSession], settings: SessionSettings, on_line: OnLine) -> None:
        self._thread = ThreadPoolExecutor(1, "session")
        self._loop = asyncio.get_running_loop()
        self._on_line = on_line
        self._made = made
        self._settings = settings
        self._session: PageSession | None = None

    async def request(self, number: int, do: str, fields: dict[str, Any]) -> None:
        """Answer a request; the reply is a line."""
        await self._loop.run_in_executor(self._thread, self._answer, number, do, fields)

    async def close(self) -> None:
        """End the work of the session, once the request that is being answered has its reply."""
        await asyncio.shield(self._loop.run_in_executor(self._thread, self._close))
        self._thread.shutdown(wait=False)

    def _answer(self, number: int, do: str, fields: dict[str, Any]) -> None:
        """Answer a request in the thread of the session, which is made by the first one."""
        if self._session is None:
            self._session = self._made(self._emit, self._settings)
        with self._session.replying():
            self._line("reply", reply_of(self._session, number, do, fields))

    def _close(self) -> None:
        """End the session in its thread; one that never had a request was never made."""
        if self._session is not None:
            self._session.close()

    def _emit(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """Send an event; a later one of its name replaces it on its way where `latest` says so."""
        self._line(f"latest:{event}" if latest else "event", {"event": event, "fields": fields})

    def _line(self, kind: str, content: Mapping[str, Any]) -> None:
        """Send a line, from any thread. NaN and infinity are no JSON, so they raise ValueError."""
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        if not self._loop.is_closed():  # a search may outlive the server by a batch
            self._loop.call_soon_threadsafe(self._on_line, kind, text)


def reply_of(session: PageSession, number: int, do: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request: its content, or the error as one line."""
    try:
        return {"id": number, "reply": session.handle(do, fields)}
    except NothingYetError as error:
        return {"id": number, "error": one_line(error)[:MOST_ERROR], "code": error.code}
    except (ValueError, OSError, ImportError) as error:
        return {"id": number, "error": (explain(error) or one_line(error))[:MOST_ERROR]}
    except Exception as error:  # a fault of the program: the client sees it in a line, the log where it was
        sys.excepthook(*sys.exc_info())
        fault = f"internal error: {type(error).__name__}: {one_line(error)}"
        return {"id": number, "error": fault[:MOST_ERROR]}


class Pool:
    """All sessions of a server."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.open: set[OpenSession] = set()

    def take(self, name: str, on_line: OnLine) -> OpenSession:
        """Open a session. Raise BusyError where there are as many as the server allows."""
        if len(self.open) >= self.settings.sessions:
            raise BusyError(
                f"the server allows {self.settings.sessions} searches, games and reviews at a time, and all are in "
                "use: close another tab, or start the server with a larger --sessions"
            )
        session = OpenSession(session_class(name), self._session_settings(), on_line)
        self.open.add(session)
        return session

    async def give_back(self, session: OpenSession) -> None:
        """End a session; its place is free once its work has ended."""
        try:
            await session.close()
        finally:
            self.open.discard(session)

    async def close(self) -> None:
        """End all sessions, and wait for their work."""
        await asyncio.gather(*(self.give_back(session) for session in list(self.open)))

    def _session_settings(self) -> SessionSettings:
        """Return the settings of a session: any of them may use all cores, and an equal share of the memory."""
        settings = self.settings
        memory_mb = settings.memory_mb or (memory_bytes() or 8 * 10**9) // 2_000_000
        return SessionSettings(
            threads=settings.threads or max(1, usable_cores()),
            allow_programs=settings.allow_programs,
            tree_bytes=max(memory_mb * 10**6 // settings.sessions, LEAST_TREE),
            roots=tuple(str(root) for root in settings.roots),
        )


LEAST_TREE = 2**24
"""Bytes that every session's tree may have."""

"""The process of a session: requests as lines of JSON on stdin, replies and events as lines on stdout.

The first line of stdin names the session and has its settings. A line of stdout is a kind, a space, and JSON that goes
to the client unchanged: `reply`, `event`, or `latest:NAME` for an event that a newer one of its name replaces.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any, TextIO

from hauteur.system.errors import explain, one_line
from hauteur.system.settings import validated
from hauteur.web.sessions.session import PageSession, SessionSettings

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


class WorkerOutput:
    """The lines to the server; whole lines, whichever thread writes them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def line(self, kind: str, content: Mapping[str, Any]) -> None:
        """Write a line. NaN and infinity are no JSON, so they raise ValueError."""
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        with self._lock:
            self._stream.write(f"{kind} {text}\n")
            self._stream.flush()

    def emit(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """Send an event."""
        self.line(f"latest:{event}" if latest else "event", {"event": event, "fields": fields})


def session_class(name: str) -> type[PageSession]:
    """Return the class of a session. Raise ValueError for one that there is not."""
    if name not in SESSIONS:
        raise ValueError(f"there is no session {name!r}; there are {', '.join(SESSIONS)}")
    module, _, attribute = SESSIONS[name].partition(":")
    found: type[PageSession] = getattr(import_module(f"hauteur.web.sessions.{module}"), attribute)
    return found


def answer(session: PageSession, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to a request: its content, or the error as one line."""
    try:
        return {"id": request["id"], "reply": session.handle(request["do"], request["fields"])}
    except (ValueError, OSError, ImportError) as error:
        return {"id": request["id"], "error": (explain(error) or one_line(error))[:MOST_ERROR]}
    except Exception as error:  # a fault of the program: the client sees it in a line, the log where it was
        sys.excepthook(*sys.exc_info())
        return {"id": request["id"], "error": f"internal error: {type(error).__name__}: {one_line(error)}"[:MOST_ERROR]}


def main() -> int:
    """Serve one session until stdin ends."""
    output = WorkerOutput(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what else is printed does not mix with the protocol
    import_module("hauteur.engine.playing")  # nearly every session needs it, and nobody waits for it now
    first = sys.stdin.readline()
    if not first:
        return 0
    opening = json.loads(first)
    session = session_class(opening["session"])(output.emit, validated(SessionSettings, opening["settings"], "session"))
    try:
        for line in sys.stdin:
            with session.replying():
                output.line("reply", answer(session, json.loads(line)))
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    finally:
        session.close()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # searches that still run have nobody to report to

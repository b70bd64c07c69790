"""The GTP engine: requests in their order, each answered before the next one is read.

A thread of its own reads lines, so that live analysis sees the next one and a search can be interrupted. Whatever goes
wrong with a command is its answer, and the engine goes on; the end of the input is `quit`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator

from hauteur import __version__
from hauteur.engine.gtp.commands import SessionCommands
from hauteur.engine.gtp.protocol import (
    VERSION,
    Arguments,
    Commands,
    GtpCommand,
    Request,
    Result,
    failure,
    read_request,
    success,
    text_lines,
)
from hauteur.engine.gtp.session import GtpSession
from hauteur.engine.streams import LineReader, Output
from hauteur.system.errors import explain

INTERRUPT = b"# interrupt"
"""A comment by which GoGui asks to end a command early."""


class GtpEngine:
    """An engine for one session that reads lines of bytes and writes to an Output."""

    def __init__(self, session: GtpSession, output: Output) -> None:
        self._session = session
        self._output = output
        self._over = False
        self._feed: LineReader[bytes] | None = None
        self._of_session = SessionCommands(session, self._opened_feed)

    def run(self, source: Iterable[bytes]) -> None:
        """Answer requests until `quit` or the end of the input."""
        self._feed = LineReader(source, self._accept)
        while not self._over and (line := self._feed.next()) is not None:
            self._output.heard(line.decode("utf-8", errors="replace"))
            self.hear(line)
        self._session.close()

    def _accept(self, line: bytes | None) -> bytes | None:
        """Keep a line for its turn, in the reading thread; an interrupt acts at once."""
        if line is None or line.strip() != INTERRUPT:
            return line
        self._session.stop()
        return None

    def hear(self, line: bytes) -> None:
        """Answer the request of one line, if it holds one."""
        request = read_request(line)
        if request is None:
            return
        try:
            result = self._perform(request)
        except Exception as error:
            self._output.lines(*failure(request, message_of(error)))
            return
        if isinstance(result, str):
            self._output.lines(*success(request, result))
        else:
            self._stream(request, result)

    def commands(self) -> Commands:
        """Return all commands that work now, by their names: some are for players with a net alone."""
        return {**self._own_table(), **self._of_session.table()}

    def _perform(self, request: Request) -> Result:
        command = self.commands().get(request.name)
        if command is None:
            raise ValueError("unknown command")
        command.check(request.name, request.arguments)
        return command.run(request.arguments)

    def _stream(self, request: Request, lines: Iterator[str]) -> None:
        """Write lines as they come. An answer that has begun cannot fail any more: errors go to the log."""
        self._output.lines(success(request)[0])
        while True:
            try:
                line = next(lines, None)
            except Exception as error:
                print(f"hauteur: {request.name}: {message_of(error)}", file=sys.stderr, flush=True)
                line = None
            if line is None:
                break
            self._output.lines(line)
        self._output.lines("")

    def _opened_feed(self) -> LineReader[bytes]:
        assert self._feed is not None  # commands that need it are heard by `run` alone
        return self._feed

    # Commands about the engine itself.

    def _own_table(self) -> Commands:
        name = self._session.player.name or "hauteur"
        return {
            "protocol_version": GtpCommand("", "2.", lambda _: str(VERSION)),
            "name": GtpCommand("", "The player's name, else hauteur.", lambda _: name),
            "version": GtpCommand("", "Version of hauteur.", lambda _: __version__),
            "known_command": GtpCommand("COMMAND", "true or false.", self._known),
            "list_commands": GtpCommand("", "All commands that work, one a line.", self._list),
            "quit": GtpCommand("", "Ends the engine.", self._quit),
        }

    def _known(self, arguments: Arguments) -> str:
        return "true" if arguments[0] in self.commands() else "false"

    def _list(self, _: Arguments) -> str:
        return text_lines(self.commands())

    def _quit(self, _: Arguments) -> str:
        self._over = True
        return ""


def message_of(error: Exception) -> str:
    """One line about an error; of a fault of the program its kind too, and where it is if HAUTEUR_TRACEBACK is set."""
    if isinstance(error, ValueError | OSError) and (message := explain(error)):
        return message
    if os.environ.get("HAUTEUR_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exception(error, file=sys.stderr)
    return f"internal error: {type(error).__name__}: {error}"

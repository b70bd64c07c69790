"""The analysis engine: queries as lines of JSON in, answers as lines of JSON out, in the order in which they are ready.

A thread reads lines ahead; between two batches the engine takes those that have come. What is wrong with a line is its
answer, and the engine goes on. At the end of the input it answers what it has taken, and ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hauteur import __version__
from hauteur.engine.analysis import answers
from hauteur.engine.analysis.query import Action, Defaults, QueryError, read_request
from hauteur.engine.analysis.searches import QuerySearches
from hauteur.engine.streams import LineReader, Output

LINES_AHEAD = 1_000
"""Lines that are read ahead; then the client waits."""


class AnalysisEngine:
    """An engine that reads lines of bytes and writes to an Output. defaults: what holds where a query does not say."""

    def __init__(self, searches: QuerySearches, defaults: Defaults, output: Output) -> None:
        self._searches = searches
        self._defaults = defaults
        self._output = output

    def run(self, source: Iterable[bytes]) -> None:
        """Answer queries until the end of the input, those that were taken included."""
        reader = LineReader(source, lambda line: line, most=LINES_AHEAD)
        while self._take_lines(reader):
            self._write(self._searches.turn())

    def _take_lines(self, reader: LineReader[bytes]) -> bool:
        """Take the lines that have come; where nothing is searched wait for one. Return whether there is work."""
        while self._searches.have_room:
            if self._searches.are_busy and not reader.wait(0):
                return True
            line = reader.next()
            if line is None:  # the end of the input
                return self._searches.are_busy
            self._output.heard(line.decode(errors="replace"))
            self._write(self._hear(line))
        return True

    def _hear(self, line: bytes) -> list[dict[str, Any]]:
        """Take a query or obey an action; return the answers that are ready at once."""
        if not line.strip():
            return []
        try:
            request = read_request(line, self._defaults)
        except QueryError as error:
            return [answers.refused(error)]
        if isinstance(request, Action):
            return self._obey(request)
        self._searches.add(request)
        return answers.warnings(request)

    def _obey(self, action: Action) -> list[dict[str, Any]]:
        """Return the answers to an action."""
        if action.name == "query_version":
            return [answers.repeated(action, version=__version__)]
        return [answers.repeated(action), *self._searches.end(action)]

    def _write(self, found: list[dict[str, Any]]) -> None:
        """Write answers, a line each."""
        if found:
            self._output.lines(*(json.dumps(answer, separators=(",", ":"), allow_nan=False) for answer in found))

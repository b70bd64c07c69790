"""What a UCI program does in a search of its own: nodes, evaluations, seconds on the clock and of the processor."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hauteur import _core
from hauteur.players.engines.failures import TIMEOUT, no_answer, within
from hauteur.players.engines.host import EngineHost
from hauteur.players.engines.probe import probed
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.engines.uci import UciSession
from hauteur.players.move_player import EngineFailure

NODES = re.compile(r"info\b(?!\s+string\b).*?\bnodes (\d+)\b")
EVALUATIONS = re.compile(r"info string evaluations (?P<rows>\d+), batches (?P<batches>\d+), fill (?P<fill>[0-9.]+)")
"""What hauteur writes after a search where UCI_ShowEPS is on."""
Result = TypeVar("Result")


@dataclass
class EngineWork:
    """The work of one search or, added up, of several. evaluations, batches: 0 where the program does not say.

    capacity: rows that its batches had room for. cpu_seconds: of all its threads and processes; None where the system
    does not say.
    """

    nodes: int = 0
    seconds: float = 0.0
    cpu_seconds: float | None = 0.0
    evaluations: int = 0
    batches: int = 0
    capacity: float = 0.0

    def __add__(self, other: EngineWork) -> EngineWork:
        known = self.cpu_seconds is not None and other.cpu_seconds is not None
        return EngineWork(
            self.nodes + other.nodes,
            self.seconds + other.seconds,
            (self.cpu_seconds or 0.0) + (other.cpu_seconds or 0.0) if known else None,
            self.evaluations + other.evaluations,
            self.batches + other.batches,
            self.capacity + other.capacity,
        )


class TimedEngine:
    """A UCI program that runs, and searches positions one after another with an empty tree.

    settings: of these `nodes` is the limit of every search, `move_timeout` the longest that one may take. Raise
    ValueError, in one line, where the program is missing, does not start, or lacks an option.
    """

    def __init__(self, game: _core.Game, settings: EngineSettings, host: EngineHost) -> None:
        self._settings, self._host = settings, host
        probe = probed(game, settings)
        self.name = probe.name
        self._process = host.run(host.start(probe.command))
        self._session = UciSession(self._process, settings, game)
        self._run(self._session.open())

    def search(self, fen: str, nodes: int) -> EngineWork:
        """Search a position for a number of nodes, as a new game; ValueError where the program fails."""
        return self._run(self._search(fen, nodes))

    def close(self) -> None:
        """End the program."""
        self._host.run(self._session.quit())

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return self._host.run(work)
        except EngineFailure as failure:
            raise ValueError(f"uci:{self._settings.command}: {failure}") from None

    async def _search(self, fen: str, nodes: int) -> EngineWork:
        limit = self._settings.seconds_for_a_move
        await self._session.begin()
        async with within(limit, no_answer("readyok", limit)):
            self._process.send(f"position fen {fen}", "isready")
            while await self._process.line() != "readyok":
                pass
        loop, cpu = asyncio.get_running_loop(), cpu_seconds(self._process.group)
        began, lines = loop.time(), []
        async with within(limit, EngineFailure(TIMEOUT, f"no bestmove within {limit:g} s")):
            self._process.send(f"go nodes {nodes}")
            while not (line := await self._process.line()).startswith("bestmove"):
                lines.append(line)
        return work_of(lines, loop.time() - began, _difference(cpu_seconds(self._process.group), cpu))


def work_of(lines: Sequence[str], seconds: float, cpu: float | None) -> EngineWork:
    """Return the work of a search by what the program wrote during it."""
    nodes = next((int(found[1]) for line in reversed(lines) if (found := NODES.match(line))), 0)
    said = next(filter(None, map(EVALUATIONS.match, reversed(lines))), None)
    if said is None:
        return EngineWork(nodes, seconds, cpu)
    rows, fill = int(said["rows"]), float(said["fill"])
    return EngineWork(nodes, seconds, cpu, rows, int(said["batches"]), rows / fill if fill else 0.0)


def cpu_seconds(group: int) -> float | None:
    """Seconds of the processor, user and system, of all processes of a group; None where there is no /proc."""
    if sys.platform != "linux":
        return None
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before

"""units.jsonl of a run: which worker played which unit, on what, and how long it took; and who was shut out."""

from __future__ import annotations

import threading
import time
from typing import Any

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.played import ComparedUnit
from hauteur.cluster.records import MOST_TEXT, UnitEntry
from hauteur.learning.planned import PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system.jsonl import Journal

SHUT_OUT = "shut out"
"""Kind of an entry that names a worker whose games were found to be wrong."""
UnitOf = tuple[int, int]
"""Generation and number of a unit of self-play."""


class UnitJournal:
    """The journal of a run, which several threads may add to. ValueError names a line that is damaged."""

    def __init__(self, recipe: Recipe, folder: RunFolder) -> None:
        self._journal = Journal(folder.units, UnitEntry, "an entry of a unit")
        self._run = recipe.run
        self._session = time.time()
        self._lock = threading.Lock()
        self._players: dict[UnitOf, tuple[float, str]] = {}
        self._wrong: set[tuple[float, str]] = set()
        for entry in self._journal.entries():
            self._keep(entry)

    def add(
        self, planned: PlannedGames, number: int, worker: str, facts: WorkerFacts, seconds: float, **more: Any
    ) -> None:
        """Add a unit; it is on disk when this returns."""
        entry = UnitEntry.of_unit(
            worker,
            facts,
            seconds,
            generation=planned.generation,
            kind=planned.kind,
            unit=number,
            games=len(planned.units[number]),
            session=self._session,
            backend=self._run.backend,
            precision=self._run.precision,
            **more,
        )
        self._append(entry)

    def add_comparison(self, planned: PlannedGames, compared: ComparedUnit) -> None:
        """Add a comparison that has ended."""
        number = compared.unit.own["number"]
        self._append(
            UnitEntry.of_comparison(compared, generation=planned.generation, unit=number, session=self._session)
        )

    def shut_out(self, worker: str) -> list[UnitOf]:
        """Note that a worker of this session is wrong; return the units of self-play that it has played."""
        self._append(UnitEntry(kind=SHUT_OUT, session=self._session, worker=worker[:MOST_TEXT]))
        with self._lock:
            return sorted(unit for unit, player in self._players.items() if player == (self._session, worker))

    def distrusted(self, generation: int) -> dict[int, str]:
        """Return the units of a generation that a worker played which was shut out, with its name."""
        with self._lock:
            found = {unit: player for unit, player in self._players.items() if player in self._wrong}
        return {number: name for (of, number), (_, name) in sorted(found.items()) if of == generation}

    def _append(self, entry: UnitEntry) -> None:
        with self._lock:
            self._journal.append(entry)
            self._keep(entry)

    def _keep(self, entry: UnitEntry) -> None:
        player = entry.session, entry.worker
        if entry.kind == SHUT_OUT:
            self._wrong.add(player)
        elif entry.kind == "self-play" and entry.generation is not None and entry.unit is not None:
            self._players[entry.generation, entry.unit] = player

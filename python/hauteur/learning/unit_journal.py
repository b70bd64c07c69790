"""units.jsonl of a run: which worker played which unit, on what, and how long it took."""

from __future__ import annotations

import threading
import time
from typing import Any

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.records import UnitEntry
from hauteur.learning.planned import PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system.jsonl import Journal


class UnitJournal:
    """The journal of a run, which several threads may add to."""

    def __init__(self, recipe: Recipe, folder: RunFolder) -> None:
        self._journal = Journal(folder.units, UnitEntry, "an entry of a unit")
        self._run = recipe.run
        self._session = time.time()
        self._lock = threading.Lock()

    def add(
        self, planned: PlannedGames, number: int, worker: str, facts: WorkerFacts, seconds: float, **more: Any
    ) -> None:
        """Add a unit; it is on disk when this returns."""
        entry = UnitEntry(
            generation=planned.generation,
            kind=planned.kind,
            unit=number,
            games=len(planned.units[number]),
            session=self._session,
            worker=worker,
            host=facts.host,
            device_class=facts.device_class,
            backend=self._run.backend,
            precision=self._run.precision,
            seconds=round(seconds, 3),
            **more,
        )
        with self._lock:
            self._journal.append(entry)

    def entries(self) -> list[UnitEntry]:
        """Return all entries; ValueError names a line that is damaged."""
        return list(self._journal.entries())

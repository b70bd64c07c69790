"""What a scheduler has done, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Counts:
    """What was done for a batch of units, or for all that a scheduler has had.

    units: given to the scheduler; finished: of them, those that have a result; retried: times that a unit went back,
    by cause in `causes`; failed: times that a worker could not play a unit, or gave wrong content; replayed: times that
    a unit which had a result was played once more, for a comparison or because a worker was wrong; compared: units
    whose games were played again and compared; uncompared: those whose comparison did not end, because no other worker
    was there or the work ended before; differing: comparisons that differed; replaced: results of wrong workers that
    were replaced; duplicates: results that came once more; workers: names of those that finished a unit; present,
    most_present: workers now, and at most; joined, left: workers that came and went; in_flight: units at workers now.

    Seconds are those of all workers together, while there was work: present_seconds those of the workers that were
    there, idle_seconds those in which they had no unit, busy_seconds those spent on these units (a worker that has
    units of two batches is busy with each for half of the time), unit_seconds those of all units in flight.
    work_seconds: of the clock, in which there was work.
    """

    units: int = 0
    finished: int = 0
    retried: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    replayed: int = 0
    compared: int = 0
    uncompared: int = 0
    differing: int = 0
    replaced: int = 0
    duplicates: int = 0
    workers: set[str] = field(default_factory=set)
    present: int = 0
    most_present: int = 0
    joined: int = 0
    left: int = 0
    in_flight: int = 0
    busy_seconds: float = 0.0
    idle_seconds: float = 0.0
    present_seconds: float = 0.0
    unit_seconds: float = 0.0
    work_seconds: float = 0.0

    @property
    def idle_share(self) -> float:
        """Share of the workers' time in which they had no unit although there was work, 0 to 1."""
        return self.idle_seconds / self.present_seconds if self.present_seconds > 0 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, `workers` as how many they are, and the idle share."""
        fields = {**vars(self), "causes": dict(self.causes), "workers": len(self.workers)}
        return {**fields, "idle_share": self.idle_share}

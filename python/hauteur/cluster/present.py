"""Workers as the scheduler knows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.played import UnitState

if TYPE_CHECKING:
    from hauteur.cluster.batch import UnitBatch
    from hauteur.cluster.comparing import UnitComparison


@dataclass(eq=False)
class Flight:
    """A unit at a worker. batch: None once nobody waits for it; comparison: that it is played for, if any."""

    batch: UnitBatch | None
    state: UnitState
    since: float
    comparison: UnitComparison | None = None


@dataclass(eq=False)
class Present:
    """A worker that has joined.

    units: in flight, by key; failures: in a row; finished: units that it has played well; comparable: those of them
    that might have been compared; slowest: seconds of the longest.
    """

    name: str
    facts: WorkerFacts
    units: dict[str, Flight] = field(default_factory=dict)
    failures: int = 0
    finished: int = 0
    comparable: int = 0
    slowest: float = 0.0

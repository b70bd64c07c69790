"""What a simulation moves: sets of units, units at workers, workers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from hauteur.cluster.model.trace import Interval


@dataclass(eq=False)
class WorkSet:
    """Units that were started together.

    job: what workers open once; net: its number; seconds: of each unit, for a worker of average speed; waiting: units
    that nobody has, with the worker that must not get them; missing: units and comparisons that have not ended; played:
    how often each unit was handed out as played.
    """

    job: tuple[str, int]
    net: int
    seconds: list[float]
    tail: float
    waiting: deque[tuple[int, int | None]] = field(init=False)
    missing: int = field(init=False)
    played: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.missing = len(self.seconds)
        self.waiting = deque((i, None) for i in range(self.missing))
        self.played = [0] * self.missing


@dataclass(eq=False)
class UnitFlight:
    """A unit at a worker.

    avoid: it is played again, to compare it with what this worker made of it; given: when it was given; begin, end:
    when the worker works on it; sent: its result is on its way.
    """

    work: WorkSet
    unit: int
    avoid: int | None
    sent: bool = False
    given: float = 0.0
    begin: float = 0.0
    end: float = 0.0


@dataclass(eq=False)
class SimulatedWorker:
    """A worker's place on a machine. joined: since when there is a worker; fetching: when it waits for nets."""

    number: int
    machine: int
    speed: float
    joined: float | None = None
    life: int = 0
    free: float = 0.0
    flights: list[UnitFlight] = field(default_factory=list)
    jobs: list[tuple[str, int]] = field(default_factory=list)
    fetching: list[Interval] = field(default_factory=list)

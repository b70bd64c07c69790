"""Units as a scheduler keeps them, and what it hands out of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.unit import Unit, UnitResult


class CheckedResult(NamedTuple):
    """What the check of a result has found. digest: hash of its games; games: themselves, for who takes the result."""

    digest: str
    games: Any = None


@dataclass(frozen=True)
class Played:
    """A unit that was played.

    digest, games: what its check has found; replaces: it stands in the place of one that was handed out before, by a
    worker that was found to be wrong; attempts: how many times it was given to a worker, 1 or more.
    """

    unit: Unit
    result: UnitResult
    worker: str
    facts: WorkerFacts
    digest: str
    replaces: bool = False
    attempts: int = 1
    games: Any = None


@dataclass(frozen=True)
class ComparedUnit:
    """A comparison that has ended. workers: that played the unit, first the one whose games were handed out; wrong:
    those of them whose games were not those of the others.
    """

    unit: Unit
    workers: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(eq=False)
class UnitState:
    """A unit of a batch.

    digest, worker, facts: of the result that was handed out last, None and empty before; confirmed: two workers gave
    that result; suspect: a wrong worker gave it, so it is played again; waits: it is in the queue; attempts: times it
    was given to a worker; failures: who could not play it, and why; deaths: workers that ended while they had it,
    and why.
    """

    unit: Unit
    digest: str | None = None
    worker: str = ""
    facts: WorkerFacts | None = None
    confirmed: bool = False
    suspect: bool = False
    waits: bool = True
    attempts: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    deaths: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether a result of it is missing."""
        return self.digest is None or self.suspect

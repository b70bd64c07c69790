"""Units of work: some games each, decided by their content alone, whichever worker plays them; and the workers' side.

A fleet is where units are played: workers that come and go, are given units, and report events.
"""

import hashlib
import json
import queue
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hauteur import __version__

T = TypeVar("T")

LEARNING = "hauteur.learning.units", "LearningJob"
JOBS = {
    "self-play": LEARNING,
    "gate": LEARNING,
    "reanalyse": LEARNING,
    "match": ("hauteur.matches.units", "MatchJob"),
}
"""The modules and classes of what plays units, above this package, by the kind of the units."""


@dataclass(frozen=True)
class Unit:
    """Some games that one worker plays."""

    kind: str
    """What its games are for: `self-play`, `gate`, `reanalyse` or `match`."""
    name: str
    """What messages call it."""
    shared: Mapping[str, Any]
    """Settings that the units of a job have in common, JSON."""
    own: Mapping[str, Any]
    """Settings of this one alone, JSON."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The nets that it needs: their file names by sha256."""
    games: int = 1
    """How many games it has."""

    @cached_property
    def job(self) -> str:
        """Hash of what it shares: units with the same one are played side by side."""
        return _hash([self.kind, self.shared, self.files])

    @cached_property
    def key(self) -> str:
        """Hash of all that decides its games."""
        return _hash([self.job, self.own])

    def to_json(self) -> dict[str, Any]:
        """Return the unit for a worker, with the version that it needs and the key that it must find."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return {"version": __version__, "key": self.key, **own}


@dataclass(frozen=True)
class UnitResult:
    """A unit that was played. content: of the kind's own form; facts: counts and seconds of the work."""

    key: str
    content: bytes
    facts: Mapping[str, float] = field(default_factory=dict)


TakeUnit = Callable[[], Unit | None]
"""Takes the next unit; None where there is none now."""


class UnitJob(Protocol):
    """The units of one job, played side by side by one worker."""

    def play(self, take: TakeUnit) -> Iterator[UnitResult]:
        """Play units, and yield each as it ends; `take` is asked again while games go on, as there may be more."""

    def close(self) -> None:
        """Close nets."""


JobClass = Callable[[Unit, Mapping[str, Path], int], UnitJob]
"""Opens a job. unit: the first of it; files: where its nets are, by sha256; threads: of each net on the processor."""


def unit_of(message: Mapping[str, Any], own_version: str = __version__) -> Unit:
    """Return the unit that `Unit.to_json` wrote. ValueError, in one line, for another version's, and a damaged one.

    own_version: of the worker.
    """
    given = dict(message)
    version = given.pop("version")
    key = given.pop("key")
    if version != own_version:
        raise ValueError(f"the driver runs hauteur {version}, this worker {own_version}: both need the same version")
    unit = Unit(**given)
    if unit.key != key:
        raise ValueError(f"unit {unit.name}: its content is not that of its key")
    return unit


def job_class(kind: str) -> JobClass:
    """Return what opens jobs of units of a kind."""
    module, name = JOBS[kind]
    found: JobClass = getattr(import_module(module), name)
    return found


def _hash(value: Any) -> str:
    """Return the sha256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Joined:
    """A worker is ready. process: its number on the host; processor: its maker's name of it, empty: the driver's."""

    worker: str
    host: str
    process: int = 0
    processor: str = ""


@dataclass(frozen=True)
class Left:
    """A worker is gone, and the units that it had with it. cause: in words."""

    worker: str
    cause: str


@dataclass(frozen=True)
class Finished:
    """A worker has played a unit."""

    worker: str
    result: UnitResult


@dataclass(frozen=True)
class Failed:
    """A worker could not play a unit. key: the unit's; cause: in words; trace: where the program is at fault, lines."""

    worker: str
    key: str
    cause: str
    trace: str = ""


Event = Joined | Left | Finished | Failed


def drained(events: queue.Queue[T], seconds: float) -> list[T]:
    """Return all that a queue has, after at most this time."""
    found: list[T] = []
    with suppress(queue.Empty):
        found.append(events.get(timeout=seconds))
        while True:
            found.append(events.get_nowait())
    return found


Sources = Mapping[str, Path]
"""Where the driver has the files of units, by sha256."""


class Fleet(Protocol):
    """Workers; one thread uses a fleet. A worker that left is replaced by the fleet itself."""

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Give a unit to a worker that has joined and not left; without waiting for it."""

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened, after at most this time. ValueError where no worker will ever come."""

    def replace(self, worker: str, cause: str) -> None:
        """End a worker that hangs, and have another take its place; `Left` follows."""

    def shortage(self) -> str | None:
        """Return why there are not more workers, in words; None where all are there."""

    def close(self) -> None:
        """End all workers."""

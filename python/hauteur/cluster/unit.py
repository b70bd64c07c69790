"""Units of work: some games each, decided by their content alone, whichever worker plays them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from hauteur import __version__

KINDS = {
    "self-play": "learning.units:LearningJob",
    "gate": "learning.units:LearningJob",
}
"""Every kind of units: the module of the package, and the class of its jobs. Packages above register here by name."""


@dataclass(frozen=True)
class Unit:
    """Some games that one worker plays.

    kind: one of `KINDS`; name: for people; shared: settings that the units of a job have in common, JSON; own: those of
    this one alone, JSON; files: the nets that it needs, their file names by sha256; games: how many it has.
    """

    kind: str
    name: str
    shared: Mapping[str, Any]
    own: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    games: int = 1

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


class UnitJob(Protocol):
    """The units of one job, played side by side by one worker."""

    def play(self, units: Iterator[Unit]) -> Iterator[UnitResult]:
        """Play units, and yield each as it ends; the iterator is asked again while games go on, as it may have more."""

    def close(self) -> None:
        """Close nets."""


JobClass = Callable[[Unit, Mapping[str, Path], int], UnitJob]
"""Opens a job. unit: the first of it; files: where its nets are, by sha256; threads: of each net on the processor."""


def unit_of(message: Mapping[str, Any]) -> Unit:
    """Return the unit that `Unit.to_json` wrote. ValueError, in one line, for another version's, and a damaged one."""
    given = dict(message)
    version, key = given.pop("version"), given.pop("key")
    if version != __version__:
        raise ValueError(f"the driver runs hauteur {version}, this worker {__version__}: both need the same version")
    unit = Unit(**given)
    if unit.key != key:
        raise ValueError(f"unit {unit.name}: its content is not that of its key")
    return unit


def job_class(kind: str) -> JobClass:
    """Return what opens jobs of a kind."""
    module, _, name = KINDS[kind].partition(":")
    found: JobClass = getattr(import_module(f"hauteur.{module}"), name)
    return found


def preload() -> None:
    """Import what the jobs need; what cannot be imported is an error of the first unit that needs it."""
    for place in KINDS.values():
        with suppress(Exception):
            import_module(f"hauteur.{place.partition(':')[0]}")


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

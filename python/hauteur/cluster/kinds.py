"""Kinds of units, and what a worker does with them. Rooms above register theirs here by name alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from hauteur.cluster.unit import Unit

KINDS = {
    "self-play": "learning.units:SelfPlayJob",
    "gate": "learning.units:GateJob",
}
"""Every kind: the module of the package, and the class of its jobs."""


class Feed(Protocol):
    """Where a job gets its units, and leaves what it has made of them."""

    def next_unit(self) -> Unit | None:
        """Return the next unit of this job; None where none waits now."""

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:
        """Hand in a unit."""


class Job(Protocol):
    """The units of one job, played side by side by one worker."""

    def play(self, feed: Feed) -> None:
        """Play units until the feed has none and all are handed in."""

    def close(self) -> None:
        """Close nets."""


JobClass = Callable[[Unit, Mapping[str, Path], int], Job]
"""Opens a job. unit: the first of it; files: where its nets are, by sha256; threads: of each net on the processor."""


def job_class(kind: str) -> JobClass:
    """Return what opens jobs of a kind. ValueError where there is no such kind."""
    if kind not in KINDS:
        raise ValueError(f"there is no kind of units {kind!r}; there are {', '.join(KINDS)}")
    module, _, name = KINDS[kind].partition(":")
    found: JobClass = getattr(import_module(f"hauteur.{module}"), name)
    return found


def unit_of(fields: Mapping[str, Any]) -> Unit:
    """Return the unit that a message describes."""
    return Unit(**fields)

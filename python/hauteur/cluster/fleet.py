"""Fleets: workers that come and go, are given units, and the events that they report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hauteur.cluster.unit import Unit, UnitResult


@dataclass(frozen=True)
class Joined:
    """A worker is ready. process: its number on the host."""

    worker: str
    host: str
    process: int = 0


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
    """A worker could not play a unit. key: the unit's; cause: in words."""

    worker: str
    key: str
    cause: str


Event = Joined | Left | Finished | Failed

Sources = Mapping[str, Path]
"""Where the driver has the files of units, by sha256."""


class Fleet(Protocol):
    """Workers; one thread uses a fleet. A worker that left is replaced by the fleet itself. name: for people."""

    name: str

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Give a unit to a worker that has joined and not left; without waiting for it."""

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened, after at most this time. ValueError where no worker will ever come."""

    def wake(self) -> None:
        """End a `wait`; any thread may call it."""

    def replace(self, worker: str, cause: str) -> None:
        """End a worker that hangs, and have another take its place; `Left` follows."""

    def shortage(self) -> str | None:
        """Return why there are not more workers, in words; None where all are there."""

    def close(self) -> None:
        """End all workers."""

"""Units without games: what it costs to give a unit to a worker and to take its result, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hauteur.cluster.kinds import Feed
from hauteur.cluster.unit import Unit


class EmptyJob:
    """Makes of each unit as many zero bytes as `own["bytes"]` asks for."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        pass

    def play(self, feed: Feed) -> None:
        """Hand in the units of the feed."""
        while (unit := feed.next_unit()) is not None:
            feed.done(unit, bytes(int(unit.own["bytes"])), {})

    def close(self) -> None:
        """Nothing is open."""


def empty_units(count: int, *, task_bytes: int, result_bytes: int) -> list[Unit]:
    """Return so many units without games. task_bytes: of each on its way to a worker; result_bytes: of its result."""
    padding = "x" * task_bytes
    own = [{"number": i, "bytes": result_bytes, "text": padding} for i in range(count)]
    return [Unit("empty", f"unit {i}", {}, one, comparable=False) for i, one in enumerate(own)]

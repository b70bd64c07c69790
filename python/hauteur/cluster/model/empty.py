"""Units without games: they show what it costs to give a unit to a worker and to take its result, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from hauteur.cluster.kinds import Feed
from hauteur.cluster.unit import Unit


class EmptyJob:
    """Makes of each unit as many zero bytes as `own["bytes"]` asks for, after `own["seconds"]` of sleep."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        pass

    def play(self, feed: Feed) -> None:
        """Hand in the units of the feed."""
        while (unit := feed.next_unit()) is not None:
            time.sleep(unit.own["seconds"])
            feed.done(unit, bytes(int(unit.own["bytes"])), {})

    def close(self) -> None:
        """Nothing is open."""


def empty_units(seconds: Sequence[float], *, task_bytes: int, result_bytes: int, name: str = "unit") -> list[Unit]:
    """Return units without games. seconds: of each at its worker; task_bytes, result_bytes: of each to and from it."""
    same = {"bytes": result_bytes, "text": "x" * task_bytes}
    names = [f"{name} {i}" for i in range(len(seconds))]
    return [Unit("empty", one, {}, {"name": one, "seconds": s, **same}) for one, s in zip(names, seconds, strict=True)]

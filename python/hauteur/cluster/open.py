"""Opens the fleet that a command asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hauteur.cluster.local import LocalFleet
from hauteur.cluster.scheduler import Scheduler


@contextmanager
def open_scheduler(workers: int = 0, cluster: str | None = None) -> Iterator[Scheduler | None]:
    """Yield a scheduler, closed at the end; None where neither workers nor a cluster is asked for.

    workers: processes of this machine. cluster: `local`, `auto` or an address of Ray.
    """
    if cluster is not None:
        raise ValueError("--cluster is not there yet")
    if not workers:
        yield None
        return
    scheduler = Scheduler(LocalFleet(workers))
    try:
        yield scheduler
    finally:
        scheduler.close()

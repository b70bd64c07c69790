"""Workers that a command or call asks for, opened: on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from hauteur.cluster.options import WorkerOptions

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler
    from hauteur.cluster.unit import Fleet


@contextmanager
def open_scheduler(options: WorkerOptions) -> Iterator[Scheduler | None]:
    """Yield a scheduler, closed at the end; None where no workers are asked for.

    ValueError or OSError, in one line, where there can be none.
    """
    if not options.workers and options.cluster is None:
        yield None
        return
    from hauteur.cluster.scheduler import Scheduler  # here: commands without workers start without it

    with closing(Scheduler(_open_fleet(options), unit_seconds=options.seconds)) as scheduler:
        yield scheduler


def _open_fleet(options: WorkerOptions) -> Fleet:
    """Return the workers of this machine, or of the cluster. ValueError or OSError where there can be none."""
    if options.cluster is None:
        from hauteur.cluster.local import LocalFleet

        return LocalFleet(options.workers, threads=options.threads)
    from hauteur.cluster.ray_fleet import RayFleet

    return RayFleet(options)

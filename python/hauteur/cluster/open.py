"""Opens the workers that a command asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from hauteur.cluster.options import WorkerOptions

if TYPE_CHECKING:
    from hauteur.cluster.fleet import Fleet
    from hauteur.cluster.scheduler import Scheduler


@contextmanager
def open_scheduler(options: WorkerOptions) -> Iterator[Scheduler | None]:
    """Yield a scheduler, closed at the end; None where no workers are asked for.

    ValueError or OSError, in one line, where there can be none.
    """
    if not options.wanted:
        yield None
        return
    from hauteur.cluster.scheduler import Scheduler  # here: commands without workers start without it

    with ExitStack() as stack:
        scheduler = Scheduler(_open_fleet(options), compare_share=options.compare, unit_seconds=options.seconds)
        stack.callback(scheduler.close)
        if options.cluster is not None:
            from hauteur.cluster.ray_metrics import RayMetrics

            stack.callback(RayMetrics(lambda: scheduler.counts).close)
        yield scheduler


@contextmanager
def open_workers(workers: int, cluster: str | None) -> Iterator[Scheduler | None]:
    """Yield the scheduler that a call asks for by its arguments, as `open_scheduler` does."""
    try:
        options = WorkerOptions(workers, cluster)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("--")) from None  # an argument here, no option
    with open_scheduler(options) as scheduler:
        yield scheduler


def _open_fleet(options: WorkerOptions) -> Fleet:
    if options.cluster is None:
        from hauteur.cluster.local import LocalFleet

        return LocalFleet(options.workers, threads=options.threads)
    from hauteur.cluster.ray_fleet import RayFleet

    return RayFleet(options)

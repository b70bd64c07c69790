"""The scheduler: gives units to the workers of a fleet, takes and checks results, and gives lost units to others."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from hauteur.cluster.batch import Check, OnCompared
from hauteur.cluster.batch import UnitBatch as Batch
from hauteur.cluster.counts import Counts
from hauteur.cluster.dispatcher import Dispatcher
from hauteur.cluster.fleet import Fleet, Sources
from hauteur.cluster.options import COMPARE_SHARE
from hauteur.cluster.played import CheckedResult, Played
from hauteur.cluster.present import Present
from hauteur.cluster.status import status_line
from hauteur.cluster.unit import Unit

__all__ = ["Batch", "Check", "CheckedResult", "Counts", "Played", "Scheduler", "print_note"]

CLOSE_SECONDS = 60.0
"""Seconds for which the end waits for the present turn."""


def print_note(line: str) -> None:
    """Print a line about a worker, on standard error."""
    print(line, file=sys.stderr, flush=True)


class Scheduler:
    """Gives units to the workers of a fleet, in a thread of its own; batches that were started first come first.

    compare_share: of the units of every worker that are played again by another one and compared, 0 to 1; unit_seconds:
    time limit of a unit, 0: ten times what units take, and a minute at least; on_note: takes lines about workers that
    were replaced or shut out, from the scheduler's thread; seed: of the draw of units that are compared, None: any;
    clock: seconds that only grow. ValueError for settings out of range.
    """

    def __init__(
        self,
        fleet: Fleet,
        *,
        compare_share: float = COMPARE_SHARE,
        unit_seconds: float = 0.0,
        on_note: Callable[[str], None] = print_note,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.fleet = fleet
        self._on_note = on_note
        self._dispatcher = Dispatcher(
            fleet, compare_share=compare_share, unit_seconds=unit_seconds, seed=seed, clock=clock
        )
        self._lock = self._dispatcher.lock
        self._error: BaseException | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    @property
    def workers(self) -> dict[str, Present]:
        """The workers that are present, by name."""
        with self._lock:
            return dict(self._dispatcher.ledger.crew.workers)

    @property
    def counts(self) -> Counts:
        """What was done for all batches together until now."""
        ledger = self._dispatcher.ledger
        with self._lock:
            return replace(ledger.counts, in_flight=ledger.crew.in_flight())

    @property
    def shut_out(self) -> frozenset[str]:
        """Names of the workers that were shut out because their games were wrong."""
        with self._lock:
            return frozenset(self._dispatcher.judge.wrong)

    def start(
        self,
        units: Sequence[Unit],
        sources: Sources,
        check: Check,
        *,
        first: bool = False,
        on_compared: OnCompared = lambda _: None,
    ) -> Batch:
        """Begin to work on units; iterate over what is returned for the results.

        sources: where the files of the units are, by sha256; first: before the batches that are there; on_compared:
        takes comparisons that have ended, in the thread that iterates. ValueError where two of the units are the same;
        the error that stopped the scheduler, where one did.
        """
        batch = Batch(units, sources, check, self._cancel, self.fleet.wake, on_compared)
        with self._lock:
            if self._error is not None:
                raise self._error
            self._dispatcher.ledger.add(batch, first=first)
        self.fleet.wake()
        return batch

    def status(self) -> str:
        """Return how many workers and units there are, and why nothing moves where nothing does, in one line."""
        with self._lock:
            return status_line(self._dispatcher)

    def close(self) -> None:
        """End the workers, and batches that are open with an error; at any time, any number of times."""
        self._closed = True
        self.fleet.wake()
        self._thread.join(CLOSE_SECONDS)
        self._stop(RuntimeError("the scheduler was closed"))
        self.fleet.close()

    def _cancel(self, batch: Batch) -> None:
        with self._lock:
            self._dispatcher.ledger.forget(batch)

    def _run(self) -> None:
        ledger = self._dispatcher.ledger
        try:
            while not self._closed:
                self._dispatcher.turn()
                while ledger.notes:
                    self._on_note(ledger.notes.pop(0))
        except BaseException as error:  # whatever it is, those who wait for results must have it
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        """End all batches, and refuse others."""
        with self._lock:
            self._error = self._error or error
            for batch in list(self._dispatcher.ledger.batches):
                self._dispatcher.ledger.end(batch, self._error)

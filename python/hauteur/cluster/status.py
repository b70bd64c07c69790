"""A scheduler in one line: what it does, and why nothing moves where nothing does."""

from __future__ import annotations

from collections.abc import Iterator

from hauteur.cluster.batch import UnitBatch
from hauteur.cluster.crew import IN_FLIGHT
from hauteur.cluster.dispatcher import Dispatcher

STILL_SECONDS = 5.0
"""Seconds without any event after which the line begins with the reason."""


def status_line(dispatcher: Dispatcher) -> str:
    """Return how many workers and units there are, and what each batch waits for, in words."""
    ledger = dispatcher.ledger
    waiting = sum(len(batch.waiting) for batch in ledger.batches)
    parts = [f"{len(ledger.crew.workers)} workers, {ledger.crew.in_flight()} units in flight, {waiting} waiting"]
    still = ledger.time - dispatcher.moved
    if still >= STILL_SECONDS and ledger.batches:
        parts.append(f"nothing has moved for {still:.0f} s")
    if not ledger.batches:
        parts.append("no work")
    elif not ledger.crew.workers:
        parts.append(f"no workers: {dispatcher.shortage or 'none has joined'}")
    else:
        parts += dict.fromkeys(reason for batch in ledger.batches for reason in _reasons(dispatcher, batch))
        parts += [dispatcher.shortage] if dispatcher.shortage else []
    return "; ".join(parts)


def _reasons(dispatcher: Dispatcher, batch: UnitBatch) -> Iterator[str]:
    """Yield what a batch waits for."""
    ledger = dispatcher.ledger
    workers = ledger.crew.workers
    since = [flight.since for flight in ledger.crew.flights() if flight.batch is batch]
    age = f", the oldest for {ledger.time - min(since):.0f} s" if since else ""
    if batch.waiting and batch.is_full(len(workers)):
        yield f"{len(batch.results)} results wait to be taken"
    elif batch.waiting and ledger.crew.in_flight() >= IN_FLIGHT * len(workers):
        yield f"all workers are busy{age}"
    elif batch.waiting:
        yield f"{batch.waiting[0].unit.name} waits for a worker at which it has not failed"
    elif batch.missing:
        yield f"all units are in flight{age}"
    for comparison in batch.comparisons.values():
        name = comparison.state.unit.name
        if comparison.asked is not None:
            yield f"{name} is compared at {comparison.asked}"
        elif comparison.can_go_on(workers):
            yield f"{name} waits to be compared"
        else:
            yield f"{name} waits for another worker of the same kind as {comparison.state.worker}"
        return

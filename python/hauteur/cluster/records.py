"""What is kept of units and workers: the lines of a units.jsonl, and the numbers of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hauteur.cluster.counts import Counts

Text = Annotated[str, Field(max_length=500)]


class UnitEntry(BaseModel):
    """A unit that was accepted, as a line of units.jsonl.

    generation, kind, unit: which one; a unit of a match has the number of its first game. session: begin of the process
    that accepted it, seconds since 1970; worker: its name in that session; seconds: of the worker's time that it took;
    attempts: times that it was given to a worker; replaces: in the place of one of a worker that was wrong.
    An entry without a unit names a worker that was shut out, by its kind.
    """

    model_config = ConfigDict(extra="forbid")

    generation: int | None = None
    kind: Text
    unit: int | None = None
    games: int = 0
    session: float
    worker: Text
    host: Text = ""
    device_class: Text = ""
    backend: Text = ""
    precision: Text = ""
    seconds: float = 0.0
    attempts: int = 1
    replaces: bool = False


def workers_line(counts: Sequence[Counts]) -> dict[str, Any]:
    """Return what workers did for these batches together."""
    present = sum(count.present_seconds for count in counts)
    idle = sum(count.idle_seconds for count in counts)
    return {
        "workers": len({name for count in counts for name in count.workers}),
        "units": sum(count.units for count in counts),
        "retried": sum(count.retried for count in counts),
        "compared": sum(count.compared for count in counts),
        "differing": sum(count.differing for count in counts),
        "replaced": sum(count.replaced for count in counts),
        "idle_share": idle / present if present > 0 else 0.0,
    }

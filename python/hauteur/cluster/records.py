"""What is kept of units and workers: the lines of a units.jsonl, and the numbers of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hauteur.cluster.counts import Counts
from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.played import ComparedUnit

COMPARED = " compared"
MOST_TEXT = 500
"""Characters of a text of an entry."""
Text = Annotated[str, Field(max_length=MOST_TEXT)]


class UnitEntry(BaseModel):
    """A unit that was accepted, as a line of units.jsonl.

    generation, kind, unit: which one; a unit of a match has the number of its first game. session: begin of the process
    that accepted it, seconds since 1970; worker: its name in that session; seconds: of the worker's time that it took;
    attempts: times that it was given to a worker; replaces: in the place of one of a worker that was wrong.
    An entry without a unit names a worker that was shut out, by its kind. One of a kind that ends with COMPARED is a
    comparison: worker: whose games were handed out; others: that played the unit too; equal: whether all games were the
    same; wrong: whose games were not.
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
    others: tuple[Text, ...] = ()
    equal: bool | None = None
    wrong: tuple[Text, ...] = ()

    @classmethod
    def of_unit(cls, worker: str, facts: WorkerFacts, seconds: float, **fields: Any) -> UnitEntry:
        """Return the entry of a unit that a worker has played; long texts of the worker are cut."""
        return cls(
            worker=worker[:MOST_TEXT],
            host=facts.host[:MOST_TEXT],
            device_class=facts.device_class[:MOST_TEXT],
            seconds=round(seconds, 3),
            **fields,
        )

    @classmethod
    def of_comparison(cls, compared: ComparedUnit, **fields: Any) -> UnitEntry:
        """Return the entry of a comparison that has ended. fields: generation, unit and session."""
        worker, *others = (name[:MOST_TEXT] for name in compared.workers)
        wrong = tuple(name[:MOST_TEXT] for name in compared.wrong)
        kind = compared.unit.kind + COMPARED
        return cls(kind=kind, worker=worker, others=tuple(others), equal=not wrong, wrong=wrong, **fields)


COUNTED = ("joined", "left", "retried", "failed", "replayed", "compared", "uncompared", "differing", "replaced")
"""Numbers that are fields of `Counts` of the same name."""
SECONDS = {
    "work_seconds": "work_seconds",
    "worker_seconds": "present_seconds",
    "unit_seconds": "unit_seconds",
    "idle_seconds": "idle_seconds",
}
"""Numbers of seconds, and the fields of `Counts` that they are."""
WORDS = {
    "units": "units played",
    "retried": "retried",
    "replayed": "replayed",
    "compared": "compared",
    "uncompared": "comparisons not ended",
    "differing": "differed",
    "replaced": "replaced",
}
"""Counts for people."""


def worker_numbers(since: Counts, now: Counts) -> dict[str, float]:
    """Return what workers did between two counts of a scheduler, see `summed_numbers`."""
    found = {name: getattr(now, field) - getattr(since, field) for name, field in SECONDS.items()}
    did = {name: getattr(now, name) - getattr(since, name) for name in COUNTED}
    return summed_numbers([{"units": now.finished - since.finished, **did, **found}])


def summed_numbers(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return what workers did altogether.

    present, in_flight: workers, and units that they had, on average while there was work; units: that got a result;
    work_seconds: of the clock; worker_seconds, unit_seconds, idle_seconds: of all workers and units together;
    idle_share: 0 to 1. The others as in `Counts`.
    """
    counts = {name: int(sum(part.get(name, 0) for part in parts)) for name in ("units", *COUNTED)}
    seconds = {name: round(sum(part.get(name, 0.0) for part in parts), 6) for name in SECONDS}
    return {
        "present": _share(seconds["worker_seconds"], seconds["work_seconds"]),
        "in_flight": _share(seconds["unit_seconds"], seconds["work_seconds"]),
        **counts,
        **seconds,
        "idle_share": _share(seconds["idle_seconds"], seconds["worker_seconds"]),
    }


def numbers_in_words(numbers: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return numbers for people: each with what it is."""
    return [
        (f"{numbers.get('present', 0):.1f}", "workers, on average"),
        (f"{numbers.get('in_flight', 0):.1f}", "units in flight, on average"),
        *((f"{numbers.get(name, 0):,.0f}", words) for name, words in WORDS.items()),
        (f"{numbers.get('idle_share', 0):.1%}", "idle share of worker time"),
    ]


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole > 0 else 0.0

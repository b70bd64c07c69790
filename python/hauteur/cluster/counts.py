"""The work of a scheduler's workers, in numbers: for metrics, results and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

COUNTED = {"units": "units played", "retried": "given out again", "failed": "failed", "left": "workers lost"}
"""Numbers that are counted, and what they are for people."""
TIMED = ("work_seconds", "worker_seconds", "unit_seconds", "idle_seconds")


@dataclass
class Counts:
    """The work until now.

    units: that were played; retried: times that a unit went back because its worker left, failed or took too long;
    failed: times that a worker could not play a unit, or took too long; left: workers that went. work_seconds: of the
    clock, in which there was work; worker_seconds, unit_seconds, idle_seconds: in that time, those of all workers that
    were there, of all units that were in flight, and of the workers without any.
    """

    units: int = 0
    retried: int = 0
    failed: int = 0
    left: int = 0
    work_seconds: float = 0.0
    worker_seconds: float = 0.0
    unit_seconds: float = 0.0
    idle_seconds: float = 0.0

    def since(self, before: Counts) -> dict[str, float]:
        """Return what was done after another count, as `summed_numbers`."""
        return summed_numbers([{name: value - getattr(before, name) for name, value in asdict(self).items()}])


def summed_numbers(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return what workers did altogether: the fields of `Counts`, and what follows from them.

    present, in_flight: workers, and units that they had, on average while there was work; idle_share: 0 to 1.
    """
    counts = {name: int(sum(part.get(name, 0) for part in parts)) for name in COUNTED}
    seconds = {name: round(sum(part.get(name, 0.0) for part in parts), 6) for name in TIMED}
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
        *((f"{numbers.get(name, 0):,.0f}", words) for name, words in COUNTED.items()),
        (f"{numbers.get('idle_share', 0):.1%}", "idle share of worker time"),
    ]


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole > 0 else 0.0

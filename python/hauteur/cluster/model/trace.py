"""What a simulation leaves behind, and what follows from it: speeds, and what idle workers waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]

CAUSES = ("stragglers", "training", "gate", "driver", "disk", "network", "net")
"""What a worker without work waits for: the last units of others, training, the gate, the driver's processor, its disk,
its network, or the net that it needs.
"""


@dataclass
class Trace:
    """Times of a simulation, in seconds since its beginning.

    working: of a worker at a unit; flying: of a unit, from its giving until its result is taken; fetching: of a worker
    that waits for a net and opens it; present: of a worker; driver: of its processor; causes: since when idle workers
    wait for what; files: when the files of units were written; received, sent: when how many bytes came to and left the
    driver, nets: of these, of nets; ends: of generations.
    """

    working: list[Interval] = field(default_factory=list)
    flying: list[Interval] = field(default_factory=list)
    fetching: list[Interval] = field(default_factory=list)
    present: list[Interval] = field(default_factory=list)
    driver: list[Interval] = field(default_factory=list)
    causes: list[tuple[float, str]] = field(default_factory=list)
    files: list[float] = field(default_factory=list)
    received: list[tuple[float, int]] = field(default_factory=list)
    sent: list[tuple[float, int]] = field(default_factory=list)
    nets: list[tuple[float, int]] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    @property
    def window(self) -> Interval:
        """From the end of the first generation to that of the last: the time that is reported on."""
        return self.ends[0], self.ends[-1]

    def seconds(self, intervals: Sequence[Interval]) -> float:
        """Return the sum of intervals inside the window."""
        return float(np.diff(covered(intervals, self.window))[0])

    def files_written(self) -> int:
        """Return the files written inside the window."""
        begin, end = self.window
        return sum(begin < when <= end for when in self.files)

    def bytes_of(self, messages: Sequence[tuple[float, int]]) -> float:
        """Return the bytes of messages inside the window, a second of it."""
        begin, end = self.window
        return sum(size for when, size in messages if begin < when <= end) / (end - begin)

    def waits(self) -> dict[str, float]:
        """Return the seconds of idle workers inside the window by what they waited for."""
        begin, end = self.window
        times = [when for when, _ in self.causes]
        marks = np.clip(np.array([*times, end]), begin, end)
        idle = np.diff(covered(self.present, marks) - covered(self.working, marks) - covered(self.fetching, marks))
        found = dict.fromkeys(CAUSES, 0.0)
        for (_, cause), seconds in zip(self.causes, idle.tolist(), strict=True):
            found[cause] += max(0.0, seconds)
        found["net"] += self.seconds(self.fetching)
        return found


def covered(intervals: Sequence[Interval], marks: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of what of the intervals lies before each mark."""
    places = np.asarray(marks, np.float64)
    if not intervals:
        return np.zeros(len(places))
    ends = np.array(intervals, np.float64)
    return _before(np.sort(ends[:, 0]), places) - _before(np.sort(ends[:, 1]), places)


def _before(starts: NDArray[np.float64], marks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over sorted starts of how long each lies before each mark, 0 for those behind it."""
    sums = np.concatenate([[0.0], np.cumsum(starts)])
    count = np.searchsorted(starts, marks, side="right")
    found: NDArray[np.float64] = count * marks - sums[count]
    return found

"""Batches: units that are played together, as their consumer sees them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from hauteur.cluster.comparing import UnitComparison
from hauteur.cluster.counts import Counts
from hauteur.cluster.fleet import Sources
from hauteur.cluster.played import CheckedResult, ComparedUnit, Played, UnitState
from hauteur.cluster.unit import Unit

FEWEST_UNTAKEN = 64
"""Results of a batch that may wait for its consumer while its units go on being given out; more with more workers."""
UNTAKEN_OF_A_WORKER = 4
"""So many times the number of workers may wait, where that is more."""
OnCompared = Callable[[ComparedUnit], object]
MOST_DURATIONS = 101
"""Finished units whose seconds are kept."""

Check = Callable[[Unit, bytes], CheckedResult]
"""Returns what a result holds. ValueError, in one line, for content that cannot be right."""


class UnitBatch:
    """Units that were given to a scheduler; iterate for what was made of them, in the order of arrival.

    The iteration ends when every unit has been played and every comparison has ended, or with the error that stopped
    the work; one thread iterates. A unit comes twice only with `replaces` set the second time. Comparisons that have
    ended go to `on_compared` meanwhile, in the thread that iterates.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        sources: Sources,
        check: Check,
        close: Callable[[UnitBatch], None],
        wake: Callable[[], None],
        on_compared: OnCompared = lambda _: None,
    ) -> None:
        self.states: dict[str, UnitState] = {}
        for unit in units:
            if (other := self.states.get(unit.key)) is not None:
                raise ValueError(f"units of a batch must differ: {other.unit.name} and {unit.name} are the same")
            self.states[unit.key] = UnitState(unit)
        self.sources = sources
        self.check = check
        self.counts = Counts(units=len(units))
        self.waiting = deque(self.states.values())
        self.missing = len(units)
        self.comparisons: dict[str, UnitComparison] = {}
        self.durations: deque[float] = deque(maxlen=MOST_DURATIONS)
        self.load = 0
        self._typical: float | None = None
        self._typical_of = 0
        self.results: deque[Played] = deque()
        self.compared: deque[ComparedUnit] = deque()
        self.held = False
        self._over = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._close, self._wake, self._on_compared = close, wake, on_compared

    def __iter__(self) -> Iterator[Played]:
        while (played := self.take()) is not None:
            yield played

    def take(self) -> Played | None:
        """Wait for a result and return it; None when there are no more. Raises the error that stopped the work."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self.results or self.compared or self._over)
                if not self.compared:
                    break
                compared = self.compared.popleft()
            self._on_compared(compared)
        with self._changed:
            if not self.results:
                if self._error is not None:
                    raise self._error
                return None
            played = self.results.popleft()
            held, self.held = self.held, False
        if held:
            self._wake()
        return played

    def close(self) -> None:
        """Give no more of these units away, and hand out no more results of them; at any time, any number of times."""
        self._close(self)
        with self._changed:
            self.results.clear()
            compared = list(self.compared)
            self.compared.clear()
        self.end()
        for one in compared:
            self._on_compared(one)

    def hand_out(self, found: Played | ComparedUnit) -> None:
        """Leave a result, or a comparison that has ended, for the consumer."""
        with self._changed:
            if isinstance(found, Played):
                self.results.append(found)
            else:
                self.compared.append(found)
            self._changed.notify_all()

    def end(self, error: BaseException | None = None) -> None:
        """End the iteration, when the results that wait are taken."""
        with self._changed:
            if not self._over:
                self._over, self._error = True, error
            self._changed.notify_all()

    def is_full(self, workers: int) -> bool:
        """Return whether so many results wait that no more units are given out."""
        self.held = len(self.results) > max(FEWEST_UNTAKEN, UNTAKEN_OF_A_WORKER * workers)
        return self.held

    def put_back(self, state: UnitState) -> None:
        """Put a unit in front of the queue."""
        if not state.waits:
            state.waits = True
            self.waiting.appendleft(state)

    def take_out(self, state: UnitState) -> None:
        """Take a unit out of the queue, where it is in it."""
        if state.waits:
            state.waits = False
            self.waiting.remove(state)

    def typical_seconds(self) -> float | None:
        """Return the median of the seconds that its units took; None while fewer than three have finished."""
        if self._typical_of != self.counts.finished and len(self.durations) >= 3:
            self._typical, self._typical_of = median(self.durations), self.counts.finished
        return self._typical

"""Limits of a search: those it was given, what it has reached, and the reason to stop. Pure functions.

Times are seconds since the search began, visits count the root's own evaluation.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real

from hauteur.mcts.time_manager import Budget

SETTLED_VISITS = 100
SETTLED_SECONDS = 0.1
"""New visits and time before which the pace of a search says nothing yet: its first batches are small."""
STALLED_VISITS = 10_000
"""New visits before which a search for a depth or a mate is not given up."""
STALLED_FACTOR = 4
"""Such a search is given up when its visits have grown by this factor without bringing it forward."""
SMART_PRUNING = 1.33
"""Value of Limits.smart_pruning in lc0, and of players on the clock here."""
LEAST_GROWTH = 0.05
"""Plies of mean depth, or nodes, by which a search comes forward."""
RIVAL_SHARE = 0.1
"""A move with fewer visits than this share of the most visited one's is no rival, whatever its Q."""


@dataclass(frozen=True)
class Limits:
    """The limits of a search. None = no such limit; without any the search runs until it is stopped."""

    visits: int | None = None
    """Visits of the root, those of a re-used tree included."""
    new_visits: int | None = None
    """Visits of this search alone."""
    budget: Budget | None = None
    depth: int | None = None
    """Mean depth of a visit."""
    mate: int | None = None
    """A proven win in at most this many moves of the winner."""
    infinite: bool = False
    """Only `stop` ends the search (analysis, thinking in the opponent's time)."""
    smart_pruning: float = 0.0
    """Stop when no rival can catch up within 1/smart_pruning of what remains; 0: never."""

    @property
    def by_visits_alone(self) -> bool:
        """Return whether visits end the search, and no clock."""
        return (self.visits is not None or self.new_visits is not None) and self.budget is None and not self.infinite


Rivals = tuple[Sequence[int], Sequence[float]]
"""Visits and Q (NaN where unvisited) of the root's edges that may be played, in any order."""


@dataclass
class Progress:
    """The state of a search, as far as limits go."""

    seconds: float
    visits: int
    new_visits: int
    depth: float
    batch_seconds: float
    """Time from one batch's answer to the next: a search stops that late."""
    look: Callable[[], Rivals]
    """Looks at the root's edges, which most batches can do without."""
    mate: int | None = None
    """Moves to a proven win of the root's mover."""
    by_visits: bool = True
    """The most visited move is played; with another rule of choice a rival may win without catching up."""
    proven: bool = False
    """The result of the root is proven."""
    stalled: bool = False
    """More visits bring the search no further: they end where the game ends."""

    @cached_property
    def rivals(self) -> Rivals:
        """The root's edges, looked at once."""
        return self.look()


@dataclass
class Growth:
    """The furthest that a search has come, and the new visits after which it had come there."""

    reached: float = -math.inf
    visits: int = 0

    def has_stalled(self, visits: int, reached: float) -> bool:
        """Note a figure that grows with the search; return whether it has not grown for most of the visits."""
        if reached >= self.reached + LEAST_GROWTH:
            self.reached, self.visits = reached, visits
        return visits >= max(STALLED_VISITS, STALLED_FACTOR * self.visits)


def limits_of(visits: object, seconds: object) -> Limits:
    """Return the limits of a search by these numbers; with neither it is infinite. Raise ValueError out of range."""
    if visits is not None and (not isinstance(visits, Integral) or visits < 1):
        raise ValueError(f"visits must be a whole number >= 1, got {visits!r}")
    if seconds is not None and (not isinstance(seconds, Real) or not 0 < float(seconds) < math.inf):
        raise ValueError(f"seconds must be a number above 0, got {seconds!r}")
    budget = None if seconds is None else Budget(float(seconds), float(seconds))
    return Limits(
        visits=None if visits is None else int(visits), budget=budget, infinite=visits is None and seconds is None
    )


def stop_reason(limits: Limits, progress: Progress) -> str | None:
    """Return why the search should end now, in a word or two; None: go on."""
    if limits.mate is not None and progress.mate is not None and 0 < progress.mate <= limits.mate:
        return "mate found"
    if limits.infinite:
        return None
    return _limit_reached(limits, progress) or _unreachable(limits, progress) or _settled(limits, progress)


def visits_left(limits: Limits, progress: Progress) -> float:
    """Return the visits that the limits still allow, by count and by time at the present pace; else infinity."""
    left = float("inf")
    if limits.visits is not None:
        left = min(left, limits.visits - progress.visits)
    if limits.new_visits is not None:
        left = min(left, limits.new_visits - progress.new_visits)
    if limits.budget is not None:
        left = min(left, _visits_until(deadline(limits.budget, progress), progress))
    return max(left, 0.0)


def deadline(budget: Budget, progress: Progress) -> float:
    """Return when to stop: at the target, or at the maximum while the most visited move is not the best one."""
    return budget.maximum if _unsettled(progress) else budget.target


def _limit_reached(limits: Limits, progress: Progress) -> str | None:
    if limits.visits is not None and progress.visits >= limits.visits:
        return "visits"
    if limits.new_visits is not None and progress.new_visits >= limits.new_visits:
        return "visits"
    if limits.depth is not None and progress.depth >= limits.depth:
        return "depth"
    return "time" if limits.budget is not None and _is_late(limits.budget, progress) else None


def _is_late(budget: Budget, progress: Progress) -> bool:
    """Return whether the next batch would end after the deadline."""
    end = progress.seconds + progress.batch_seconds
    return end >= budget.target and end >= deadline(budget, progress)


def _unreachable(limits: Limits, progress: Progress) -> str | None:
    """Return why a search for a depth or mate is over that nothing else ends: more visits cannot change the result."""
    if (limits.depth is None and limits.mate is None) or progress.visits < 1:
        return None
    if limits.visits is not None or limits.new_visits is not None or limits.budget is not None:
        return None
    if progress.proven or (limits.mate is None and progress.mate is not None):
        return "result proven"
    return "no progress" if progress.stalled else None


def _settled(limits: Limits, progress: Progress) -> str | None:
    """Smart pruning at the level of the whole search: a win, one move only, or no rival can catch up."""
    if limits.smart_pruning <= 0.0 or progress.visits < 1:
        return None
    if progress.mate is not None and progress.mate > 0:
        return "mate found"
    visits, _ = progress.rivals
    if len(visits) == 1:
        return "only move"
    if not progress.by_visits:
        return None
    first, second = _two_largest(visits)
    if first - second > visits_left(limits, progress) / limits.smart_pruning:
        return "decided"
    return None


def _visits_until(end: float, progress: Progress) -> float:
    if progress.new_visits < SETTLED_VISITS or progress.seconds < SETTLED_SECONDS:
        return float("inf")
    return max(0.0, end - progress.seconds) * progress.new_visits / progress.seconds


def _unsettled(progress: Progress) -> bool:
    """Return whether a rival of the most visited move has the higher Q."""
    visits, values = progress.rivals
    most = max(visits, default=0)
    pairs = [(n, q) for n, q in zip(visits, values, strict=True) if n > 0 and n >= RIVAL_SHARE * most]
    return bool(pairs) and max(pairs, key=lambda p: p[1])[1] > max(pairs)[1]


def _two_largest(visits: Sequence[int]) -> tuple[int, int]:
    first, second, *_ = [*sorted(visits, reverse=True)[:2], 0, 0]
    return first, second

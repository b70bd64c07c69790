"""Limits of a search: those it was given, what it has reached, the reason to stop; and the share of a clock for a move.

Pure functions. Times are seconds, of a search since it began; visits count the root's own evaluation. A budget has two
figures: `target` is what the move should cost when nothing speaks for more, `maximum` what it may cost when the search
has not settled. Smart pruning often stops before `target`; what it saves is on the clock of the next move, which plans
anew.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

from hauteur import _core
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.system.hints import whole_number

SETTLED_VISITS = 100
SETTLED_SECONDS = 0.1
"""New visits and time before which the pace of a search says nothing yet: its first batches are small."""
STALLED_VISITS = 10_000
"""New visits before which a search for a depth is not given up."""
STALLED_FACTOR = 4
"""Such a search is given up when its visits have grown by this factor without bringing it forward."""
SMART_PRUNING = 1.33
"""Value of Limits.smart_pruning in lc0, and of players on the clock here."""
LEAST_GROWTH = 0.05
"""Plies of mean depth, or nodes, by which a search comes forward."""
RIVAL_SHARE = 0.1
"""A move with fewer visits than this share of the most visited one's is not a rival, whatever its Q."""


@dataclass(frozen=True)
class Clock:
    """The clock of the player to move."""

    remaining: float
    increment: float = 0.0
    moves_to_go: int | None = None
    """Moves until the next time control; None: the time is for the whole game."""


@dataclass(frozen=True)
class Budget:
    """Seconds for one move: 0 <= target <= maximum."""

    target: float
    maximum: float


@dataclass(frozen=True)
class Limits:
    """The limits of a search. None = no such limit; without any the search runs until it is stopped."""

    visits: int | None = None
    """Visits of the root, those of a re-used tree included."""
    new_visits: int | None = None
    """Visits of this search alone."""
    budget: Budget | None = None
    """Time for the move; the search ends between its target and its maximum."""
    depth: int | None = None
    """Mean depth of a visit, in plies."""
    mate: int | None = None
    """A proven win in at most this many moves of the winner, or the proof that there is none; no longer win ends it."""
    infinite: bool = False
    """Only `stop` ends the search (analysis, thinking in the opponent's time)."""
    smart_pruning: float = 0.0
    """Stop when no rival can catch up within 1/smart_pruning of what remains; 0: never."""

    @property
    def by_visits_alone(self) -> bool:
        """True where only counts of visits end the search, so that it is repeatable."""
        has_count = self.visits is not None or self.new_visits is not None
        return has_count and self.budget is None and not self.infinite

    @property
    def waits(self) -> bool:
        """Whether a tree that is complete does not end the search: it waits for `stop`, or for the proof of a mate."""
        others = (self.visits, self.new_visits, self.budget, self.depth)
        only_mate = self.mate is not None and all(limit is None for limit in others)
        return self.infinite or only_mate


Rivals = tuple[Sequence[int], Sequence[float]]
"""Visits and Q (NaN where unvisited) of the root's edges that may be played, in any order."""


@dataclass
class Progress:
    """The state of a search, as far as limits go."""

    seconds: float
    """Time since the clock of the search began."""
    visits: int
    """Visits of the root, those of a re-used tree included."""
    new_visits: int
    """Visits of this search alone."""
    depth: float
    """Mean depth of the new visits, in plies."""
    batch_seconds: float
    """Time from one batch's answer to the next: a search stops that late."""
    look: Callable[[], Rivals]
    """Looks at the root's edges, which most batches can do without."""
    mate: int | None = None
    """Moves to a proven win of the root's mover."""
    no_mate: bool = False
    """It is proven that there is no win within the limit of moves."""
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
            self.reached = reached
            self.visits = visits
        return visits >= max(STALLED_VISITS, STALLED_FACTOR * self.visits)


def limits_of(visits: object, seconds: object) -> Limits:
    """Return the limits of a search by these numbers; with neither it is infinite. Raise ValueError out of range."""
    count = None if visits is None else whole_number("visits", visits, 1, MOST_VISITS)
    budget = None
    if seconds is not None:
        if not isinstance(seconds, Real) or not 0 < float(seconds) < math.inf:
            raise ValueError(f"seconds must be a number above 0, got {seconds!r}")
        budget = Budget(float(seconds), float(seconds))
    return Limits(
        visits=count,
        budget=budget,
        infinite=count is None and seconds is None,
    )


def stop_reason(limits: Limits, progress: Progress) -> str | None:
    """Return why the search should end now, in a word or two; None: it continues."""
    # Asked before `infinite`: `go mate` ends by its proof even where only `stop` ends it otherwise.
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
    """Return which of the given limits is reached; None: none of them."""
    if limits.visits is not None and progress.visits >= limits.visits:
        return "visits"
    if limits.new_visits is not None and progress.new_visits >= limits.new_visits:
        return "visits"
    if limits.depth is not None and progress.depth >= limits.depth:
        return "depth"
    if limits.budget is None:
        return None
    # A batch is not broken off by the target, so the search ends before the batch that would pass it.
    end = progress.seconds + progress.batch_seconds  # of the next batch
    # The target first: the deadline looks at all moves of the root, which most batches can do without.
    if end >= limits.budget.target and end >= deadline(limits.budget, progress):
        return "time"
    return None


def _unreachable(limits: Limits, progress: Progress) -> str | None:
    """Return why a search for a depth or mate is over that nothing else ends: more visits cannot change the result."""
    if progress.visits < 1:
        return None
    if limits.mate is not None:
        return "no mate" if progress.no_mate else None
    has_other_end = limits.budget is not None or limits.visits is not None or limits.new_visits is not None
    if limits.depth is None or has_other_end:
        return None
    if progress.proven or progress.mate is not None:
        return "result proven"
    return "no progress" if progress.stalled else None


def _settled(limits: Limits, progress: Progress) -> str | None:
    """Smart pruning at the level of the whole search: a win, one move only, or no rival can catch up."""
    # A limit of moves to a mate asks for a proof: that one move is far ahead proves nothing.
    if limits.smart_pruning <= 0.0 or progress.visits < 1 or limits.mate is not None:
        return None
    if progress.mate is not None and progress.mate > 0:
        return "mate found"
    visits, _ = progress.rivals
    if len(visits) == 1:
        return "only move"
    if not progress.by_visits:
        return None
    first, second, *_ = [*sorted(visits, reverse=True)[:2], 0, 0]
    # lc0's smart pruning: if all visits that are left went to the second move it would still have fewer.
    # A factor above 1 is bolder, as visits never all go to one move.
    if first - second > visits_left(limits, progress) / limits.smart_pruning:
        return "decided"
    return None


def _visits_until(end: float, progress: Progress) -> float:
    """Return the visits that fit until a time at the present pace; infinity while the pace is unknown."""
    if progress.new_visits < SETTLED_VISITS or progress.seconds < SETTLED_SECONDS:
        return float("inf")
    left = max(0.0, end - progress.seconds)
    return left * progress.new_visits / progress.seconds


def _unsettled(progress: Progress) -> bool:
    """Return whether a rival of the most visited move has the higher Q."""
    visits, values = progress.rivals
    most = max(visits, default=0)
    # Q of a move with few visits is noise; only moves that might be played count.
    least = RIVAL_SHARE * most
    rivals = [(n, q) for n, q in zip(visits, values, strict=True) if n > 0 and n >= least]
    if not rivals:
        return False
    _, of_most_visited = max(rivals)
    return max(q for _, q in rivals) > of_most_visited


# The clock.


def plan(clock: Clock, *, move_number: int, overhead: float, slowmover: float = 1.0, lateness: float = 0.0) -> Budget:
    """Divide the clock among the moves still to come.

    `move_number` counts full moves from 0. `overhead` seconds may be lost between clock and engine on a move and are
    never planned; what increments do not pay of the lag of later moves is kept too. `lateness`: by how much earlier
    moves came too late; so much is kept as well, but half of the clock stays in use. `maximum` is at most
    `remaining - overhead` for every clock, and 0 when nothing is left.
    """
    to_go = None if clock.moves_to_go is None else max(clock.moves_to_go, 1)
    number = max(move_number, 0)
    planned = _core.plan_clock(clock.remaining, clock.increment, to_go, number, overhead, slowmover, lateness)
    return Budget(*planned)


def fixed(seconds: float, *, overhead: float) -> Budget:
    """Return the budget of a fixed time for a move: all but the overhead, of which a very short time keeps half."""
    usable = max(seconds - overhead, 0.5 * seconds, 0.0)
    return Budget(target=usable, maximum=usable)


def moves_left(move_number: int) -> float:
    """Return the median number of moves still to play after `move_number` moves, for log-logistic game lengths."""
    return _core.moves_left(max(move_number, 0))


def remember_lateness(before: float, late: float) -> float:
    """Return the largest lateness of late: an old one fades by 5 % a move."""
    return max(0.95 * before, late, 0.0)

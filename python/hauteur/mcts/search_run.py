"""The state of one search of an analysis: its limits, what it began with, its pace, what it last reported."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from hauteur.mcts.control import SearchControl
from hauteur.mcts.driver import SearchFacts
from hauteur.mcts.followed_tree import TreeCounters
from hauteur.mcts.limits import Growth, Limits
from hauteur.mcts.mate_proof import MateProof
from hauteur.mcts.report import OnReport, Pace

PONDERING = Limits(infinite=True)


@dataclass
class SearchRun:
    """One search: its limits, what it began with, what it last reported."""

    limits: Limits
    """Its limits; none of them holds while it ponders."""
    control: SearchControl
    """Stops it, and says when its clock began."""
    only: tuple[int, ...]
    """The only root moves to search; empty: all."""
    lines: int
    """Moves that get a principal variation in a report."""
    on_report: OnReport | None
    """Gets the reports; None: only the last one is made."""
    started: float
    """Time of its start, in seconds of the monotonic clock."""
    base: TreeCounters
    """The tree before the search."""
    counters: TreeCounters
    """The tree after the last batch."""
    batch_ended: float
    """Time at which the last batch was answered, by the same clock."""
    batches: int = 0
    """Batches at the last look at the limits."""
    batch_seconds: float = 0.0
    """Running mean of the time from one batch's answer to the next."""
    reported: float = float("-inf")
    """Time of the last report; minus infinity before the first."""
    reported_best: int | None = None
    """Place of the most visited move among the root's edges at the last report."""
    mate: int | None = None
    """Moves to the proven win of the root's mover, negative to a loss; None: nothing is proven."""
    proof: MateProof | None = None
    """The exact search that runs along with it, where there is a limit of moves to a mate."""
    reason: str = ""
    """Why it ended; empty while it runs."""
    resting: bool = False
    """True once the tree can grow no more, and that has been reported."""
    root_result: int | None = None
    """Result of the root by the tablebase for its mover: -1, 0, 1; None: not known."""
    facts: SearchFacts = field(default_factory=SearchFacts)
    """Seconds and batches of the driver so far."""
    growth: Growth = field(default_factory=Growth)
    """The progress by which a search for a depth or a mate is given up."""

    @property
    def new_visits(self) -> int:
        return self.counters.visits - self.base.visits

    @property
    def depth(self) -> float:
        """Mean depth of the new visits, in plies."""
        return (self.counters.depth_sum - self.base.depth_sum) / max(self.new_visits, 1)

    def pace(self) -> Pace:
        return Pace(
            seconds=time.monotonic() - self.started,
            new_visits=self.new_visits,
            depth=self.depth,
            rows=self.counters.rows - self.base.rows,
            tablebase_hits=self.counters.tablebase_hits - self.base.tablebase_hits + (self.root_result is not None),
            batch_seconds=self.batch_seconds,
            batches=self.facts.batches,
            fill=self.facts.fill,
        )

    @property
    def limits_now(self) -> Limits:
        """The limits, or none while the search ponders."""
        return PONDERING if self.control.began is None else self.limits

"""One search of an analysis: its limits, what it began with, what it last reported."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hauteur.mcts.control import SearchControl
from hauteur.mcts.driver import SearchFacts
from hauteur.mcts.followed_tree import TreeCounters
from hauteur.mcts.limits import Growth, Limits
from hauteur.mcts.report import Pace, RootReport

OnReport = Callable[[RootReport], None]
PONDERING = Limits(infinite=True)


@dataclass
class SearchRun:
    """One search: its limits, what it began with, what it last reported."""

    limits: Limits
    control: SearchControl
    only: tuple[int, ...]
    """The only root moves to search; empty: all."""
    lines: int
    on_report: OnReport | None
    started: float
    base: TreeCounters
    """The tree before the search."""
    counters: TreeCounters
    """The tree after the last batch."""
    batch_ended: float
    batch_seconds: float = 0.0
    reported: float = float("-inf")
    reported_best: int | None = None
    mate_line: tuple[int, ...] = ()
    mate: int | None = None
    reason: str = ""
    resting: bool = False
    """Whether the tree can grow no more, and that has been reported."""
    root_result: int | None = None
    """Result of the root by the tablebase for its mover: -1, 0, 1; None: not known."""
    facts: SearchFacts = field(default_factory=SearchFacts)
    """Of what is over of it."""
    growth: Growth = field(default_factory=Growth)

    @property
    def new_visits(self) -> int:
        """Visits of this search alone."""
        return self.counters.visits - self.base.visits

    @property
    def depth(self) -> float:
        """Mean depth of the new visits, in plies."""
        return (self.counters.depth_sum - self.base.depth_sum) / max(self.new_visits, 1)

    def pace(self) -> Pace:
        """The work until now."""
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

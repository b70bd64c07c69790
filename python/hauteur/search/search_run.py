"""One search of an analysis: its limits, what it began with, what it last reported."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hauteur.search.control import SearchControl
from hauteur.search.limits import Growth, Limits
from hauteur.search.report import RootReport

OnReport = Callable[[RootReport], None]
PONDERING = Limits(infinite=True)


@dataclass(frozen=True)
class TreeFigures:
    """Figures of the tree before the search."""

    root_visits: int
    counted: float
    """Visits that the tree's counters have seen; re-rooting does not change them."""
    depth_sum: float
    rows: float
    oracle_hits: float


@dataclass
class SearchRun:
    """One search: its limits, what it began with, what it last reported."""

    limits: Limits
    control: SearchControl
    only: tuple[int, ...]
    """The only root moves to search; empty: all."""
    playable: tuple[int, ...]
    """The moves among which one will be played."""
    lines: int
    on_report: OnReport | None
    started: float
    base: TreeFigures
    batch_ended: float
    batch_rows: float
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
    growth: Growth = field(default_factory=Growth)

    @property
    def limits_now(self) -> Limits:
        """The limits, or none while the search ponders."""
        return PONDERING if self.control.began is None else self.limits

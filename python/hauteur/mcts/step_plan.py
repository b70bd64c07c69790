"""How much a search of one tree computes before it looks at its limits again: few rows where little time is left."""

from dataclasses import dataclass, replace

from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Budget

VISITS_PER_ROW = 16
"""Minimum visits of the root for one row of a batch, so that early visits are not wasted."""
ROWS_A_STEP = 32
"""Rows that the core computes between two looks at limits, in batches of fewer where a tree is small."""
LONGEST_BATCH = 0.04
"""Seconds: batches are made smaller where the network is slow, so that stops and clocks stay exact."""


@dataclass(frozen=True)
class StepPlan:
    """What a search may do before its limits are looked at again."""

    rows: int
    """Maximum rows of a batch."""
    batches: int = 1
    """Batches that an evaluator of the core computes, one after another."""
    seconds: float | None = None
    """Time from now on after which a batch is given up; None: no time ends it."""
    control: SearchControl | None = None
    """A stop of it gives a batch up too."""
    sure: int = 0
    """Batches that are computed whatever ends the search: without its first one a tree has no move."""


def plan_by_visits(visits: int, most: int) -> StepPlan:
    """Return the plan of a search by visits, which depends on the tree alone: the search is repeatable.

    visits: of the root until now; most: maximum rows of a batch.
    """
    # Visits of one batch do not know each other's values, which matters most while there are few others.
    rows = max(1, min(most, visits // VISITS_PER_ROW))
    return StepPlan(rows, max(1, ROWS_A_STEP // rows), sure=1 if visits == 0 else 0)


def plan_by_time(visits: int, most: int, row_seconds: float, *, budget: Budget | None, passed: float) -> StepPlan:
    """Return the plan of a search that time can end.

    A batch takes LONGEST_BATCH at most, and all of them together what is left of the budget; it is one batch as long as
    nothing is known of a row's time. row_seconds: of a row, 0 = not known; passed: since the search began. None for the
    budget: `stop` alone ends the search.
    """
    # Until a row's time is known a step is one batch: it may be slow.
    plan = replace(plan_by_visits(visits, most), batches=1)
    if budget is not None:
        plan = replace(plan, seconds=budget.maximum - passed)
    if row_seconds <= 0.0:
        return plan
    rows = min(plan.rows, int(LONGEST_BATCH / row_seconds))
    fitting = ROWS_A_STEP
    if budget is not None:
        # Past the target the search continues only because it has not settled, and may use the maximum.
        end = budget.target if passed < budget.target else budget.maximum
        left = int(max(0.0, end - passed) / row_seconds)
        rows = min(rows, left)
        fitting = min(fitting, left)
    rows = max(1, rows)
    return replace(plan, rows=rows, batches=max(1, fitting // rows))

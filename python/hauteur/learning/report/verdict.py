"""Which of several recipes learns better: the measured strength of their runs at equal cost, seed by seed.

Runs of two recipes with one seed are a pair. The interval of the mean difference is exact for pairs that are alike but
for the names of their recipes, whose signs are then arbitrary: the middle is below the k-th least of the means of all
subsets with chance k / 2^n (J. A. Hartigan, J. Amer. Statist. Assoc. 64, 1969, 1303-1317). So five pairs or fewer
decide nothing at 95 %.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hauteur.learning.report.figures import History, column

if TYPE_CHECKING:
    from hauteur.learning.report.compared_run import ComparedRun

LEAST_PAIRS = 6
"""Pairs below which no interval of 95 % has an end."""
MOST_EXACT = 14
"""Pairs of which all subsets are looked at; of more, DRAWN ones."""
DRAWN = 20_000
"""Subsets that are drawn, by a fixed seed."""
TAIL = 0.025
"""Chance on each side of an interval."""

MEASURES = {
    "exact_play.share": "moves that keep the exact value",
    "yardstick.score": "score against the yardstick",
}
"""Words of the measures of strength, by their place in the metrics."""
FLOPS = "compute.flops_total"
CPU_SECONDS = "cpu_seconds"
COSTS = (FLOPS, CPU_SECONDS)
"""Places of the costs in the metrics."""


class Verdict(NamedTuple):
    """What runs of two recipes say of one measure at one cost."""

    measure: str
    """The measure in words."""
    at: str
    """The cost up to which the runs are looked at, in words."""
    first: str
    """Name of the first recipe."""
    other: str
    """Name of the other recipe."""
    pairs: tuple[tuple[float, float], ...]
    """The measure of both, 0 to 1, by seeds: the first recipe's before."""

    @property
    def difference(self) -> float:
        """Mean of the other's measure less the first's."""
        gains = self._gains
        return math.fsum(gains) / len(gains)

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval; without ends for fewer than LEAST_PAIRS pairs."""
        return subset_interval(self._gains)

    @property
    def words(self) -> str:
        """Which is better, or how many more seeds may say so."""
        low, high = self.interval
        if low > 0:
            return f"{self.other} is better"
        if high < 0:
            return f"{self.first} is better"
        missing = LEAST_PAIRS - len(self.pairs)
        if missing > 0:
            return f"open: {LEAST_PAIRS} seeds or more may decide"
        return "open"

    @property
    def _gains(self) -> list[float]:
        return [other - first for first, other in self.pairs]

    def cells(self) -> list[str]:
        """Return the row of the table, as COLUMNS."""
        means = [math.fsum(values) / len(values) for values in zip(*self.pairs, strict=True)]
        return [
            self.measure,
            self.at,
            f"{self.first} {means[0]:.1%}",
            f"{self.other} {means[1]:.1%}",
            self.gain,
            str(len(self.pairs)),
            self.words,
        ]

    @property
    def gain(self) -> str:
        """The difference in percentage points with its interval, where that has ends."""
        low, high = self.interval
        ends = f" [{100 * low:+.1f}, {100 * high:+.1f}]" if math.isfinite(low) else ""
        return f"{100 * self.difference:+.1f}{ends}"

    def __str__(self) -> str:
        _, _, first, other, gain, seeds, words = self.cells()
        over = f"{seeds} seed" if len(self.pairs) == 1 else f"{seeds} seeds"
        return f"{self.measure} at {self.at}: {first}, {other}; {gain} points over {over}: {words}"


COLUMNS = ("measure", "at", "first", "other", "difference, percentage points", "seeds", "verdict")


def subset_interval(gains: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the middle of differences by Hartigan's means of subsets; infinite for too few."""
    count = len(gains)
    if count < LEAST_PAIRS:
        return -math.inf, math.inf
    if count <= MOST_EXACT:
        masks: Sequence[int] = range(1, 2**count)
    else:
        generator = random.Random(1)
        masks = [generator.randrange(1, 2**count) for _ in range(DRAWN)]
    means = []
    for mask in masks:
        chosen = [gain for place, gain in enumerate(gains) if mask >> place & 1]
        means.append(math.fsum(chosen) / len(chosen))
    means.sort()
    # All subsets but the empty one; with it the chances are of 2^n equal parts.
    place = math.floor(TAIL * (len(means) + 1))
    return means[place - 1], means[-place]


def verdicts(groups: Mapping[str, Sequence[ComparedRun]]) -> list[Verdict]:
    """Return what every recipe after the first says against it, by measure and cost; none where no run was measured.

    groups: the runs of each recipe by its name.
    """
    (first, own), *others = groups.items()
    found = []
    for name, runs in others:
        for measure in MEASURES:
            if measure.startswith("yardstick") and not _same_yardstick([*own, *runs]):
                continue
            for cost in COSTS:
                verdict = _verdict(measure, cost, first, own, name, runs)
                if verdict is not None:
                    found.append(verdict)
    return found


def _same_yardstick(runs: Sequence[ComparedRun]) -> bool:
    """Return whether all runs were measured by the same matches, however often."""
    found = []
    for run in runs:
        yardstick = run.recipe.yardstick
        found.append(None if yardstick is None else yardstick.model_copy(update={"every": 1}))
    return all(one == found[0] for one in found)


def _verdict(
    measure: str,
    cost: str,
    first: str,
    own: Sequence[ComparedRun],
    name: str,
    runs: Sequence[ComparedRun],
) -> Verdict | None:
    """Return the verdict at the greatest cost that all runs have reached; None where they lack measure or cost."""
    before = {run.recipe.run.seed: run.history for run in own}
    after = {run.recipe.run.seed: run.history for run in runs}
    seeds = sorted(before.keys() & after.keys())
    totals = [_last(history[seed], cost) for seed in seeds for history in (before, after)]
    if not totals or None in totals:
        return None
    limit = min(total for total in totals if total is not None)
    pairs = []
    for seed in seeds:
        one = _measured(before[seed], measure, cost, limit)
        two = _measured(after[seed], measure, cost, limit)
        if one is None or two is None:
            return None
        pairs.append((one, two))
    return Verdict(MEASURES[measure], _cost_text(cost, limit), first, name, tuple(pairs))


def _last(history: History, path: str) -> float | None:
    """Return a number of the last generation."""
    return column(history, path)[-1]


def _measured(history: History, measure: str, cost: str, limit: float) -> float | None:
    """Return the last measure of a run that its cost up to a limit pays for; None where there is none."""
    found = None
    for value, spent in zip(column(history, measure), column(history, cost), strict=True):
        if value is not None and spent is not None and spent <= limit:
            found = value
    return found


def _cost_text(cost: str, limit: float) -> str:
    if cost == CPU_SECONDS:
        return f"{limit / 60:.1f} CPU minutes"
    return f"{limit:.2e} FLOPs"

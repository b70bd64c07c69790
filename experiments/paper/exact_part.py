"""The finding on search rules before an exact judge, made of its kept run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hauteur.plots.figure import Figure, Series
from hauteur_experiments.kept import KeptRun

KEY = "finding-exact"
RUN = "rules-by-exact-play"


def exact_table(run: KeptRun) -> str:
    """Return kept values less those of the base by rule, with the verdicts."""
    lines = [
        "| rule | less the base, percentage points | kept by it alone : by the base alone | verdict |",
        "|---|---|---|---|",
    ]
    for place, row in enumerate(_rows(run)):
        interval = f"{row['difference']:+.2f} [{row['difference_low']:+.2f}, {row['difference_high']:+.2f}]"
        alone = f"{row['kept_alone']} : {row['base_alone']}"
        lines.append(f"| {row['rule']} | {interval} | {alone} | {_verdict(run, place)} |")
    return "\n".join(lines)


def exact_counts(run: KeptRun) -> str:
    """Return how many of the rules have each verdict."""
    found = Counter(one["verdict"] for one in run.result["findings"])
    return ", ".join(f"{count} {verdict}" for verdict, count in found.most_common())


def exact_base(run: KeptRun) -> str:
    """Return constants and kept share of the base."""
    facts = run.result["facts"]
    base = facts["base"]
    return f"c_puct {base['cpuct']:g} and reduction {base['fpu']:g}, which keep {facts['kept_by_base']:.1f} %"


def exact_positions(run: KeptRun) -> str:
    """Return how many positions judged the rules."""
    return f"{_rows(run)[0]['positions']:,}"


def exact_twice(run: KeptRun) -> str:
    """Return what twice the visits are worth, and which share of the base's mistakes that is."""
    row = _rows(run)[-1]
    mistakes = 100 - run.result["facts"]["kept_by_base"]
    interval = f"{row['difference']:+.2f} [{row['difference_low']:+.2f}, {row['difference_high']:+.2f}]"
    return f"{interval} percentage points, {row['difference'] / mistakes:.0%} of the base's mistakes"


def exact_figure(run: KeptRun) -> Figure:
    """Return the differences by rule."""
    rows = _rows(run)
    xs = list(range(1, len(rows) + 1))
    values = [row["difference"] for row in rows]
    low = [row["difference_low"] for row in rows]
    high = [row["difference_high"] for row in rows]
    return Figure(
        KEY,
        "Search rules before an exact judge",
        f"Kept values of {exact_positions(run)} solved positions of Connect Four, less those of the base; 95 %.",
        "percentage points",
        "rule",
        lines=(Series("100 visits", xs, values, "blue", low=low, high=high, joined=False),),
        threshold=0.0,
        threshold_name="no difference",
        x_names=tuple(row["rule"] for row in rows),
    )


def _rows(run: KeptRun) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = run.result["rows"]
    return rows


def _verdict(run: KeptRun, place: int) -> str:
    """Return the verdict on a row, bold where it is decided; the last row, twice the visits, has none."""
    findings = run.result["findings"]
    if place == len(findings):
        return "-"
    verdict = findings[place]["verdict"]
    return verdict if verdict == "open" else f"**{verdict}**"

"""The finding on search rules before an exact judge, made of the kept runs of two nets of Connect Four."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hauteur.plots.figure import Figure, Series
from hauteur_experiments.kept import KeptRun

KEY = "finding-exact"
NETS = {"rules-by-exact-play": "connect4", "rules-by-exact-play-64x6": "connect4-64x6"}
"""Runs with the net of each, the weaker one first."""

COLOURS = ("blue", "orange")
APART = 0.16
"""Distance of the points of two nets in the figure."""


def exact_table(runs: Mapping[str, KeptRun]) -> str:
    """Return kept values less those of the base by rule and net, with the verdicts."""
    first, *_ = NETS
    head = ["rule", *(f"{net}: less the base, alone, verdict" for net in NETS.values())]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for place, row in enumerate(_rows(runs[first])):
        cells = [row["rule"]]
        for name in NETS:
            own = _rows(runs[name])[place]
            interval = f"{own['difference']:+.2f} [{own['difference_low']:+.2f}, {own['difference_high']:+.2f}]"
            cells.append(f"{interval}, {own['kept_alone']} : {own['base_alone']}, {_verdict(runs[name], place)}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def exact_counts(runs: Mapping[str, KeptRun]) -> str:
    """Return how many of the rules have each verdict, by net."""
    texts = []
    for name, net in NETS.items():
        found = Counter(one["verdict"] for one in runs[name].result["findings"])
        counts = ", ".join(f"{count} {verdict}" for verdict, count in found.most_common())
        texts.append(f"with `{net}` {counts}")
    return "; ".join(texts)


def exact_positions(runs: Mapping[str, KeptRun]) -> str:
    """Return how many positions judged the rules."""
    (count,) = {_rows(run)[0]["positions"] for run in runs.values()}
    return f"{count:,}"


def exact_bases(runs: Mapping[str, KeptRun]) -> str:
    """Return constants and kept share of the base of each net."""
    texts = []
    for name, net in NETS.items():
        facts = runs[name].result["facts"]
        base = facts["base"]
        constants = f"c_puct {base['cpuct']:g} and reduction {base['fpu']:g}"
        texts.append(f"`{net}` with {constants} keeps {facts['kept_by_base']:.1f} %")
    return "; ".join(texts)


def exact_figure(runs: Mapping[str, KeptRun]) -> Figure:
    """Return the differences by rule, a colour a net."""
    first, *_ = NETS
    rules = [row["rule"] for row in _rows(runs[first])]
    lines = []
    for number, (name, net) in enumerate(NETS.items()):
        rows = _rows(runs[name])
        shift = APART * (number - (len(NETS) - 1) / 2)
        xs = [place + 1 + shift for place in range(len(rows))]
        low = [row["difference_low"] for row in rows]
        high = [row["difference_high"] for row in rows]
        values = [row["difference"] for row in rows]
        lines.append(Series(net, xs, values, COLOURS[number], low=low, high=high, joined=False))
    count = exact_positions(runs)
    return Figure(
        KEY,
        "Search rules before an exact judge",
        f"Kept values of {count} solved positions of Connect Four, less those of the base, 100 visits; 95 %.",
        "percentage points",
        "rule",
        lines=tuple(lines),
        threshold=0.0,
        threshold_name="no difference",
        x_names=tuple(rules),
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

"""The finding on self-play that begins every search anew, and the small thesis in pairs, made of their kept runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hauteur.plots.figure import Figure, Series
from hauteur_experiments.kept import KeptRun
from hauteur_experiments.search_contempt.thesis_control import ARMS, FRESH, FROZEN, MORE, Comparison

KEY = "finding-tree"
RUN = "chess-thesis-control"
PAIRS = "chess-thesis-pairs"
"""The run with pairs of new seeds."""
PAIRS_BEGIN, PAIRS_END = "<!-- pairs -->", "<!-- end pairs -->"
"""Their part stands between these lines of its page."""
OF_CONTROL = (FRESH, FROZEN)
OF_PAIRS = (MORE, FROZEN)
"""What each of the two runs decides, in the order in which it is told."""
COLOURS = {"contempt": "blue", "fresh": "orange"}


def pairs_text(run: KeptRun) -> str:
    """Return what the pairs of new seeds have come to: the results of the runs, verdicts, matches, and what it cost."""
    costs = [row["cpu_seconds"] for row in _rows(run)]
    head = (
        f"{len(_seeds(run))} pairs of runs, mean of the three scores in percent by seed; {min(costs):,.0f} to "
        f"{max(costs):,.0f} CPU-s a run, evaluations {tree_costs(run)}:"
    )
    matches = "Head to head, which the rule does not count, last nets, 100 games a seed:"
    return "\n\n".join(
        [head, tree_table(run, OF_PAIRS), tree_verdicts(run, OF_PAIRS), matches, tree_duels(run, OF_PAIRS)]
    )


def tree_table(run: KeptRun, comparisons: Sequence[Comparison]) -> str:
    """Return the mean of the three scores of each run, a line an arm, and the differences."""
    seeds = _seeds(run)
    lines = [f"| arm | {' | '.join(map(str, seeds))} | mean |", "|---" * (len(seeds) + 2) + "|"]
    for arm, title in ARMS.items():
        lines.append(_line(title, [f"{value:.1f}" for value in [*_means(run, arm), fmean(_means(run, arm))]]))
    for one in comparisons:
        found = _differences(run, one)
        lines.append(_line(one.title, [f"{value:+.1f}" for value in [*found, fmean(found)]]))
    return "\n".join(lines)


def tree_verdicts(run: KeptRun, comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons with intervals and verdicts, as a list."""
    findings = {finding["key"]: finding for finding in run.result["findings"]}
    lines = []
    for one in comparisons:
        finding = findings[one.key]
        lines.append(f"- {finding['measured']}: **{finding['verdict']}**")
    return "\n".join(lines)


def tree_duels(run: KeptRun, comparisons: Sequence[Comparison]) -> str:
    """Return the matches of the arms with each other, by seed, as a list."""
    duels: Mapping[str, Sequence[float]] = run.result["facts"]["duels"]
    lines = []
    for one in comparisons:
        scores = ", ".join(f"{100 * score:.1f}" for score in duels[one.key])
        mean = 100 * fmean(duels[one.key])
        lines.append(f"- {ARMS[one.own]} against {ARMS[one.other]}: {scores} %, mean {mean:.1f} %")
    return "\n".join(lines)


def tree_costs(run: KeptRun) -> str:
    """Return the evaluations of a run of each arm, the mean over seeds."""
    found = []
    for arm, title in ARMS.items():
        evaluations = fmean(row["evaluations"] for row in _rows(run) if row["arm"] == arm)
        found.append(f"{evaluations / 1e6:.2f} million with {title}")
    return ", ".join(found)


def tree_figure(run: KeptRun) -> Figure:
    """Return how far both kinds of self-play with fresh trees are ahead of PUCT, by seed."""
    seeds = _seeds(run)
    xs = list(range(1, len(seeds) + 1))
    lines = []
    for one in (MORE, FRESH):
        lines.append(Series(ARMS[one.own], xs, _differences(run, one), COLOURS[one.own], joined=False))
    return Figure(
        KEY,
        "Chess from zero: what 3,000 games taught more than those of PUCT",
        "Mean score against random moves, material and Stockfish's lowest level, less that of PUCT with the same seed.",
        "percentage points",
        "seed",
        lines=tuple(lines),
        threshold=0.0,
        threshold_name="PUCT that keeps its tree",
        x_names=tuple(map(str, seeds)),
    )


def _rows(run: KeptRun) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = run.result["rows"]
    return rows


def _seeds(run: KeptRun) -> list[int]:
    return sorted({row["seed"] for row in _rows(run)})


def _means(run: KeptRun, arm: str) -> list[float]:
    """Return the results of the runs of an arm in percent, by seed."""
    by_seed = {row["seed"]: 100 * row["mean"] for row in _rows(run) if row["arm"] == arm}
    return [by_seed[seed] for seed in _seeds(run)]


def _differences(run: KeptRun, one: Comparison) -> list[float]:
    """Return the differences of two arms in percentage points, by seed."""
    pairs = zip(_means(run, one.own), _means(run, one.other), strict=True)
    return [own - other for own, other in pairs]


def _line(title: str, cells: Sequence[str]) -> str:
    return f"| {title} | {' | '.join(cells)} |"

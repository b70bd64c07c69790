"""The small chess thesis in words, and its figure: all from the kept file, whatever the number of seeds in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from hauteur.plots.figure import Figure, Series
from hauteur_experiments.search_contempt.chess_thesis import (
    ARMS,
    EQUAL_DRAWS,
    GAMES,
    LOOK,
    LOOK_LEVEL,
    SEEDS,
    permutation_p,
    small_findings,
    target_for,
)
from hauteur_experiments.search_contempt.schedule import NEAR, balance_of_small
from hauteur_experiments.verdict import LEVEL

BEGIN, END = "<!-- small thesis -->", "<!-- end small thesis -->"
"""The part stands between these lines of its page."""

JUDGES = {
    "random": "random moves",
    "material": "one ply of material",
    "stockfish-0": "Stockfish 15.1, level 0, one node",
}
COLOURS = {"contempt": "blue", "puct": "orange", "temperature": "green"}


def text(result: dict[str, Any]) -> str:
    """Return the table of the scores and what the rule says of them. result: as in result.json."""
    rows = result["rows"]
    seeds = sorted({row["seed"] for row in rows})
    costs = [row["cpu_seconds"] for row in rows]
    head = (
        f"{_number(len(seeds))} of {_number(SEEDS).lower()} seeds, {min(costs):,.0f} to {max(costs):,.0f} CPU-s a run. "
        f"Score in % of 100 games for seeds {', '.join(map(str, seeds))}:"
    )
    lines = [f"| arm | {' | '.join(JUDGES.values())} | mean of the three |", "|---" * (len(JUDGES) + 2) + "|"]
    for arm, title in ARMS.items():
        cells = [", ".join(_percent(values_of(rows, arm, judge))) for judge in (*JUDGES, "mean")]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n\n".join([head, "\n".join(lines), _verdicts(result, len(seeds)), _draws(result)])


def values_of(rows: Sequence[dict[str, Any]], arm: str, column: str) -> list[float]:
    """Return a column of the runs of an arm, by seed."""
    found = [row for row in rows if row["arm"] == arm]
    return [row[column] for row in sorted(found, key=lambda row: row["seed"])]


def _percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


def _number(count: int) -> str:
    words = {1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}
    return words.get(count, str(count))


def _verdicts(result: dict[str, Any], runs: int) -> str:
    """What the permutation tests say, and the matches that they do not count."""
    more, equal = small_findings(result)
    own = values_of(result["rows"], "contempt", "mean")
    texts = []
    for finding, arm, name in ((more, "puct", "PUCT"), (equal, "temperature", "PUCT with temperature")):
        (number,) = finding.numbers
        ends = ", ".join("none" if end is None else f"{end:.1f}" for end in (number["low"], number["high"]))
        ahead = f"{permutation_p(own, values_of(result['rows'], arm, 'mean')):.3f}".removeprefix("0")
        texts.append(
            f"less {name}: {number['value']:.1f} [{ends}] percentage points (p {ahead}), **{finding.verdict}**"
        )
    asked = {LOOK: f"1/{round(1 / LOOK_LEVEL)}", SEEDS: f"{LEVEL - LOOK_LEVEL:.4f}".removeprefix("0")}
    rule = "The rule decides at four and at eight seeds."
    if runs in asked:
        rule = f"The rule asks for a p of {asked[runs]}."
    more_seeds = f" {_number(SEEDS - runs)} more seeds decide." if runs < SEEDS else ""
    duels = result["facts"]["duels"]
    against = [", ".join(f"{one} %" for one in _percent(duels[arm])) for arm in ("puct", "temperature")]
    return (
        f"{rule} Search-contempt {'; '.join(texts)}.{more_seeds} Head to head, which the rule does not count, it "
        f"scores {against[0]} against PUCT of the same seed and {against[1]} against PUCT with temperature."
    )


def _draws(result: dict[str, Any]) -> str:
    """How far the draws of the arms were equal, and near the controller's target."""
    factor = result["facts"]["ratio_factor"]
    times = direction(result)
    premise = "within the factor that the rule asks for"
    if factor > EQUAL_DRAWS:
        premise = f"and the rule asks for a factor within {EQUAL_DRAWS}: nothing is said about equal draws"
    (balance,) = balance_of_small(result)
    near = balance.measured.partition(" in ")[2].partition(" generations")[0]
    return (
        f"The (w + l)/d of search-contempt was {times:.2f} times that of PUCT with temperature, {premise}. The "
        f"controller held it within a factor of {NEAR} of 1 in {near} generations, by run."
    )


def direction(result: dict[str, Any]) -> float:
    """Return how many times (w + l)/d of PUCT with temperature that of search-contempt is, as a geometric mean."""
    ratios = result["facts"]["ratios"]
    logs = []
    for name, values in ratios.items():
        arm, _, seed = name.partition("-")
        if arm == "contempt":
            pairs = zip(values, ratios[f"temperature-{seed}"], strict=True)
            logs += [math.log(target_for(own) / target_for(other)) for own, other in pairs]
    return math.exp(fmean(logs))


def figure(result: dict[str, Any]) -> Figure:
    """Return (w + l)/d by games of the three arms: the mean of the seeds, with the least and the greatest."""
    ratios = result["facts"]["ratios"]
    lines = []
    for arm, title in ARMS.items():
        runs = [values for name, values in ratios.items() if name.startswith(f"{arm}-")]
        steps = [[target_for(one) for one in step] for step in zip(*runs, strict=True)]
        means = [math.exp(fmean(map(math.log, step))) for step in steps]
        xs = [GAMES * number for number in range(1, len(steps) + 1)]
        low = [min(step) for step in steps]
        high = [max(step) for step in steps]
        lines.append(Series(title, xs, means, COLOURS[arm], low=low, high=high))
    words = (
        "thesis-ratio",
        "Decisive games a draw while chess is learned",
        f"Geometric mean of {len(runs)} seeds, least and greatest shaded; a net of 32x3, 16 visits. The target is 1.",
        "(w + l)/d",
        "games of self-play",
    )
    return Figure(*words, lines=tuple(lines), log=True, threshold=1.0, threshold_name="the controller's target")

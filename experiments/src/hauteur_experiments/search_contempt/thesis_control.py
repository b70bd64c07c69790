"""A control arm for the small chess thesis, and its runs compared in pairs of equal seeds.

In `chess-thesis-small` search-contempt was ahead of PUCT in each of eight seeds, which its plan did not pair. But the
two arms differ in more than the frozen nodes. A tree that was grown for one player holds frozen nodes for the other, so
self-play with search-contempt begins every search anew, while PUCT keeps the subtree of the move played; and the
controller soon chose N_scl equal to the 16 visits, where no node freezes. So what was ahead may have been the fresh
tree. The arm that tells:

F  PUCT that begins every search anew (`reuse_tree = false`), all else as in P.

Plan, stated before the first game of F. Recipes, net, 3,000 games, judges and the result of a run (the mean of three
scores) are those of `chess-thesis-small`. A pair is two runs of the same seed. The test is exact: of all ways to give
the differences of the pairs their signs, the share in which their mean is at least as great as here. Eight pairs
decide, with a look at six: a side leads after six where p (one side) is at most 1/64, the least there is, and after
eight where it is at most 0.025 - 1/64, so that both looks together err at most 2.5 % of the time on a side.

`chess-thesis-control` learns F for seeds 12 to 19, beside the runs of S and P that are known. It decides two
statements: search-contempt less F (what the frozen nodes add), and F less P (what a fresh tree adds). `S less P` is
not decided by it, since these differences were seen before this plan was made.

`chess-thesis-pairs` learns S, F and P for new seeds from 31 on, and decides search-contempt less PUCT, and
search-contempt less F once more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.learned import learn_beside
from hauteur_experiments.measured import subset_interval
from hauteur_experiments.search_contempt.chess_thesis import (
    CONTEMPT,
    KEPT_OPPONENTS,
    ROUNDING,
    SMALL,
    JudgedNet,
    decided,
    duel_of,
    judge,
    ratios_of,
    recipe_of,
    row,
)
from hauteur_experiments.search_contempt.settings import PAPER
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import LEVEL, Number, Verdict, finite

SEEDS, LOOK = 8, 6
"""Pairs that decide, and at which the only look before is taken."""

CONFIDENCE = 0.95
"""Of the interval of a mean difference; the verdict is the test's."""

LOOK_LEVEL = 1 / 2**LOOK
"""The least p of a sign-flip test of six pairs."""

ARMS = {"contempt": "search-contempt", "fresh": "PUCT that begins every search anew", "puct": "PUCT"}


@dataclass(frozen=True)
class Comparison:
    """Two arms whose runs are paired by their seeds."""

    key: str
    """Of the statement that it decides."""
    own: str
    """Key of ARMS: the arm that the statement says leads."""
    other: str
    """Key of ARMS: the arm that it is compared with."""

    @property
    def title(self) -> str:
        """The two arms in words."""
        return f"{ARMS[self.own]} less {ARMS[self.other]}"


FROZEN = Comparison("frozen", "contempt", "fresh")
FRESH = Comparison("fresh", "fresh", "puct")
MORE = Comparison("more", "contempt", "puct")


def recipes_of(seed: int) -> dict[str, ht.Recipe]:
    """Return the runs of a seed, by arm."""
    return {
        "contempt": recipe_of(SMALL, seed, CONTEMPT),
        "fresh": recipe_of(SMALL, seed, None, {"reuse_tree": False}),
        "puct": recipe_of(SMALL, seed, None),
    }


def make(comparisons: Sequence[Comparison], setting: Setting) -> Result:
    """Learn, judge and compare, seed by seed."""
    runs: dict[tuple[str, int], Path] = {}
    judged = []
    duels: dict[str, list[float]] = {one.key: [] for one in comparisons}
    for seed in setting.seed_numbers:
        named = {arm: (f"seed-{seed}/{arm}", recipe) for arm, recipe in recipes_of(seed).items()}
        for arm, folder in learn_beside(setting, named).items():
            runs[arm, seed] = folder
            judged.append(judge(SMALL, setting, runs, arm, seed, SMALL.generations))
        for one in comparisons:
            duels[one.key].append(duel_of(SMALL, setting, runs, one.own, one.other, seed))
    findings = [finding(judged, one) for one in comparisons]
    facts = {
        "ratios": {f"{arm}-{seed}": ratios_of(folder) for (arm, seed), folder in runs.items()},
        "duels": duels,
        "opponents": KEPT_OPPONENTS,
    }
    return Result([row(one) for one in judged], findings, texts=[table(judged, comparisons, duels)], facts=facts)


def differences(judged: Sequence[JudgedNet], comparison: Comparison) -> list[float]:
    """Return the differences of the means of the pairs, by seed."""
    means = {(one.arm, one.seed): one.mean for one in judged}
    seeds = sorted(seed for arm, seed in means if arm == comparison.own)
    return [means[comparison.own, seed] - means[comparison.other, seed] for seed in seeds]


def sign_flip_p(values: Sequence[float]) -> float:
    """Return the share of all signs of the differences with a mean that is at least as great as here."""
    signs = _signs(len(values))
    means = signs @ np.array(values) / len(values)
    return float(np.mean(means >= np.mean(values) - ROUNDING))


@cache
def _signs(count: int) -> NDArray[np.float64]:
    """Return all ways to give so many differences a sign, a row of -1 and 1 each; their sizes are given apart."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=count)))


def finding(judged: Sequence[JudgedNet], comparison: Comparison) -> Finding:
    """Decide whether an arm leads another in pairs of equal seeds."""
    found = differences(judged, comparison)
    ahead = sign_flip_p(found)
    behind = sign_flip_p([-value for value in found])
    mean = 100 * float(np.mean(found))
    low, high = (100 * end for end in subset_interval(found, CONFIDENCE))
    quantity = f"{comparison.title} {mean:.1f} [{low:.1f}, {high:.1f}] percentage points"
    pairs = f"{len(found)} pairs of runs"
    return Finding(
        comparison.key,
        f"{quantity}, {pairs}, p {ahead:.3f} (ahead), {behind:.3f} (behind)",
        verdict_of(ahead, behind, len(found)),
        scope=SMALL.scope,
        units=pairs,
        quantities=quantity,
        test="sign",
        decides=quantity,
        numbers=(Number(what=comparison.title, value=mean, low=finite(low), high=finite(high)),),
    )


def verdict_of(ahead: float, behind: float, pairs: int) -> Verdict:
    """Return the verdict at this number of pairs: at six, at eight, open elsewhere."""
    levels = {LOOK: LOOK_LEVEL, SEEDS: LEVEL - LOOK_LEVEL}
    return decided(ahead, behind, levels.get(pairs))


def table(judged: Sequence[JudgedNet], comparisons: Sequence[Comparison], duels: Mapping[str, Sequence[float]]) -> str:
    """Return the means by arm and seed, and the matches of the arms."""
    lines = []
    for arm, title in ARMS.items():
        means = ", ".join(f"{one.mean:.1%}" for one in judged if one.arm == arm)
        lines.append(f"{title}: {means}")
    for one in comparisons:
        scores = ", ".join(f"{score:.1%}" for score in duels[one.key])
        lines.append(f"{ARMS[one.own]} against {ARMS[one.other]}: {scores}")
    return "\n".join(lines)


CONTROL_CLAIMS = stated(
    "this laboratory",
    "frozen | chess from zero, a small net: search-contempt teaches more than PUCT with fresh trees | no number",
    "fresh | chess from zero, a small net: PUCT teaches more when every search begins anew | no number",
)
PAIRS_CLAIMS = stated(
    "this laboratory",
    "more | chess from zero, a small net: search-contempt teaches more than PUCT, in pairs of new seeds | no number",
    "frozen | chess from zero, a small net, new seeds: search-contempt teaches more than PUCT, fresh trees | no number",
)

EXPERIMENTS = (
    Experiment(
        "chess-thesis-control",
        f"{PAPER}, thesis",
        "the small chess thesis beside PUCT that begins every search anew",
        partial(make, (FROZEN, FRESH)),
        claims=CONTROL_CLAIMS,
        seeds=SEEDS,
        first_seed=12,
    ),
    Experiment(
        "chess-thesis-pairs",
        f"{PAPER}, thesis",
        "the small chess thesis in pairs of new seeds",
        partial(make, (MORE, FROZEN)),
        claims=PAIRS_CLAIMS,
        seeds=SEEDS,
        first_seed=31,
    ),
)

"""Chess from zero with search-contempt, PUCT, and PUCT at equal draws: the thesis of the search-contempt paper.

A. Joshi, "Search-contempt", 2025, ends with the thesis, which it does not test, that a program can be trained from zero
with few games on a consumer machine, since games of search-contempt are drawn less often and teach more. Three arms
learn chess from random weights, alike but for the search of self-play:

S  search-contempt, N_scl chosen after every generation for (w + l)/d of 1;
P  PUCT;
T  PUCT whose temperatures are chosen before every generation for the (w + l)/d that S of the same seed had in this
   generation: what S gains by leaving the draws earlier, T has too.

Plan, stated before the first game. Each seed learns 18 generations of 500 games in each arm. Nets of 3,000, 6,000 and
9,000 games play 100 visits a move, plain PUCT, against opponents outside of the laboratory that are limited by nodes,
never by time: random moves, one ply of material, Stockfish at `Skill Level` 0 with one node; 200 games each at 9,000
games, else 100, four random plies, colours swapped, 300 plies are a draw; and S against P and against T of the same
seed. The unit is the run. A run's result is the mean of its three scores at 9,000 games.

Verdict. Two exact permutation tests over runs, S against P and S against T, on the difference of the means. Eight seeds
an arm decide, with a look at four: a side leads after four seeds where its p (one side) is at most 1/70, the least
there is, and after eight where it is at most 0.025 - 1/70, so that both looks together err at most 2.5 % of the time on
a side. "S learns more than PUCT" and "S learns more than PUCT at equal draws" are statements of their own: where S
leads P and not T, the gain is of the draws. The premise of the second: over the generations the (w + l)/d of S and T
differ by a factor of at most 1.5 (geometric mean over generations and seeds); else it stays open.

The same in small, a plan of its own with statements of its own, for a machine on which the above takes weeks: a body of
32 filters and 3 blocks instead of 64 and 4, 6 generations instead of 18, and only the nets of 3,000 games are judged,
by 100 games against each opponent and each other arm. Arms, opponents, look, levels and premise are those above. What
it decides holds for few games and a small net, and says nothing of 9,000 games. Its second statement stands in the row
of the source's thesis, with this scope, until a larger run has one.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, joined, stated
from hauteur_experiments.learned import learn_beside, metrics_of, net_of
from hauteur_experiments.search_contempt.settings import PAPER
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import LEVEL, Number, Verdict, finite

GAMES = 500
"""Of a generation."""

VISITS = 100
"""A move of the nets that are judged."""

MAX_PLIES = 300
RANDOM_PLIES = 4
SEEDS, LOOK = 8, 4
"""Runs of an arm that decide, and at which the only look before is taken."""

LOOK_LEVEL = 1 / math.comb(2 * LOOK, LOOK)
"""The least p of a permutation test with four runs on each side."""

EQUAL_DRAWS = 1.5
"""Greatest factor between the (w + l)/d of S and T."""

ROUNDING = 1e-12
"""Differences of means below this are none."""

GREATEST_TARGET, LEAST_TARGET = 100.0, 0.01
"""Bounds of the (w + l)/d that T may aim at."""

OPPONENTS = {
    "random": "random",
    "material": f"uci:{sys.executable} -m hauteur_experiments.material_player nodes=1",
    "stockfish-0": 'uci:stockfish nodes=1 "Skill Level=0"',
}
"""Players by name, as texts of `hauteur match`."""

KEPT_OPPONENTS = OPPONENTS | {"material": "uci:python -m hauteur_experiments.material_player nodes=1"}
"""The same without the place of this machine's Python."""

RECIPE: Mapping[str, Any] = {
    "game": "chess",
    "network": {"se_channels": 8, "policy": "convolution"},
    "selfplay": {
        "games": GAMES,
        "visits": 16,
        "opening_plies": 8,
        "opening_share": 0.5,
        "max_plies": 200,
        "parallel_games": 512,
        "batch_size": 256,
        "shard_games": 100,
        "temperature": {"initial": 1.0, "cutoff_move": 15, "endgame": 0.25},
        "resignation": {"threshold": -0.95, "moves": 4, "play_through": 0.2},
        "search": {
            "cpuct": {"init": 1.5, "factor": 0.0},
            "fpu": {"kind": "reduction", "value": 0.2},
            "gumbel": {"considered": 8},
            "dirichlet": {"epsilon": 0.0},
            "solver": {"lookahead": 1},
        },
    },
    "train": {
        "window_games": 8000,
        "batch_size": 512,
        "samples_per_position": 1.5,
        "learning_rate": 2e-3,
        "final_learning_rate": 1e-4,
        "weight_decay": 1e-4,
        "root_value_share": 0.3,
        "surprise_weight": 0.5,
        "proven_targets": "earlier",
        "weight_average": 0.995,
        "max_gradient_norm": 5.0,
        "mixed_precision": "off",
    },
    "gate": {"by": "off"},
}
"""That of runs/chess_zero.toml as it was when the plan was made, which later changes of the file must not reach.

The size of its net is the plan's."""

CONTEMPT: Mapping[str, Any] = {"target": 1.0, "double_visits": False, "initial_n_scl": 16, "probe_games": 20}
TEMPERATURE: Mapping[str, Any] = {
    "by": "temperature",
    "double_visits": False,
    "probe_always": True,
    "probe_games": 100,
}
ARMS = {"contempt": "search-contempt", "puct": "PUCT", "temperature": "PUCT, temperature for equal draws"}


@dataclass(frozen=True)
class Size:
    """What the plan's two sizes differ in."""

    filters: int
    """Of the nets."""
    blocks: int
    """Of the nets."""
    milestones: tuple[int, ...]
    """Generations whose nets are judged, ascending; the last is a run's last."""
    judge_games: int
    """Against each opponent at the milestones before the last."""
    last_judge_games: int
    """Against each opponent, and against the other arms, at the last."""

    scope: str
    """What differs from the source, which has 1,000 visits and names no net."""

    @property
    def generations(self) -> int:
        """Of a run."""
        return self.milestones[-1]


FULL = Size(
    filters=64,
    blocks=4,
    milestones=(6, 12, 18),
    judge_games=100,
    last_judge_games=200,
    scope="16 visits of self-play, not 1,000; 9,000 games a run; a net of 64x4",
)
SMALL = Size(
    filters=32,
    blocks=3,
    milestones=(6,),
    judge_games=100,
    last_judge_games=100,
    scope="16 visits of self-play, not 1,000; 3,000 games a run; a net of 32x3",
)


@dataclass(frozen=True)
class JudgedNet:
    """A run's net at a milestone."""

    arm: str
    """Key of ARMS."""
    seed: int
    """Of the run."""
    generation: int
    """Which trained it."""
    scores: Mapping[str, float]
    """Against each opponent, 0 to 1."""
    evaluations: int
    """Of all self-play up to here, without probes' positions being trained on; probes are counted."""
    samples: int
    """Positions trained on up to here."""
    cpu_seconds: float
    """Of the run up to here."""

    @property
    def mean(self) -> float:
        """The mean of the scores, which decides."""
        return sum(self.scores.values()) / len(self.scores)


def recipe_of(
    size: Size, seed: int, controller: Mapping[str, Any] | None, search: Mapping[str, Any] | None = None
) -> ht.Recipe:
    """Return the run of an arm: with this section [controller], or without. search: what else its searches have."""
    network = {**RECIPE["network"], "filters": size.filters, "blocks": size.blocks}
    run = {"generations": size.generations, "seed": seed, "threads": 1, "precision": "float32"}
    selfplay = {**RECIPE["selfplay"], "search": {**RECIPE["selfplay"]["search"], **(search or {})}}
    values: dict[str, Any] = {**RECIPE, "network": network, "selfplay": selfplay, "run": run}
    if controller is not None:
        values["controller"] = dict(controller)
    return ht.Recipe.model_validate(values)


def make(size: Size, setting: Setting) -> Result:
    """Learn, judge and compare, seed by seed."""
    runs: dict[tuple[str, int], Path] = {}
    for seed in setting.seed_numbers:
        runs |= learn_arms(size, setting, seed)
    judged = []
    for arm, seed in runs:
        judged += [judge(size, setting, runs, arm, seed, generation) for generation in size.milestones]
    duels = {}
    for rival in ("puct", "temperature"):
        duels[rival] = [duel(size, setting, runs, rival, seed) for seed in setting.seed_numbers]
    ratios = {(arm, seed): ratios_of(folder) for (arm, seed), folder in runs.items()}
    factor = ratio_factor(ratios, list(setting.seed_numbers))
    findings = findings_of(judged, factor, size)
    facts = {
        "ratios": {f"{arm}-{seed}": values for (arm, seed), values in ratios.items()},
        "ratio_factor": factor,
        "duels": duels,
        "opponents": KEPT_OPPONENTS,
    }
    return Result([row(one) for one in judged], findings, texts=[table(judged, duels)], facts=facts)


def learn_arms(size: Size, setting: Setting, seed: int) -> dict[tuple[str, int], Path]:
    """Return the finished runs of the three arms with this seed; T follows S, so it learns last."""
    first = {
        "contempt": (f"seed-{seed}/contempt", recipe_of(size, seed, CONTEMPT)),
        "puct": (f"seed-{seed}/puct", recipe_of(size, seed, None)),
    }
    folders = learn_beside(setting, first)
    targets = tuple(target_for(ratio) for ratio in ratios_of(folders["contempt"]))
    follower = recipe_of(size, seed, {**TEMPERATURE, "targets": targets})
    folders |= learn_beside(setting, {"temperature": (f"seed-{seed}/temperature", follower)})
    return {(arm, seed): folder for arm, folder in folders.items()}


def ratios_of(run: Path) -> list[float | None]:
    """Return (w + l)/d of each generation's games; None where none was drawn."""
    return [line["games"]["ratio"] for line in metrics_of(run)]


def target_for(ratio: float | None) -> float:
    """Return the ratio that T aims at, within the controller's bounds; without a draw the greatest."""
    if ratio is None:
        return GREATEST_TARGET
    return min(max(ratio, LEAST_TARGET), GREATEST_TARGET)


def ratio_factor(ratios: Mapping[tuple[str, int], Sequence[float | None]], seeds: Sequence[int]) -> float:
    """Return the factor, 1 or more, between the (w + l)/d of S and T: the geometric mean over generations and seeds."""
    distances = []
    for seed in seeds:
        for own, other in zip(ratios["contempt", seed], ratios["temperature", seed], strict=True):
            distances.append(math.log(target_for(own) / target_for(other)))
    return math.exp(abs(sum(distances) / len(distances)))


def judge(
    size: Size, setting: Setting, runs: Mapping[tuple[str, int], Path], arm: str, seed: int, generation: int
) -> JudgedNet:
    """Play a net against the opponents."""
    run = runs[arm, seed]
    games = size.last_judge_games if generation == size.generations else size.judge_games
    scores = {}
    for name, opponent in OPPONENTS.items():
        place = setting.folder / "judged" / f"{arm}-{seed}-{generation}-{name}"
        scores[name] = score(setting, net_of(run, generation), opponent, setting.scaled(games, 2), place)
    lines = metrics_of(run)[:generation]
    return JudgedNet(
        arm,
        seed,
        generation,
        scores,
        evaluations=sum(line["cost"]["evaluations"] for line in lines),
        samples=sum(line["train"]["samples"] for line in lines),
        cpu_seconds=lines[-1]["cpu_seconds"],
    )


def duel(size: Size, setting: Setting, runs: Mapping[tuple[str, int], Path], rival: str, seed: int) -> float:
    """Return the score of S against another arm of the same seed, last nets."""
    return duel_of(size, setting, runs, "contempt", rival, seed)


def duel_of(
    size: Size, setting: Setting, runs: Mapping[tuple[str, int], Path], arm: str, rival: str, seed: int
) -> float:
    """Return the score of an arm against another arm of the same seed, last nets."""
    own = net_of(runs[arm, seed], size.generations)
    other = net_of(runs[rival, seed], size.generations)
    place = setting.folder / "judged" / f"{arm}-{rival}-{seed}"
    games = setting.scaled(size.last_judge_games, 2)
    return score(setting, own, f"net={other} visits={VISITS}", games, place)


def score(setting: Setting, net: Path, opponent: str, games: int, place: Path) -> float:
    """Return the score of a net in a match of its own folder, which is resumed."""
    found = ht.play_match(
        f"net={net} visits={VISITS}",
        opponent,
        "chess",
        games=games + games % 2,
        seed=1,
        random_plies=RANDOM_PLIES,
        max_plies=MAX_PLIES,
        parallel=16,
        threads=setting.threads,
        out=place,
        progress=False,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    setting.show(f"{place.name}: {found.score:.1%} of {len(found.games)} games")
    return found.score


def permutation_p(own: Sequence[float], other: Sequence[float]) -> float:
    """Return the share of all divisions of the runs in which the first mean leads by at least as much as here."""
    values = np.array([*own, *other])
    masks = _divisions(len(own), len(other))
    sums = masks @ values
    leads = sums / len(own) - (values.sum() - sums) / len(other)
    observed = float(np.mean(own) - np.mean(other))
    return float(np.mean(leads >= observed - ROUNDING))


@cache
def _divisions(first: int, second: int) -> NDArray[np.float64]:
    """Return all ways to choose `first` of the runs, a row of 0 and 1 each."""
    chosen = itertools.combinations(range(first + second), first)
    return np.array([np.isin(np.arange(first + second), places) for places in chosen], np.float64)


def permutation_interval(own: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the differences that the permutation test does not reject on either side at LEVEL.

    Infinite where there are too few runs to reject any.
    """
    return _least_difference(own, other), -_least_difference(other, own)


def _least_difference(own: Sequence[float], other: Sequence[float]) -> float:
    """Return the greatest difference that is rejected as too small, by bisection; scores are 0 to 1."""
    rejected = -2.0
    kept = 2.0
    while kept - rejected > 1e-6:
        middle = (rejected + kept) / 2
        if permutation_p([value - middle for value in own], other) <= LEVEL:
            rejected = middle
        else:
            kept = middle
    return -math.inf if rejected == -2.0 else rejected


def small_findings(result: Mapping[str, Any]) -> list[Finding]:
    """Return the findings of a result of the small size as its rows decide them today. result: as in result.json."""
    return findings_of([net_of_row(line) for line in result["rows"]], result["facts"]["ratio_factor"], SMALL)


def net_of_row(line: Mapping[str, Any]) -> JudgedNet:
    """Return the net of a row of a result: the inverse of `row`, with scores of four digits."""
    scores = {name: line[name] for name in OPPONENTS}
    cost = (line["evaluations"], line["samples"], line["cpu_seconds"])
    return JudgedNet(line["arm"], line["seed"], line["games"] // GAMES, scores, *cost)


def findings_of(judged: Sequence[JudgedNet], factor: float, size: Size) -> list[Finding]:
    """Return whether S leads P, and whether it leads T. factor: between the (w + l)/d of S and T."""
    found = [finding(judged, "puct", "more", None), finding(judged, "temperature", "equal", factor)]
    return [replace(one, scope=joined(size.scope, one.scope)) for one in found]


def finding(judged: Sequence[JudgedNet], rival: str, key: str, factor: float | None) -> Finding:
    """Decide whether S leads an arm. factor: between their (w + l)/d, where equal draws are the premise."""
    final = max(one.generation for one in judged)
    own = []
    other = []
    for one in judged:
        if one.generation != final:
            continue
        if one.arm == "contempt":
            own.append(one.mean)
        if one.arm == rival:
            other.append(one.mean)
    ahead = permutation_p(own, other)
    behind = permutation_p(other, own)
    difference = 100 * (float(np.mean(own)) - float(np.mean(other)))
    low, high = permutation_interval(own, other)
    low *= 100
    high *= 100
    what = f"search-contempt less {ARMS[rival]}"
    quantity = f"{what} {difference:.1f} [{low:.1f}, {high:.1f}] percentage points"
    measured = f"{quantity}, {len(own)} runs an arm, p {ahead:.3f} (ahead), {behind:.3f} (behind)"
    is_premise_met = True
    scope = ""
    if factor is not None:
        is_premise_met = factor <= EQUAL_DRAWS
        measured += f"; (w + l)/d within a factor of {factor:.2f} (premise: {EQUAL_DRAWS})"
        if not is_premise_met:
            scope = f"draws are not equal: (w + l)/d differs by a factor of {factor:.2f}"
    return Finding(
        key,
        measured,
        verdict_of(ahead, behind, len(own), premise=is_premise_met),
        scope=scope,
        units=f"{len(own)} runs an arm",
        quantities=quantity,
        test="sign",
        decides=quantity,
        numbers=(Number(what=what, value=difference, low=finite(low), high=finite(high)),),
    )


def verdict_of(ahead: float, behind: float, runs: int, *, premise: bool) -> Verdict:
    """Return the verdict at this number of runs an arm: at four, at eight, open elsewhere."""
    levels = {LOOK: LOOK_LEVEL, SEEDS: LEVEL - LOOK_LEVEL}
    return decided(ahead, behind, levels.get(runs) if premise else None)


def decided(ahead: float, behind: float, level: float | None) -> Verdict:
    """Return the verdict of two tests, one a side, at a level of each; None: nothing is decided now."""
    if level is None:
        return "open"
    if ahead <= level + ROUNDING:
        return "holds"
    return "does not hold" if behind <= level + ROUNDING else "open"


def row(one: JudgedNet) -> dict[str, Any]:
    """Return a net as a row of result.csv."""
    return {
        "arm": one.arm,
        "seed": one.seed,
        "games": one.generation * GAMES,
        **{name: round(value, 4) for name, value in one.scores.items()},
        "mean": round(one.mean, 4),
        "evaluations": one.evaluations,
        "samples": one.samples,
        "cpu_seconds": round(one.cpu_seconds, 1),
    }


def table(judged: Sequence[JudgedNet], duels: Mapping[str, Sequence[float]]) -> str:
    """Return the means by arm and games, and the matches of S against the others."""
    lines = []
    milestones = sorted({one.generation for one in judged})
    for arm, title in ARMS.items():
        for generation in milestones:
            nets = [one for one in judged if (one.arm, one.generation) == (arm, generation)]
            against = []
            for name in OPPONENTS:
                mean = np.mean([one.scores[name] for one in nets])
                against.append(f"{name} {mean:.1%}")
            whole = np.mean([one.mean for one in nets])
            lines.append(f"{title}, {generation * GAMES:,} games: {whole:.1%} ({', '.join(against)})")
    for rival, scores in duels.items():
        each = ", ".join(f"{score:.1%}" for score in scores)
        lines.append(f"search-contempt against {ARMS[rival]}: {each}")
    return "\n".join(lines)


THESIS = stated(
    f"{PAPER}, thesis",  # as in contempt-training, here in the source's own game
    "equal | training with search-contempt is better or cheaper, where (w + l)/d is equal | no number (speculative)",
)

EXPERIMENTS = (
    Experiment(
        "chess-thesis",
        f"{PAPER}, thesis",
        "chess from zero with search-contempt, PUCT, and PUCT at equal draws, judged from outside by runs",
        partial(make, FULL),
        claims=stated("this laboratory", "more | chess from zero: search-contempt teaches more than PUCT | no number")
        + THESIS,
        seeds=SEEDS,
        first_seed=12,
    ),
    Experiment(
        "chess-thesis-small",
        f"{PAPER}, thesis",
        "the same with a small net and 3,000 games a run",
        partial(make, SMALL),
        claims=stated(
            "this laboratory",
            "more | chess from zero, a small net, 3,000 games: search-contempt teaches more than PUCT | no number",
        )
        + THESIS,
        seeds=SEEDS,
        first_seed=12,
    ),
)

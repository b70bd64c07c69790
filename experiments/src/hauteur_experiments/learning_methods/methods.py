"""Methods of learning that may save evaluations: each beside plain runs, alike but for it, judged by exact values.

D. J. Wu, "Accelerating Self-Play Learning in Go", 2019 (playout cap randomisation, forced playouts with pruned targets,
policy surprise); D. Silver et al., Nature 550, 2017 (positions transformed by symmetries); I. Danihelka et al., "Policy
improvement by planning with Gumbel", ICLR 2022 (few visits). Games that are used again: A. Trudeau and M. Bowling,
"Targeted Search Control in AlphaZero", AAMAS 2023 (Go-Exploit); Y.-J. Tsai et al., "Regret-Guided Search Control", ICLR
2026; J. Schrittwieser et al., "Online and Offline Reinforcement Learning by Planning with a Learned Model", NeurIPS
2021 (Reanalyse); proven values of M. Winands et al.'s solver, CG 2008, as targets. All runs of a seed learn Connect
Four from zero; those that are compared spend the same number of evaluations. What is compared is stated beforehand: the
share of solved positions in which the net's move keeps the value, as the mean over the evaluations, seed by seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import hauteur as ht
from hauteur_experiments.arms import (
    FIRST_SEED,
    Arm,
    Curve,
    above,
    curve_figure,
    curves_of,
    evaluator_of,
    facts_of,
    rows,
    small_recipe,
    table,
)
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, SourceClaim
from hauteur_experiments.verdict import Claim

VISITS, FEW_VISITS = 100, 8
"""A move of self-play."""

EVALUATIONS, FEW_EVALUATIONS = 4_000_000, 1_000_000
"""Of each run at these visits: few visits make far more games, whose positions cost more training."""

PLAIN = Arm("plain", f"PUCT, {VISITS} visits")
UNMIRRORED = Arm("no-mirror", "the same without mirroring", (("train.symmetries", False),))
CAP = Arm(
    "playout-cap",
    "playout cap 100/20",
    (("selfplay.playout_cap.full_share", 0.25), ("selfplay.playout_cap.fast_visits", 20)),
)
FORCED = Arm("forced", "forced playouts, pruned targets", (("selfplay.search.forced_playouts.k", 2.0),))
SURPRISE = Arm("surprise", "policy surprise, weight 0.5", (("train.surprise_weight", 0.5),))
FEW = Arm("few", f"PUCT, {FEW_VISITS} visits", (("selfplay.visits", FEW_VISITS),))
GUMBEL = Arm(
    "gumbel",
    f"Gumbel, {FEW_VISITS} visits",
    (*FEW.changes, ("selfplay.search.gumbel.considered", 6), ("selfplay.search.dirichlet.epsilon", 0.0)),
)
LAST_GAMES = (("selfplay.archive.window_games", 3000),)
ARCHIVE = Arm("archive", "half of the games from an archive", LAST_GAMES)
REGRET = Arm("regret", "archive, drawn by regret", (*LAST_GAMES, ("selfplay.archive.weight", "regret")))
REANALYSED = Arm("reanalyse", "5 % of the window searched again", (("train.reanalyse.share", 0.05),))
SOLVED = Arm("solver", "solver", (("selfplay.search.solver.lookahead", 1),))
PROVEN = Arm("proven", "solver, proven targets", (*SOLVED.changes, ("train.proven_targets", "earlier")))
USUAL = (PLAIN, UNMIRRORED, CAP, FORCED, SURPRISE)
SPARSE = (FEW, GUMBEL)
"""The arms with few visits."""
AGAIN = (PLAIN, ARCHIVE, REGRET, REANALYSED, SOLVED, PROVEN)
"""The arms that use recorded games again."""


@dataclass(frozen=True)
class Method:
    """A claim: the runs of an arm keep more than those of its rival. statement: of the source, figure: its number."""

    source: str
    statement: str
    figure: str
    arm: Arm
    rival: Arm

    @property
    def key(self) -> str:
        """Key of the claim."""
        return "symmetries" if self.rival == UNMIRRORED else self.arm.name


METHODS = (
    Method("Wu 2019", "playout cap randomisation learns faster", "1.37 times, Go", CAP, PLAIN),
    Method("Wu 2019", "forced playouts with pruned targets learn faster", "1.25 times, Go", FORCED, PLAIN),
    Method("Wu 2019", "samples weighted by policy surprise learn faster", "no number", SURPRISE, PLAIN),
    Method(
        "Silver et al. 2017", "transformed positions learn faster than those as played", "no number", PLAIN, UNMIRRORED
    ),
    Method(
        "Danihelka et al. 2022", "with few visits Gumbel learns faster than PUCT", "2 to 16 visits, Go", GUMBEL, FEW
    ),
)

AGAIN_METHODS = (
    Method("Trudeau and Bowling 2023", "games from an archive of positions learn faster", "no number", ARCHIVE, PLAIN),
    Method(
        "Tsai et al. 2026", "starts drawn by regret learn faster than uniform ones", "89 Elo, 3 games", REGRET, ARCHIVE
    ),
    Method("Schrittwieser et al. 2021", "old positions searched again learn faster", "no number", REANALYSED, PLAIN),
    Method("Winands et al. 2008", "proven values as targets learn faster", "no source claims it", PROVEN, SOLVED),
)
POOLING = Arm("pooling", "global pooling of 4 channels", (("network.pooling", 4),))
REPLY = Arm("reply", "the opponent's reply, weight 0.15", (("train.extra.reply", 0.15),))
SOFT = Arm("soft-policy", "soft policy, T = 4, weight 8", (("train.extra.soft_policy", 8.0),))
SHORT = Arm("short-term", "values of the next 6 and 16 plies, weight 0.5", (("train.extra.short_term", 0.5),))
AVERAGED = Arm("average", "means of equal positions", (("train.average_equal", True),))
TARGETS = (PLAIN, POOLING, REPLY, SOFT, SHORT, AVERAGED)
TARGET_METHODS = (
    Method("Wu 2019", "global pooling learns faster", "1.6 times, Go", POOLING, PLAIN),
    Method("Wu 2019", "an auxiliary policy target learns faster", "1.3 times, Go", REPLY, PLAIN),
    Method("KataGo", "a soft policy target learns faster", "no number", SOFT, PLAIN),
    Method("KataGo", "short-term value targets learn faster", "no number", SHORT, PLAIN),
    Method("this laboratory", "targets that are means of equal positions learn faster", "no number", AVERAGED, PLAIN),
)


def recipe_of(setting: Setting, seed: int, arm: Arm) -> ht.Recipe:
    """Return the recipe of an arm."""
    return small_recipe(setting, seed, arm, visits=VISITS)


def make(setting: Setting) -> Result:
    """Learn, evaluate and compare the methods of the papers on self-play and training."""
    parts = {"": (USUAL, EVALUATIONS, VISITS), "-few": (SPARSE, FEW_EVALUATIONS, FEW_VISITS)}
    return _compared(setting, "learning-methods", parts, METHODS)


def make_again(setting: Setting) -> Result:
    """Learn, evaluate and compare the methods that use recorded games again."""
    return _compared(setting, "learning-again", {"": (AGAIN, EVALUATIONS, VISITS)}, AGAIN_METHODS)


def make_targets(setting: Setting) -> Result:
    """Learn, evaluate and compare global pooling, further targets and means of equal positions."""
    return _compared(setting, "learning-targets", {"": (TARGETS, EVALUATIONS, VISITS)}, TARGET_METHODS)


def _compared(
    setting: Setting, name: str, parts: Mapping[str, tuple[Sequence[Arm], int, int]], methods: Sequence[Method]
) -> Result:
    """Make an experiment. parts: arms, evaluations of each run and visits a move, by the ending of a figure's name."""
    evaluator = evaluator_of(setting)
    curves: dict[str, list[Curve]] = {}
    for key, (arms, full, _) in parts.items():
        recipes = {(seed, arm): recipe_of(setting, seed, arm) for seed in setting.seed_numbers for arm in arms}
        curves[key] = curves_of(setting, recipes, setting.scaled(full, 2), evaluator)
    every = [curve for some in curves.values() for curve in some]
    facts = {
        "evaluations": {curve.arm.name: curve.points[-1].evaluations for curve in every},
        "arms": {arm.name: dict(arm.changes) for part in parts.values() for arm in part[0]},
    }
    facts = facts_of(setting, evaluator, recipe_of(setting, setting.first_seed, PLAIN), **facts)
    figures = [
        curve_figure(some, f"{name}{key}", f"{parts[key][2]} visits a move", "evaluations")
        for key, some in curves.items()
    ]
    return Result(rows(every), [finding(every, method) for method in methods], figures, [table(every)], facts)


def finding(curves: Sequence[Curve], method: Method) -> Finding:
    """The arm above its rival; beside it how much earlier, or later, the mean curve reaches the rival's last value."""
    claim = Claim((above(curves, method.arm, method.rival),))
    own, other = _mean_curve(curves, method.arm), _mean_curve(curves, method.rival)
    reached = _first(own, other[-1])
    if reached is None:
        text = f"mean curve at the end {own[-1]:.1%}, that of {method.rival.title} {other[-1]:.1%}"
    else:
        text = f"mean curve at the last value of {method.rival.title}, {other[-1]:.1%}, after {reached:.0%} of the cost"
    return Finding.of(method.key, claim, text, "another game")


def _mean_curve(curves: Sequence[Curve], arm: Arm) -> list[float]:
    """The shares by stage, as means over the seeds."""
    mine = [[point.kept for point in curve.points] for curve in curves if curve.arm == arm]
    return [sum(stage) / len(stage) for stage in zip(*mine, strict=True)]


def _first(curve: Sequence[float], level: float) -> float | None:
    """Return the share of the evaluations after which a curve first reaches a level; None where it does not."""
    last = len(curve) - 1
    for stage, (before, after) in enumerate(pairwise(curve)):
        if before < level <= after:
            return (stage + (level - before) / (after - before)) / last
    return None


EXPERIMENTS = (
    Experiment(
        "learning-methods",
        "Wu 2019, Silver et al. 2017, Danihelka et al. 2022",
        "Connect Four from zero with and without methods that save evaluations: exact play by evaluations",
        make,
        claims=[SourceClaim(method.key, method.source, method.statement, method.figure) for method in METHODS],
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("game",),
    ),
    Experiment(
        "learning-again",
        "Trudeau and Bowling 2023, Tsai et al. 2026, Schrittwieser et al. 2021",
        "Connect Four from zero with and without games that are used again: exact play by evaluations",
        make_again,
        claims=[SourceClaim(method.key, method.source, method.statement, method.figure) for method in AGAIN_METHODS],
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("game",),
    ),
    Experiment(
        "learning-targets",
        "Wu 2019, KataGo",
        "Connect Four from zero with and without pooling and further targets: exact play by evaluations",
        make_targets,
        claims=[SourceClaim(method.key, method.source, method.statement, method.figure) for method in TARGET_METHODS],
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("game",),
    ),
)

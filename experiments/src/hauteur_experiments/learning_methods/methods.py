"""Methods of learning that may save evaluations: each against plain runs that differ in nothing else, judged by exact
values.

D. J. Wu, "Accelerating Self-Play Learning in Go", 2019 (playout cap randomisation, forced playouts with pruned targets,
policy surprise); D. Silver et al., Nature 550, 2017 (positions transformed by symmetries); I. Danihelka et al., "Policy
improvement by planning with Gumbel", ICLR 2022 (few visits). Games that are used again: A. Trudeau and M. Bowling,
"Targeted Search Control in AlphaZero", AAMAS 2023 (Go-Exploit); Y.-J. Tsai et al., "Regret-Guided Search Control", ICLR
2026; J. Schrittwieser et al., "Online and Offline Reinforcement Learning by Planning with a Learned Model", NeurIPS
2021 (Reanalyse); proven values of M. Winands et al.'s solver, CG 2008, as targets. J.-B. Grill et al., "Monte-Carlo
tree search as regularized policy optimization", ICML 2020; UCB-V (Audibert et al. 2009); 1cycle (Smith 2018). All runs
of a seed learn Connect Four from zero; those that are compared spend the same number of evaluations. What is compared
is stated beforehand: the share of solved positions in which the net's move keeps the value, as the mean over the
evaluations, seed by seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from hauteur_experiments import arms
from hauteur_experiments.arms import FIRST_SEED, Arm, Curve, small_recipe
from hauteur_experiments.experiment import Experiment, Finding, Result, SourceClaim
from hauteur_experiments.setting import Setting
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
POSTERIOR = Arm("posterior", "policy posterior", (("selfplay.search.posterior.c", 1.5),))
FEW_POSTERIOR = Arm("few-posterior", f"policy posterior, {FEW_VISITS} visits", (*FEW.changes, *POSTERIOR.changes))
UCB_V = Arm(
    "ucb-v",
    "UCB-V, scale 0.3",
    (("selfplay.search.variance.mode", "stderr_bonus"), ("selfplay.search.variance.scale", 0.3)),
)
CYCLE = Arm("one-cycle", "1cycle in every generation", (("train.schedule", "one_cycle"), ("train.learning_rate", 4e-3)))
USUAL = (PLAIN, UNMIRRORED, CAP, FORCED, SURPRISE)
SPARSE = (FEW, GUMBEL)
"""The arms with few visits."""
AGAIN = (PLAIN, ARCHIVE, REGRET, REANALYSED, SOLVED, PROVEN)
"""The arms that use recorded games again."""


@dataclass(frozen=True)
class Method:
    """A claim: runs of one arm keep more than those of its rival."""

    source: str
    """The paper."""
    statement: str
    """Its statement in words."""
    figure: str
    """Its figure."""
    arm: Arm
    """The runs with the method."""
    rival: Arm
    """The runs that they are compared with."""

    @property
    def key(self) -> str:
        """Key of the claim."""
        return "symmetries" if self.rival == UNMIRRORED else self.arm.name


METHODS = (
    Method("Wu 2019", "playout cap randomisation learns faster", "1.37 times, Go", CAP, PLAIN),
    Method("Wu 2019", "forced playouts with pruned targets learn faster", "1.25 times, Go", FORCED, PLAIN),
    Method("Wu 2019", "samples weighted by policy surprise learn faster", "no number", SURPRISE, PLAIN),
    Method(
        "Silver et al. 2017",
        "transformed positions learn faster than those as played",
        "no number",
        PLAIN,
        UNMIRRORED,
    ),
    Method(
        "Danihelka et al. 2022",
        "with few visits Gumbel learns faster than PUCT",
        "2 to 16 visits, Go",
        GUMBEL,
        FEW,
    ),
)

AGAIN_METHODS = (
    Method("Trudeau and Bowling 2023", "games from an archive of positions learn faster", "no number", ARCHIVE, PLAIN),
    Method(
        "Tsai et al. 2026",
        "starts drawn by regret learn faster than uniform ones",
        "89 Elo, 3 games",
        REGRET,
        ARCHIVE,
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


Parts = Mapping[str, tuple[Sequence[Arm], int, int]]
"""Arms, evaluations of each run and visits a move, by the ending of a figure's name."""


def _compared(setting: Setting, name: str, parts: Parts, methods: Sequence[Method]) -> Result:
    """Learn, evaluate and compare."""
    evaluator = arms.evaluator_of(setting)
    every: list[Curve] = []
    figures = []
    changes = {}
    for key, (beside, full, visits) in parts.items():
        recipes = {}
        for seed in setting.seed_numbers:
            for arm in beside:
                recipes[seed, arm] = small_recipe(setting, seed, arm, visits=VISITS)
        curves = arms.curves_of(setting, recipes, setting.scaled(full, 2), evaluator)
        every += curves
        figures.append(arms.curve_figure(curves, f"{name}{key}", f"{visits} visits a move", "evaluations"))
        for arm in beside:
            changes[arm.name] = dict(arm.changes)
    evaluations = {curve.arm.name: curve.points[-1].evaluations for curve in every}
    plain = small_recipe(setting, setting.first_seed, PLAIN, visits=VISITS)
    facts = arms.facts_of(setting, evaluator, plain, evaluations=evaluations, arms=changes)
    findings = [finding(every, method) for method in methods]
    return Result(arms.rows(every), findings, figures, [arms.table(every)], facts)


def finding(curves: Sequence[Curve], method: Method) -> Finding:
    """The arm above its rival; beside it how much earlier, or later, the mean curve reaches the rival's last value."""
    claim = Claim((arms.above(curves, method.arm, method.rival),))
    rival = method.rival.title
    own = _mean_curve(curves, method.arm)
    rival_end = _mean_curve(curves, method.rival)[-1]
    reached = _first(own, rival_end)
    if reached is None:
        text = f"mean curve at the end {own[-1]:.1%}, that of {rival} {rival_end:.1%}"
    else:
        text = f"mean curve at the last value of {rival}, {rival_end:.1%}, after {reached:.0%} of the cost"
    return Finding.of(method.key, claim, text, "another game")


def _mean_curve(curves: Sequence[Curve], arm: Arm) -> list[float]:
    """The shares by stage, as means over the seeds."""
    stages = zip(*(curve.points for curve in curves if curve.arm == arm), strict=True)
    return [fmean(point.kept for point in stage) for stage in stages]


def _first(curve: Sequence[float], level: float) -> float | None:
    """Return the share of the evaluations after which a curve first reaches a level; None where it does not."""
    last = len(curve) - 1
    for stage, (before, after) in enumerate(pairwise(curve)):
        if before < level <= after:
            return (stage + (level - before) / (after - before)) / last
    return None


SEARCH_METHODS = (
    Method("Grill et al. 2020", "the policy posterior as a target learns faster", "no number", POSTERIOR, PLAIN),
    Method("Grill et al. 2020", "... and with few visits", "most with few", FEW_POSTERIOR, FEW),
    Method("Audibert et al. 2009", "UCB-V as the selection of self-play learns faster", "no number", UCB_V, PLAIN),
    Method("Smith 2018", "1cycle rates learn faster than a constant one", "no number", CYCLE, PLAIN),
)


def _experiment(name: str, sources: str, what: str, parts: Parts, methods: Sequence[Method]) -> Experiment:
    return Experiment(
        name,
        sources,
        f"Connect Four from zero with and without {what}: exact play by evaluations",
        lambda setting: _compared(setting, name, parts, methods),
        claims=[SourceClaim(method.key, method.source, method.statement, method.figure) for method in methods],
        seeds=8,
        first_seed=FIRST_SEED,
        uses=("game",),
    )


EXPERIMENTS = (
    _experiment(
        "learning-methods",
        "Wu 2019, Silver et al. 2017, Danihelka et al. 2022",
        "methods that save evaluations",
        {"": (USUAL, EVALUATIONS, VISITS), "-few": (SPARSE, FEW_EVALUATIONS, FEW_VISITS)},
        METHODS,
    ),
    _experiment(
        "learning-again",
        "Trudeau and Bowling 2023, Tsai et al. 2026, Schrittwieser et al. 2021",
        "games that are used again",
        {"": (AGAIN, EVALUATIONS, VISITS)},
        AGAIN_METHODS,
    ),
    _experiment(
        "learning-targets",
        "Wu 2019, KataGo",
        "pooling and further targets",
        {"": (TARGETS, EVALUATIONS, VISITS)},
        TARGET_METHODS,
    ),
    _experiment(
        "learning-search",
        "Grill et al. 2020, Audibert et al. 2009, Smith 2018",
        "other targets and selection",
        {
            "": ((PLAIN, POSTERIOR, UCB_V, CYCLE), EVALUATIONS, VISITS),
            "-few": ((FEW, FEW_POSTERIOR), FEW_EVALUATIONS, FEW_VISITS),
        },
        SEARCH_METHODS,
    ),
)

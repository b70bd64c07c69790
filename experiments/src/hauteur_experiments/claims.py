"""Every claim of the sources, the source's figure, and the run and finding that decide it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hauteur_experiments.mcts_experiments.published_matches import RULES, SOURCE, RuleTrials, Trial
from hauteur_experiments.planned_runs import RULE_RUNS, RUNS, run_named


@dataclass(frozen=True)
class Decision:
    """What decides a claim. run: of the plan; finding: how the statement of its finding begins, "" for all of its
    findings; claims: so many are decided at once.
    """

    run: str
    finding: str = ""
    claims: int = 1


@dataclass(frozen=True)
class SourceClaim:
    """A statement of a source with the source's figure.

    decided_by: runs of the plan, () where there is none yet; needs: the games or seeds that would close it then.
    """

    source: str
    statement: str
    figure: str
    decided_by: tuple[Decision, ...] = ()
    needs: str = ""

    def __post_init__(self) -> None:
        if bool(self.decided_by) == bool(self.needs):
            raise ValueError(f"{self.statement}: a claim has runs that decide it, or what would close it")


JOSHI, LAN, REPORT = "Joshi 2025", "Lan et al. 2019", "El Kazdadi et al."
WU, DANIHELKA, SILVER = "Wu 2019", "Danihelka et al. 2022", "Silver et al. 2017"
LABORATORY = "this laboratory"


def _of(*runs: str, finding: str) -> tuple[Decision, ...]:
    return tuple(Decision(run, finding) for run in runs)


_WDL = ("contempt-wdl-minichess", "contempt-wdl-chess")
_FEW = tuple(f"contempt-odds-minichess-{visits}" for visits in (1, 3, 30))
_ODDS = ("contempt-odds-minichess", *_FEW, "contempt-odds-chess-1", "contempt-odds-chess-10")
_REPEATS = ("repeats-minichess", "repeats-chess")
_REGIME = ("mpv-regime", "mpv-regime-nets")
_POSITIONS = ("contempt-positions-minichess", "contempt-positions", "contempt-positions-second-net")

CONTEMPT_CLAIMS = (
    SourceClaim(
        f"{JOSHI}, figure 2",
        "(w + l)/d falls with N_scl",
        "1.38, 0.79, 0.32, 0.09 at N_scl 5, 10, 32, off",
        _of(*_WDL, finding="figure 2: (w + l)/d falls with N_scl"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 2",
        "(w + l)/d falls from each N_scl to the next",
        "the same",
        _of(*_WDL, finding="figure 2: (w + l)/d falls from each"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 3",
        "(w + l)/d rises with the temperature",
        "0.06 with tau_1, 1.38 with tau_2",
        _of("temperature-wdl-minichess", "temperature-wdl-chess", finding="figure 3:"),
    ),
    SourceClaim(
        f"{JOSHI}, table 2",
        "search-contempt is stronger than a temperature of equal (w + l)/d",
        "+70 Elo [+20, +124], 100 games",
        _of("contempt-vs-temperature-minichess", finding="table 2: search-contempt at"),
    ),
    SourceClaim(
        f"{JOSHI}, table 2",
        "the two settings of that match have equal (w + l)/d (within a factor of 1.5)",
        "1.38 with both",
        _of("contempt-vs-temperature-minichess", finding="table 2: the two settings"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "search-contempt at odds, N_scl 28, rises at every step of the nodes",
        "36.8, 57.8, 81.7 % at 100, 800, 20,000",
        _of(*_ODDS, finding="36.8 %, 57.8 %"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "weaker: with some N_scl it scores more with the most nodes than with the least",
        "the same",
        _of(*_ODDS, finding="weaker than the paper: search-contempt with some N_scl"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "search-contempt, with some N_scl, gains more from the nodes than PUCT",
        "+45 against +2 percentage points",
        _of(*_ODDS, finding="from 100 to 20,000 nodes"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "PUCT rises, then falls",
        "23.4, 35.3, 25.4 %",
        _of(*_ODDS, finding="23.4 %, 35.3 %"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "search-contempt with N_scl 28 is ahead of PUCT at every number of nodes",
        "+13, +23, +56 percentage points at 100, 800, 20,000",
        _of(*_ODDS, finding="search-contempt at N_scl 28 is ahead of PUCT"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "weaker: with some N_scl it is ahead of PUCT at the most nodes",
        "the same",
        _of(*_ODDS, finding="weaker than the paper: at the most nodes"),
    ),
    SourceClaim(
        LABORATORY,
        "the best N_scl at odds is the number of the receiver's visits",
        "the author's for odds: 28",
        _of(*_ODDS, finding="not in the paper: the best N_scl"),
    ),
    SourceClaim(
        f"{JOSHI}, table 1",
        "a net that was fine-tuned at odds scores more with search-contempt than its parent",
        "the paper's net was trained at queen odds",
        needs="a run of runs/odds_queen.toml, then 400 games a cell with it and with its parent",
    ),
    SourceClaim(
        f"{JOSHI}, figure 4",
        "repeats fall to 0 early with a high temperature (weaker here: by move 4 they are fewer)",
        "by move 4 with tau_2, much later with tau_1",
        _of(*_REPEATS, finding="figure 4: with tau_2"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 4",
        "almost all games are unique by move 20 to 30",
        "0 of 100 games repeat",
        _of(*_REPEATS, finding="figure 4: almost all"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 4",
        "a low N_scl does not repeat more",
        "no number",
        _of(*_REPEATS, finding="figure 4: a low N_scl"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 5",
        "misjudged positions are more frequent with a low N_scl",
        "more than 1",
        _of(*_POSITIONS, finding="'interesting' positions are more"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 5",
        "they are 20 to 30 times as frequent",
        "20 to 30",
        _of(*_POSITIONS, finding="'interesting' positions are 20"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 6",
        "a new N_scl after every training keeps (w + l)/d near 1",
        "1 (speculative)",
        _of("contempt-schedule", finding="section 4.2.5"),
    ),
    SourceClaim(
        f"{JOSHI}, figure 6",
        "N_scl grows and settles, then the visits are doubled (weaker here: both happen at some time)",
        "5 to 30,000 games (speculative)",
        _of("contempt-schedule", finding="figure 6:"),
    ),
    SourceClaim(
        f"{JOSHI}, thesis",
        "training with search-contempt is better or cheaper, where (w + l)/d is equal",
        "no number (speculative)",
        (Decision("contempt-training"),),
    ),
    SourceClaim(
        f"{JOSHI}, conclusion",
        "positions that N_scl misjudges make puzzles",
        "no number",
        needs="100 puzzles, about 38,000 positions: `hauteur puzzles mine` with `--check`",
    ),
)
"""Search-contempt."""

MPV_CLAIMS = (
    SourceClaim(
        f"{LAN}, figure 2",
        "a pair of nets beats each alone at equal budget, where the two are worth about the same",
        "527 against 472 (large) and 323 (small) Elo",
        _of(*_REGIME, finding="figure 2: at equal budget"),
    ),
    SourceClaim(
        LABORATORY,
        "where the nets are level, the pair's lead over them is greater at a larger budget",
        "not in the paper (figure 2: +109 Elo on average, +55 at the largest budget)",
        _of(*_REGIME, finding="not in the paper: where the nets are level"),
    ),
    SourceClaim(
        LABORATORY,
        "where one net alone is clearly better, the pair is below it",
        "not in the paper",
        _of(*_REGIME, finding="not in the paper: where one net"),
    ),
    SourceClaim(
        f"{LAN}, figure 2",
        "the same with learned nets of two sizes on NoGo, at five budgets and three shares",
        "418 against 309 and 277 Elo on average",
        needs="nets that are worth the same at equal budget; 2,000 games against each at each budget",
    ),
    SourceClaim(
        f"{LAN}, figure 3",
        "a pair beats nets of sizes between",
        "no number",
        needs="1,000 games against each of four nets at each budget",
    ),
    SourceClaim(
        f"{LAN}, figure 4",
        "pairs of separate learning runs beat both nets at every stage",
        "8 stages, B = 200 and 800",
        needs="two runs of 8 stages; 1,000 games a stage, budget and net",
    ),
    SourceClaim(
        f"{LAN}, figure 5",
        "a large net trained with a small one is stronger than one trained alone at equal budget",
        "+279 and +370 Elo, 226 and 252 above the best other",
        needs="three more seeds of runs/nogo7.toml and runs/nogo7_mpv.toml, 400 games each and a ladder",
    ),
    SourceClaim(
        f"{LAN}, figure 5",
        "the pair that was trained together is stronger than its small net",
        "no number",
        needs="nets that are worth the same at equal budget; 2,000 games",
    ),
)
"""Two nets in one tree."""


def _rule_claims() -> Iterator[SourceClaim]:
    """Yield each published match of the MCTS experiments."""
    for rule in RULES:
        for trial in rule.trials:
            for published in trial.repeats:
                decided = Decision(_run_of(rule, trial), str(published))
                record = "" if published.record is None else f" {published.record}"
                figure = f"{published.elo:+.0f} Elo{record}, {published.games:,} games"
                visits = "" if published.visits is None else f", {published.visits:,} visits"
                yield SourceClaim(SOURCE, f"{published.setting}{visits}", figure, (decided,))


def _run_of(rule: RuleTrials, trial: Trial) -> str:
    """The name of the planned run that plays a match of the source."""
    runs = [run for run in RULE_RUNS if run.experiment == rule.name]
    return next(run.name for run in runs if trial.name in run.only or not run.only)


TABLE_CLAIM = SourceClaim(
    LABORATORY,
    "the effect of each rule on a base that is tuned for the game",
    "none: published figures are single matches of one net",
    tuple(Decision(f"rules-by-game-{game}", claims=12) for game in ("connect4", "minichess", "nogo7", "chess")),
)
"""Shown as a table of its own, a cell a claim."""

REPORT_CLAIMS = (
    SourceClaim(
        f"{REPORT}, figure 3",
        "500 episodes, 100 iterations: improves in steps until it is optimal, and stays so to the end",
        "one run",
        (Decision("report-fig3"),),
    ),
    SourceClaim(
        f"{REPORT}, figure 4",
        "500 episodes, 25 iterations: learns very slowly",
        "one run",
        (Decision("report-fig4"),),
    ),
    SourceClaim(
        f"{REPORT}, figure 5",
        "2,000 episodes, 100 iterations: optimal after one of the first 5 trainings",
        "one run",
        (Decision("report-fig5"),),
    ),
    SourceClaim(
        f"{REPORT}, figure 6",
        "the trained player is clearly stronger than the initial one",
        "one game",
        (Decision("report-fig6"),),
    ),
)
"""The AlphaZero implementation report."""

_METHODS = "learning-methods"

LEARNING_CLAIMS = (
    SourceClaim(
        WU,
        "playout cap randomisation speeds learning up",
        "1.37 times, Go",
        _of(_METHODS, finding="Wu 2019: playout cap"),
    ),
    SourceClaim(
        WU,
        "forced playouts with pruned targets speed learning up",
        "1.25 times, Go",
        _of(_METHODS, finding="Wu 2019: forced playouts"),
    ),
    SourceClaim(
        WU,
        "weighting by policy surprise speeds learning up",
        "no number",
        _of(_METHODS, finding="Wu 2019: samples weighted"),
    ),
    SourceClaim(
        SILVER, "transformed positions speed learning up", "no number", _of(_METHODS, finding="Silver et al. 2017:")
    ),
    SourceClaim(
        DANIHELKA,
        "Gumbel learns at few visits where PUCT does not",
        "2 to 16 visits, Go",
        _of(_METHODS, finding="Danihelka et al. 2022:"),
    ),
    SourceClaim(LABORATORY, "tic-tac-toe is learned without a loss", "0.1 CPU minutes", needs="5 seeds"),
    SourceClaim(
        LABORATORY,
        "Connect Four keeps 90, 95, 99 % of values",
        "7.5, 58 CPU minutes, not reached",
        needs="5 seeds each",
    ),
    SourceClaim(LABORATORY, "NoGo 5x5: the won game is won against exact defence", "8 of 20 games", needs="5 seeds"),
    SourceClaim(
        LABORATORY, "minichess: strength by a pool of opponents", "one seed", needs="5 seeds, 400 games an opponent"
    ),
    SourceClaim(
        LABORATORY, "NoGo 9x9: strength in simulations of `rave`", "not run", needs="one run, 400 games a rung"
    ),
)
"""Learning."""

CLAIMS: tuple[tuple[str, tuple[SourceClaim, ...]], ...] = (
    ("Search-contempt", CONTEMPT_CLAIMS),
    ("Two nets in one tree", MPV_CLAIMS),
    ("The MCTS experiments", tuple(_rule_claims())),
    ("The AlphaZero implementation report", REPORT_CLAIMS),
    ("Learning", LEARNING_CLAIMS),
)
"""All claims but those of TABLE_CLAIM, by subject."""


def claims_by_run() -> dict[str, int]:
    """Return how many claims each run of the plan decides; ValueError for a run that decides none."""
    counts = Counter({run.name: 0 for run in RUNS})
    for claim in (TABLE_CLAIM, *(claim for _, claims in CLAIMS for claim in claims)):
        for decision in claim.decided_by:
            counts[run_named(decision.run).name] += decision.claims
    idle = [name for name, count in counts.items() if not count]
    if idle:
        raise ValueError(f"runs of the plan that decide no claim: {', '.join(idle)}")
    return dict(counts)

"""The runs of the laboratory's plan: each experiment at a size that can decide its claims.

Sizes are stated here before the games are played. Runs of one game and one setting share their games where they lie
beside each other, as in the folder of a plan. Chess has fewer visits than the papers, since its nets are slow;
minichess has the papers'.
"""

from __future__ import annotations

from hauteur_experiments.experiment import SourceClaim
from hauteur_experiments.plan import PlannedRun

ODDS_MINICHESS = "minichess(fen=rnbqk/ppppp/5/PPPPP/1NB1K w - - 0 1)"
"""White gives rook and queen."""

CHESS_VISITS = 200
RULE_VISITS = 100
REGIME_BUDGET = 64
"""Largest of two nets, in evaluations of the large one; the other is a quarter of it."""

REPORT_SEEDS = 10

_POSITIONS = "400 games and 2,000 positions a set"

CONTEMPT = (
    PlannedRun("contempt-wdl-minichess", "contempt-wdl", "400 games a set, 1,000 visits", 4, game="minichess"),
    PlannedRun("contempt-wdl-chess", "contempt-wdl", "400 games a set, 200 visits", 4, visits=CHESS_VISITS, net=0),
    PlannedRun("temperature-wdl-minichess", "temperature-wdl", "400 games a set, 1,000 visits", 4, game="minichess"),
    PlannedRun(
        "temperature-wdl-chess", "temperature-wdl", "400 games a set, 200 visits", 4, visits=CHESS_VISITS, net=0
    ),
    PlannedRun(
        "contempt-vs-temperature-minichess",
        "contempt-vs-temperature",
        "tuned with 500 games a point, 1,000 games, 1,000 visits",
        5,
        game="minichess",
    ),
    PlannedRun(
        "contempt-odds-minichess",
        "contempt-odds",
        "400 games a cell, 100 to 6,400 nodes, an odds taker of 10 visits",
        2,
        visits=6400,
        game=ODDS_MINICHESS,
    ),
    *(
        PlannedRun(
            f"contempt-odds-minichess-{visits}",
            "contempt-odds",
            f"400 games a cell, 100 to 1,600 nodes, an odds taker of {visits} {'visit' if visits == 1 else 'visits'}",
            2,
            visits=1600,
            game=ODDS_MINICHESS,
            opponent=f"visits={visits} temperature=0.5",
        )
        for visits in (1, 3, 30)
    ),
    *(
        PlannedRun(
            f"contempt-odds-chess-{visits}",
            "contempt-odds",
            f"200 games a cell, 100 to 1,600 nodes, an odds taker of {visits} {'visit' if visits == 1 else 'visits'}",
            visits=1600,
            opponent=f"visits={visits} temperature=0.5",
            net=0,
        )
        for visits in (1, 10)
    ),
    PlannedRun("repeats-minichess", "repeats", "2,000 games a set, 50 visits", 20, visits=50, game="minichess"),
    PlannedRun("repeats-chess", "repeats", "2,000 games a set, 50 visits", 20, visits=50, net=0),
    PlannedRun("contempt-positions-minichess", "contempt-positions", _POSITIONS, 4, game="minichess"),
    PlannedRun("contempt-positions", "contempt-positions", _POSITIONS, 4, visits=CHESS_VISITS, net=0),
    PlannedRun(
        "contempt-positions-second-net",
        "contempt-positions",
        _POSITIONS,
        4,
        visits=CHESS_VISITS,
        net=1,
    ),
    PlannedRun("contempt-schedule", "contempt-schedule", "6 seeds, 300 games a generation", 0.1, seeds=6, visits=100),
    PlannedRun("contempt-training", "contempt-training", "8 seeds an arm"),
)
"""Search-contempt."""

REPORT = tuple(
    PlannedRun(f"report-fig{figure}", f"report-fig{figure}", f"{REPORT_SEEDS} seeds", seeds=REPORT_SEEDS, first_seed=11)
    for figure in (3, 4, 5, 6)
)
"""The implementation report."""


def _rule(name: str, games: str, scale: float, *only: str) -> PlannedRun:
    """A rule's published matches in chess; only: some of them."""
    suffix = f"-{only[0]}" if only else ""
    return PlannedRun(f"{name}{suffix}", name, f"{games}, 100 visits", scale, visits=RULE_VISITS, only=only, net=0)


RULE_RUNS = (
    _rule("tree-balance", "400 games of the first setting, 260 to 400 of the others", 0.4),
    _rule("solver", "400 games", 0.4, "solver"),
    _rule("solver", "1,000 games a match", 0.1, "certainty", "auto-extend"),
    _rule("prior-mixing", "400 games", 0.64),
    _rule("q-average", "1,600 games a match", 0.16),
    _rule("variance", "400 games", 0.4),
    _rule("initial-trust", "400 games a match", 0.4),
    _rule("fpu", "400 games a match", 0.4),
    _rule("cpuct", "400 games", 0.57),
    _rule("validation", "1,000 games", 0.1),
    *(
        PlannedRun(f"rules-by-game-{game}", "rules-by-game", "1,000 games a cell", visits=RULE_VISITS, only=(game,))
        for game in ("connect4", "minichess", "nogo7")
    ),
    PlannedRun("rules-by-game-chess", "rules-by-game", "400 games a cell", visits=RULE_VISITS, only=("chess",), net=0),
)
"""The MCTS experiments, and every rule in four games."""

_REGIME = "one seed maps and chooses, two test with 800 games of the pair against each net"

MPV = (
    PlannedRun("mpv-regime", "mpv-regime", _REGIME, seeds=3, visits=REGIME_BUDGET),
    PlannedRun("mpv-regime-nets", "mpv-regime-nets", _REGIME, seeds=3, visits=REGIME_BUDGET),
)
"""Two nets."""

LEARNING = (
    PlannedRun(
        "learning-methods", "learning-methods", "8 seeds an arm, 4,000,000 evaluations a run, 1,000,000 at few visits"
    ),
)
"""Methods that save evaluations."""

RUNS: tuple[PlannedRun, ...] = (*CONTEMPT, *MPV, *RULE_RUNS, *REPORT, *LEARNING)


def run_named(name: str) -> PlannedRun:
    """The run of this name; ValueError where there is none."""
    for run in RUNS:
        if run.name == name:
            return run
    raise ValueError(f"the plan has no run {name!r}; it has {', '.join(run.name for run in RUNS)}")


SUBJECTS = {
    "Search-contempt": (
        "contempt-wdl",
        "temperature-wdl",
        "contempt-vs-temperature",
        "contempt-odds",
        "repeats",
        "contempt-positions",
        "contempt-schedule",
        "contempt-training",
    ),
    "Two nets in one tree": (
        "mpv-regime",
        "mpv-regime-nets",
        "mpv-allocation",
        "mpv-midsize",
        "mpv-az-pairs",
        "mpv-training",
    ),
    "The MCTS experiments": tuple(
        dict.fromkeys(run.experiment for run in RULE_RUNS if run.experiment != "rules-by-game")
    ),
    "The AlphaZero implementation report": tuple(run.experiment for run in REPORT),
    "Learning": ("learning-methods",),
}
"""The experiments whose claims stand in the table, by subject."""

OTHER_CLAIMS = {
    "Learning": tuple(
        SourceClaim("", "this laboratory", statement, figure, needs)
        for statement, figure, needs in (
            ("tic-tac-toe is learned without a loss", "0.1 CPU minutes", "5 seeds"),
            ("Connect Four keeps 90, 95, 99 % of values", "7.5, 58 CPU minutes, not reached", "5 seeds each"),
            ("NoGo 5x5: the won game is won against exact defence", "8 of 20 games", "5 seeds"),
            ("minichess: strength by a pool of opponents", "one seed", "5 seeds, 400 games an opponent"),
            ("NoGo 9x9: strength in simulations of `rave`", "not run", "one run, 400 games a rung"),
        )
    )
}
"""Claims that no experiment decides."""

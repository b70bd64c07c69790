"""Figures 2 to 5 of the MPV paper: a pair of nets against each alone, nets between, stages of runs, training together.

Figure 2 divides a budget between a small and a large net, f(64, 5) and f(128, 10), figure 3 sets the pair beside single
nets of sizes between. The paper's are trained on 200,000 games of HaHaNoGo against itself with 50,000 simulations a
move; here they are given (`hauteur train runs/nogo9_supervised.toml`).
Figure 4 puts nets of two separate AlphaZero runs together, at eight stages of the runs; figure 5 compares large nets
that learned alone and beside a small one, at equal normalised budget, tested by the large net alone. Runs are given as
folders (`hauteur train runs/nogo9.toml`, `runs/nogo9_mpv.toml`); the paper's have 200, 400 or 800 simulations of
f(128, 10), 800 of f(64, 5), or 800 small and 100 large ones together, of 2,000,000 games of f(128, 10) with 200.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match
from hauteur_experiments.learned import Lines, metrics_of, net_of, runs_of
from hauteur_experiments.measured import Interval, elo_text
from hauteur_experiments.mpv_mcts.pairs import (
    BEST_SHARE,
    BUDGETS,
    LAN,
    PAPER,
    Pair,
    alone,
    budgets_of,
    game_of,
    net_cost,
    net_name,
    pair_of,
    scope_of,
)
from hauteur_experiments.mpv_mcts.places import Place, PlaceTable, all_ahead
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import LEAST_SEEDS, SMALLEST_ELO, Claim

SHARES = (BEST_SHARE, 0.0, 0.25, 0.75, 1.0)
"""r: shares of the large net in figure 2, the best first; 0 and 1 are the nets alone."""

BOTH, SMALL_ALONE, LARGE_ALONE = "both nets", "small net alone", "large net alone"
NAMES = {0.0: SMALL_ALONE, 1.0: LARGE_ALONE, 0.5: BOTH, 0.25: "r = 0.25", 0.75: "r = 0.75"}
HALF_OF_PUBLISHED = (527 - 472) / 2
"""Elo that matters: half of the source's over the better net at its largest budget."""
HALF_OF_AVERAGES = (418 - 309) / 2
"""Elo that matters: half of the source's on average."""
HALF_OF_TRAINED = 226 / 2
"""Elo that matters: half of the source's of figure 5."""

RUN_BUDGETS = (200, 800)
"""Units a move of figures 4 and 5, (a) and (b)."""

RUNS_AN_ARM = "learning runs an arm"
STAGES = 8
MORE = 1.5
"""A run that has spent this many times the budget of another has spent more."""


def make(
    tabled: Callable[[Setting], Sequence[PlaceTable]],
    key: str,
    title: str,
    x_name: str,
    decide: Callable[[PlaceTable], list[Finding]],
    setting: Setting,
) -> Result:
    """Play the tables of an experiment and decide the claims of each."""
    rows = []
    findings = []
    figures = []
    texts = []
    tables = tabled(setting)
    for number, table in enumerate(tables, start=1):
        table.play()
        name = key if len(tables) == 1 else f"{key}-{number}"
        rows += table.rows()
        findings += decide(table)
        figures.append(table.figure(name, title, x_name))
        texts.append(table.text())
    return Result(rows, findings, figures, texts).scoped(scope_of(*scale_of(tables, setting)))


def scale_of(tables: Sequence[PlaceTable], setting: Setting) -> tuple[str, list[float], float | None]:
    """Game, budgets and cost of the small net of the tables; None where the cost is not that of one pair."""
    budgets = []
    for table in tables:
        for place in table.places:
            budgets.append(float(place.facts["budget"]))
    cost = None
    is_one_pair = len(setting.nets) == 2 and not any(net.is_dir() for net in setting.nets)
    if is_one_pair:
        cost = pair_of(setting.nets, setting.cost).cost
    return tables[0].game, budgets, cost


def planned(tabled: Callable[[Setting], Sequence[PlaceTable]], setting: Setting) -> Iterator[Match]:
    """Yield the matches."""
    for table in tabled(setting):
        yield from table.matches()


def allocation(setting: Setting) -> list[PlaceTable]:
    """Figure 2: all divisions at all budgets."""
    pair = pair_of(setting.nets, setting.cost)
    budgets = budgets_of(setting, BUDGETS)
    places = []
    for budget in budgets:
        players = {NAMES[share]: pair.player(budget, share) for share in SHARES}
        places.append(Place(f"b{budget}", str(budget), budget / max(BUDGETS), players, {"budget": budget}))
    duels = ((BOTH, SMALL_ALONE), (BOTH, LARGE_ALONE), (SMALL_ALONE, LARGE_ALONE))
    return [PlaceTable(setting, pair.game, places, duels)]


def allocation_findings(table: PlaceTable) -> list[Finding]:
    """The paper's statement and the mean differences, the averages, and the matches at equal budget."""
    mixed = [NAMES[share] for share in SHARES if 0 < share < 1]
    means = ", ".join(f"{name} {elo_text(table.lead([name]))}" for name in table.places[0].players)
    shown = f"means over {len(table.places)} budgets, Elo above the opponents: {means}"
    better = {f"ahead of {name}": table.lead([BOTH], [name]) for name in mixed if name != BOTH}
    return [
        Finding.of("divisions", _above_both(table, mixed, HALF_OF_PUBLISHED)),
        Finding.of("halves", all_ahead(better)),
        Finding.of("averages", _above_both(table, [BOTH], HALF_OF_AVERAGES), shown),
        Finding.of("duels", table.duels_ahead(BOTH)),
    ]


def _above_both(table: PlaceTable, series: Sequence[str], matters: float = SMALLEST_ELO) -> Claim:
    """Return the claim that the mean of these series is above each net alone, against the opponents."""
    alone = (SMALL_ALONE, LARGE_ALONE)
    return all_ahead({f"ahead of the {name}": table.lead(series, [name]) for name in alone}, matters)


def midsize(setting: Setting) -> list[PlaceTable]:
    """Figure 3: the pair in halves, and single nets of sizes between, at equal budget."""
    nets = setting.nets
    _ = game_of(setting)
    if len(nets) < 3:
        raise ValueError(f"this experiment needs --net SMALL --net LARGE --net MIDSIZE ..., got {len(nets)} nets")
    pair = Pair(nets[0], nets[1])
    large_cost = net_cost(pair.large)
    between = {}
    costs = {}
    for number, net in enumerate(nets[2:], start=1):
        name = f"{net_name(net)} ({number})"
        between[name] = net
        costs[name] = net_cost(net) / large_cost
    places = []
    for budget in budgets_of(setting, BUDGETS):
        players = {BOTH: pair.player(budget, BEST_SHARE)}
        for name, net in between.items():
            visits = max(1, round(budget / costs[name]))
            players[name] = alone(net, visits)
        places.append(Place(f"b{budget}", str(budget), budget / max(BUDGETS), players, {"budget": budget}))
    return [PlaceTable(setting, pair.game, places, [(BOTH, name) for name in between])]


def midsize_findings(table: PlaceTable) -> list[Finding]:
    """The paper's statement and the mean differences, and the matches head to head."""
    between = {name: table.lead([BOTH], [name]) for name in table.places[0].players if name != BOTH}
    return [Finding.of("between", all_ahead(between)), Finding.of("duels", table.duels_ahead(BOTH))]


# -- learning runs -----------------------------------------------------------------------------------------------------


def of_runs(claim: Claim) -> Claim:
    """Return a claim on how nets learn, whose independent units are the runs of an arm: there is one.

    Games between two nets tell which of the two is stronger, however many there are, and not which way of learning is.
    """
    runs = [
        replace(one, measured=Interval(one.measured.value, 1, one.measured.interval), least=LEAST_SEEDS, of=RUNS_AN_ARM)
        for one in claim.inequalities
    ]
    return replace(claim, inequalities=tuple(runs))


def large_net(run: Path, generation: int) -> Path:
    """The large net of a run with two, the net of a run with one."""
    large = net_of(run, generation, large=True)
    return large if large.exists() else net_of(run, generation)


def az_pairs(setting: Setting) -> list[PlaceTable]:
    """Figure 4: at eight stages the nets of two runs, alone and together, a table a budget."""
    runs = list(runs_of(setting).values())
    game = game_of(setting)
    if len(runs) > 2:
        raise ValueError(f"this experiment needs one or two runs, --net SMALL --net LARGE (folders), got {len(runs)}")
    last = min(len(metrics_of(run)) for run in runs)
    stages = range(1, STAGES + 1)
    generations = sorted({max(1, round(last * number / STAGES)) for number in stages})
    tables = []
    for budget in budgets_of(setting, RUN_BUDGETS):
        places = []
        for number in generations:
            pair = Pair(net_of(runs[0], number), large_net(runs[-1], number))
            players = {
                BOTH: pair.player(budget, BEST_SHARE),
                SMALL_ALONE: pair.player(budget, 0.0),
                LARGE_ALONE: pair.player(budget, 1.0),
            }
            facts = {"budget": budget, "generation": number}
            places.append(Place(f"g{number}-b{budget}", str(number), budget / max(RUN_BUDGETS), players, facts))
        tables.append(PlaceTable(setting, game, places, ((BOTH, SMALL_ALONE), (BOTH, LARGE_ALONE))))
    return tables


def az_findings(table: PlaceTable) -> list[Finding]:
    """The paper's statement and the mean differences, and the matches head to head, all stages of a budget."""
    shown = f"budget {table.places[0].facts['budget']}"
    found = {"stages": _above_both(table, [BOTH]), "duels": table.duels_ahead(BOTH)}
    return [Finding.of(key, of_runs(claim), shown) for key, claim in found.items()]


@dataclass(frozen=True)
class TrainedRuns:
    """The runs whose large nets are compared."""

    folders: Mapping[str, Path]
    """Folder of each run."""
    two: Sequence[str]
    """Names of the runs with two nets."""
    equal: Sequence[str]
    """Names of the runs with one net that have spent about as much as the first run with two."""
    more: Sequence[str]
    """Names of the runs with one net that have spent more."""
    spent: Mapping[str, Sequence[float]]
    """Units that each run has spent, by generation from 1."""
    titles: Mapping[str, str]
    """What players are called, by the name of their run."""

    @classmethod
    def of(cls, folders: Mapping[str, Path]) -> TrainedRuns:
        """Sort the runs. ValueError unless there are such with one net and such with two."""
        two = [name for name, run in folders.items() if net_of(run, 1, large=True).exists()]
        one = [name for name in folders if name not in two]
        if not (one and two):
            needed = "folders of runs with one net and with two, --net ALONE --net TWO ..."
            raise ValueError(f"this experiment needs {needed}, got {len(one)} and {len(two)}")
        spent = {name: units_by_generation(metrics_of(run), run) for name, run in folders.items()}
        titles = {name: f"{name} (two nets)" for name in two}
        equal = []
        more = []
        for name in one:
            times = spent[name][-1] / spent[two[0]][-1]
            titles[name] = f"{name}, {times:.1f} times"
            if times < MORE:
                equal.append(name)
            else:
                more.append(name)
        return cls(folders, two, equal, more, spent, titles)

    def last(self, name: str) -> int:
        """Return the last generation of a run."""
        return len(self.spent[name])

    def generation_at(self, name: str, units: float) -> int:
        """Return the generation at whose end a run had spent closest to this."""
        spent = self.spent[name]
        nearest = min(range(len(spent)), key=lambda i: abs(spent[i] - units))
        return nearest + 1

    def large_alone(self, name: str, generation: int, budget: int) -> str:
        """Return the player that is the large net of a generation."""
        return alone(large_net(self.folders[name], generation), budget)


def training(setting: Setting) -> list[PlaceTable]:
    """Figure 5, up to three tables a budget: the large nets alone at eight stages, of runs with two nets and of those
    with one that have spent about as much; at the end of the first run with two nets its large net against those of
    runs that have spent more, and both of its nets together against the small one.
    """
    runs = TrainedRuns.of(runs_of(setting))
    game = game_of(setting)
    first = runs.two[0]
    last = runs.last(first)
    pair = Pair(net_of(runs.folders[first], last), large_net(runs.folders[first], last))
    units = runs.spent[first][-1]
    tables = []
    for budget in budgets_of(setting, RUN_BUDGETS):
        if runs.equal:
            tables.append(_stages(setting, game, runs, budget))
        if runs.more:
            players = {}
            for run in (first, *runs.more):
                players[runs.titles[run]] = runs.large_alone(run, runs.last(run), budget)
            duels = [(runs.titles[first], runs.titles[other]) for other in runs.more]
            more = _training_place(budget, "more", units, players)
            tables.append(PlaceTable(setting, game, [more], duels))
        both = {BOTH: pair.player(budget, BEST_SHARE), SMALL_ALONE: pair.player(budget, 0.0)}
        own = _training_place(budget, "own", units, both)
        tables.append(PlaceTable(setting, game, [own], [(BOTH, SMALL_ALONE)]))
    return tables


def _stages(setting: Setting, game: str, runs: TrainedRuns, budget: int) -> PlaceTable:
    """Return the table of large nets alone at the stages that all these runs have come to."""
    names = (*runs.two, *runs.equal)
    most = min(runs.spent[name][-1] for name in names)
    stages = []
    for stage in range(1, STAGES + 1):
        units = most * stage / STAGES
        players = {}
        for name in names:
            generation = runs.generation_at(name, units)
            players[runs.titles[name]] = runs.large_alone(name, generation, budget)
        stages.append(_training_place(budget, f"s{stage}", units, players))
    duels = []
    for with_two in runs.two:
        for other in runs.equal:
            duels.append((runs.titles[with_two], runs.titles[other]))
    return PlaceTable(setting, game, stages, duels)


def _training_place(budget: int, name: str, units: float, players: dict[str, str]) -> Place:
    """Return a place of players that meet after this many units."""
    facts = {"budget": budget, "spent": units}
    return Place(f"{name}-b{budget}", f"{units:,.0f}", budget / max(RUN_BUDGETS), players, facts)


def units_by_generation(lines: Lines, run: Path) -> list[float]:
    """Normalised budget that a run had spent when each generation was over, in evaluations of f(128, 10)."""
    found = [line["cost"].get("normalised_total") for line in lines]
    if any(units is None for units in found):
        raise ValueError(f"{run}: its metrics do not tell the normalised budget (cost.normalised_total)")
    return [float(units) for units in found]


def training_findings(table: PlaceTable) -> list[Finding]:
    """The paper's figures: at the last stage the mean of the runs with two nets above each of the others; head to head
    at more budget for the other; the pair above its own small net.
    """
    last = table.places[-1]
    names = list(table.places[0].players)
    text = f"budget {last.facts['budget']}, normalised budget spent {last.label}"
    if BOTH in names:
        return [Finding.of("own-small", of_runs(table.duels_ahead(BOTH)), text)]
    two = [name for name in names if name.endswith("(two nets)")]
    if len(table.places) == 1:
        return [Finding.of("worth", of_runs(table.duels_ahead(two[0])), text)]
    each = {}
    for name in names:
        if name not in two:
            each[f"above {name}"] = table.lead(two, [name], [last])
    claim = of_runs(all_ahead(each, HALF_OF_TRAINED))
    shown = ", ".join(f"{name} {elo_text(table.elo(last, name))}" for name in names)
    return [Finding.of("together", claim, f"large nets alone, {text}: {shown}")]


NEEDS = "nets of NoGo, --net SMALL --net LARGE, 400 games a point and five budgets"
RUNS_NEEDED = "folders of learning runs, 400 games a point and eight stages"
BUDGET_AXIS = "budget of a move, evaluations of the large net"
HEAD_TO_HEAD = "duels | head to head the pair is stronger than each other net | not in the paper"


def _experiment(figure: int, name: str, title: str, tabled: Any, decide: Any, x_name: str, *claims: str) -> Experiment:
    """An experiment of a figure. tabled: its tables; decide: the findings of one of them."""
    return Experiment(
        name,
        f"{PAPER}, figure {figure}",
        title,
        partial(make, tabled, name, title, x_name, decide),
        claims=stated(f"{LAN}, figure {figure}", *claims),
        matches=partial(planned, tabled),
        uses=("nets", "visits", "game", "opponent", "cost"),
    )


EXPERIMENTS = (
    _experiment(
        2,
        "mpv-allocation",
        "two nets in one tree: shares of the large net by budget",
        allocation,
        allocation_findings,
        BUDGET_AXIS,
        f"divisions | at equal budget all three divisions are above both nets alone | 527 to 323 and 472 | {NEEDS}",
        "averages | a pair of learned nets on NoGo beats each alone, on average over five budgets"
        f" | 418 against 309 and 277 Elo | {NEEDS}",
        f"halves | of the three divisions equal shares are the best | 527 Elo | {NEEDS}",
        f"{HEAD_TO_HEAD} | {NEEDS}",
    ),
    _experiment(
        3,
        "mpv-midsize",
        "two nets in one tree against single nets of sizes between",
        midsize,
        midsize_findings,
        BUDGET_AXIS,
        f"between | a pair beats nets of sizes between | no number | {NEEDS}",
        f"{HEAD_TO_HEAD} | {NEEDS}",
    ),
    _experiment(
        4,
        "mpv-az-pairs",
        "two nets in one tree: stages of two AlphaZero runs, alone and together",
        az_pairs,
        az_findings,
        "generation",
        "stages | weaker: pairs of separate learning runs are above both nets on average over eight stages"
        f" | at all 8 stages, B = 200 and 800 | {RUNS_NEEDED}",
        f"{HEAD_TO_HEAD} | {RUNS_NEEDED}",
    ),
    _experiment(
        5,
        "mpv-training",
        "AlphaZero with one net and with two at equal cost, tested by the large net alone",
        training,
        training_findings,
        "normalised budget spent, evaluations of f128,10",
        "together | a large net trained with a small one is stronger than one trained alone at equal budget"
        f" | +279 and +370 Elo, 226 and 252 above the best other | {RUNS_NEEDED}",
        "worth | it is stronger than one trained alone with 2 and 2.5 times the budget | 56.6 and 51.2 %"
        f" | {RUNS_NEEDED}",
        f"own-small | the pair that was trained together is stronger than its small net | no number | {RUNS_NEEDED}",
        "l800 | of the large nets alone the one that trained with 800 visits is the best | figure 5"
        " | three runs of 2,000,000 games: thousands of core hours",
    ),
)

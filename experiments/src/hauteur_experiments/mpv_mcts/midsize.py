"""Figure 3 of the MPV paper: a small and a large net together against single nets of sizes between, at equal budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hauteur.matches.ratings.rating_list import RatingList
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import MatchSpec
from hauteur_experiments.mpv_mcts.nets import learning_seconds, nets_for_estimate, supervised_nets
from hauteur_experiments.mpv_mcts.pairs import (
    BEST_SHARE,
    BUDGETS,
    GAMES,
    LARGE,
    PAPER,
    RANDOM_PLIES,
    SMALL,
    Pair,
    Size,
    alone,
    net_cost,
    net_name,
)
from hauteur_experiments.mpv_mcts.points import (
    Elo,
    all_ahead,
    begin_rung,
    budgets_of,
    contrast,
    duel_games,
    elo_points,
    games_of,
    match_rows,
    match_table,
    place_all,
    pooled,
    rating_of,
    rung_stand_in,
)
from hauteur_experiments.player_pool import Ladder, PlayerPool, field_seconds, ladder_specs

MIDSIZE: tuple[Size, ...] = ((128, 5), (90, 10), (90, 5), (64, 10))
STATEMENT = "figure 3: at every budget f64,5 and f128,10 together (r = 2/4) are above each mid-size net (no numbers)"
HEAD_TO_HEAD = "head to head at equal budget (not in the paper): the pair is stronger than each net between"


class MidsizeNets:
    """The pair, and the nets between by the names of their players."""

    def __init__(self, files: Sequence[Any]) -> None:
        """Raise ValueError unless there are three or more, the small and the large one first."""
        if len(files) < 3:
            raise ValueError(f"this experiment needs --net SMALL --net LARGE --net MIDSIZE ..., got {len(files)} nets")
        self.pair = Pair(files[0], files[1])
        self.between = {f"mid{number}": net for number, net in enumerate(files[2:], start=1)}
        unit = net_cost(self.pair.large)
        self.costs = {name: net_cost(net) / unit for name, net in self.between.items()}

    def visits(self, name: str, budget: int) -> int:
        """Visits of a net alone for a budget."""
        return max(1, round(budget / self.costs[name]))

    def label(self, name: str) -> str:
        """Return the label of a player in the figure."""
        if name == "mpv":
            return f"{net_name(self.pair.small)} + {net_name(self.pair.large)}"
        return net_name(self.between[name])


def make(setting: ExperimentSetting) -> Result:
    """Play all points, and the pair against every net between at equal budget."""
    nets = MidsizeNets(supervised_nets(setting, (SMALL, LARGE, *MIDSIZE)))
    field, budgets = _field(setting, nets), budgets_of(setting, BUDGETS)
    ladder = Ladder(field)
    for budget in budgets:
        others = [f"b{budget}-{name}" for name in nets.between]
        place_all(ladder, begin_rung(budget, BUDGETS), f"b{budget}-mpv", others)
    ratings, names = ladder.ratings(), ["mpv", *nets.between]
    for a, b in (duel for budget in budgets for duel in duels_of(nets, budget)):
        field.meet(a, b, duel_games(setting))
    elos = {name: [rating_of(ratings, f"b{budget}-{name}") for budget in budgets] for name in names}
    figure = elo_points(
        [str(budget) for budget in budgets],
        {nets.label(name): row for name, row in elos.items()},
        key="mpv-midsize",
        title="Two nets against one of a size between",
        text=f"Elo above {ladder.zero}, 95 %. {nets.pair.game}.",
        x_name="budget of a move, evaluations of the large net",
    )
    texts = [match_table(field, [duel for budget in budgets for duel in duels_of(nets, budget)], "at equal budget:")]
    facts = {"matches": match_rows(field), "zero": ladder.zero}
    return Result(_rows(nets, budgets, elos), findings(nets, field, ratings, budgets), [figure], texts, facts)


def _field(setting: ExperimentSetting, nets: MidsizeNets) -> PlayerPool:
    field = PlayerPool(setting, nets.pair.game, games_of(setting, GAMES), RANDOM_PLIES)
    for budget in budgets_of(setting, BUDGETS):
        field.enter(f"b{budget}-mpv", nets.pair.player(budget, BEST_SHARE))
        for name, net in nets.between.items():
            field.enter(f"b{budget}-{name}", alone(net, nets.visits(name, budget)))
    return field


def duels_of(nets: MidsizeNets, budget: int) -> list[tuple[str, str]]:
    """The pair against every net between."""
    return [(f"b{budget}-mpv", f"b{budget}-{name}") for name in nets.between]


def _all(name: str, budgets: Sequence[int]) -> list[str]:
    return [f"b{budget}-{name}" for budget in budgets]


def _rows(nets: MidsizeNets, budgets: Sequence[int], elos: dict[str, list[Elo]]) -> list[dict[str, Any]]:
    return [
        {"budget": budget, "player": nets.label(name), "elo": elo.value, "elo_low": elo.low, "elo_high": elo.high}
        for name, row in elos.items()
        for budget, elo in zip(budgets, row, strict=True)
    ]


def findings(nets: MidsizeNets, field: PlayerPool, ratings: RatingList, budgets: Sequence[int]) -> list[Finding]:
    """The paper's statement beside the ratings, and the matches head to head."""
    ahead = {name: contrast(ratings, _all("mpv", budgets), _all(name, budgets)) for name in nets.between}
    each = [contrast(ratings, [f"b{budget}-mpv"], [f"b{budget}-{name}"]) for name in nets.between for budget in budgets]
    above = sum(elo.value > 0 for elo in each)
    means = ", ".join(f"{nets.label(name)} by {elo}" for name, elo in ahead.items())
    text = f"the pair is above at {above} of {len(each)} points; over {len(budgets)} budgets it is ahead of {means}"
    duels = {
        name: pooled([field.tallies[f"b{budget}-mpv", f"b{budget}-{name}"] for budget in budgets])
        for name in nets.between
    }
    first = next(iter(nets.between))
    duelled = sum(field.tallies[f"b{budget}-mpv", f"b{budget}-{first}"].record.games for budget in budgets)
    return [
        Finding.of(STATEMENT, all_ahead({nets.label(name): elo for name, elo in ahead.items()}, field.games), text),
        Finding.of(HEAD_TO_HEAD, all_ahead({nets.label(name): elo for name, elo in duels.items()}, duelled)),
    ]


def seconds(setting: ExperimentSetting) -> float:
    """Estimate: learning, unless nets were given, and all matches."""
    with nets_for_estimate(setting, (SMALL, LARGE, *MIDSIZE)) as files:
        nets = MidsizeNets(files)
        field = _field(setting, nets)
        specs: list[MatchSpec] = []
        budgets = budgets_of(setting, BUDGETS)
        for budget in budgets:
            rung = field.enter("rung", rung_stand_in(budget, BUDGETS))
            specs += [field.spec(*duel, duel_games(setting)) for duel in duels_of(nets, budget)]
            specs += [field.spec(f"b{budget}-{name}", rung) for name in ("mpv", *nets.between)]
        specs += ladder_specs(field, [(f"b{budget}-mpv", begin_rung(budget, BUDGETS)) for budget in budgets])
        return learning_seconds(setting, files) + field_seconds(setting, specs)


EXPERIMENTS = (
    Experiment(
        "mpv-midsize",
        f"{PAPER}, figure 3",
        "two nets in one tree against single nets of sizes between",
        0.0,
        make,
        seeds=1,
        uses=("nets", "visits", "game", "opponent"),
        estimate_here=seconds,
    ),
)

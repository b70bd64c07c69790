"""Figure 4 of the MPV paper: nets of two separate AlphaZero runs put together, at eight stages of the runs.

Given are one or two folders of learning runs: the small net is of the first, the large one of the last (its large net,
where it learned with two). At every stage and budget the two together play each alone, and all play a rung of the
ladder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hauteur.learning.run_folder import RunFolder
from hauteur.matches.ratings.rating_list import RatingList
from hauteur.plots import Figure
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.mpv_mcts.nets import nets_for_estimate
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, GAMES, PAPER, RANDOM_PLIES, Pair
from hauteur_experiments.mpv_mcts.points import (
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
from hauteur_experiments.mpv_mcts.runs import (
    BUDGETS,
    STAGES,
    TOTAL_GAMES,
    TrainingPlan,
    even_stages,
    generations_of,
    large_net,
    learned_runs,
)
from hauteur_experiments.player_pool import Ladder, PlayerPool, field_seconds, ladder_specs

PLANS = (TrainingPlan("small", 800, 0, TOTAL_GAMES), TrainingPlan("large", 0, 800, TOTAL_GAMES))
PLAYERS = {0.0: "small net alone", 1.0: "large net alone", BEST_SHARE: "both nets"}
STATEMENT = (
    "figure 4: nets of separate AlphaZero runs are stronger together than each alone, at 8 stages, B = 200 and 800"
)


HEAD_TO_HEAD = "head to head at equal budget, all stages (not in the paper): both nets are stronger than each alone"


@dataclass(frozen=True)
class Stage:
    """A generation of both runs, with its two nets."""

    generation: int
    pair: Pair

    def name(self, budget: int, share: float) -> str:
        """Return the player name for a budget and a share: g14-b64-r50."""
        return f"g{self.generation}-b{budget}-r{round(100 * share)}"

    def duels(self, budget: int) -> list[tuple[str, str]]:
        """Both nets against each alone."""
        return [(self.name(budget, BEST_SHARE), self.name(budget, single)) for single in (0.0, 1.0)]


def stages_of(folders: Sequence[RunFolder]) -> list[Stage]:
    """Return up to eight stages of the runs; ValueError unless there are one or two."""
    if len(folders) not in (1, 2):
        raise ValueError(
            f"this experiment needs one or two runs, --net SMALL --net LARGE (folders), got {len(folders)}"
        )
    small, large = folders[0], folders[-1]
    last = min(map(generations_of, folders))
    return [Stage(number, Pair(small.net(number), large_net(large, number))) for number in even_stages(last)]


def make(setting: ExperimentSetting) -> Result:
    """Play all stages at both budgets."""
    stages, budgets = stages_of(learned_runs(setting, PLANS)), budgets_of(setting, BUDGETS)
    field = _field(setting, stages)
    ladder = Ladder(field)
    for stage, budget in _points(stages, budgets):
        others = [stage.name(budget, single) for single in (0.0, 1.0)]
        place_all(ladder, begin_rung(budget, BUDGETS), stage.name(budget, BEST_SHARE), others)
    ratings = ladder.ratings()
    for stage, budget in _points(stages, budgets):
        for a, b in stage.duels(budget):
            field.meet(a, b, duel_games(setting))
    figures = [figure(stages, ratings, budget, ladder.zero) for budget in budgets]
    duels = [duel for stage, budget in _points(stages, budgets) for duel in stage.duels(budget)]
    texts = [match_table(field, duels, "both nets against each alone:")]
    facts = {"matches": match_rows(field), "zero": ladder.zero}
    return Result(_rows(stages, budgets, ratings), findings(stages, budgets, field, ratings), figures, texts, facts)


def _points(stages: Sequence[Stage], budgets: Sequence[int]) -> Iterator[tuple[Stage, int]]:
    return ((stage, budget) for budget in budgets for stage in stages)


def _field(setting: ExperimentSetting, stages: Sequence[Stage]) -> PlayerPool:
    field = PlayerPool(setting, stages[0].pair.game, games_of(setting, GAMES), RANDOM_PLIES)
    for stage, budget in _points(stages, budgets_of(setting, BUDGETS)):
        for share in PLAYERS:
            field.enter(stage.name(budget, share), stage.pair.player(budget, share))
    return field


def _rows(stages: Sequence[Stage], budgets: Sequence[int], ratings: RatingList) -> list[dict[str, Any]]:
    rows = []
    for stage, budget in _points(stages, budgets):
        for share, player in PLAYERS.items():
            elo = rating_of(ratings, stage.name(budget, share))
            place = {"budget": budget, "generation": stage.generation, "player": player}
            rows.append(place | {"elo": elo.value, "elo_low": elo.low, "elo_high": elo.high})
    return rows


def findings(stages: Sequence[Stage], budgets: Sequence[int], field: PlayerPool, ratings: RatingList) -> list[Finding]:
    """The paper's statement beside the ratings, and the matches head to head, all stages and budgets together."""
    points = list(_points(stages, budgets))
    names = {share: [stage.name(budget, share) for stage, budget in points] for share in PLAYERS}
    ahead = [contrast(ratings, names[BEST_SHARE], names[single]) for single in (0.0, 1.0)]
    both = [rating_of(ratings, name).value for name in names[BEST_SHARE]]
    alone = [[rating_of(ratings, name).value for name in names[single]] for single in (0.0, 1.0)]
    above = [sum(a > b for a, b in zip(both, column, strict=True)) for column in alone]
    text = (
        f"of {len(points)} points (stages and budgets) both nets are above the small net alone at {above[0]}, on "
        f"average by {ahead[0]}, and above the large net alone at {above[1]}, by {ahead[1]}"
    )
    duels = [pooled([field.tallies[stage.duels(budget)[i]] for stage, budget in points]) for i in (0, 1)]
    alone_names = ("ahead of the small net", "ahead of the large net")
    games = sum(field.tallies[stage.duels(budget)[0]].record.games for stage, budget in points)
    return [
        Finding.of(STATEMENT, all_ahead(dict(zip(alone_names, ahead, strict=True)), field.games), text),
        Finding.of(HEAD_TO_HEAD, all_ahead(dict(zip(alone_names, duels, strict=True)), games)),
    ]


def figure(stages: Sequence[Stage], ratings: RatingList, budget: int, zero: str) -> Figure:
    """The paper's figure for one budget."""
    rows = {
        player: [rating_of(ratings, stage.name(budget, share)) for stage in stages] for share, player in PLAYERS.items()
    }
    return elo_points(
        [str(stage.generation) for stage in stages],
        rows,
        key=f"mpv-az-pairs-b{budget}",
        title=f"Nets of two runs alone and together, budget {budget}",
        text=f"Elo above {zero}, 95 %; half of the budget for each net. {stages[0].pair.game}.",
        x_name="generation",
    )


def seconds(setting: ExperimentSetting) -> float:
    """Estimate: learning, unless runs were given, and all matches."""
    sizes = [size for plan in PLANS for size in plan.sizes]
    if setting.nets:
        return _match_seconds(setting, stages_of(learned_runs(setting, PLANS)))
    with nets_for_estimate(setting, sizes) as nets:
        learning = sum(plan.seconds(setting, dict(zip(sizes, nets, strict=True))) for plan in PLANS)
        return learning + _match_seconds(
            setting, [Stage(number, Pair(nets[0], nets[1])) for number in range(1, STAGES + 1)]
        )


def _match_seconds(setting: ExperimentSetting, stages: Sequence[Stage]) -> float:
    field, specs, begins = _field(setting, stages), [], []
    for stage, budget in _points(stages, budgets_of(setting, BUDGETS)):
        begins.append((stage.name(budget, BEST_SHARE), begin_rung(budget, BUDGETS)))
        rung = field.enter("rung", rung_stand_in(budget, BUDGETS))
        specs += [field.spec(*duel, duel_games(setting)) for duel in stage.duels(budget)]
        specs += [field.spec(stage.name(budget, share), rung) for share in PLAYERS]
    return field_seconds(setting, [*specs, *ladder_specs(field, begins)])


EXPERIMENTS = (
    Experiment(
        "mpv-az-pairs",
        f"{PAPER}, figure 4",
        "two nets in one tree: stages of two AlphaZero runs, alone and together",
        0.0,
        make,
        seeds=1,
        uses=("nets", "visits", "game", "opponent"),
        estimate_here=seconds,
    ),
)

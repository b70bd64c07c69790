"""Figure 2 of the MPV paper: how to divide a budget between a small and a large net.

For every budget B and share r of the large net a player. Each plays the rung of the ladder that fits the budget: that
is the paper's figure. Besides, the division in halves plays both nets alone with the same budget, in half as many
games.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hauteur.matches.ratings.rating_list import RatingList
from hauteur.plots import Figure
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import MatchSpec
from hauteur_experiments.mpv_mcts.nets import learning_seconds, nets_for_estimate, pair_of, supervised_nets
from hauteur_experiments.mpv_mcts.pairs import (
    BEST_SHARE,
    BUDGETS,
    GAMES,
    LARGE,
    PAPER,
    RANDOM_PLIES,
    SHARES,
    SMALL,
    Pair,
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
    mean_rating,
    place_all,
    pooled,
    rating_of,
    rung_stand_in,
)
from hauteur_experiments.player_pool import Ladder, PlayerPool, field_seconds, ladder_specs

MIXED = tuple(share for share in SHARES if 0 < share < 1)
NAMES = {0.0: "small net alone", 1.0: "large net alone"} | {share: f"r = {share:g}" for share in MIXED}
STATEMENT = "figure 2: at the same budget both nets alone are weaker than all three divisions (r = 1/4, 2/4, 3/4)"
HALF_OF_PUBLISHED, HALF_OF_AVERAGES = (527 - 472) / 2, (418 - 309) / 2
"""Elo over the better net that matters: half of the source's, at its largest budget and on average."""

HEAD_TO_HEAD = "head to head at equal budget (not in the paper): both nets are stronger than each alone"
AVERAGES = (
    "section 1, figure 2: MPV has 418 Elo on average, the small net alone 277, the large one 309; at best (B = 1600) "
    "527 with r = 2/4, 323 and 472"
)


def point(budget: int, share: float) -> str:
    """Name of the player of a budget and a share: b64-r50."""
    return f"b{budget}-r{round(100 * share)}"


def make(setting: ExperimentSetting) -> Result:
    """Play all points and the matches at equal budget."""
    pair = pair_of(supervised_nets(setting, (SMALL, LARGE)))
    field, budgets = _field(setting, pair), budgets_of(setting, BUDGETS)
    ladder = Ladder(field)
    for budget in budgets:
        others = [point(budget, share) for share in SHARES if share != BEST_SHARE]
        place_all(ladder, begin_rung(budget, BUDGETS), point(budget, BEST_SHARE), others)
    ratings = ladder.ratings()
    for a, b in (duel for budget in budgets for duel in duels_of(budget)):
        field.meet(a, b, duel_games(setting))
    rows = [_row(pair, ratings, budget, share) for budget in budgets for share in SHARES]
    duels = [duel for budget in budgets for duel in duels_of(budget)]
    texts = [_table(rows, ladder.zero), match_table(field, duels, "at equal budget:")]
    findings = [
        beats_both(ratings, budgets, field.games),
        averages(ratings, budgets, ladder.zero, field.games),
        head_to_head(field, budgets),
    ]
    facts = {"matches": match_rows(field), "zero": ladder.zero, "cost_of_small_net": pair.cost}
    return Result(rows, findings, [figure(pair, ratings, budgets, ladder.zero)], texts, facts)


def _field(setting: ExperimentSetting, pair: Pair) -> PlayerPool:
    """All players, none of whom has played yet."""
    field = PlayerPool(setting, pair.game, games_of(setting, GAMES), RANDOM_PLIES)
    for budget in budgets_of(setting, BUDGETS):
        for share in SHARES:
            field.enter(point(budget, share), pair.player(budget, share))
    return field


def duels_of(budget: int) -> list[tuple[str, str]]:
    """Matches at equal budget: the division in halves against both nets alone, and these against each other."""
    both, small, large = (point(budget, share) for share in (BEST_SHARE, 0.0, 1.0))
    return [(both, small), (both, large), (small, large)]


def _row(pair: Pair, ratings: RatingList, budget: int, share: float) -> dict[str, Any]:
    player, elo = pair.player(budget, share), rating_of(ratings, point(budget, share))
    rule = player.search.second_net
    large = rule.large_visits if rule else player.visits if share == 1 else 0
    small = 0 if share == 1 else player.visits
    turns = {"small_turns": small, "large_turns": large}
    return {"budget": budget, "share": share, **turns, "elo": elo.value, "elo_low": elo.low, "elo_high": elo.high}


def _table(rows: Sequence[dict[str, Any]], zero: str) -> str:
    """Elo by budget (down) and share (across)."""
    lines = [f"Elo above {zero}, 95 %", "budget " + "".join(f"{NAMES[share]:>24}" for share in SHARES)]
    for budget in dict.fromkeys(row["budget"] for row in rows):
        cells = [Elo(row["elo"], row["elo_low"], row["elo_high"]) for row in rows if row["budget"] == budget]
        lines.append(f"{budget:>6} " + "".join(f"{cell!s:>24}" for cell in cells))
    return "\n".join(lines)


def beats_both(ratings: RatingList, budgets: Sequence[int], games: int) -> Finding:
    """The paper's statement beside the ratings: point by point, and all divisions together over all budgets."""
    cells = [(budget, share) for budget in budgets for share in MIXED]
    mixed, texts, aheads = [point(*cell) for cell in cells], [], []
    for single in (0.0, 1.0):
        each = [contrast(ratings, [point(budget, share)], [point(budget, single)]) for budget, share in cells]
        aheads.append(contrast(ratings, mixed, [point(budget, single) for budget, _ in cells]))
        above, sure, lost = (sum(found) for found in zip(*map(_signs, each), strict=True))
        texts.append(
            f"{above} of {len(cells)} points with both nets above the {NAMES[single]} (surely {sure}; surely below "
            f"{lost}), on average by {aheads[-1]}"
        )
    names = (f"ahead of the {NAMES[single]}" for single in (0.0, 1.0))
    claim = all_ahead(dict(zip(names, aheads, strict=True)), games, HALF_OF_PUBLISHED)
    return Finding.of(STATEMENT, claim, "; ".join(texts))


def _signs(elo: Elo) -> tuple[bool, bool, bool]:
    """Above 0, surely above, surely below."""
    return elo.value > 0, elo.low > 0, elo.high < 0


def head_to_head(field: PlayerPool, budgets: Sequence[int]) -> Finding:
    """The matches at equal budget, all budgets together."""
    small, large, alone = (
        pooled([field.tallies[duels_of(budget)[number]] for budget in budgets]) for number in range(3)
    )
    games = sum(field.tallies[duels_of(budget)[0]].record.games for budget in budgets)
    ahead = all_ahead({f"r = {BEST_SHARE:g} ahead of the small net": small, "of the large net": large}, games)
    return Finding.of(HEAD_TO_HEAD, ahead, f"small against large net {alone}")


def averages(ratings: RatingList, budgets: Sequence[int], zero: str, games: int) -> Finding:
    """Mean ratings over the budgets; the division in halves, the best of the paper, is above either net."""
    means = {share: mean_rating(ratings, [point(budget, share) for budget in budgets]) for share in SHARES}
    names = {share: [point(budget, share) for budget in budgets] for share in SHARES}
    ahead = [contrast(ratings, names[BEST_SHARE], names[single]) for single in (0.0, 1.0)]
    text = f"means over {len(budgets)} budgets, Elo above {zero}: " + ", ".join(
        f"{NAMES[share]} {means[share]}" for share in SHARES
    )
    claims = {f"r = {BEST_SHARE:g} ahead of the small net": ahead[0], "of the large net": ahead[1]}
    return Finding.of(AVERAGES, all_ahead(claims, games, HALF_OF_AVERAGES), text)


def figure(pair: Pair, ratings: RatingList, budgets: Sequence[int], zero: str) -> Figure:
    """The paper's figure."""
    rows: dict[str, Sequence[Elo]] = {
        NAMES[share]: [rating_of(ratings, point(budget, share)) for budget in budgets] for share in SHARES
    }
    return elo_points(
        [str(budget) for budget in budgets],
        rows,
        key="mpv-allocation",
        title=f"Dividing a budget between {net_name(pair.small)} and {net_name(pair.large)}",
        text=f"Elo above {zero}, 95 %; r of the budget goes to the large net. {pair.game}.",
        x_name="budget of a move, evaluations of the large net",
    )


def seconds(setting: ExperimentSetting) -> float:
    """Estimate: learning, unless nets were given, and all matches."""
    budgets = budgets_of(setting, BUDGETS)
    with nets_for_estimate(setting, (SMALL, LARGE)) as nets:
        field = _field(setting, pair_of(nets))
        specs: list[MatchSpec] = [
            field.spec(a, b, duel_games(setting)) for budget in budgets for a, b in duels_of(budget)
        ]
        for budget in budgets:
            rung = field.enter("rung", rung_stand_in(budget, BUDGETS))
            specs += [field.spec(point(budget, share), rung) for share in SHARES]
        specs += ladder_specs(field, [(point(budget, BEST_SHARE), begin_rung(budget, BUDGETS)) for budget in budgets])
        return learning_seconds(setting, nets) + field_seconds(setting, specs)


EXPERIMENTS = (
    Experiment(
        "mpv-allocation",
        f"{PAPER}, figure 2",
        "two nets in one tree: shares of the large net by budget",
        0.0,
        make,
        seeds=1,
        uses=("nets", "visits", "game", "opponent"),
        estimate_here=seconds,
    ),
)

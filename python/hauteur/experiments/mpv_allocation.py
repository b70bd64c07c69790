"""Figure 2 of the MPV paper: how to divide a budget between a small and a large net.

For every budget B and share r of the large net a player; each plays the rung of the ladder that fits the budget, and
every division plays both nets alone with the same budget, which is the more sensitive comparison. All games together
give one rating list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hauteur.experiments.contests import Contest
from hauteur.experiments.field import Field, Ladder, field_seconds
from hauteur.experiments.frame import Experiment, Finding, Result, Setting, Verdict
from hauteur.experiments.mpv import (
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
from hauteur.experiments.mpv_nets import learning_seconds, nets_for_estimate, pair_of, supervised_nets
from hauteur.experiments.mpv_points import (
    Elo,
    begin_rung,
    budgets_of,
    contrast,
    elo_of,
    elo_points,
    games_of,
    match_rows,
    match_table,
    mean_rating,
    place_all,
    rating_of,
    rung_stand_in,
)
from hauteur.figures import Figure
from hauteur.rating_list import RatingList

MIXED = tuple(share for share in SHARES if 0 < share < 1)
NAMES = {0.0: "small net alone", 1.0: "large net alone"} | {share: f"r = {share:g}" for share in MIXED}
STATEMENT = "figure 2: at the same budget both nets alone are weaker than all three divisions (r = 1/4, 2/4, 3/4)"
AVERAGES = (
    "section 1, figure 2: MPV has 418 Elo on average, the small net alone 277, the large one 309; at best (B = 1600) "
    "527 with r = 2/4, 323 and 472"
)


def point(budget: int, share: float) -> str:
    """Name of the player of a budget and a share: b64-r50."""
    return f"b{budget}-r{round(100 * share)}"


def make(setting: Setting) -> Result:
    """Plays all points and the matches at equal budget."""
    pair = pair_of(supervised_nets(setting, (SMALL, LARGE)))
    field, budgets = _field(setting, pair), budgets_of(setting, BUDGETS)
    ladder = Ladder(field)
    for budget in budgets:
        _play_budget(ladder, budget)
    ladder.link()
    ratings = field.ratings(ladder.zero)
    rows = [_row(pair, ratings, budget, share) for budget in budgets for share in SHARES]
    duels = [duel for budget in budgets for duel in duels_of(budget)]
    texts = [_table(rows, ladder.zero), match_table(field, duels, "at equal budget:")]
    findings = [beats_both(field, budgets), averages(ratings, budgets, ladder.zero)]
    facts = {"matches": match_rows(field), "zero": ladder.zero, "cost_of_small_net": pair.cost}
    return Result(rows, findings, [figure(pair, ratings, budgets, ladder.zero)], texts, facts)


def _field(setting: Setting, pair: Pair) -> Field:
    """All players, none of whom has played yet."""
    field = Field(setting, pair.game, games_of(setting, GAMES), RANDOM_PLIES)
    for budget in budgets_of(setting, BUDGETS):
        for share in SHARES:
            field.enter(point(budget, share), pair.player(budget, share))
    return field


def duels_of(budget: int) -> list[tuple[str, str]]:
    """Matches at equal budget: every division against both nets alone, and these against each other."""
    alone = [(point(budget, share), point(budget, single)) for share in MIXED for single in (0.0, 1.0)]
    return [*alone, (point(budget, 0.0), point(budget, 1.0))]


def _play_budget(ladder: Ladder, budget: int) -> None:
    others = [point(budget, share) for share in SHARES if share != BEST_SHARE]
    place_all(ladder, begin_rung(budget, BUDGETS), point(budget, BEST_SHARE), others)
    for a, b in duels_of(budget):
        ladder.field.meet(a, b)


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


def beats_both(field: Field, budgets: Sequence[int]) -> Finding:
    """The paper's statement beside the matches at equal budget."""
    cells = {
        (budget, share): [elo_of(field.tallies[point(budget, share), point(budget, single)]) for single in (0.0, 1.0)]
        for budget in budgets
        for share in MIXED
    }
    above = [sum(elos[single].value > 0 for elos in cells.values()) for single in (0, 1)]
    sure = [sum(elos[single].low > 0 for elos in cells.values()) for single in (0, 1)]
    lost = sum(min(elos, key=lambda elo: elo.value).high < 0 for elos in cells.values())
    text = (
        f"of {len(cells)} points with both nets {above[0]} are above the small net alone (surely {sure[0]}), "
        f"{above[1]} above the large net alone (surely {sure[1]}), and {lost} surely below the stronger of the two"
    )
    verdict: Verdict = "does not hold" if lost else "holds" if min(above) == len(cells) else "open"
    return Finding(STATEMENT, text, verdict)


def averages(ratings: RatingList, budgets: Sequence[int], zero: str) -> Finding:
    """Mean ratings over the budgets, and how far the best division is above either net."""
    means = {share: mean_rating(ratings, [point(budget, share) for budget in budgets]) for share in SHARES}
    best = max(MIXED, key=lambda share: means[share].value)
    names = {share: [point(budget, share) for budget in budgets] for share in SHARES}
    ahead = [contrast(ratings, names[best], names[single]) for single in (0.0, 1.0)]
    text = (
        f"means over {len(budgets)} budgets, Elo above {zero}: "
        + ", ".join(f"{NAMES[share]} {means[share]}" for share in SHARES)
        + f"; best division r = {best:g}, ahead of the small net by {ahead[0]}, of the large one by {ahead[1]}"
    )
    return Finding(AVERAGES, text, min((elo.verdict for elo in ahead), key=("does not hold", "open", "holds").index))


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


def seconds(setting: Setting) -> float:
    """Estimate: learning, unless nets were given, and all matches."""
    budgets = budgets_of(setting, BUDGETS)
    with nets_for_estimate(setting, (SMALL, LARGE)) as nets:
        field = _field(setting, pair_of(nets))
        contests: list[Contest] = [field.contest(a, b) for budget in budgets for a, b in duels_of(budget)]
        for budget in budgets:
            rung = field.enter("rung", rung_stand_in(budget, BUDGETS))
            contests += [field.contest(point(budget, share), rung) for share in SHARES]
        return learning_seconds(setting, nets) + field_seconds(setting, contests)


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

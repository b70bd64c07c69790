"""Section 5 of the MPV paper: other ways to choose what the large net evaluates, other orders, a smaller small net.

The paper gives no numbers. Each change meets the pair in halves without it, at one budget, the turns being the same.
"""

from __future__ import annotations

from typing import Any

from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match, play
from hauteur_experiments.measured import CLOSE, LEAST_GAMES, MatchElo, columns, elo_above, elo_columns
from hauteur_experiments.mpv_mcts.pairs import BEST_SHARE, LAN, PAPER, Pair, pair_of, scope_of, turns
from hauteur_experiments.mpv_mcts.places import RANDOM_PLIES
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Inequality

BUDGET = 200
"""Units a move of 800 small and 100 large turns, as in the paper."""

GAMES = 1600
OWN_PUCT, MINI = "own-puct", "mini"
NO_IMPROVEMENT = ("parent-bonus", "large-first")
CHANGES = {
    OWN_PUCT: "second_net.priority=own_puct",
    "parent-bonus": "second_net.priority=parent_bonus",
    "large-first": "second_net.order=large_first second_net.large_first={half}",
    "round-robin": "second_net.order=round_robin",
}
"""Settings by what they are about; half: of the large turns, 50 of 100 in the paper."""


def matches(setting: Setting) -> list[Match]:
    """Each change against the pair; the third net, where there is one, instead of the small one too."""
    pair = pair_of(setting.nets[:2], setting.cost)
    budget = setting.visits_or(BUDGET)
    plain = pair.player(budget, BEST_SHARE)
    _, large_turns = turns(budget, BEST_SHARE, pair.cost)
    changed = {}
    for name, words in CHANGES.items():
        change = words.format(half=large_turns // 2)
        changed[name] = f"{plain} {change}"
    if len(setting.nets) > 2:
        with_mini = Pair(setting.nets[2], pair.large, pair.cost)
        changed[MINI] = with_mini.player(budget, BEST_SHARE)
    games = setting.pairs(GAMES)
    return [Match(name, a, plain, games, game=pair.game, random_plies=RANDOM_PLIES) for name, a in changed.items()]


def make(setting: Setting) -> Result:
    """Play every change against the pair without it."""
    budget = setting.visits_or(BUDGET)
    elos = {}
    rows: list[dict[str, Any]] = []
    for name, played in play(setting, matches(setting)).items():
        elo = MatchElo(played.tally)
        elos[name] = elo
        rows.append({"change": name, "budget": budget, "games": elo.units, **elo_columns(elo)})
    pair = pair_of(setting.nets[:2], setting.cost)
    scope = scope_of(pair.game, [budget], pair.cost)
    return Result(rows, findings(elos), texts=[columns(rows, *rows[0])]).scoped(scope)


def findings(elos: dict[str, MatchElo]) -> list[Finding]:
    """A change is weaker, no improvement (one of CLOSE Elo is excluded), or no different, as the paper says of it."""
    return [Finding.of(name, Claim((_side(name, elo),), cells=len(elos))) for name, elo in elos.items()]


def _side(name: str, elo: MatchElo) -> Inequality:
    if name == OWN_PUCT:
        return elo_above("difference", elo, side="below")
    if name in NO_IMPROVEMENT:
        return Inequality("difference", elo, CLOSE, "below", LEAST_GAMES, unit="Elo", matters=CLOSE)
    return elo_above("difference", elo, CLOSE, side="at")


NEEDS = "nets of NoGo, --net SMALL --net LARGE --net MINI, 1,600 games a match"

EXPERIMENTS = (
    Experiment(
        "mpv-options",
        f"{PAPER}, section 5",
        "two nets in one tree: other priorities and orders of the large net, a smaller small net",
        make,
        claims=stated(
            f"{LAN}, section 5",
            f"{OWN_PUCT} | the large net by its own PUCT is weaker than by small visits | no number | {NEEDS}",
            f"parent-bonus | a bonus for the visits of the parent is no improvement | no number | {NEEDS}",
            f"large-first | half of the large turns first is no improvement | no number | {NEEDS}",
            f"round-robin | both nets in even turns is no different from a random order | no number | {NEEDS}",
            f"{MINI} | a mini net with as many turns does as well as the small one | no number | {NEEDS}",
        ),
        matches=matches,
        uses=("nets", "visits", "game", "cost", "only"),
        looks=True,
    ),
)

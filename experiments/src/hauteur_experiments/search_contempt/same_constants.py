"""The control of table 2 in chess: what of the lead over PUCT with tau_2 is owed to its temperatures.

The paper's two players differ in more than search-contempt and the temperature: the one with tau_2 also has noise at
the root, another c_puct, first-play urgency and policy temperature. Here they are told apart, against the same N_scl:

- *alone*: both have the constants of search-contempt's player, PUCT has the temperatures of tau_2;
- *constants*: PUCT against PUCT, both with the temperatures of tau_2, one with the constants of search-contempt's
  player and one with those of tau_2's.

Fresh games of either side of the first match show whether they draw equally often, which is its premise.
"""

from __future__ import annotations

from typing import Any

from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match, Played, play
from hauteur_experiments.measured import MatchElo, Record, elo_above, elo_columns
from hauteur_experiments.ratio import equal_within, ratio_factor, ratio_text
from hauteur_experiments.search_contempt.settings import (
    LC0,
    LEAST_GAMES,
    PAPER,
    TAU_2,
    contempt,
    game_of,
    player,
    scoped,
    selfplay,
    tau_2_temperature,
)
from hauteur_experiments.search_contempt.table_2 import MATCH_GAMES, MATCH_SEED
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim

N_SCL = 3
"""The N_scl of the match that this is the control of: at 200 visits it draws as often as PUCT with tau_2."""

ALONE = f"n{N_SCL}-tau2-alone"
CONSTANTS = "tau2-alone-tau2"
FRESH_CONTEMPT = f"fresh-n{N_SCL}-tau2-contempt"
FRESH_ALONE = "fresh-tau2-alone"
"""Names of the matches. The fresh games of search-contempt are those of table 2, where they lie beside these."""

TAU_2_ALONE = f"{tau_2_temperature()} {LC0}"
"""PUCT with the temperatures of tau_2 and the constants of search-contempt's player."""


def matches(setting: Setting) -> list[Match]:
    """The two matches and the fresh games of both sides of the first."""
    game = game_of(setting)
    games = setting.pairs(MATCH_GAMES)
    hybrid, alone, bundle = (player(setting, words) for words in (contempt(N_SCL), TAU_2_ALONE, TAU_2))
    fresh = setting.scaled(MATCH_GAMES, 2)
    return [
        Match(ALONE, hybrid, alone, games, game=game, seed=MATCH_SEED),
        selfplay(setting, FRESH_ALONE, TAU_2_ALONE, fresh, MATCH_SEED),
        selfplay(setting, FRESH_CONTEMPT, contempt(N_SCL), fresh, MATCH_SEED),
        Match(CONSTANTS, alone, bundle, games, game=game, seed=MATCH_SEED),
    ]


def make(setting: Setting) -> Result:
    """Play or resume all games and judge them."""
    played = play(setting, matches(setting), shared=True)
    rows = [_row(name, played[name]) for name in (ALONE, CONSTANTS) if name in played]
    return scoped(setting, Result(rows, findings(played)))


def findings(played: dict[str, Played]) -> list[Finding]:
    """The findings of the matches that were played."""
    found = []
    if ALONE in played:
        tally = played[ALONE].tally
        lead = elo_above(f"N_scl {N_SCL} is ahead by", MatchElo(tally))
        found.append(Finding.of("alone", Claim((lead,)), str(Record.of(tally))))
    if FRESH_CONTEMPT in played and FRESH_ALONE in played:
        hybrid, alone = (Record.of(played[name].tally) for name in (FRESH_CONTEMPT, FRESH_ALONE))
        what = f"(w + l)/d of N_scl {N_SCL} over that of the temperatures"
        equal = equal_within(what, ratio_factor(hybrid, alone), LEAST_GAMES, "games of a setting")
        found.append(Finding.of("alike", Claim(equal), f"{ratio_text(hybrid)}; temperatures: {ratio_text(alone)}"))
    if CONSTANTS in played:
        tally = played[CONSTANTS].tally
        cost = elo_above("the constants of search-contempt's player are ahead by", MatchElo(tally))
        found.append(Finding.of("constants", Claim((cost,)), str(Record.of(tally))))
    return found


def _row(name: str, played: Played) -> dict[str, Any]:
    """A line of the table: a match from the view of its first player."""
    return {"match": name, **Record.of(played.tally)._asdict(), **elo_columns(MatchElo(played.tally))}


EXPERIMENTS = (
    Experiment(
        "contempt-vs-temperature-alone",
        f"{PAPER}, table 2",
        "match: search-contempt against PUCT that differs in its temperatures alone",
        make,
        claims=stated(
            "this laboratory",
            f"alone | with equal constants N_scl {N_SCL} is stronger than the temperatures of tau_2 | no number",
            "alike | ... and the two have equal (w + l)/d (within a factor of 1.5) | no number",
            "constants | with equal temperatures lc0's default constants are stronger than those of tau_2's player"
            " | no number",
        ),
        matches=matches,
        uses=("nets", "visits", "precision"),
    ),
)

"""What a model of the odds taker is worth: PUCT, search-contempt and both with a network that predicts the taker.

The giver's net is `--net`, the handicap the position of `--game`, the odds taker `--opponent`: a net that is sampled.
All arms have the same openings and seeds. The right model is the taker's own net at the temperature
that it is sampled with; the wrong one is the Maia net at the other end of the ratings.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, stated
from hauteur_experiments.grid import Match, chosen, play, with_net
from hauteur_experiments.measured import columns
from hauteur_experiments.search_contempt.odds import (
    GAMES,
    PUCT,
    Cell,
    finding_by,
    gain,
    giver_is_first,
    odds_lines,
    odds_taker,
    row_of,
    start,
)
from hauteur_experiments.search_contempt.settings import HYBRID
from hauteur_experiments.verdict import SMALLEST_POINTS

NODES = (100, 400)
PLAIN = "puct"
CONTEMPT = {f"n{n_scl}": f"search_contempt.n_scl={n_scl}" for n_scl in (1, 3, 8, 28)}
RIGHT = {
    "right": "search_contempt.n_scl=0",
    "right-n8": "search_contempt.n_scl=8",
    "right-share": "search_contempt.n_scl=0 opponent_net.share=0.5",
    "right-puct": "",
}
"""Arms with the right model: draws at once, after eight visits, half of them, and none: its priors for PUCT."""
WRONG = {"wrong": "search_contempt.n_scl=0", "wrong-n8": "search_contempt.n_scl=8"}
LOW, HIGH, MIDDLE = "maia-1100", "maia-1900", 1500
SHOWN = ("arm", "nodes", "wins", "draws", "losses", "score", "low_95", "high_95")
LEAST = 50
"""Games of a cell below which nothing is concluded."""


def make(setting: Setting) -> Result:
    """Play every arm at every number of nodes."""
    every = matches(setting)
    names = {match.name: place for place, match in every.items()}
    played = play(setting, every.values())
    cells = {names[name]: Cell(PUCT, names[name][1], one) for name, one in played.items()}
    rows = [{"arm": arm, **row_of(cell)} for (arm, _), cell in cells.items()]
    facts = {"odds_taker": odds_taker(setting), "start": start(setting)[1]}
    return Result(rows, findings(cells), texts=[columns(rows, *SHOWN)], facts=facts)


def matches(setting: Setting) -> dict[tuple[str, int], Match]:
    """The matches by arm and nodes, all from the same openings."""
    game, fen = start(setting)
    taker, games = odds_taker(setting), setting.scaled(GAMES, 2)
    lines = () if fen is None else odds_lines(game, fen)
    colours: Literal["first", "second"] = "first" if giver_is_first(setting) else "second"
    found = {}
    for nodes in NODES if setting.visits is None else (setting.visits,):
        for arm, words in arms(taker).items():
            giver = with_net(f"visits={nodes} {HYBRID} {words}".strip(), setting.net)
            found[arm, nodes] = Match(f"{arm}-{nodes}", giver, taker, games, game=game, colours=colours, openings=lines)
    return found


def arms(taker: str) -> dict[str, str]:
    """The settings of the giver's search by arm, for this odds taker. ValueError for one without a net."""
    player = ht.Player.from_text(taker)
    if not player.has_net or player.net is None:
        raise ValueError(f"--opponent must be a net, whose model the giver has, got {taker!r}")
    rating = "".join(sign for sign in player.net.partition(".")[0] if sign.isdecimal())
    other = HIGH if rating and int(rating) < MIDDLE else LOW
    heat = f" opponent_net.temperature={player.temperature.initial:g}" if player.temperature.initial > 0 else ""
    models = {arm: f"{shlex.quote(f'opponent_net={player.net}')}{heat} {words}" for arm, words in RIGHT.items()}
    models |= {arm: f"opponent_net={other} {words}" for arm, words in WRONG.items()}
    return {PLAIN: "", **CONTEMPT, **models}


def findings(cells: Mapping[tuple[str, int], Cell]) -> list[Finding]:
    """The statements about models at the most nodes, by score and by games won; none without the cell of PUCT."""
    most = max((nodes for _, nodes in cells), default=0)
    at = {arm: cell for (arm, nodes), cell in cells.items() if nodes == most}
    if PLAIN not in at:
        return []
    found = []
    for by in ("score", "games won"):
        ahead = {
            f"{arm} at {most:,} nodes": (gain(at[PLAIN], at[arm], by), SMALLEST_POINTS) for arm in RIGHT if arm in at
        }
        found.append(finding_by("model", by, ahead, needs="any", least=LEAST))
        best = max((arm for arm in CONTEMPT if arm in at), key=lambda arm: at[arm].score, default=None)
        if best is not None:
            beyond = {
                f"{arm} above {best}": (gain(at[best], at[arm], by), SMALLEST_POINTS) for arm in RIGHT if arm in at
            }
            found.append(finding_by("model-beyond", by, beyond, needs="any", least=LEAST))
        harm = {f"PUCT above {arm}": (gain(at[arm], at[PLAIN], by), SMALLEST_POINTS) for arm in WRONG if arm in at}
        found.append(finding_by("wrong-model", by, harm, needs="any", least=LEAST))
    return [one for one in found if one is not None]


CLAIMS = stated(
    "this laboratory",
    "model | a model of the odds taker, drawn from in some way, scores more than PUCT | +15 points were hoped for",
    "model-beyond | ... and more than the best search-contempt without a model | the same",
    "wrong-model | a model 400 points or more off loses against PUCT | no loss was hoped for",
)

EXPERIMENTS = (
    Experiment(
        "odds-models",
        "this laboratory",
        "odds: PUCT, search-contempt and models of the odds taker",
        make,
        claims=CLAIMS,
        matches=lambda setting: chosen(setting, matches(setting).values()),
        uses=("nets", "visits", "game", "opponent", "only"),
        looks=True,
    ),
)

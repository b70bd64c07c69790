"""The worth of a model of the odds taker: PUCT, search-contempt and both with a network that predicts the taker.

The giver's net is `--net`, the handicap the position of `--game`, the odds taker `--opponent`: a net that is sampled.
All arms have the same openings and seeds. The right model is the taker's own net at the temperature of its samples,
which is `temperature` times `policy_temperature`: a player of one visit draws from its priors. The wrong model is the
Maia net at the other end of the ratings.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match, chosen, play, with_net
from hauteur_experiments.measured import by_opening, columns
from hauteur_experiments.search_contempt.odds import (
    BY,
    GAMES,
    PUCT,
    Cell,
    Gain,
    finding_by,
    gain,
    giver_is_first,
    odds_lines,
    odds_taker,
    row_of,
    start,
)
from hauteur_experiments.search_contempt.settings import HYBRID
from hauteur_experiments.setting import Choice, Setting
from hauteur_experiments.verdict import SMALLEST_POINTS

NODES = (100, 400)
PLAIN = "puct"
CONTEMPT = {f"n{n_scl}": f"search_contempt.n_scl={n_scl}" for n_scl in (1, 3, 8, 28)}
RIGHT = {
    "right": "search_contempt.n_scl=0",
    "right-n8": "search_contempt.n_scl=8",
    "right-share": "search_contempt.n_scl=0 opponent_net.share=0.5",
}
"""Arms with the right model: draws at once, after eight visits, and half of them."""
LOW, HIGH, MIDDLE = "maia-1100", "maia-1900", 1500
SHOWN = ("arm", "nodes", "wins", "draws", "losses", "score", "low_95", "high_95")
LEAST = 50
"""Games of a cell below which nothing is concluded."""

Cells = Mapping[tuple[str, int], Cell]
"""By arm and nodes."""


def make(setting: Setting) -> Result:
    """Play every arm at every number of nodes."""
    cells = played(setting, matches(setting))
    rows = rows_of(cells)
    facts = {"odds_taker": odds_taker(setting), "start": start(setting)[1]}
    return Result(rows, findings(cells), texts=[columns(rows, *SHOWN)], facts=facts)


def make_even(setting: Setting) -> Result:
    """Play every arm but PUCT against PUCT from the normal start."""
    cells = played(setting, even_matches(setting))
    rows = rows_of(cells)
    return Result(rows, even_findings(cells), texts=[columns(rows, *SHOWN)], facts={"model_of": odds_taker(setting)})


def played(setting: Setting, every: Mapping[tuple[str, int], Match]) -> Cells:
    """The cells of these matches, by arm and nodes."""
    names = {match.name: place for place, match in every.items()}
    return {names[name]: Cell(PUCT, names[name][1], one) for name, one in play(setting, every.values()).items()}


def rows_of(cells: Cells) -> list[dict[str, Any]]:
    """A row a cell."""
    return [{"arm": arm, **row_of(cell)} for (arm, _), cell in cells.items()]


def matches(setting: Setting) -> dict[tuple[str, int], Match]:
    """The matches by arm and nodes, all from the same openings."""
    return odds_matches(setting, arms(odds_taker(setting)))


def odds_matches(setting: Setting, searches: Mapping[str, str]) -> dict[tuple[str, int], Match]:
    """A match a search and number of nodes at the handicap of the setting."""
    game, fen = start(setting)
    lines = () if fen is None else odds_lines(game, fen)
    colours: Literal["first", "second"] = "first" if giver_is_first(setting) else "second"
    plan = Match("", "", odds_taker(setting), setting.scaled(GAMES, 2), game=game, colours=colours, openings=lines)
    return {
        (arm, nodes): replace(plan, name=f"{arm}-{nodes}", a=giver(setting, nodes, words))
        for nodes in node_counts(setting)
        for arm, words in searches.items()
    }


def even_matches(setting: Setting) -> dict[tuple[str, int], Match]:
    """The matches of every arm but PUCT against PUCT with as many nodes."""
    searches = {arm: words for arm, words in arms(odds_taker(setting)).items() if arm != PLAIN}
    plan = Match("", "", "", setting.pairs(GAMES), random_plies=2)
    return {
        (arm, nodes): replace(plan, name=f"{arm}-{nodes}", a=giver(setting, nodes, words), b=giver(setting, nodes, ""))
        for nodes in node_counts(setting)
        for arm, words in searches.items()
    }


def node_counts(setting: Setting) -> tuple[int, ...]:
    """Nodes a move of the giver."""
    return NODES if setting.visits is None else (setting.visits,)


def giver(setting: Setting, nodes: int, words: str) -> str:
    """The giver's text with these words for its search."""
    return with_net(f"visits={nodes} {HYBRID} {words}".strip(), setting.net, setting.precision)


def arms(taker: str) -> dict[str, str]:
    """The settings of the giver's search by arm, for this odds taker. ValueError for one without a net."""
    net, heat = sampled(taker)
    rating = rating_of(net)
    other = HIGH if rating is not None and rating < MIDDLE else LOW
    models = {arm: f"{model(net, heat)} {words}" for arm, words in RIGHT.items()}
    visits = ht.Player.from_text(taker).visits
    if visits > 1:
        models[f"right-n{visits}"] = f"{model(net, heat)} search_contempt.n_scl={visits}"
    return {PLAIN: "", **CONTEMPT, **models, "wrong": f"{model(other, heat)} search_contempt.n_scl=0"}


def model(net: str, heat: float) -> str:
    """The words of a model."""
    return f"{shlex.quote(f'opponent_net={net}')} opponent_net.temperature={heat:g}"


def sampled(taker: str) -> tuple[str, float]:
    """The net of an odds taker and the temperature of its policy in its samples. ValueError for one without a net."""
    player = ht.Player.from_text(taker)
    if not player.has_net or player.net is None:
        raise ValueError(f"--opponent must be a net, whose model the giver has, got {taker!r}")
    return player.net, player.policy_heat


def rating_of(net: str) -> int | None:
    """The number in the name of a net; None where it has none."""
    digits = "".join(sign for sign in net.partition(".")[0] if sign.isdecimal())
    return int(digits) if digits else None


def findings(cells: Cells) -> list[Finding]:
    """The statements about models at the most nodes, by score and by games won; none without the cell of PUCT."""
    at = of_most_nodes(cells)
    if PLAIN not in at:
        return []
    rights = [arm for arm in at if arm.startswith("right")]
    contempt = [arm for arm in CONTEMPT if arm in at]
    found = []
    for by in BY:
        ahead = {f"{arm} above PUCT": Gain(gain(at[PLAIN], at[arm], by), SMALLEST_POINTS) for arm in rights}
        found.append(finding_by("model", by, ahead, needs="any", least=LEAST))
        if contempt:
            best = max(contempt, key=lambda arm: at[arm].score)
            beyond = {f"{arm} above {best}": Gain(gain(at[best], at[arm], by), SMALLEST_POINTS) for arm in rights}
            found.append(finding_by("model-beyond", by, beyond, needs="any", least=LEAST))
        if "wrong" in at:
            harm = {"PUCT above wrong": Gain(gain(at["wrong"], at[PLAIN], by), SMALLEST_POINTS)}
            found.append(finding_by("wrong-model", by, harm, needs="any", least=LEAST))
    return [one for one in found if one is not None]


def even_findings(cells: Cells) -> list[Finding]:
    """Return the claim that an arm loses against PUCT, at the most nodes."""
    losses = {
        f"PUCT above {arm}": Gain(by_opening(*_lost(cell)), SMALLEST_POINTS)
        for arm, cell in of_most_nodes(cells).items()
    }
    found = finding_by("even-cost", "score", losses, needs="any", least=LEAST)
    return [] if found is None else [found]


def of_most_nodes(cells: Cells) -> dict[str, Cell]:
    """The cells at the most nodes, by arm."""
    most = max((nodes for _, nodes in cells), default=0)
    return {arm: cell for (arm, nodes), cell in cells.items() if nodes == most}


def _lost(cell: Cell) -> tuple[list[float], list[str]]:
    """Percentage points below a half by game, and the openings of the games."""
    games = cell.played.games
    return [100 * (0.5 - game.score) for game in games], [game.opening for game in games]


CLAIMS = stated(
    "this laboratory",
    "model | a model of the odds taker, drawn from in some way, scores more than PUCT | +15 points were hoped for",
    "model-beyond | ... and more than the best search-contempt without a model | the same",
    "wrong-model | a model 400 points or more off loses against PUCT | no loss was hoped for",
)
EVEN_CLAIMS = stated(
    "this laboratory",
    "even-cost | in even games search-contempt or a model loses against PUCT | no number",
)
USES: tuple[Choice, ...] = ("nets", "visits", "game", "opponent", "precision", "only")

EXPERIMENTS = (
    Experiment(
        "odds-models",
        "this laboratory",
        "odds: PUCT, search-contempt and models of the odds taker",
        make,
        claims=CLAIMS,
        matches=lambda setting: chosen(setting, matches(setting).values()),
        uses=USES,
        looks=True,
    ),
    Experiment(
        "odds-models-even",
        "this laboratory",
        "even games: search-contempt and models of the opponent against PUCT",
        make_even,
        claims=EVEN_CLAIMS,
        matches=lambda setting: chosen(setting, even_matches(setting).values()),
        uses=tuple(use for use in USES if use != "game"),
        looks=True,
    ),
)

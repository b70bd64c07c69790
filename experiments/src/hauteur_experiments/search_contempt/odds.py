"""Table 1 of the search-contempt paper: how the giver of queen odds scores by nodes, with PUCT and search-contempt.

A. Joshi, "Search-contempt", 2025, section 4.1. The giver plays without its queen against a fixed odds taker, which has
all its pieces and is weak enough that the giver scores something. The paper's net was trained for queen odds; any net
will do here. The odds taker is `--opponent`, the odds are the position of `--game`, such as `chess(fen=...)`; in a game
without pieces, such as Connect Four, the giver is the player of `--side`, who is lost from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Result, Setting
from hauteur_experiments.grid import COLOURS, Match, chosen, play, points, with_net
from hauteur_experiments.measured import Interval, columns
from hauteur_experiments.search_contempt.odds_claims import (
    CLAIMS,
    PUBLISHED_N_SCL,
    PUCT,
    TABLE_1,
    Cell,
    findings,
    title,
)
from hauteur_experiments.search_contempt.settings import HYBRID, PAPER, contempt

GAMES = 200
"""Games of a setting; the paper does not say how many it played."""

OF_THE_TAKER = (1.0, 1 / 3, 3.0)
"""N_scl of the giver besides: in the odds taker's visits."""

GAME = "chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1)"
TAKER = "visits=10 temperature=0.5"
OPENING_PLIES = 2
LINES = 200
LEAST_NODES = 100
SHOWN = ("search", "nodes", "wins", "draws", "losses", "score", "low_95", "high_95", "paper")
"""Columns of the rows that are shown."""

GROWTH = 4
WORTH = {"q": 9, "r": 5, "b": 3, "n": 3, "p": 1}
"""Usual values of pieces: the giver has less."""


def make(setting: Setting) -> Result:
    """Play every cell of the table, then draw it."""
    places = {match.name: place for place, match in matches(setting).items()}
    played = play(setting, matches(setting).values())
    cells = {places[name]: Cell(*places[name], one) for name, one in played.items()}
    taker = ht.Player.from_text(odds_taker(setting))
    game, fen = start(setting)
    facts = {"odds_taker": taker.model_dump(exclude_defaults=True), "start": fen, "side": setting.side}
    found = findings(cells, taker.visits)
    rows = [_row(cell) for cell in cells.values()]
    texts = [columns(rows, *SHOWN)]
    return Result(rows, found, [figure(cells)], texts, facts).scoped("" if game == "chess" else "another game")


def matches(setting: Setting) -> dict[tuple[int, int], Match]:
    """The matches by N_scl and nodes, all from the same openings; the cheap ones first."""
    game, fen = start(setting)
    games, taker = setting.scaled(GAMES, 2), odds_taker(setting)
    lines = () if fen is None else odds_lines(game, fen)
    colours: Literal["first", "second"] = "first" if giver_is_first(setting) else "second"
    found = {}
    for nodes in node_counts(setting.visits):
        for n_scl in (PUCT, *n_scls(ht.Player.from_text(taker))):
            giver = with_net(f"visits={nodes} {HYBRID if n_scl == PUCT else contempt(n_scl)}", setting.net)
            name = f"{label(n_scl)}-{nodes}"
            found[n_scl, nodes] = Match(name, giver, taker, games, game=game, colours=colours, openings=lines)
    return found


def n_scls(taker: ht.Player) -> list[int]:
    """N_scl of the giver: the published one, and the odds taker's visits, a third of them, three times as many.

    Not three times as many where the published one is between 2 and 4 times; a taker without a net has no others.
    """
    if not taker.has_net:
        return [PUBLISHED_N_SCL]
    own = [max(1, round(factor * taker.visits)) for factor in OF_THE_TAKER]
    if 2 * own[0] <= PUBLISHED_N_SCL <= 4 * own[0]:
        own.pop()
    return list(dict.fromkeys([PUBLISHED_N_SCL, *own]))


def node_counts(most: int | None) -> list[int]:
    """The paper's node counts; with another limit the counts below it in steps of a factor 4, down to 100."""
    if most is None:
        return sorted(TABLE_1)
    counts = [most]
    while counts[0] >= GROWTH * LEAST_NODES:
        counts.insert(0, round(counts[0] / GROWTH))
    return counts


def start(setting: Setting) -> tuple[str, str | None]:
    """The game without its position, and the position of the odds; None: the game's start, where a side gives them.

    ValueError where there is neither, or both.
    """
    spec = setting.game or GAME
    name, _, rest = spec.partition("(")
    if setting.side is not None:
        if name in ("chess", "minichess"):
            raise ValueError(f"--side is for games without pieces, such as connect4; {name} has a position as its odds")
        return ht.load_game(spec).spec, None
    key, equals, fen = rest.removesuffix(")").partition("=")
    if key.strip() != "fen" or not equals or "=" in fen:
        needed = (
            "the position of the odds as --game 'chess(fen=...)', or in a game without pieces the --side that gives"
        )
        raise ValueError(f"contempt-odds needs {needed}, got {spec!r}")
    ht.load_game(spec)
    return name, fen


def giver_is_first(setting: Setting) -> bool:
    """Return whether the giver has the first move: by --side, or as the one with less material.

    ValueError where both have as many.
    """
    if setting.side is not None:
        return setting.side == "first"
    fen = str(start(setting)[1])
    white, black = (
        sum(WORTH.get(sign.lower(), 0) for sign in fen.split()[0] if sign.isupper() == upper) for upper in (True, False)
    )
    if white == black:
        raise ValueError(f"no odds: both sides have the same material in {fen}")
    return white < black


def odds_taker(setting: Setting) -> str:
    """The fixed opponent as text; with the giver's net unless it names one or has none."""
    words = setting.opponent or TAKER
    try:
        player = ht.Player.from_text(words)
    except ValueError as error:
        raise ValueError(f"--opponent: {error}") from None
    return with_net(words, setting.net) if player.net is None and player.has_net else words


def odds_lines(game: str, fen: str) -> list[str]:
    """Return LINES positions after two random plies, one by each side, so that games differ from the start."""
    begin, lines = ht.load_game(f"{game}(fen={fen})").new_initial_state(), []
    for number in range(LINES):
        random, line = ht.stream(1, "odds opening", number), None
        while line is None:
            line = _random_line(begin.copy(), random)
        lines.append(line)
    return lines


def _random_line(state: ht.State, random: Any) -> str | None:
    """Play OPENING_PLIES random moves; None where they end the game."""
    for _ in range(OPENING_PLIES):
        state.apply(int(random.choice(state.legal_actions())))
        if state.outcome() is not None:
            return None
    return state.notation()


def label(n_scl: int) -> str:
    """Return the label of a setting in folder names."""
    return "puct" if n_scl == PUCT else f"n{n_scl}"


def _row(cell: Cell) -> dict[str, Any]:
    paper = dict(zip((PUCT, PUBLISHED_N_SCL), TABLE_1.get(cell.nodes, ()), strict=False)).get(cell.n_scl)
    return {"search": label(cell.n_scl), **row_of(cell), "paper": paper}


def row_of(cell: Cell) -> dict[str, Any]:
    """The nodes of a cell, its results, and the score of the giver with its interval."""
    record, (low, high) = cell.played.tally.record, cell.played.tally.score_interval
    counts = {"games": record.games, "wins": record.wins, "draws": record.draws, "losses": record.losses}
    drawn = {f"draws_{kind.replace(' ', '_')}": count for kind, count in cell.drawn.items()}
    return {"nodes": cell.nodes, **counts, **drawn, "score": cell.score, "low_95": low, "high_95": high}


def figure(cells: Mapping[tuple[int, int], Cell]) -> ht.Figure:
    """Score by nodes, a line a setting, and the paper's."""
    lines = []
    for number, n_scl in enumerate(dict.fromkeys(n_scl for n_scl, _ in cells)):
        mine = [cell for cell in cells.values() if cell.n_scl == n_scl]
        scores = [Interval(cell.score, len(cell.played.games), cell.played.tally.interval) for cell in mine]
        xs = [cell.nodes for cell in mine]
        lines.append(points(title(n_scl), xs, scores, COLOURS[number % len(COLOURS)], joined=True))
    for place, name in enumerate(("PUCT", title(PUBLISHED_N_SCL))):
        values = [scores[place] for scores in TABLE_1.values()]
        lines.append(ht.Series(f"paper, {name}", list(TABLE_1), values, COLOURS[place], dashed=True))
    games = next(iter(cells.values())).played.tally.record.games if cells else 0
    text = f"The giver's score against a fixed odds taker, {games:,} games a point, 95 %. Dashed: the paper."
    style: Any = {"lines": tuple(lines), "percent": True, "x_log": True}
    return ht.Figure("contempt-odds", "Odds by nodes", text, "score of the giver", "nodes a move", **style)


EXPERIMENTS = (
    Experiment(
        "contempt-odds",
        f"{PAPER}, table 1",
        "odds: score by nodes, PUCT and search-contempt",
        make,
        claims=CLAIMS,
        matches=lambda setting: chosen(setting, matches(setting).values()),
        uses=("nets", "visits", "game", "opponent", "side", "only"),
        looks=True,
    ),
)

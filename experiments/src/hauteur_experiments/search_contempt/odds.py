"""Table 1 of the search-contempt paper: how the giver of queen odds scores by nodes, with PUCT and search-contempt.

A. Joshi, "Search-contempt", 2025, section 4.1. The giver plays without its queen against a fixed receiver, which has
all its men and is weak enough that the giver scores something. The paper's net was trained for queen odds; any net will
do here. The receiver is `--opponent`, the odds are the position of `--game`, such as `chess(fen=...)`; in a game
without men, such as Connect Four, the giver is the player of `--seat`, who is lost from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hauteur.games.odds import ODDS_STARTS, PUBLISHED
from hauteur.games.registry import load_game, parse_spec, with_fen
from hauteur.matches.openings import Opening, opening_state, random_opening
from hauteur.mcts.lc0_options import search_params, temperature
from hauteur.players.settings import Colours, PlayerSettings, parse_player
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur.system.seeds import stream
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Result
from hauteur_experiments.matches import MatchSpec, match_seconds, play_matches, wanted
from hauteur_experiments.search_contempt.odds_findings import (
    KINDS,
    PUBLISHED_N_SCL,
    PUCT,
    TABLE_1,
    Cell,
    findings,
    title,
)
from hauteur_experiments.search_contempt.settings import PAPER

GAMES = 200
"""Games of a setting; the paper does not say how many it played."""

OF_THE_RECEIVER = (1.0, 1 / 3, 3.0)
"""N_scl of the giver besides: in the receiver's visits."""

GAME = with_fen("chess", ODDS_STARTS["queen d1"])
RECEIVER = "visits=10 temperature=0.5"
OPENING_PLIES = 2
LINES = 200
LEAST_NODES = 100
GROWTH = 4


def make_odds(setting: ExperimentSetting) -> Result:
    """Play every cell of the table, then draws it."""
    plans = specs(setting)
    played = play_matches(setting, plans.values())
    cells = {place: Cell(*place, played[plan.name]) for place, plan in plans.items() if plan.name in played}
    rows = [_row(cell) for cell in cells.values()]
    facts = {
        "receiver": receiver(setting).model_dump(exclude_defaults=True),
        "start": start(setting)[1],
        "seat": setting.seat,
    }
    scope = "" if start(setting)[0] == "chess" else "another game"
    found = [replace(finding, scope=scope) for finding in findings(cells, receiver(setting).visits)]
    return Result(rows, found, [figure(cells)], [table(cells)], facts)


def specs(setting: ExperimentSetting) -> dict[tuple[int, int], MatchSpec]:
    """The matches by N_scl and nodes, all from the same openings; the cheap ones first."""
    game, fen = start(setting)
    games, against = setting.scaled(GAMES, 2), receiver(setting)
    lines = () if fen is None else odds_lines(game, fen)
    gives: Colours = setting.seat or ("first" if white_gives(str(fen)) else "second")
    searches = (PUCT, *n_scls(against))
    places = [(n_scl, nodes) for nodes in node_counts(setting.visits) for n_scl in searches]
    return {
        (n_scl, nodes): MatchSpec(
            f"{label(n_scl)}-{nodes}",
            giver(setting, n_scl, nodes),
            against,
            games,
            game=game,
            colours=gives,
            openings=lines,
        )
        for n_scl, nodes in places
    }


def n_scls(against: PlayerSettings) -> list[int]:
    """N_scl of the giver: the published one, and the receiver's visits, a third of them, three times as many.

    Not three times as many where the published one is between 2 and 4 times; a receiver without a net has no others.
    """
    if not against.has_net:
        return [PUBLISHED_N_SCL]
    own = [max(1, round(factor * against.visits)) for factor in OF_THE_RECEIVER]
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


def start(setting: ExperimentSetting) -> tuple[str, str | None]:
    """The game without its position, and the position of the odds; None: the game's start, where a seat gives them.

    ValueError where there is neither, or both.
    """
    spec = setting.game or GAME
    name, parameters = parse_spec(spec)
    if setting.seat is not None:
        if load_game(name).has_fen:
            raise ValueError(f"--seat is for games without men, such as connect4; {name} has a position as its odds")
        return load_game(spec).spec, None
    fen = parameters.pop("fen", None)
    if fen is None or parameters:
        wanted = "the position of the odds as --game 'chess(fen=...)', or in a game without men the --seat that gives"
        raise ValueError(f"contempt-odds needs {wanted}, got {spec!r}")
    return name, str(fen)


def white_gives(fen: str) -> bool:
    """Return whether White has fewer men than Black; ValueError where both have as many."""
    men = [sign for sign in fen.split()[0] if sign.isalpha()]
    white = sum(sign.isupper() for sign in men)
    if 2 * white == len(men):
        raise ValueError(f"no odds: both sides have {white} men in {fen}")
    return 2 * white < len(men)


def giver(setting: ExperimentSetting, n_scl: int, nodes: int) -> PlayerSettings:
    """The player that gives odds: lc0's defaults with the settings of the odds runs."""
    options = {**PUBLISHED, "ScLimit": n_scl}
    return PlayerSettings(
        net=setting.net(start(setting)[0]),
        visits=nodes,
        search=search_params(options),
        temperature=temperature(options),
    )


def receiver(setting: ExperimentSetting) -> PlayerSettings:
    """The fixed opponent; with the giver's net unless it names one or has none."""
    player = parse_player(setting.opponent or RECEIVER, "--opponent")
    if player.net is None and player.has_net:
        return player.model_copy(update={"net": setting.net(start(setting)[0])})
    return player


def odds_lines(game: str, fen: str, count: int = LINES, seed: int = 1) -> list[str]:
    """Return `count` positions after two random plies, one by each side, so that games differ from the start."""
    rules = load_game(game)
    plan = Opening(fen).plan(rules, 0)
    lines = []
    for number in range(count):
        state = opening_state(rules, plan)
        for action in random_opening(rules, OPENING_PLIES, stream(seed, "odds opening", number), after=plan):
            state.apply(action)
        lines.append(state.notation())
    return lines


def label(n_scl: int) -> str:
    """Return the label of a setting in folder names."""
    return "puct" if n_scl == PUCT else f"n{n_scl}"


def _row(cell: Cell) -> dict[str, Any]:
    record, (low, high) = cell.played.tally.record, cell.interval
    paper = TABLE_1.get(cell.nodes)
    shown = (
        None
        if paper is None
        else paper[0]
        if cell.n_scl == PUCT
        else paper[1]
        if cell.n_scl == PUBLISHED_N_SCL
        else None
    )
    counts = {"games": record.games, "wins": record.wins, "draws": record.draws, "losses": record.losses}
    drawn = {f"draws_{kind.replace(' ', '_')}": count for kind, count in cell.drawn.items()}
    return {
        "search": label(cell.n_scl),
        "nodes": cell.nodes,
        **counts,
        **drawn,
        "score": cell.score,
        "low_95": low,
        "high_95": high,
        "paper": shown,
    }


def table(cells: Mapping[tuple[int, int], Cell]) -> str:
    """The paper's table beside ours: the giver's score in per cent, and its games won, drawn by kind, and lost."""
    kinds = "".join(f"{kind:>12}" for kind in KINDS)
    lines = [f"{'nodes':>7}  {'search':9} {'paper':>7}  {'here':>7}  95 % interval    won  drawn:{kinds}   lost"]
    for cell in cells.values():
        row, record = _row(cell), cell.played.tally.record
        paper = "" if row["paper"] is None else f"{row['paper']:.2%}"
        interval = f"{row['low_95']:.1%} to {row['high_95']:.1%}"
        drawn = "".join(f"{count:12}" for count in cell.drawn.values())
        counts = f"{record.wins:4} {record.draws:7}{drawn} {record.losses:6}"
        lines.append(f"{cell.nodes:7,}  {title(cell.n_scl):9} {paper:>7}  {cell.score:7.1%}  {interval:15} {counts}")
    return "\n".join(lines)


def figure(cells: Mapping[tuple[int, int], Cell]) -> Figure:
    """Score by nodes, a line a setting, and the paper's."""
    lines = []
    for number, n_scl in enumerate(dict.fromkeys(n_scl for n_scl, _ in cells)):
        mine = [cell for cell in cells.values() if cell.n_scl == n_scl]
        lows, highs = zip(*(cell.interval for cell in mine), strict=True)
        colour = LINE_COLOURS[number % len(LINE_COLOURS)]
        xs = [cell.nodes for cell in mine]
        lines.append(Series(title(n_scl), xs, [cell.score for cell in mine], colour, low=lows, high=highs))
    for place, (name, colour) in enumerate((("PUCT", LINE_COLOURS[0]), (title(PUBLISHED_N_SCL), LINE_COLOURS[1]))):
        values = [scores[place] for scores in TABLE_1.values()]
        lines.append(Series(f"paper, {name}", list(TABLE_1), values, colour, dashed=True))
    games = next(iter(cells.values())).played.tally.record.games
    text = f"The giver's score against a fixed receiver, {games:,} games a point, 95 % intervals. Dashed: the paper."
    return Figure(
        "contempt-odds",
        "Odds by nodes",
        text,
        "score of the giver",
        "nodes a move",
        lines=tuple(lines),
        percent=True,
        x_log=True,
    )


def estimate(setting: ExperimentSetting) -> float:
    """Seconds on this machine."""
    return match_seconds(setting, wanted(setting, specs(setting).values()))


EXPERIMENTS = (
    Experiment(
        "contempt-odds",
        f"{PAPER}, table 1",
        "odds: score by nodes, PUCT and search-contempt",
        0.0,
        make_odds,
        seeds=1,
        uses=("nets", "visits", "game", "opponent", "seat", "only"),
        estimate_here=estimate,
        looks=True,
    ),
)

"""A review as tables for the terminal and JSON, as a figure of the chances, and as a page."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, result_title, walk_of
from hauteur.mcts.report import Wdl, flipped
from hauteur.plots.boards import walks_html
from hauteur.plots.figure import Figure, Series
from hauteur.plots.page import Markup, facts_html, page, provenance_html, settings_html, table_html
from hauteur.studies.review.games import ReviewedGame, verdict
from hauteur.studies.review.mates import MATE_MOVES
from hauteur.studies.review.review import (
    CONFIRMATION,
    SIGNS,
    THRESHOLDS,
    Found,
    Mark,
    MoveReport,
    Place,
    expected_score,
)

INKS: dict[Mark, str] = {"inaccuracy": "gold", "mistake": "orange", "blunder": "loss-ink"}
"""Colours of marks in the figure."""

PLURALS: dict[Mark, str] = {"inaccuracy": "inaccuracies", "mistake": "mistakes", "blunder": "blunders"}
"""Names of marks of which there are none or several."""

EVEN = (0.2, 0.8)
"""Expected scores of the start of a game whose figure shows all chances from 0 to 100 % in even steps."""


def chances_over(game: ReviewedGame, found: Found) -> dict[int, Wdl]:
    """Return the first player's chances of win, draw and loss by the plies before a position, as far as they are known.

    found: what the searches of this game have found.
    """
    chances: dict[int, Wdl] = {}
    state = game.start.copy()
    for ply, action in enumerate([*game.actions, None]):
        finding = found.get(Place(ply, deep=True)) or found.get(Place(ply))
        if finding is not None:
            chances[ply] = finding.wdl if state.to_move == 0 else flipped(finding.wdl)
        if action is not None:
            state.apply(action)
    return chances


def chances_figure(game: ReviewedGame, found: Found) -> Figure:
    """Return the figure of what is known until now; its x axis covers the whole game.

    In a game that does not begin EVEN, its scale is that of odds: 4 and 8 % are as far apart as 50 and 68 %.
    """
    first, second = game.start.game.sides
    named = (("win", f"{first} wins"), ("draw", "draw"), ("loss", f"{second} wins"))
    chances = chances_over(game, found)
    places = range(len(game.actions) + 1)
    scores = [expected_score(chances[ply]) if ply in chances else None for ply in places]
    uneven = False
    if chances:
        low, high = EVEN
        uneven = not low <= expected_score(chances[min(chances)]) <= high
    areas = []
    for part, (colour, name) in enumerate(named):
        shares = [wdl[part] for wdl in chances.values()]
        areas.append(Series(name, list(chances), shares, colour))
    lines = [Series(f"{first}'s expected score", list(places), scores, "ink")]
    for mark, _ in THRESHOLDS:
        plies = [move.ply + 1 for move in game.moves if move.mark == mark]
        if plies:
            marked = [scores[ply] for ply in plies]
            lines.append(Series(mark, plies, marked, INKS[mark], joined=False))
    scale = ", on a scale of odds" if uneven else ""
    return Figure(
        "chances",
        "Chances over the game",
        f"Who wins, and {first}'s expected score (win + draw/2){scale}.",
        "chance",
        "plies played",
        areas=tuple(areas),
        lines=tuple(lines),
        percent=True,
        logit=uneven,
    )


LINE_MOVES = 6
"""Moves of the best line that the table shows."""

STYLES: dict[Mark, str] = {"": "", "inaccuracy": "yellow", "mistake": "dark_orange", "blunder": "red"}
"""Styles of marked moves in the terminal."""


def game_view(game: ReviewedGame) -> RenderableType:
    """Return a game's moves with the first player's W/D/L before and after, and a summary of both players."""
    first = game.start.game.sides[0]
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("move", no_wrap=True)
    for name in (f"{first} W D L % before", "after", "lost %", "punished %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best line", overflow="ellipsis", no_wrap=True, ratio=1)
    for move in game.moves:
        table.add_row(*move_cells(move), style=STYLES[move.mark])
    heading = Text(f"{game.number}. {' - '.join(game.players)}", style="bold")
    parts: list[RenderableType] = [heading, table]
    left = len(game.actions) - len(game.moves)
    if left:
        parts.append(Text(f"{left} moves are not reviewed yet", style="dim"))
    for name, summary in summaries(game).items():
        parts.append(Text(_summary_line(name, summary)))
    return Group(*parts)


def move_cells(move: MoveReport) -> list[str]:
    """Return a move, the first player's chances before and after it in per cent, its loss, how far that was punished,
    the better line.
    """
    return [
        move_text(move),
        wdl_text(move.first_player(move.before)),
        wdl_text(move.first_player(move.after)),
        f"{100 * move.loss:.1f}" if move.loss else "",
        "" if move.punished is None else f"{100 * move.punished:.0f}",
        "" if move.is_best else " ".join(move.line[:LINE_MOVES]),
    ]


def move_text(move: MoveReport) -> str:
    """Return `12. Nf3?!` or `12... Nf6`."""
    return f"{move.number} {move.text}{SIGNS[move.mark]}"


def wdl_text(wdl: Wdl) -> str:
    """Return win, draw and loss in per cent."""
    return " ".join(f"{100 * share:.0f}" for share in wdl)


def summaries(game: ReviewedGame) -> dict[str, dict[str, Any]]:
    """Return for both players: moves, mean loss of expected score, and the number of each mark."""
    found = {}
    for side, name in enumerate(("first player", "second player")):
        own_moves = [move for move in game.moves if move.mover == side]
        found[name] = _summary(own_moves)
    return found


def _summary(moves: list[MoveReport]) -> dict[str, Any]:
    mean = None
    if moves:
        mean = sum(move.loss for move in moves) / len(moves)
    summary: dict[str, Any] = {"moves": len(moves), "mean_loss": mean}
    marks = Counter(move.mark for move in moves)
    for mark, _ in THRESHOLDS:
        summary[mark] = marks[mark]
    return summary


def _summary_line(name: str, summary: dict[str, Any]) -> str:
    """Return a line about a player: mean loss, and how many moves have which mark."""
    counts = []
    for mark, _ in THRESHOLDS:
        count = summary[mark]
        noun = mark if count == 1 else PLURALS[mark]
        counts.append(f"{count} {noun}")
    text = ", ".join(counts)
    loss = summary["mean_loss"]
    if loss is None:
        return f"{name}: {text}"
    return f"{name}: lost {100 * loss:.1f} % a move, {text}"


def review_json(games: Iterable[ReviewedGame], **facts: Any) -> dict[str, Any]:
    """Return the review as one JSON object; `facts` (net, settings) come first."""
    rules = {"thresholds": dict(THRESHOLDS), "confirmed_at_times": CONFIRMATION}
    return {**facts, **rules, "games": [_game_json(game) for game in games]}


def _game_json(game: ReviewedGame) -> dict[str, Any]:
    return {
        "number": game.number,
        "tags": dict(game.game.tags),
        "start": game.start.notation(),
        "game": game.start.game.spec,
        "complete": game.complete,
        "players": summaries(game),
        "moves": [move.to_json() for move in game.moves],
    }


MOST_ROWS = 4_000
"""Moves in the tables of a page; further games have none."""

MOST_GAMES = 500
"""Games that a page shows."""


def review_page(
    title: str,
    games: Sequence[ReviewedGame],
    settings: Mapping[str, Any],
    made: Mapping[str, Any],
    searched_by: str = "",
) -> str:
    """Return the whole page, of all that is reviewed until now; made: its provenance; searched_by: net and strength."""
    shown = [game for game in games if game.moves][:MOST_GAMES]
    walks = [walk_of(game.start, game.actions, title=_title(game), notes=notes_of(game)) for game in shown]
    left = len(games) - len(shown)
    parts = [
        f"<h1>Review of {escape(title)}</h1>",
        f"<p>{escape(searched_by)}</p>" if searched_by else "",
        f"<p>{escape(_rule())}</p>",
        facts_html(_facts(shown)),
        walks_html(drawing_of(shown[0].start) if shown else None, walks),
        f"<p>{left:,} more games are not reviewed, or not on this page.</p>" if left else "",
        "<h2>Players</h2>",
        table_html(("game", "player", "moves", "lost a move", *(mark for mark, _ in THRESHOLDS)), _players(shown)),
        "<h2>Moves</h2>",
        f"<p>Chances of win, draw and loss of {_first_player(shown)} in per cent. A move opens its position.</p>",
        *_tables(shown),
        "<h2>Settings</h2>",
        settings_html(settings),
        provenance_html(made),
    ]
    return page(f"Review of {title}", parts)


def notes_of(game: ReviewedGame) -> WalkNotes:
    """Return what the widget shows of a reviewed game: chances, the best moves, the marks."""
    wdl: dict[int, Wdl] = {}
    best = {}
    notes = {}
    for move in game.moves:
        wdl[move.ply] = move.first_player(move.before)
        best[move.ply] = move.best_action
        notes[move.ply] = MoveNote(_note(move), move.mark, SIGNS[move.mark])
    if game.moves:
        last = game.moves[-1]
        wdl[last.ply + 1] = last.first_player(last.after)
    return WalkNotes(wdl, best, notes)


def _note(move: MoveReport) -> str:
    if move.mark:
        return f"{verdict(move)}: {' '.join(move.line)}"
    if move.is_best:
        return "The best move."
    return f"The search would have played {move.best}: {' '.join(move.line)}"


def _title(game: ReviewedGame) -> str:
    return f"{game.number}. {result_title(*game.players, game.game.outcome, game.game.end_reason)}"


def _rule() -> str:
    losses = ", ".join(f"{name} {100 * least:.0f} %" for name, least in reversed(THRESHOLDS))
    return (
        f"A move is marked by the expected score (win + draw/2) that it lost, as on Lichess: {losses}. A mark stands "
        f"only where searches with {CONFIRMATION} times the effort come to one too. A forced win within {MATE_MOVES} "
        "moves is proven; who misses or allows one is marked in any case. Punished is the share of the loss that the "
        "reply kept."
    )


def _first_player(games: Sequence[ReviewedGame]) -> str:
    return escape(games[0].start.game.sides[0] if games else "the first player")


def _facts(games: Sequence[ReviewedGame]) -> list[tuple[str, str]]:
    moves = []
    for game in games:
        moves += game.moves
    marks = Counter(move.mark for move in moves)
    best = sum(move.is_best for move in moves)
    facts = [(f"{len(games):,}", "games"), (f"{len(moves):,}", "moves")]
    for mark, _ in THRESHOLDS:
        facts.append((f"{marks[mark]:,}", f"marked {mark}"))
    share = best / max(1, len(moves))
    facts.append((f"{share:.0%}", "as the search"))
    return facts


def _players(games: Sequence[ReviewedGame]) -> Iterator[list[str]]:
    for game in games:
        for name, (side, summary) in zip(game.players, summaries(game).items(), strict=True):
            mean = summary["mean_loss"]
            lost = "" if mean is None else f"{100 * mean:.1f} %"
            counts = [str(summary[mark]) for mark, _ in THRESHOLDS]
            player = side if name == "?" else name
            yield [f"{game.number}", player, str(summary["moves"]), lost, *counts]


def _tables(games: Sequence[ReviewedGame]) -> Iterator[str]:
    """Return the tables of moves, of as many games as MOST_ROWS allows."""
    rows = 0
    first = _first_player(games)
    names = ("move", f"{first} W D L before", "after", "lost", "punished", "best line")
    for number, game in enumerate(games):
        rows += len(game.moves)
        if rows > MOST_ROWS:
            yield f"<p>{len(games) - number:,} more games have no table here; they are in result.json.</p>"
            return
        lines = [[_link(number, move), *move_cells(move)[1:]] for move in game.moves]
        shown = " open" if len(games) == 1 else ""
        table = table_html(names, lines)
        yield f"<details{shown}><summary>{escape(_title(game))}</summary>{table}</details>"


def _link(number: int, move: MoveReport) -> Markup:
    """Return a button that opens the position after the move."""
    name = escape(move_text(move))
    return Markup(f'<button class="link {move.mark}" data-walk="{number} {move.ply + 1}">{name}</button>')

"""The page of a review: games on a board with the chances over the game, and tables of their moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hauteur.games.pictures import seat_names
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, result_title, walk_of
from hauteur.mcts.report import Wdl
from hauteur.plots.boards import walks_html
from hauteur.plots.page import Markup, facts_html, page, provenance_html, settings_html, table_html
from hauteur.studies.review.annotate import verdict
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.judgement import CONFIRMATION, LEAST_LOSS, SIGNS, THRESHOLDS
from hauteur.studies.review.review import MoveReport
from hauteur.studies.review.tables import move_cells, move_text, summaries

MOST_ROWS = 4_000
"""Moves in the tables of a page; further games have none."""

MOST_GAMES = 500
"""Games that a page shows."""


def review_page(title: str, games: Sequence[ReviewedGame], settings: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """Return the whole page, of all that is reviewed until now; made: its provenance."""
    shown = [game for game in games if game.moves][:MOST_GAMES]
    walks = [walk_of(game.start, game.actions, title=_title(game), notes=notes_of(game)) for game in shown]
    left = len(games) - len(shown)
    parts = [
        f"<h1>Review of {escape(title)}</h1>",
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
    wdl: dict[int, Wdl] = {move.ply: move.first_player(move.before) for move in game.moves}
    best = {move.ply: move.best_action for move in game.moves}
    if game.moves:
        last = game.moves[-1]
        wdl[last.ply + 1] = last.first_player(last.after)
    return WalkNotes(wdl, best, {move.ply: MoveNote(_note(move), move.mark, SIGNS[move.mark]) for move in game.moves})


def _note(move: MoveReport) -> str:
    if move.mark:
        return f"{verdict(move)}: {' '.join(move.line)}"
    return "The best move." if move.is_best else f"The search would have played {move.best}: {' '.join(move.line)}"


def _title(game: ReviewedGame) -> str:
    return f"{game.number}. {result_title(*game.players, game.game.outcome, game.game.end_reason)}"


def _rule() -> str:
    shares = ", ".join(f"{name} {100 * least:.0f} %" for name, least in reversed(THRESHOLDS))
    return (
        f"A move is marked by the share of the expected score (win + draw/2) that it lost of what there was to lose, "
        f"which is the expected score before the move, at most one half: {shares}. Losses below {100 * LEAST_LOSS:.0f} "
        f"points of 100 are not marked, and a mark stands only where searches with {CONFIRMATION} times the effort "
        "come to one too. Punished is the share of the loss that the reply kept."
    )


def _first_player(games: Sequence[ReviewedGame]) -> str:
    return escape(seat_names(games[0].start.game)[0] if games else "the first player")


def _facts(games: Sequence[ReviewedGame]) -> list[tuple[str, str]]:
    moves = [move for game in games for move in game.moves]
    counts = [(f"{sum(move.mark == mark for move in moves):,}", f"marked {mark}") for mark, _ in THRESHOLDS]
    best = sum(move.is_best for move in moves) / len(moves) if moves else 0.0
    return [(f"{len(games):,}", "games"), (f"{len(moves):,}", "moves"), *counts, (f"{best:.0%}", "as the search")]


def _players(games: Sequence[ReviewedGame]) -> Iterator[list[str]]:
    for game in games:
        for name, (seat, summary) in zip(game.players, summaries(game).items(), strict=True):
            mean = summary["mean_loss"]
            lost = "" if mean is None else f"{100 * mean:.1f} %"
            counts = [str(summary[mark]) for mark, _ in THRESHOLDS]
            yield [f"{game.number}", seat if name == "?" else name, str(summary["moves"]), lost, *counts]


def _tables(games: Sequence[ReviewedGame]) -> Iterator[str]:
    """Return the tables of moves, of as many games as there is room for."""
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

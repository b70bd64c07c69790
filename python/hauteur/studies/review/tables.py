"""A review as a table for the terminal and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hauteur.games.pictures import seat_names
from hauteur.mcts.report import Wdl
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.judgement import CONFIRMATION, LEAST_LOSS, SIGNS, THRESHOLDS
from hauteur.studies.review.review import MoveReport

LINE_MOVES = 6
"""Moves of the best line that the table shows."""

COLOURS = {"": "", "inaccuracy": "yellow", "mistake": "dark_orange", "blunder": "red"}


def game_view(game: ReviewedGame) -> RenderableType:
    """Return a game's moves with the first player's W/D/L before and after, and a summary of both players."""
    first = seat_names(game.start.game)[0]
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("move", no_wrap=True)
    for name in (f"{first} W D L % before", "after", "lost %", "punished %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best line", overflow="ellipsis", no_wrap=True, ratio=1)
    for move in game.moves:
        table.add_row(*move_cells(move), style=COLOURS[move.mark])
    left = len(game.actions) - len(game.moves)
    more = [Text(f"{left} moves are not reviewed yet", style="dim")] if left else []
    return Group(
        Text(f"{game.number}. {' - '.join(game.players)}", style="bold"), table, *more, *map(Text, summary_lines(game))
    )


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


def summary_lines(game: ReviewedGame) -> list[str]:
    """Return a line a player: mean loss, and how many moves have which mark."""
    return [_summary_line(name, summary) for name, summary in summaries(game).items()]


def summaries(game: ReviewedGame) -> dict[str, dict[str, Any]]:
    """Return for both players: moves, mean loss of expected score, and the number of each mark."""
    names = ("first player", "second player")
    return {name: _summary([move for move in game.moves if move.mover == seat]) for seat, name in enumerate(names)}


def _summary(moves: list[MoveReport]) -> dict[str, Any]:
    marks = Counter(move.mark for move in moves)
    mean = sum(move.loss for move in moves) / len(moves) if moves else None
    return {"moves": len(moves), "mean_loss": mean, **{mark: marks[mark] for mark, _ in THRESHOLDS}}


def _summary_line(name: str, summary: dict[str, Any]) -> str:
    counts = ", ".join(f"{summary[mark]} {mark}{'' if summary[mark] == 1 else 's'}" for mark, _ in THRESHOLDS)
    mean = "" if summary["mean_loss"] is None else f"lost {100 * summary['mean_loss']:.1f} % a move, "
    return f"{name}: {mean}{counts}".replace("inaccuracys", "inaccuracies")


def review_json(games: Iterable[ReviewedGame], **facts: Any) -> dict[str, Any]:
    """Return the review as one JSON object; `facts` (net, settings) come first."""
    rules = {"thresholds": dict(THRESHOLDS), "least_loss": LEAST_LOSS, "confirmed_at_times": CONFIRMATION}
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

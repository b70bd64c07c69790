"""Games of matches on a board: a sample with the players' scores, and a table of the games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hauteur import _core
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, result_title, walk_of
from hauteur.matches.game_files import by_side, outcome_of, played_line, score_of
from hauteur.matches.report.stored import StoredMatch
from hauteur.matches.results import MatchGame
from hauteur.mcts.scores import score_text, value_of_pawns
from hauteur.plots.page import Markup, table_html
from hauteur.plots.report import ReportGames, ReportTable

SAMPLE = 24
"""Games of a match that can be stepped through on its page."""

MOST_ROWS = 400
"""Games in the table of a page."""

COLUMNS = ("game", "first", "second", "result", "end", "plies", "opening")


def sample_of(games: Sequence[MatchGame], most: int = SAMPLE) -> list[MatchGame]:
    """Return at most `most` games, whole pairs spread evenly over the match, in the order of their numbers."""
    ordered = sorted(games, key=lambda game: game.index)
    pairs = [ordered[first : first + 2] for first in range(0, len(ordered), 2)]
    count = max(1, most // 2)
    if len(pairs) > count:
        pairs = [pairs[round(place * (len(pairs) - 1) / max(1, count - 1))] for place in range(count)]
    return [game for pair in pairs for game in pair][:most]


def games_to_step(game: _core.Game, named: Iterable[tuple[tuple[str, str], MatchGame]]) -> ReportGames:
    """Return these games for a report, each with the names of players A and B."""
    walks = [walk_of_game(game, names, played) for names, played in named]
    return ReportGames(drawing_of(game.new_initial_state()), walks)


def whole_sample(matches: Sequence[StoredMatch]) -> list[tuple[tuple[str, str], MatchGame]]:
    """Return about SAMPLE games of these matches, with their players."""
    share = max(2, SAMPLE // max(1, len(matches)) // 2 * 2)
    games = [(match.names, match.whole(game.index)) for match in matches for game in sample_of(match.games, share)]
    return games[:SAMPLE]


def games_table(games: Sequence[MatchGame], sample: Sequence[MatchGame], names: tuple[str, str]) -> ReportTable:
    """Return the games of a match as a table; those of the sample open on the board."""
    places = {game.index: f'data-walk="{place} 0"' for place, game in enumerate(sample)}
    ordered = sorted(games, key=lambda game: game.index)
    shown = {*places, *(game.index for game in ordered[:MOST_ROWS])}
    rows = [[_number(game, places), *_row(game, names)] for game in ordered if game.index in shown]
    left = len(ordered) - len(rows)
    folded = "All games" if not left else f"Games; {left:,} more games are in games.jsonl"
    return ReportTable(COLUMNS, rows, words=True, folded=folded)


def newest_games_table(games: Sequence[MatchGame], names: tuple[str, str], first: int, count: int) -> str:
    """Return `count` of these games as a table, those with the highest numbers but for `first` of them.

    Each has a button with its number, from 0, as `data-game`.
    """
    shown = sorted(games, key=lambda game: -game.index)[first : first + count]
    buttons = {game.index: f'data-game="{game.index}"' for game in shown}
    return table_html(COLUMNS, [[_number(game, buttons), *_row(game, names)] for game in shown], words=True)


def _number(game: MatchGame, buttons: Mapping[int, str]) -> str:
    """Return the number of a game, a button where it has attributes of one."""
    if game.index not in buttons:
        return str(game.index + 1)
    return Markup(f'<button class="link" {buttons[game.index]}><u>{game.index + 1}</u></button>')


def _row(game: MatchGame, names: tuple[str, str]) -> list[str]:
    opening = " ".join(part for part in (game.fen, game.opening) if part)
    result = {1: "1-0", 0: "1/2", -1: "0-1"}[outcome_of(game)]
    return [*by_side(game, names), result, game.end, str(game.plies), opening]


def walk_of_game(game: _core.Game, names: tuple[str, str], played: MatchGame) -> dict[str, Any]:
    """Return a game of a match for the widget. names: of A and B."""
    start, actions = played_line(game, played)
    title = f"{played.index + 1}. {result_title(*by_side(played, names), outcome_of(played), played.end)}"
    return walk_of(start, actions, title=title, notes=_notes(played, start, actions))


def _notes(played: MatchGame, start: _core.State, actions: Sequence[int]) -> WalkNotes:
    """Return what the players thought of their positions: the expected score, and the score of each move."""
    state, opening = start.copy(), len(played.opening.split())
    expected: dict[int, tuple[float, float, float]] = {}
    moves: dict[int, MoveNote] = {}
    for ply, action in enumerate(actions):
        pawns = score_of(played, ply - opening)
        if not math.isnan(pawns):
            worth = (1.0 + value_of_pawns(pawns)) / 2.0
            first = worth if state.to_move == 0 else 1.0 - worth
            expected[ply] = (first, 0.0, 1.0 - first)
            moves[ply] = MoveNote(f"score {score_text(pawns)} for the mover")
        if ply < opening:
            moves[ply] = MoveNote("opening")
        if note := played.notes.get(ply):
            moves[ply] = MoveNote(note)
        state.apply(action)
    return WalkNotes(wdl=expected, moves=moves, expected=True)


def openings_table(games: Sequence[MatchGame], most: int = 50) -> ReportTable:
    """Return A's score by opening, of the openings that were played most."""
    results: dict[str, list[float]] = {}
    for game in games:
        opening = " ".join(part for part in (game.fen, game.opening) if part) or "start"
        results.setdefault(opening, []).append(game.score)
    ordered = sorted(results.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [(opening, str(len(scores)), f"{sum(scores) / len(scores):.1%}") for opening, scores in ordered[:most]]
    return ReportTable(("opening", "games", "A's score"), rows, folded=f"{len(ordered):,} different openings")

"""Reports of matches, tournaments and tunings, made of the files in their folders."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, evenly, result_title, walk_of
from hauteur.matches.game_files import by_side, outcome_of, played_line, score_of
from hauteur.matches.ratings.elo import MatchScore, PairsInOrder, elo_of_score
from hauteur.matches.ratings.rating_list import Rating, RatingList, crosstable_rows
from hauteur.matches.report.stored import STORED, Stored, StoredMatch, StoredMatches, StoredTournament, read_stored
from hauteur.matches.results import IntervalSource, MatchGame, Tally, sprt_line, sprt_text
from hauteur.mcts.scores import score_text, value_of_pawns
from hauteur.plots import Figure, Series, lines
from hauteur.plots.page import Markup, provenance_rows, settings_rows
from hauteur.plots.report import Report, ReportGames, ReportSection, ReportTable

SAMPLE = 24
"""Games of a match that can be stepped through on its page."""
PAGE = "report.html"
KINDS = tuple(STORED)
"""Folders that have a page."""
POINTS = 200
"""Places of the figures over time."""
MOST_ROWS = 400
"""Matches or games in a table."""
COUNTS = ("games", "won", "drawn", "lost", "score")

Linked = Callable[[str, str], str]
"""Makes text that leads to the match in a folder below: (its name, the text) -> text or Markup."""


def has_page(folder: Path) -> bool:
    """Return whether this is the folder of a match, a tournament or a tuning."""
    return any((folder / kind.SETTINGS).is_file() for kind in KINDS)


def write_page(folder: Path, output: Path | None = None, *, game: _core.Game | None = None) -> Path:
    """Write the page of what was done in a folder to `output` (default: its report.html); return its path.

    game: that was played, default: the one that the folder's settings name. Raise ValueError where the folder is of
    none of these kinds, or nothing in it is finished yet.
    """
    for kind in KINDS:
        if (folder / kind.SETTINGS).is_file():
            stored = read_stored(kind(folder), game)
            if not stored.games_done:
                raise ValueError(f"{folder}: no game of {kind.CONTENT.replace('a ', 'the ')} is finished yet")
            return report_of(stored, whole=True).write(output or folder / PAGE)
    names = ", ".join(kind.SETTINGS for kind in KINDS)
    raise ValueError(f"{folder}: has none of {names}, so it is the folder of no match, tournament or tuning")


def renew_page(folder: Path | None, game: _core.Game | None = None) -> None:
    """Write the page of a folder in which work has just ended or was interrupted, where a game of it is finished."""
    if folder is not None and has_page(folder) and any(folder.rglob("games.jsonl")):
        write_page(folder, game=game)


def report_of(stored: Stored, linked: Linked = lambda _, text: text, *, whole: bool = False) -> Report:
    """Return what is known of the work in a folder until now. whole: with games to step through, and lists of them.

    linked: default: of a page that stands alone, which has no page of the match beside it.
    """
    if not stored.games_done:
        return Report(stored.title, "No game is finished yet.", sections=[_origin(stored, stored.settings)])
    match stored:
        case StoredMatch():
            return _match_report(stored, whole=whole)
        case StoredTournament():
            return _tournament_report(stored, linked, whole=whole)
        case StoredMatches():
            return _tuning_report(stored, linked, whole=whole)


def _origin(stored: Stored, settings: Mapping[str, Any]) -> ReportSection:
    written = stored.result.get("written") or stored.begun
    tables = [
        ReportTable(("setting", "value"), settings_rows(settings), words=True, folded="Settings"),
        ReportTable(("work", ""), settings_rows(stored.result.get("work") or {}), words=True, folded="Work"),
        ReportTable(("made with", ""), provenance_rows(written), words=True, folded="Origin"),
    ]
    return ReportSection("How it was made", tables=[table for table in tables if table.rows])


# A match.


def _match_report(match: StoredMatch, *, whole: bool) -> Report:
    tally = match.tally
    test = tally.test
    figures = [score_figure(match), *([] if test is None else [llr_figure(test)])]
    text = [] if test is None else [f"{sprt_text(test.sprt)}: {sprt_line(test)}."]
    ends = ", ".join(f"{end} {count:,}" for end, count in tally.common_ends())
    if tally.paired:
        text.append(f"Pairs in which A made 0, 1/2, 1, 3/2 and 2 points: {', '.join(map(str, tally.pairs.counts))}.")
    text.append(f"Ends: {ends}. Intervals are of 95 %, from {SOURCES[tally.interval_from]}.")
    sections = [ReportSection("Result", text, figures=figures, tables=[results_table(tally)])]
    if whole:
        sample = [match.whole(game.index) for game in sample_of(match.games)]
        games = games_to_step(match.game, [(match.names, game) for game in sample])
        buttons = {game.index: f'data-walk="{place} 0"' for place, game in enumerate(sample)}
        listed = games_table(match.games[:MOST_ROWS], match.names, buttons, len(match.games))
        sections.append(ReportSection("Games", tables=[listed], games=games))
    sections.append(_origin(match, {**match.settings, "games": len(match.games)}))
    return Report(match.title, f"{match.game.spec}; {match.state_text}", result_facts(tally), sections)


def result_facts(tally: Tally) -> list[tuple[str, str]]:
    """Return score, Elo and the other figures of a result, from A's view."""
    low, high = tally.score_interval
    least, most = tally.elo_interval
    record = tally.record
    return [
        (f"{record.games:,}", "games"),
        (f"{record.wins:,} / {record.draws:,} / {record.losses:,}", "won, drawn, lost by A"),
        (f"{record.score:.1%}", f"score of A, {low:.1%} to {high:.1%}"),
        (f"{elo_of_score(record.score):+.0f}", f"Elo, {least:+.0f} to {most:+.0f}"),
        (f"{tally.superiority:.1%}", "chance that A is stronger"),
    ]


def results_table(tally: Tally) -> ReportTable:
    """Return wins, draws and losses by side."""
    rows = [(name, *_counts(record)) for name, record in tally.records_by_side()]
    return ReportTable(("", *COUNTS), rows)


SOURCES: Mapping[IntervalSource, str] = {
    "pairs": "pairs of games with the same opening",
    "games": "single games",
    "openings": "openings, which repeat",
    "running": "games in the order of their numbers, in which those that go on may yet be lost or won",
}
"""Sources of the interval of a tally, in words."""


def score_figure(match: StoredMatch) -> Figure:
    """Return A's score over the games that count, with its 95 % interval."""
    tally = Tally(match.paired)
    games = match.games[: match.tally.record.games]
    marks = _places(len(games), step=2 if match.paired else 1)
    found = list[tuple[int, float, float, float]]()
    for count, game in enumerate(games, 1):
        tally.add(game, match.lines[game.index])
        if count in marks:
            found.append((count, tally.record.score, *tally.score_interval))
    xs, values, lows, highs = (list(row) for row in zip(*found, strict=True))
    line = Series("score of A", xs, values, "blue", low=lows, high=highs)
    text = "In the order of their numbers, with the 95 % interval of the games until then."
    even = {"percent": True, "threshold": 0.5, "threshold_name": "even"}
    return Figure("score", "Score over the games", text, "score of A", "games", lines=(line,), **even)  # type: ignore[arg-type]


def llr_figure(test: PairsInOrder) -> Figure:
    """Return the log likelihood ratio of a sequential test over its pairs, between its bounds."""
    sprt = test.sprt
    marks = sorted(_places(len(test.llrs), step=1) - {0})
    xs = [float(mark) for mark in marks]
    values = [test.llrs[mark - 1] for mark in marks]
    low, high = sprt.bounds
    ends = [min(xs, default=0.0), max(xs, default=1.0)]
    bounds = (
        Series(f"elo1 = {sprt.elo1:g} is accepted", ends, [high, high], "green", dashed=True),
        Series(f"elo0 = {sprt.elo0:g} is accepted", ends, [low, low], "orange", dashed=True),
    )
    line = Series("log likelihood ratio", xs, values, "blue")
    text = f"Sequential test of {sprt_text(sprt)}; it ends at a bound."
    return Figure("llr", "Sequential test", text, "LLR", "pairs of games", lines=(line, *bounds))


def _places(games: int, *, step: int) -> set[int]:
    """Return at most POINTS counts of games, whole steps, with the last one."""
    wide = max(step, -(-games // POINTS // step) * step)
    return {*range(wide, games + 1, wide), games}


# A tournament.


def _tournament_report(tournament: StoredTournament, linked: Linked, *, whole: bool) -> Report:
    found = tournament.ratings()
    ratings = found.ratings
    played = [match for match in tournament.matches if match.games]
    games = sum(line.record.games for line in ratings) // 2
    facts = [(f"{len(ratings):,}", "players"), (f"{games:,}", "games")]
    apart = f"{found.groups} groups of players without a game between them: compare inside a group only."
    figures = [rating_figure(ratings)]
    tables = [ratings_table(ratings)]
    pairings = [crosstable_of(found), matches_table(played, linked)]
    sections = [
        ReportSection("Ratings", [apart] if found.groups > 1 else [], figures=figures, tables=tables),
        ReportSection("Pairings", tables=pairings),
        *([ReportSection("Games", games=games_to_step(tournament.game, whole_sample(played)))] if whole else []),
        _origin(tournament, tournament.settings),
    ]
    return Report(tournament.title, tournament.state_text, facts, sections)


def rating_figure(ratings: Sequence[Rating]) -> Figure:
    """Return the players' Elo with 95 % intervals."""
    places = [float(number) for number in range(1, len(ratings) + 1)]
    intervals = [rating.interval() for rating in ratings]
    series = Series(
        "Elo",
        places,
        [rating.elo for rating in ratings],
        "blue",
        low=[low for low, _ in intervals],
        high=[high for _, high in intervals],
        joined=False,
    )
    text = "Bradley-Terry with Davidson's draws, 95 % intervals; 0 is the mean of a group."
    names = [rating.name for rating in ratings]
    return Figure("ratings", "Ratings", text, "Elo", "player", lines=(series,), x_names=names)


def ratings_table(ratings: Sequence[Rating]) -> ReportTable:
    """Return a rating list as a table."""
    rows = []
    for number, rating in enumerate(ratings, 1):
        low, high = rating.interval()
        elo = (f"{rating.elo:+.0f}", f"{low:+.0f} to {high:+.0f}")
        rows.append([f"{number}. {rating.name}", *elo, *_counts(rating.record)])
    return ReportTable(("player", "Elo", "95 %", *COUNTS), rows)


def crosstable_of(found: RatingList) -> ReportTable:
    """Return points of each player against each other."""
    names, *rows = crosstable_rows(found.names, found.results)
    return ReportTable(
        names, [[f"{number}. {name}", *cells] for (number, *cells), name in zip(rows, found.names, strict=True)]
    )


def matches_table(matches: Sequence[StoredMatch], linked: Linked) -> ReportTable:
    """Return one row a match: its folder, players and result."""
    rows = []
    for match in matches[:MOST_ROWS]:
        tally = match.tally
        name = match.folder.path.name
        elo = elo_of_score(tally.record.score)
        low, high = tally.elo_interval
        counts = _counts(tally.record)
        interval = f"{low:+.0f} to {high:+.0f}"
        rows.append([linked(name, name), *match.names, *counts, f"{elo:+.0f}", interval])
    if len(matches) > MOST_ROWS:
        rows.append([f"{len(matches) - MOST_ROWS:,} more matches", *[""] * 9])
    return ReportTable(("match", "A", "B", *COUNTS, "Elo", "95 %"), rows, words=True)


def _counts(record: MatchScore) -> list[str]:
    return [
        *(f"{count:,}" for count in (record.games, record.wins, record.draws, record.losses)),
        f"{record.score:.1%}",
    ]


# A tuning.


def _tuning_report(tuning: StoredMatches, linked: Linked, *, whole: bool) -> Report:
    result = tuning.result
    played = [match for match in tuning.matches if match.games]
    keys = list(result.get("tuned") or {})
    verified = [match for match in played if match.folder.path.name == "verification"]
    facts = []
    for key in keys:
        before = f"{key}, was {result['before'][key]:.4g}"
        facts.append((f"{result['tuned'][key]:.4g}", before))
    tables = []
    for match in verified:
        rows = [(name, value) for value, name in result_facts(match.tally)]
        tables.append(ReportTable(("tuned against given", ""), rows))
    text = [f"Tuned player: {result['player']}"] if result.get("player") else []
    sections = [
        ReportSection("Values", text, figures=_values_over_iterations(result, keys), tables=tables),
        ReportSection("Matches", tables=[matches_table(played, linked)]),
        *([ReportSection("Games", games=games_to_step(tuning.game, whole_sample(played)))] if whole else []),
        _origin(tuning, tuning.settings),
    ]
    return Report(tuning.title, tuning.state_text, facts, sections)


def _values_over_iterations(result: Mapping[str, Any], keys: Sequence[str]) -> list[Figure]:
    steps: Sequence[Mapping[str, Any]] = result.get("iterations") or []
    xs = [float(number) for number in range(1, len(steps) + 1)]
    text = "After each iteration of SPSA; the result is the mean of the second half."
    found = []
    for key in keys:
        values = [step["values"][key] for step in steps]
        figure = lines(f"tune-{key}", key, text, "value", xs=xs, rows={key: values}, x_name="iteration")
        if figure is not None:
            found.append(figure)
    return found


# Games.

COLUMNS = ("game", "first", "second", "result", "end", "plies", "opening")


def sample_of(games: Sequence[MatchGame], most: int = SAMPLE) -> list[MatchGame]:
    """Return at most `most` games, whole pairs spread evenly over the match, in the order of their numbers."""
    ordered = sorted(games, key=lambda game: game.index)
    pairs = [ordered[first : first + 2] for first in range(0, len(ordered), 2)]
    sample: list[MatchGame] = []
    for pair in evenly(pairs, max(1, most // 2)):
        sample += pair
    return sample[:most]


def games_to_step(game: _core.Game, named: Iterable[tuple[tuple[str, str], MatchGame]]) -> ReportGames:
    """Return these games for a report, each with the names of players A and B."""
    walks = [walk_of_game(game, names, played) for names, played in named]
    return ReportGames(drawing_of(game.new_initial_state()), walks)


def whole_sample(matches: Sequence[StoredMatch]) -> list[tuple[tuple[str, str], MatchGame]]:
    """Return about SAMPLE games of these matches, with their players."""
    share = max(2, SAMPLE // max(1, len(matches)) // 2 * 2)
    games = []
    for match in matches:
        games += [(match.names, match.whole(game.index)) for game in sample_of(match.games, share)]
    return games[:SAMPLE]


def games_table(
    games: Sequence[MatchGame],
    names: tuple[str, str],
    buttons: Mapping[int, str],
    of_all: int = 0,
) -> ReportTable:
    """Return games of a match as a table. buttons: attributes of those that open on a board, by their numbers.

    of_all: number of all games of the match, where the table is folded up; 0: it is open.
    """
    rows = [[_number(game, buttons), *_row(game, names)] for game in games]
    left = of_all - len(games)
    folded = "All games" if of_all else ""
    if left > 0:
        folded = f"Games; {left:,} more games are in games.jsonl"
    return ReportTable(COLUMNS, rows, words=True, folded=folded)


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
    first, second = by_side(played, names)
    result = result_title(first, second, outcome_of(played), played.end)
    title = f"{played.index + 1}. {result}"
    return walk_of(start, actions, title=title, notes=_notes(played, start, actions))


def _notes(played: MatchGame, start: _core.State, actions: Sequence[int]) -> WalkNotes:
    """Return what the players thought of their positions: the expected score, and the score of each move."""
    state = start.copy()
    opening = len(played.opening.split())
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

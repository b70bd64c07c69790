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
        if not (folder / kind.SETTINGS).is_file():
            continue
        stored = read_stored(kind(folder), game)
        if not stored.games_done:
            content = kind.CONTENT.replace("a ", "the ")
            raise ValueError(f"{folder}: no game of {content} is finished yet")
        report = report_of(stored, whole=True)
        return report.write(output or folder / PAGE)
    names = ", ".join(kind.SETTINGS for kind in KINDS)
    raise ValueError(f"{folder}: has none of {names}, so it is the folder of no match, tournament or tuning")


def renew_page(folder: Path | None, game: _core.Game | None = None) -> None:
    """Write the page of a folder in which work has just ended or was interrupted, where a game of it is finished."""
    if folder is None or not has_page(folder):
        return
    if any(folder.rglob("games.jsonl")):
        write_page(folder, game=game)


def report_of(stored: Stored, linked: Linked = lambda _, text: text, *, whole: bool = False) -> Report:
    """Return what is known of the work in a folder until now. whole: with games to step through, and lists of them.

    linked: default: plain text, for a page that stands alone.
    """
    if not stored.games_done:
        origin = _origin(stored, stored.settings)
        return Report(stored.title, "No game is finished yet.", sections=[origin])
    match stored:
        case StoredMatch():
            return _match_report(stored, whole=whole)
        case StoredTournament():
            return _tournament_report(stored, linked, whole=whole)
        case StoredMatches():
            return _tuning_report(stored, linked, whole=whole)


def _origin(stored: Stored, settings: Mapping[str, Any]) -> ReportSection:
    written = stored.result.get("written") or stored.begun
    work = stored.result.get("work") or {}
    tables = [
        ReportTable(("setting", "value"), settings_rows(settings), words=True, folded="Settings"),
        ReportTable(("work", ""), settings_rows(work), words=True, folded="Work"),
        ReportTable(("made with", ""), provenance_rows(written), words=True, folded="Origin"),
    ]
    filled = [table for table in tables if table.rows]
    return ReportSection("How it was made", tables=filled)


# A match.


def _match_report(match: StoredMatch, *, whole: bool) -> Report:
    tally = match.tally
    sections = [_result_section(match, tally)]
    if whole:
        sections.append(_games_section(match))
    settings = {**match.settings, "games": len(match.games)}
    sections.append(_origin(match, settings))
    subtitle = f"{match.game.spec}; {match.state_text}"
    return Report(match.title, subtitle, result_facts(tally), sections)


def _result_section(match: StoredMatch, tally: Tally) -> ReportSection:
    """Return figures, sentences and table of a match's result."""
    figures = [score_figure(match)]
    text = []
    if tally.test is not None:
        figures.append(llr_figure(tally.test))
        text.append(f"{sprt_text(tally.test.sprt)}: {sprt_line(tally.test)}.")
    if tally.paired:
        counts = ", ".join(str(count) for count in tally.pairs.counts)
        text.append(f"Pairs in which A made 0, 1/2, 1, 3/2 and 2 points: {counts}.")
    ends = ", ".join(f"{end} {count:,}" for end, count in tally.common_ends())
    source = SOURCES[tally.interval_from]
    text.append(f"Ends: {ends}. Intervals are of 95 %, from {source}.")
    return ReportSection("Result", text, figures=figures, tables=[results_table(tally)])


def _games_section(match: StoredMatch) -> ReportSection:
    """Return games of a match to step through, and the list of its games."""
    sample = []
    buttons = {}
    for place, game in enumerate(sample_of(match.games)):
        sample.append((match.names, match.whole(game.index)))
        buttons[game.index] = f'data-walk="{place} 0"'
    listed = games_table(match.games[:MOST_ROWS], match.names, buttons, len(match.games))
    return ReportSection("Games", tables=[listed], games=games_to_step(match.game, sample))


def result_facts(tally: Tally) -> list[tuple[str, str]]:
    """Return score, Elo and the other figures of a result, from A's view."""
    low, high = tally.score_interval
    least, most = tally.elo_interval
    record = tally.record
    return [
        (f"{record.games:,}", "games"),
        (f"{record.wins:,} / {record.draws:,} / {record.losses:,}", "won, drawn, lost by A"),
        (f"{record.score:.1%}", f"score of A, {low:.1%} to {high:.1%}"),
        (f"{elo_of_score(record.score):+z.0f}", f"Elo, {least:+z.0f} to {most:+z.0f}"),
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
    xs = []
    values = []
    lows = []
    highs = []
    for count, game in enumerate(games, 1):
        tally.add(game, match.lines[game.index])
        if count not in marks:
            continue
        low, high = tally.score_interval
        xs.append(count)
        values.append(tally.record.score)
        lows.append(low)
        highs.append(high)
    return Figure(
        "score",
        "Score over the games",
        "In the order of their numbers, with the 95 % interval of the games until then.",
        "score of A",
        "games",
        lines=(Series("score of A", xs, values, "blue", low=lows, high=highs),),
        percent=True,
        threshold=0.5,
        threshold_name="even",
    )


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
    steps_between = -(-games // POINTS // step)
    wide = max(step, steps_between * step)
    return {*range(wide, games + 1, wide), games}


# A tournament.


def _tournament_report(tournament: StoredTournament, linked: Linked, *, whole: bool) -> Report:
    found = tournament.ratings()
    ratings = found.ratings
    played = [match for match in tournament.matches if match.games]
    games = sum(line.record.games for line in ratings) // 2
    facts = [(f"{len(ratings):,}", "players"), (f"{games:,}", "games")]
    text = []
    if found.groups > 1:
        text.append(f"{found.groups} groups of players without a game between them: compare inside a group only.")
    pairings = [crosstable_of(found), matches_table(played, linked)]
    sections = [
        ReportSection("Ratings", text, figures=[rating_figure(ratings)], tables=[ratings_table(ratings)]),
        ReportSection("Pairings", tables=pairings),
    ]
    if whole:
        sections.append(_sample_section(tournament.game, played))
    sections.append(_origin(tournament, tournament.settings))
    return Report(tournament.title, tournament.state_text, facts, sections)


def rating_figure(ratings: Sequence[Rating]) -> Figure:
    """Return the players' Elo with 95 % intervals."""
    names = []
    values = []
    lows = []
    highs = []
    for rating in ratings:
        low, high = rating.interval()
        names.append(rating.name)
        values.append(rating.elo)
        lows.append(low)
        highs.append(high)
    places = [float(number) for number in range(1, len(ratings) + 1)]
    series = Series("Elo", places, values, "blue", low=lows, high=highs, joined=False)
    text = "Bradley-Terry with Davidson's draws, 95 % intervals; 0 is the mean of a group."
    return Figure("ratings", "Ratings", text, "Elo", "player", lines=(series,), x_names=names)


def ratings_table(ratings: Sequence[Rating]) -> ReportTable:
    """Return a rating list as a table."""
    rows = []
    for number, rating in enumerate(ratings, 1):
        low, high = rating.interval()
        player = f"{number}. {rating.name}"
        interval = f"{low:+z.0f} to {high:+z.0f}"
        rows.append([player, f"{rating.elo:+z.0f}", interval, *_counts(rating.record)])
    return ReportTable(("player", "Elo", "95 %", *COUNTS), rows)


def crosstable_of(found: RatingList) -> ReportTable:
    """Return points of each player against each other."""
    head, *lines_of_players = crosstable_rows(found.names, found.results)
    rows = []
    for (number, *cells), name in zip(lines_of_players, found.names, strict=True):
        rows.append([f"{number}. {name}", *cells])
    return ReportTable(head, rows)


def matches_table(matches: Sequence[StoredMatch], linked: Linked) -> ReportTable:
    """Return one row a match: its folder, players and result."""
    rows = []
    for match in matches[:MOST_ROWS]:
        tally = match.tally
        name = match.folder.path.name
        elo = elo_of_score(tally.record.score)
        low, high = tally.elo_interval
        counts = _counts(tally.record)
        interval = f"{low:+z.0f} to {high:+z.0f}"
        rows.append([linked(name, name), *match.names, *counts, f"{elo:+z.0f}", interval])
    if len(matches) > MOST_ROWS:
        more = len(matches) - MOST_ROWS
        rows.append([f"{more:,} more matches", *[""] * 9])
    return ReportTable(("match", "A", "B", *COUNTS, "Elo", "95 %"), rows, words=True)


def _counts(record: MatchScore) -> list[str]:
    numbers = (record.games, record.wins, record.draws, record.losses)
    texts = [f"{number:,}" for number in numbers]
    texts.append(f"{record.score:.1%}")
    return texts


# A tuning.


def _tuning_report(tuning: StoredMatches, linked: Linked, *, whole: bool) -> Report:
    result = tuning.result
    played = [match for match in tuning.matches if match.games]
    tuned = result.get("tuned") or {}
    facts = []
    for key, value in tuned.items():
        before = f"{key}, was {result['before'][key]:.4g}"
        facts.append((f"{value:.4g}", before))
    tables = []
    for match in played:
        if match.folder.path.name == "verification":
            rows = [(name, value) for value, name in result_facts(match.tally)]
            tables.append(ReportTable(("tuned against given", ""), rows))
    text = []
    if result.get("player"):
        text.append(f"Tuned player: {result['player']}")
    figures = _values_over_iterations(result, list(tuned))
    sections = [
        ReportSection("Values", text, figures=figures, tables=tables),
        ReportSection("Matches", tables=[matches_table(played, linked)]),
    ]
    if whole:
        sections.append(_sample_section(tuning.game, played))
    sections.append(_origin(tuning, tuning.settings))
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


def _sample_section(game: _core.Game, played: Sequence[StoredMatch]) -> ReportSection:
    """Return games of several matches to step through."""
    return ReportSection("Games", games=games_to_step(game, whole_sample(played)))


def whole_sample(matches: Sequence[StoredMatch]) -> list[tuple[tuple[str, str], MatchGame]]:
    """Return about SAMPLE games of these matches, with their players."""
    pairs = SAMPLE // max(1, len(matches)) // 2
    share = 2 * max(1, pairs)
    games = []
    for match in matches:
        for game in sample_of(match.games, share):
            games.append((match.names, match.whole(game.index)))
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
    rows = []
    for game in games:
        number = _number(game, buttons)
        rows.append([number, *_row(game, names)])
    left = of_all - len(games)
    folded = "All games" if of_all else ""
    if left > 0:
        folded = f"Games; {left:,} more games are in games.jsonl"
    return ReportTable(COLUMNS, rows, words=True, folded=folded)


def _number(game: MatchGame, buttons: Mapping[int, str]) -> str:
    """Return the number of a game, a button where it has attributes of one."""
    number = str(game.index + 1)
    if game.index not in buttons:
        return number
    return Markup(f'<button class="link" {buttons[game.index]}><u>{number}</u></button>')


def _row(game: MatchGame, names: tuple[str, str]) -> list[str]:
    opening = " ".join(filter(None, (game.fen, game.opening)))
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

"""report.html of a match: result with intervals, score over time or the test's likelihood ratio, openings, games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.registry import make
from hauteur.matches.folder import MatchFolder
from hauteur.matches.ratings.elo import PairsInOrder, Sprt, elo_of_score
from hauteur.matches.report.board_games import board_html, games_table, openings_table, sample_of
from hauteur.matches.results import MatchGame, Tally, sprt_line, sprt_text
from hauteur.plots import Figure, Series
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.files import read_json
from hauteur.system.formatting import duration, signed

POINTS = 200
"""Places of the figures over time."""

SHARES_OF_POINTS = ("0", "1/2", "1", "3/2", "2")


@dataclass(frozen=True)
class StoredMatch:
    """A match as its folder has it.

    games: in the order of their numbers, each once; result: of result.json, empty where there is none; test: the
    sequential test with the games it counted, None without one.
    """

    folder: MatchFolder
    game: _core.Game
    names: tuple[str, str]
    settings: Mapping[str, Any]
    begun: Mapping[str, Any]
    result: Mapping[str, Any]
    games: tuple[MatchGame, ...]

    @property
    def paired(self) -> bool:
        """Return whether games 2k and 2k + 1 share an opening."""
        return self.settings.get("colours") == "swap"

    @property
    def sprt(self) -> Sprt | None:
        """The sequential test that ends the match."""
        values = self.result.get("sprt")
        return values and Sprt(*(values[name] for name in ("elo0", "elo1", "alpha", "beta", "model")))


def read_match(path: Path, game: _core.Game | None = None) -> StoredMatch:
    """Read a match (of this game, default: as its settings say) from its folder.

    Raise ValueError where it has none, or no finished game.
    """
    folder = MatchFolder(path)
    stored = folder.stored()
    games = {played.index: played for played in folder.games()}
    if not games:
        raise ValueError(f"{path}: no game of the match is finished yet, so there is nothing to report")
    return StoredMatch(
        folder=folder,
        game=game or make(stored["settings"]["game"]),
        names=folder.names(),
        settings=stored["settings"],
        begun=stored.get("begun") or {},
        result=read_json(folder.result_file) if folder.result_file.exists() else {},
        games=tuple(games[index] for index in sorted(games)),
    )


def match_page(match: StoredMatch) -> str:
    """Return the whole page."""
    test = _test(match)
    tally, counted = _tally(match, test)
    sample = sample_of(match.games)
    a, b = match.names
    figures = [score_figure(match, counted), *([] if test is None else [llr_figure(match, test.sprt)])]
    figures += [pairs_figure(tally)] if tally.pairs.pairs else []
    parts = [
        f"<h1>{escape(a)} against {escape(b)}</h1>",
        f"<p>{escape(match.game.spec)}; {escape(_state(match, test))}</p>",
        facts_html(result_facts(tally)),
        f"<p>{escape(sprt_text(test.sprt))}: {escape(sprt_line(test))}.</p>" if test is not None else "",
        results_table(tally),
        figures_html(figures),
        "<h2>Games</h2>",
        board_html(match.game, [(match.names, game) for game in sample]),
        f"<details><summary>All games</summary>{games_table(match.games, sample, match.names)}</details>",
        openings_table(match.games),
        "<h2>Settings</h2>",
        settings_html({**match.settings, "games": len(match.games)}),
        "<h2>Work</h2>",
        settings_html(match.result.get("work") or {}),
        provenance_html(match.result.get("written") or match.begun),
    ]
    return page(f"{a} - {b}", parts)


def result_facts(tally: Tally) -> list[tuple[str, str]]:
    """Return score, Elo and the other figures of a result, from A's view."""
    low, high = tally.score_interval
    least, most = tally.elo_interval
    record = tally.record
    return [
        (f"{record.games:,}", "games"),
        (f"{record.wins:,} / {record.draws:,} / {record.losses:,}", "won, drawn, lost by A"),
        (f"{record.score:.1%}", f"score of A, {low:.1%} to {high:.1%}"),
        (signed(elo_of_score(record.score)), f"Elo, {signed(least)} to {signed(most)}"),
        (f"{tally.superiority:.1%}", "chance that A is stronger"),
    ]


def results_table(tally: Tally) -> str:
    """Return wins, draws and losses by seat, and the reasons of the ends."""
    rows = [("all", tally.record), *((f"A {seat}", record) for seat, record in tally.seats.items() if record.games)]
    cells = [
        (name, f"{r.games:,}", f"{r.wins:,}", f"{r.draws:,}", f"{r.losses:,}", f"{r.score:.1%}") for name, r in rows
    ]
    ends = ", ".join(f"{end} {count:,}" for end, count in tally.common_ends())
    table = table_html(("", "games", "won", "drawn", "lost", "score"), cells)
    return f"{table}<p>Ends: {escape(ends)}. Intervals are of 95 %, from {_source(tally)}.</p>"


def _source(tally: Tally) -> str:
    return "pairs of games with the same opening" if tally.pairs.pairs else "single games"


def score_figure(match: StoredMatch, games: Sequence[MatchGame]) -> Figure:
    """Return A's score over the games, with its 95 % interval."""
    tally = Tally(match.paired)
    marks = _places(len(games), step=2 if match.paired else 1)
    xs, values, lows, highs = list[float](), list[float](), list[float](), list[float]()
    for count, game in enumerate(games, 1):
        tally.add(game)
        if count in marks:
            low, high = tally.score_interval
            xs.append(count)
            values.append(tally.record.score)
            lows.append(low)
            highs.append(high)
    line = Series("score of A", xs, values, "blue", low=lows, high=highs)
    return Figure(
        "score",
        "Score over the games",
        "In the order of their numbers, with the 95 % interval of the games until then.",
        "score of A",
        "games",
        lines=(line,),
        percent=True,
        threshold=0.5,
        threshold_name="even",
    )


def llr_figure(match: StoredMatch, sprt: Sprt) -> Figure:
    """Return the log likelihood ratio of a sequential test over its pairs, between its bounds."""
    test, xs, values = PairsInOrder(sprt), list[float](), list[float]()
    marks = _places(len(match.games), step=2)
    for count, game in enumerate(match.games, 1):
        test.add(game.index, game.score)
        if count in marks:
            xs.append(test.pairs.pairs)
            values.append(test.llr)
    low, high = sprt.bounds
    ends = [min(xs, default=0.0), max(xs, default=1.0)]
    bounds = (
        Series(f"elo1 = {sprt.elo1:g} is accepted", ends, [high, high], "green", dashed=True),
        Series(f"elo0 = {sprt.elo0:g} is accepted", ends, [low, low], "orange", dashed=True),
    )
    line = Series("log likelihood ratio", xs, values, "blue")
    text = f"Sequential test of {sprt_text(sprt)}; it ends at a bound."
    return Figure("llr", "Sequential test", text, "LLR", "pairs of games", lines=(line, *bounds))


def pairs_figure(tally: Tally) -> Figure:
    """Return the shares of pairs by A's points: the pentanomial distribution."""
    counts, total = tally.pairs.counts, tally.pairs.pairs
    places = [float(place) for place in range(1, 6)]
    area = Series("pairs", places, [count / total for count in counts], "win")
    counted = ", ".join(f"{points}: {count:,}" for points, count in zip(SHARES_OF_POINTS, counts, strict=True))
    return Figure(
        "pairs",
        "Points of pairs",
        f"Games with the same opening and swapped colours, by A's points of both. {counted}.",
        "share of pairs",
        "points of A",
        areas=(area,),
        percent=True,
        x_names=SHARES_OF_POINTS,
    )


def _test(match: StoredMatch) -> PairsInOrder | None:
    """Return the sequential test after all games of the match."""
    if match.sprt is None:
        return None
    test = PairsInOrder(match.sprt)
    for game in match.games:
        test.add(game.index, game.score)
    return test


def _tally(match: StoredMatch, test: PairsInOrder | None) -> tuple[Tally, tuple[MatchGame, ...]]:
    """Return the result, of the games that a sequential test counted where there is one, and those games."""
    games = match.games if test is None else match.games[: test.record.games]
    tally = Tally(match.paired)
    for game in games:
        tally.add(game)
    return tally, games


def _state(match: StoredMatch, test: PairsInOrder | None) -> str:
    work = match.result.get("work") or {}
    took = f", {duration(work['seconds'])}" if work.get("seconds") else ""
    done = match.result.get("complete") or (test is not None and test.verdict is not None)
    return f"{'finished' if done else 'not finished'}, {len(match.games):,} games{took}"


def _places(games: int, *, step: int) -> set[int]:
    """Return at most POINTS counts of games, whole steps, with the last one."""
    wide = max(step, -(-games // POINTS // step) * step)
    return {*range(wide, games + 1, wide), games}

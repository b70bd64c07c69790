"""report.html of a match: result with intervals, score over time or the test's likelihood ratio, openings, games."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from hauteur.cluster.counts import numbers_in_words, summed_numbers
from hauteur.matches.ratings.elo import PairsInOrder, elo_of_score
from hauteur.matches.report.board_games import board_html, games_table, openings_table, sample_of
from hauteur.matches.report.stored_match import StoredMatch
from hauteur.matches.results import IntervalSource, Tally, sprt_line, sprt_text
from hauteur.plots import Figure, Series
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.formatting import signed

POINTS = 200
"""Places of the figures over time."""

SHARES_OF_POINTS = ("0", "1/2", "1", "3/2", "2")


def match_page(match: StoredMatch) -> str:
    """Return the whole page."""
    sample = [match.whole(game.index) for game in sample_of(match.games)]
    parts = [
        f"<h1>{escape(match.title)}</h1>",
        f"<p>{escape(match.game.spec)}; {escape(match.state_text)}</p>",
        *standing_parts(match),
        "<h2>Games</h2>",
        board_html(match.game, [(match.names, game) for game in sample]),
        f"<details><summary>All games</summary>{games_table(match.games, sample, match.names)}</details>",
        openings_table(match.games),
        *origin_parts(match),
    ]
    return page(match.title, parts)


def standing_parts(match: StoredMatch) -> list[str]:
    """Return the result until now: the figures of the result, the sequential test, and the drawings."""
    tally, test = match.counted.tally, match.counted.test
    figures = [score_figure(match), *([] if test is None else [llr_figure(test)])]
    figures += [pairs_figure(tally)] if tally.pairs.pairs else []
    said = "" if test is None else f"<p>{escape(sprt_text(test.sprt))}: {escape(sprt_line(test))}.</p>{llr_bar(test)}"
    said += f"<p>{escape(tally.unchecked_text)}.</p>" if tally.unchecked else ""
    return [facts_html(result_facts(tally)), said, results_table(tally), figures_html(figures)]


def origin_parts(match: StoredMatch) -> list[str]:
    """Return the settings of a match, what it has cost, and how it was made."""
    return [
        "<h2>Settings</h2>",
        settings_html({**match.settings, "games": len(match.games)}),
        "<h2>Work</h2>",
        settings_html(match.result.get("work") or {}),
        *workers_parts(match.result),
        provenance_html(match.result.get("written") or match.begun),
    ]


def workers_parts(*results: Mapping[str, Any]) -> list[str]:
    """Return what workers did for matches, as each result.json has it; nothing where there were none."""
    numbers = [result["workers"] for result in results if result.get("workers")]
    return ["<h2>Workers</h2>", facts_html(numbers_in_words(summed_numbers(numbers)))] if numbers else []


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
    return f"{table}<p>Ends: {escape(ends)}. Intervals are of 95 %, from {SOURCES[tally.interval_from]}.</p>"


SOURCES: Mapping[IntervalSource, str] = {
    "pairs": "pairs of games with the same opening",
    "games": "single games",
    "openings": "openings, which repeat",
    "running": "games in the order of their numbers, in which those that go on may yet be lost or won",
}
"""What the interval of a tally is made of, in words."""


def score_figure(match: StoredMatch) -> Figure:
    """Return A's score over the games that count, with its 95 % interval."""
    tally = Tally(match.paired)
    games = match.games[: match.counted.tally.record.games]
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


def llr_bar(test: PairsInOrder) -> str:
    """Return a bar from the bound of elo0 to that of elo1, filled from 0 to the log likelihood ratio of now."""
    low, high = test.sprt.bounds
    width, middle = 400.0, -low / (high - low)
    place = (min(max(test.llr, low), high) - low) / (high - low)
    begin, end = sorted((middle * width, place * width))
    colour = "green" if test.llr > 0 else "orange"
    said = f"log likelihood ratio {test.llr:+.2f}, between {low:+.2f} and {high:+.2f}"
    shapes = (
        f'<rect class="frame" width="{width:g}" height="14" fill="none" stroke="var(--rule)"/>'
        f'<rect x="{begin:.1f}" width="{end - begin:.1f}" height="14" fill="var(--{colour})"/>'
        f'<line x1="{middle * width:.1f}" x2="{middle * width:.1f}" y1="-3" y2="17" stroke="var(--ink)"/>'
    )
    ends = f"<text y='30'>{low:+.2f}</text><text x='{width:g}' y='30' text-anchor='end'>{high:+.2f}</text>"
    return f'<svg class="llr" viewBox="-1 -4 402 38" role="img" aria-label="{said}">{shapes}{ends}</svg>'


def llr_figure(test: PairsInOrder) -> Figure:
    """Return the log likelihood ratio of a sequential test over its pairs, between its bounds."""
    sprt, marks = test.sprt, sorted(_places(len(test.llrs), step=1) - {0})
    xs, values = [float(mark) for mark in marks], [test.llrs[mark - 1] for mark in marks]
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


def _places(games: int, *, step: int) -> set[int]:
    """Return at most POINTS counts of games, whole steps, with the last one."""
    wide = max(step, -(-games // POINTS // step) * step)
    return {*range(wide, games + 1, wide), games}

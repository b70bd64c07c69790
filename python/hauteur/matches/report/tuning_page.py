"""report.html of a tuning: the values over the iterations, or the ratio over the values, and all its matches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hauteur.games.registry import make
from hauteur.matches.report.board_games import SAMPLE, board_html, sample_of
from hauteur.matches.report.match_page import StoredMatch, read_match, result_facts
from hauteur.matches.results import Tally
from hauteur.matches.tuning.ratio_fit import decisive_ratio, decisive_ratio_interval
from hauteur.plots import Figure, Series, lines
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.files import read_json

MOST_ROWS = 400
"""Matches in the table of a page."""

HIGHEST_RATIO = 1000.0
"""End of a ratio's interval that has none, in the figure."""

Line = Mapping[str, Any]


def tuning_page(path: Path) -> str:
    """Return the page of the tuning in a folder; ValueError where no game of it is finished yet."""
    stored = read_json(path / "tune.json")
    result = read_json(path / "result.json") if (path / "result.json").exists() else {}
    folders = sorted(inner.parent for inner in path.glob("*/match.json"))
    matches = [read_match(folder) for folder in folders if (folder / "games.jsonl").exists()]
    if not matches:
        raise ValueError(f"{path}: no game of the tuning is finished yet, so there is nothing to report")
    settings = stored["settings"]
    by_ratio = "wanted" in settings
    facts, figures = _ratio(matches, settings, result) if by_ratio else _strength(result)
    title = f"Tuning for {'a ratio' if by_ratio else 'strength'}: {settings['game']}"
    games = sum(len(match.games) for match in matches)
    state = "finished" if result and result.get("complete", True) else "not finished"
    share = max(2, SAMPLE // len(matches) // 2 * 2)
    sample = [(match.names, game) for match in matches for game in sample_of(match.games, share)][-SAMPLE:]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{state}, {games:,} games in {len(matches):,} matches</p>",
        facts_html(facts),
        f"<pre>{escape(result['player'])}</pre>" if result.get("player") else "",
        figures_html(figures),
        *_verification(matches),
        "<h2>Matches</h2>",
        _matches_table(matches),
        "<h2>Games</h2>",
        board_html(make(settings["game"]), sample),
        "<h2>Settings</h2>",
        settings_html(settings),
        provenance_html(result.get("written") or stored.get("begun") or {}),
    ]
    return page(title, parts)


def _strength(result: Line) -> tuple[list[tuple[str, str]], list[Figure]]:
    """Return the tuned values, and each over the iterations."""
    steps: Sequence[Line] = result.get("iterations") or []
    keys = list(result.get("tuned") or {})
    facts = [(f"{result['tuned'][key]:.4g}", f"{key}, was {result['before'][key]:.4g}") for key in keys]
    xs = [float(number) for number in range(1, len(steps) + 1)]
    text = "After each iteration of SPSA; the result is the mean of the second half."
    rows = {key: [step["values"][key] for step in steps] for key in keys}
    found = [
        lines(f"tune-{key}", key, text, "value", xs=xs, rows={key: values}, x_name="iteration")
        for key, values in rows.items()
    ]
    return facts, [figure for figure in found if figure is not None]


def _ratio(matches: Sequence[StoredMatch], settings: Line, result: Line) -> tuple[list[tuple[str, str]], list[Figure]]:
    """Return the value that was found, and (w + l)/d over the values that were played."""
    key = str(settings["parameter"]).partition("=")[0]
    played = {float(match.folder.path.name.removeprefix("value-")): _record(match).record for match in matches}
    found = [(value, record, decisive_ratio(record)) for value, record in sorted(played.items())]
    known = [(value, record, ratio) for value, record, ratio in found if ratio is not None]
    ends = [decisive_ratio_interval(record) for _, record, _ in known]
    series = Series(
        "(w+l)/d",
        [value for value, _, _ in known],
        [max(ratio, 1 / HIGHEST_RATIO) for _, _, ratio in known],
        "blue",
        low=[max(low, 1 / HIGHEST_RATIO) for low, _ in ends],
        high=[high if math.isfinite(high) else HIGHEST_RATIO for _, high in ends],
        joined=False,
    )
    figure = Figure(
        "ratio",
        "Decisive games to draws",
        f"At each value that was played, with 95 % intervals; wanted is {settings['wanted']:g}.",
        "(w+l)/d",
        key,
        lines=(series,),
        log=True,
        x_log=all(value > 0 for value, _, _ in known),
        threshold=settings["wanted"],
        threshold_name="wanted",
    )
    facts = []
    if result.get("interval_95"):
        low, high = result["interval_95"]
        facts = [(f"{result['value']:.4g}", f"{key}, {low:.4g} to {high:.4g}"), (f"{result['reached']}", "reached")]
    return facts, [figure] if known else []


def _record(match: StoredMatch) -> Tally:
    tally = Tally(match.paired)
    for game in match.games:
        tally.add(game)
    return tally


def _verification(matches: Sequence[StoredMatch]) -> list[str]:
    """Return the result of the tuned player against the given one, where they have played."""
    found = [match for match in matches if match.folder.path.name == "verification"]
    shown = "".join(facts_html(result_facts(_record(match))) for match in found)
    return ["<h2>Tuned against given</h2>", shown] if found else []


def _matches_table(matches: Sequence[StoredMatch]) -> str:
    """Return one row a match: its folder, players and result."""
    rows = []
    for match in matches[:MOST_ROWS]:
        record = _record(match).record
        counts = f"+{record.wins}\u00a0={record.draws}\u00a0-{record.losses}"
        players = [str(match.settings.get(side)) for side in ("a", "b")]
        rows.append([match.folder.path.name, *players, counts, f"{record.score:.1%}"])
    left = len(matches) - len(rows)
    more = f"<p>{left:,} more matches.</p>" if left else ""
    return table_html(("match", "A", "B", "results", "score"), rows, words=True) + more

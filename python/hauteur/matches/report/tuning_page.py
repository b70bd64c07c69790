"""report.html of a tuning: the values over the iterations, or the ratio over the values, and all its matches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hauteur.matches.report.board_games import SAMPLE, board_html
from hauteur.matches.report.match_page import result_facts, workers_parts
from hauteur.matches.report.stored_match import StoredMatch, StoredTuning
from hauteur.matches.report.tournament_page import Linked, not_linked, whole_sample
from hauteur.matches.tuning.ratio_fit import decisive_ratio, decisive_ratio_interval
from hauteur.plots import Figure, Series, lines
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html

MOST_ROWS = 400
"""Matches in the table of a page."""

HIGHEST_RATIO = 1000.0
"""End of a ratio's interval that has none, in the figure."""

Line = Mapping[str, Any]


def tuning_page(path: Path) -> str:
    """Return the page of the tuning in a folder; ValueError where no game of it is finished yet."""
    tuning = StoredTuning(path)
    if not tuning.games:
        raise ValueError(f"{path}: no game of the tuning is finished yet, so there is nothing to report")
    parts = [
        f"<h1>{escape(tuning.title)}</h1>",
        f"<p>{escape(tuning.state_text)}</p>",
        *tuning_parts(tuning),
        *workers_parts(*(match.result for match in tuning.matches)),
        "<h2>Games</h2>",
        board_html(tuning.game, whole_sample([match for match in tuning.matches if match.games])[-SAMPLE:]),
        "<h2>Settings</h2>",
        settings_html(tuning.settings),
        provenance_html(tuning.result.get("written") or tuning.begun),
    ]
    return page(tuning.title, parts)


def tuning_parts(tuning: StoredTuning, linked: Linked = not_linked) -> list[str]:
    """Return the values until now, over the iterations or with their ratios, and the matches."""
    played = [match for match in tuning.matches if match.games]
    facts, figures = _ratio(played, tuning.settings, tuning.result) if tuning.by_ratio else _strength(tuning.result)
    return [
        facts_html(facts),
        f"<pre>{escape(tuning.result['player'])}</pre>" if tuning.result.get("player") else "",
        figures_html(figures),
        *_verification(played),
        "<h2>Matches</h2>",
        _matches_table(played, linked),
    ]


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
    played = {float(match.folder.path.name.removeprefix("value-")): match.counted.tally.record for match in matches}
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


def _verification(matches: Sequence[StoredMatch]) -> list[str]:
    """Return the result of the tuned player against the given one, where they have played."""
    found = [match for match in matches if match.folder.path.name == "verification"]
    shown = "".join(facts_html(result_facts(match.counted.tally)) for match in found)
    return ["<h2>Tuned against given</h2>", shown] if found else []


def _matches_table(matches: Sequence[StoredMatch], linked: Linked) -> str:
    """Return one row a match: its folder, players and result."""
    rows = []
    for match in matches[:MOST_ROWS]:
        record = match.counted.tally.record
        counts = f"+{record.wins}\u00a0={record.draws}\u00a0-{record.losses}"
        players = [str(match.settings.get(side)) for side in ("a", "b")]
        name = match.folder.path.name
        rows.append([linked(name, name), *players, counts, f"{record.score:.1%}"])
    left = len(matches) - len(rows)
    more = f"<p>{left:,} more matches.</p>" if left else ""
    return table_html(("match", "A", "B", "results", "score"), rows, words=True) + more

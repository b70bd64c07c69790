"""Experiments as the laboratory sees them: those that are installed, their folders, their results as parts of a page.

Experiments are distributions of their own (`experiments/` is one); they are found by entry points, and their results
are files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from hauteur.plots.figure import figure_of
from hauteur.plots.page import facts_html, figures_html, provenance_html, settings_html, table_html
from hauteur.system import entry_points
from hauteur.system.formatting import duration
from hauteur.system.run_directory import RunDirectory

MOST_ROWS = 500
"""Rows of the table on a page."""


class KnownExperiment(Protocol):
    """What a list shows of an experiment: its name on the command line, the paper, a line on what it measures."""

    name: str
    paper: str
    title: str


def known_experiments() -> list[KnownExperiment]:
    """Return the experiments of all installed distributions; imports them."""
    return [known for entry in entry_points.offered(entry_points.EXPERIMENTS) for known in entry.load()]


@dataclass(frozen=True)
class ExperimentFolder(RunDirectory):
    """experiment.json (settings), the files of results, and what the experiment goes on from."""

    SETTINGS = "experiment.json"
    CONTENT = "an experiment"
    WORK = "making an experiment"


def result_parts(facts: Mapping[str, Any]) -> list[str]:
    """Return what a page shows of a result, as result.json has it; ValueError where it is not one."""
    try:
        return _parts(facts)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not the result of an experiment: {error!r}") from None


def _parts(facts: Mapping[str, Any]) -> list[str]:
    verdicts = Counter(finding["verdict"] for finding in facts["findings"])
    shown = [
        (str(facts["created"])[:10], "date"),
        (duration(facts["seconds_of_last_attempt"]), "time of the last attempt"),
    ]
    shown += [(f"{count}", f"findings: {verdict}") for verdict, count in verdicts.items()]
    findings = [(finding["verdict"], finding["paper"], finding["measured"]) for finding in facts["findings"]]
    return [
        f"<p>{escape(facts['paper'])}; scale {facts['scale']:g}, {facts['seeds']} seeds.</p>",
        facts_html(shown),
        table_html(("verdict", "the paper", "here"), findings, words=True),
        figures_html(map(figure_of, facts.get("figures") or ())),
        *(f"<pre>{escape(text)}</pre>" for text in facts.get("texts") or ()),
        "<h2>Numbers</h2>",
        _rows_html(facts["rows"]),
        "<h2>Settings</h2>",
        settings_html(facts.get("settings") or {}),
        provenance_html(facts),
    ]


def _rows_html(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of result.csv, as far as a page has room for it."""
    if not found:
        return "<p>None.</p>"
    names = list(found[0])
    rows = [[_cell(row[name]) for name in names] for row in found[:MOST_ROWS]]
    left = len(found) - len(rows)
    more = f"<p>{left:,} more rows are in result.csv.</p>" if left else ""
    return table_html(names, rows) + more


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

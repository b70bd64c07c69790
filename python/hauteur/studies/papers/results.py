"""The folder of an experiment's results: result.csv, result.json, figures as PNG and CSV, and a page with them."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.plots import write_csv, write_png
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.files import write_bytes, write_json
from hauteur.system.formatting import duration
from hauteur.system.provenance import provenance

if TYPE_CHECKING:
    from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Finding, Result

MOST_ROWS = 500
"""Rows of the table on a page."""


def write_results(experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float) -> list[Path]:
    """Write all result files; return the paths, the main ones first. PNG is skipped without matplotlib."""
    folder = setting.folder
    paths = [folder / "index.html", folder / "result.json", folder / "result.csv"]
    made = provenance()
    write_bytes(paths[0], _page(experiment, setting, result, seconds, made).encode())
    write_json(paths[1], _facts(experiment, setting, result, seconds, made))
    write_bytes(paths[2], _csv(result).encode())
    for figure in result.figures:
        write_csv(figure, folder / f"{figure.key}.csv")
        if importlib.util.find_spec("matplotlib") is None:
            setting.show("no PNG: matplotlib is missing (pip install 'hauteur[report]')")
            continue
        write_png(figure, folder / f"{figure.key}.png")
        paths.append(folder / f"{figure.key}.png")
    return paths


def _facts(
    experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float, made: Mapping[str, Any]
) -> dict[str, object]:
    return {
        "experiment": experiment.name,
        "paper": experiment.paper,
        "scale": setting.scale,
        "seeds": setting.seeds,
        "threads": setting.threads,
        "seconds_of_last_attempt": seconds,
        "findings": [asdict(finding) for finding in result.findings],
        "facts": result.facts,
        "rows": list(result.rows),
        **made,
    }


def _csv(result: Result) -> str:
    file = io.StringIO()
    names = list(result.rows[0]) if result.rows else []
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.rows)
    return file.getvalue()


def _page(
    experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float, made: Mapping[str, Any]
) -> str:
    verdicts = Counter(finding.verdict for finding in result.findings)
    facts = [(str(made["created"])[:10], "date"), (duration(seconds), "time of the last attempt")]
    facts += [(f"{count}", f"findings: {verdict}") for verdict, count in verdicts.items()]
    parts = [
        f"<h1>{escape(experiment.title)}</h1>",
        f"<p>{escape(experiment.paper)}; scale {setting.scale:g}, {setting.seeds} seeds.</p>",
        facts_html(facts),
        table_html(("verdict", "the paper", "here"), map(_finding_row, result.findings), words=True),
        figures_html(result.figures),
        *(f"<pre>{escape(text)}</pre>" for text in result.texts),
        "<h2>Numbers</h2>",
        _rows_html(result),
        "<h2>Settings</h2>",
        settings_html(setting.stored(experiment.name)),
        provenance_html(made),
    ]
    return page(experiment.name, parts)


def _finding_row(finding: Finding) -> tuple[str, str, str]:
    return finding.verdict, finding.paper, finding.measured


def _rows_html(result: Result) -> str:
    """Return the table of result.csv, as far as a page has room for it."""
    if not result.rows:
        return "<p>None.</p>"
    names = list(result.rows[0])
    rows = [[_cell(row[name]) for name in names] for row in result.rows[:MOST_ROWS]]
    left = len(result.rows) - len(rows)
    more = f"<p>{left:,} more rows are in result.csv.</p>" if left else ""
    return table_html(names, rows) + more


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

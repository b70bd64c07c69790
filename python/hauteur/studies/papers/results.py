"""The folder of an experiment's results: result.csv, result.json, figures as PNG and CSV, and a page with them."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.plots import write_csv, write_png
from hauteur.plots.figure import figure_of, figure_values
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.files import write_bytes, write_json
from hauteur.system.formatting import duration
from hauteur.system.provenance import provenance

if TYPE_CHECKING:
    from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Result

MOST_ROWS = 500
"""Rows of the table on a page."""


def write_results(experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float) -> list[Path]:
    """Write all result files; return the paths, the main ones first. PNG is skipped without matplotlib."""
    folder = setting.folder
    paths = [folder / "index.html", folder / "result.json", folder / "result.csv"]
    facts = _facts(experiment, setting, result, seconds)
    write_bytes(
        paths[0], page(experiment.name, [f"<h1>{escape(experiment.title)}</h1>", *result_parts(facts)]).encode()
    )
    write_json(paths[1], facts)
    write_bytes(paths[2], _csv(result).encode())
    for figure in result.figures:
        write_csv(figure, folder / f"{figure.key}.csv")
        if importlib.util.find_spec("matplotlib") is None:
            setting.show("no PNG: matplotlib is missing (pip install 'hauteur[report]')")
            continue
        write_png(figure, folder / f"{figure.key}.png")
        paths.append(folder / f"{figure.key}.png")
    return paths


def _facts(experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "scale": setting.scale,
        "seeds": setting.seeds,
        "threads": setting.threads,
        "seconds_of_last_attempt": seconds,
        "findings": [finding.to_json() for finding in result.findings],
        "share": result.look.share,
        "extensions": result.look.extensions,
        "may_decide": result.may_decide,
        "facts": result.facts,
        "texts": list(result.texts),
        "figures": [figure_values(figure) for figure in result.figures],
        "rows": list(result.rows),
        "settings": setting.stored(experiment.name),
        **provenance(),
    }


def _csv(result: Result) -> str:
    file = io.StringIO()
    names = list(result.rows[0]) if result.rows else []
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.rows)
    return file.getvalue()


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

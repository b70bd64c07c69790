"""Experiments: those that are installed, their folders, their results as parts of a page.

Experiments are distributions of their own (`experiments/` is one); they are found by entry points, and their results
are files.
"""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from hauteur.plots import Figure, write_csv, write_png
from hauteur.plots.figure import figure_values
from hauteur.plots.page import Markup, provenance_rows, settings_rows
from hauteur.plots.report import Report, ReportSection, ReportTable
from hauteur.system import plugins
from hauteur.system.files import write_bytes, write_json
from hauteur.system.formatting import duration
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import RunDirectory

MOST_ROWS = 500
"""Rows of the table on a page."""


class KnownExperiment(Protocol):
    """An experiment in a list: its name on the command line, the paper, a line on what it measures."""

    name: str
    paper: str
    title: str


def known_experiments() -> list[KnownExperiment]:
    """Return the experiments of all installed distributions; imports them."""
    return [known for entry in plugins.offered(plugins.EXPERIMENTS_GROUP) for known in entry.load()]


@dataclass(frozen=True)
class ExperimentFolder(RunDirectory):
    """The folder of an experiment: experiment.json (settings), the files of results, and what it resumes from.

    `with folder.open(settings):` begins or resumes the work, with other processes kept out; other settings than
    it was begun with are refused.

    >>> import hauteur as ht
    >>> from pathlib import Path
    >>> folder = ht.ExperimentFolder(Path("sun"))
    >>> with folder.open({"experiment": "sun"}):
    ...     paths = folder.write_results({"title": "The sun", "rows": [{"kelvin": 5772}]})
    >>> [path.name for path in paths]
    ['index.html', 'result.json', 'result.csv']
    """

    SETTINGS = "experiment.json"
    CONTENT = "an experiment"
    WORK = "making an experiment"

    def write_results(self, facts: Mapping[str, Any], figures: Sequence[Figure] = ()) -> list[Path]:
        """Write a page, result.json, result.csv, and each figure as CSV and, where matplotlib is, as PNG.

        facts: of result.json; those that the page shows: title, paper, findings (verdict, paper, measured), texts,
        rows (one dictionary a row, with the same keys), settings. Return the paths, the main ones first.
        """
        page = self.path / "index.html"
        table = self.path / "result.csv"
        values = [figure_values(figure) for figure in figures]
        whole = {**facts, "figures": values, **provenance()}
        report_of({"title": self.path.name, **whole}, figures).write(page)
        write_json(self.result_file, whole)
        write_bytes(table, _csv(facts.get("rows") or ()).encode())
        paths = [page, self.result_file, table]
        has_matplotlib = find_spec("matplotlib") is not None
        for figure in figures:
            write_csv(figure, self.path / f"{figure.key}.csv")
            if has_matplotlib:
                picture = self.path / f"{figure.key}.png"
                write_png(figure, picture)
                paths.append(picture)
        return paths


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def report_of(facts: Mapping[str, Any], figures: Sequence[Figure]) -> Report:
    """Return the report of a result with these facts, as result.json has them."""
    findings = facts.get("findings") or []
    shown = [(str(facts["created"])[:10], "date")]
    if "seconds_of_last_attempt" in facts:
        shown.append((duration(facts["seconds_of_last_attempt"]), "time of the last attempt"))
    verdicts = Counter(finding["verdict"] for finding in findings)
    shown += [(f"{count}", f"findings: {verdict}") for verdict, count in verdicts.items()]
    about = []
    if "paper" in facts:
        about.append(str(facts["paper"]))
    if "scale" in facts:
        about.append(f"scale {facts['scale']:g}, {facts['seeds']} seeds")
    cells = [(finding["verdict"], finding["paper"], finding["measured"]) for finding in findings]
    texts = [Markup(f"<pre>{escape(text)}</pre>") for text in facts.get("texts") or ()]
    origin = [
        ReportTable(("setting", "value"), settings_rows(facts.get("settings") or {}), words=True),
        ReportTable(("made with", ""), provenance_rows(facts), words=True),
    ]
    verdict_tables = []
    if cells:
        verdict_tables.append(ReportTable(("verdict", "the paper", "here"), cells, words=True))
    sections = [
        ReportSection("Findings", texts, figures=figures, tables=verdict_tables),
        _numbers(facts["rows"]),
        ReportSection("Settings", tables=origin),
    ]
    intro = f"{'; '.join(about)}." if about else ""
    return Report(str(facts["title"]), intro, shown, sections)


def _numbers(found: Sequence[Mapping[str, Any]]) -> ReportSection:
    if not found:
        return ReportSection("Numbers", ["None."])
    names = list(found[0])
    left = len(found) - MOST_ROWS
    rows = []
    for row in found[:MOST_ROWS]:
        rows.append([_cell(row[name]) for name in names])
    more = [f"{left:,} more rows are in result.csv."] if left > 0 else []
    return ReportSection("Numbers", more, tables=[ReportTable(names, rows)])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)

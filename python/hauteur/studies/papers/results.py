"""The folder of an experiment's results: result.csv, result.json, figures as PNG and CSV, and a page with them."""

from __future__ import annotations

import csv
import importlib.util
import io
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.plots import write_csv, write_png
from hauteur.plots.page import figures_html, page
from hauteur.system.files import write_bytes, write_json
from hauteur.system.provenance import provenance

if TYPE_CHECKING:
    from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Finding, Result


def write_results(experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float) -> list[Path]:
    """Write all result files; return the paths, the main ones first. PNG is skipped without matplotlib."""
    folder = setting.folder
    paths = [folder / "index.html", folder / "result.json", folder / "result.csv"]
    write_bytes(paths[0], _page(experiment, setting, result).encode())
    write_json(paths[1], _facts(experiment, setting, result, seconds))
    write_bytes(paths[2], _csv(result).encode())
    for figure in result.figures:
        write_csv(figure, folder / f"{figure.key}.csv")
        if importlib.util.find_spec("matplotlib") is None:
            setting.show("no PNG: matplotlib is missing (pip install 'hauteur[report]')")
            continue
        write_png(figure, folder / f"{figure.key}.png")
        paths.append(folder / f"{figure.key}.png")
    return paths


def _facts(experiment: Experiment, setting: ExperimentSetting, result: Result, seconds: float) -> dict[str, object]:
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
        **provenance(),
    }


def _csv(result: Result) -> str:
    file = io.StringIO()
    names = list(result.rows[0]) if result.rows else []
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.rows)
    return file.getvalue()


def _page(experiment: Experiment, setting: ExperimentSetting, result: Result) -> str:
    parts = [
        f"<h1>{escape(experiment.title)}</h1>",
        f"<p>{escape(experiment.paper)}; scale {setting.scale:g}, {setting.seeds} seeds.</p>",
        *(_finding_html(finding) for finding in result.findings),
        figures_html(result.figures),
        *(f"<pre>{escape(text)}</pre>" for text in result.texts),
    ]
    return page(experiment.name, parts)


def _finding_html(finding: Finding) -> str:
    lines = (("The paper", finding.paper), ("Here", finding.measured), ("Verdict", finding.verdict))
    return "".join(f"<p><b>{name}:</b> {escape(text)}</p>" for name, text in lines)

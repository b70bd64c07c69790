"""The folder of an experiment's results: result.csv, result.json, figures as PNG and CSV, and a page with them."""

from __future__ import annotations

import csv
import importlib.util
import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.plots import write_csv, write_png
from hauteur.plots.figure import figure_values
from hauteur.plots.page import page
from hauteur.studies.experiments import result_parts
from hauteur.system.files import write_bytes, write_json
from hauteur.system.provenance import provenance

if TYPE_CHECKING:
    from hauteur_experiments.experiment import Experiment, ExperimentSetting, Result


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

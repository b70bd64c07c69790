"""A page that compares learning runs: what differs in their recipes, and figures with a line for each recipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe
from hauteur.learning.report.columns import number
from hauteur.learning.report.figures_comparison import comparison_figures
from hauteur.learning.report.page import best_elo, finished_generations, total
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import Figure
from hauteur.plots.figure import short
from hauteur.plots.page import figures_html, page, table_html
from hauteur.system.files import write_bytes
from hauteur.system.formatting import duration
from hauteur.system.settings import flat_settings

FREE_OF_MEANING = ("run.seed", "run.tag", "run.directory", "run.threads")
"""Settings in which the runs of one line may differ."""


LEGEND = (
    "One line a recipe. Runs of one recipe with different seeds are drawn as their mean, as far as all of them have "
    "got, with the spread from the lowest to the highest."
)


@dataclass(frozen=True)
class ComparedRun:
    """Run with its distinguishing name."""

    name: str
    recipe: Recipe
    history: Sequence[dict[str, Any]]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that runs of one line share, by dotted key."""
        settings = flat_settings(self.recipe.model_dump(mode="json"))
        return {key: value for key, value in settings.items() if key not in FREE_OF_MEANING}


Groups = Mapping[str, Sequence[ComparedRun]]
"""Runs of one recipe by the name of their line."""


def read_runs(paths: Sequence[Path]) -> list[ComparedRun]:
    """Read the runs in these folders; ValueError for duplicates, runs without metrics, or different games."""
    places = [path.resolve() for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise ValueError(f"{path} is given twice")
    runs = []
    for path, name in zip(paths, _names(places), strict=True):
        folder = RunFolder(path)
        runs.append(ComparedRun(name, folder.stored_recipe(), finished_generations(folder)))
        if runs[-1].recipe.game != runs[0].recipe.game:
            games = f"{paths[0]} is of {runs[0].recipe.game}, {path} of {runs[-1].recipe.game}"
            raise ValueError(f"only runs of one game can be compared: {games}")
    return runs


def grouped(runs: Sequence[ComparedRun]) -> dict[str, list[ComparedRun]]:
    """Run whose recipes differ in nothing but the seed are together, under what their names have in common."""
    found: list[list[ComparedRun]] = []
    for run in runs:
        same = next((group for group in found if group[0].settings == run.settings), None)
        if same is None:
            found.append([run])
        else:
            same.append(run)
    names = [_group_name([run.name for run in group]) for group in found]
    if len(set(names)) < len(names):
        names = [", ".join(run.name for run in group) for group in found]
    return dict(zip(names, found, strict=True))


def comparison_sections(groups: Groups, axis: str | None = None) -> dict[str, list[Figure]]:
    """The figures of the page by section; axis: key of the one that they are drawn by, None: those of reports."""
    return comparison_figures({name: [run.history for run in runs] for name, runs in groups.items()}, axis)


def write_comparison(groups: Groups, output: Path) -> Path:
    """Write the page to `output`, which is returned."""
    write_bytes(output, comparison_page(groups).encode())
    return output


def comparison_page(groups: Groups) -> str:
    """The whole page."""
    title = comparison_title(groups)
    return page(title, [f"<h1>{escape(title)}</h1>", *comparison_parts(groups)])


def comparison_title(groups: Groups) -> str:
    """Return what is compared, in a few words."""
    runs = [run for group in groups.values() for run in group]
    return f"{runs[0].recipe.game}: {len(runs)} runs compared"


def comparison_parts(groups: Groups, axis: str | None = None) -> list[str]:
    """The page below its title; axis: key of the one that figures are drawn by, None: those of reports."""
    runs = [run for group in groups.values() for run in group]
    names, rows = differences(groups)
    same = "<p>The recipes differ in nothing but the seed.</p>"
    sections = comparison_sections(groups, axis)
    if axis is not None:  # one figure a quantity
        sections = {"Figures": [figure for figures in sections.values() for figure in figures]}
    return [
        f"<p>{LEGEND}</p>",
        "<h2>Runs</h2>",
        table_html(["run", *(name for name, _ in COLUMNS)], [_cells(run) for run in runs]),
        "<h2>What differs</h2>",
        table_html(names, rows) if rows else same,
        *(f"<h2>{escape(name)}</h2>{figures_html(figures)}" for name, figures in sections.items()),
    ]


def differences(groups: Groups) -> tuple[list[str], list[list[str]]]:
    """Names of the columns and rows of the table of settings that differ; a dash where a setting does not exist."""
    settings = [group[0].settings for group in groups.values()]
    keys = dict.fromkeys(key for row in settings for key in row)
    values = {key: [_setting_text(row.get(key)) for row in settings] for key in keys}
    rows = [[key, *row] for key, row in values.items() if len(set(row)) > 1]
    return ["setting", *groups], rows


def _setting_text(value: Any) -> str:
    """A setting as a recipe writes it."""
    if value is None:
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value) or '""'


COLUMNS: tuple[tuple[str, Callable[[ComparedRun], str]], ...] = (
    ("seed", lambda run: str(run.recipe.run.seed)),
    ("generations", lambda run: str(len(run.history))),
    ("games", lambda run: _text(total(run.history, "games.games"), "{:,.0f}".format)),
    ("positions", lambda run: _text(total(run.history, "games.positions"), "{:,.0f}".format)),
    ("normalised budget", lambda run: _text(number(run.history[-1], "cost.normalised_total"), short)),
    ("wall time", lambda run: _text(number(run.history[-1], "seconds"), duration)),
    ("Elo of best", lambda run: _text(best_elo(run.history), "{:+.0f}".format)),
    ("policy loss", lambda run: _text(number(run.history[-1], "train.policy_loss"), "{:.3f}".format)),
    ("value loss", lambda run: _text(number(run.history[-1], "train.value_loss"), "{:.3f}".format)),
)
"""Name and text of every column of the table of runs."""


def _cells(run: ComparedRun) -> list[str]:
    return [run.name, *(text(run) for _, text in COLUMNS)]


def _text(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None else form(value)


def _names(places: Sequence[Path]) -> list[str]:
    """Return the shortest trailing part of each path, of equal length, that tells them apart."""
    for parts in range(1, max(len(place.parts) for place in places) + 1):
        names = ["/".join(place.parts[-parts:]) for place in places]
        if len(set(names)) == len(names):
            break
    return names


def _group_name(names: Sequence[str]) -> str:
    """Return the common prefix of the names without the seed suffix: v25-seed1, v25-seed2 are v25 (2 seeds)."""
    if len(names) == 1:
        return names[0]
    pairs = zip(min(names), max(names), strict=False)
    shared = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    common = re.sub(r"([-_.](seed|s))?[-_./]*$", "", shared)
    return f"{common or names[0]} ({len(names)} seeds)"

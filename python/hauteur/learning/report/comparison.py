"""A report that compares learning runs: what differs in their recipes, and figures with a line for each recipe.

Runs of one recipe with different seeds are one line: their mean, with the spread from the lowest to the highest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe
from hauteur.learning.report.page import best_elo, finished_generations, total
from hauteur.learning.report.series import Axis, History, axes, column, number
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.colours import LINE_COLOURS, line_colour
from hauteur.plots.figure import Figure, Values, short
from hauteur.plots.kinds import over_seeds
from hauteur.plots.report import Report, ReportSection, ReportTable
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


def comparison(groups: Groups) -> Report:
    """Return the runs, the settings that differ, and the figures."""
    runs = [run for group in groups.values() for run in group]
    names, rows = differences(groups)
    figures = comparison_figures({name: [run.history for run in group] for name, group in groups.items()})
    same = [] if rows else ["The recipes differ in nothing but the seed."]
    table = ReportTable(["run", *(name for name, _ in COLUMNS)], [_cells(run) for run in runs])
    sections = [
        ReportSection("Runs", tables=[table]),
        ReportSection("What differs", same, tables=[ReportTable(names, rows)] if rows else []),
        *(ReportSection(title, figures=some) for title, some in figures.items()),
    ]
    return Report(f"{runs[0].recipe.game}: {len(runs)} runs compared", LEGEND, sections=sections)


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
    ("normalised budget", lambda run: _text(number(run.history[-1], "cost.normalised_total"), short)),
    ("wall time", lambda run: _text(number(run.history[-1], "seconds"), duration)),
    ("Elo of best", lambda run: _text(best_elo(run.history), "{:+.0f}".format)),
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


def _best_elo(history: History) -> Values:
    return column(history, "best_elo") if best_elo(history) is not None else [None] * len(history)


QUANTITIES: tuple[tuple[str, str, str, Callable[[History], Values]], ...] = (
    ("elo", "Elo of the best net", "Elo", _best_elo),
    ("policy-loss", "Policy loss", "loss", lambda history: column(history, "train.policy_loss")),
    ("value-loss", "Value loss", "loss", lambda history: column(history, "train.value_loss")),
    ("policy-loss-large", "Policy loss, large net", "loss", lambda history: column(history, "train_large.policy_loss")),
    ("value-loss-large", "Value loss, large net", "loss", lambda history: column(history, "train_large.value_loss")),
    ("lengths", "Length of games", "plies", lambda history: column(history, "games.mean_length")),
    ("ratio", "Decisive games a draw", "(w + l) / d", lambda history: column(history, "games.ratio")),
)
"""Key, title, unit, and value by generation of every quantity that is compared."""


def comparison_figures(groups: Mapping[str, Sequence[History]]) -> dict[str, list[Figure]]:
    """Build the figures by the title of their quantity, one for each axis that all runs have."""
    shared = iter(axes([history for runs in groups.values() for history in runs]))
    placed = {name: [(history, next(shared)) for history in runs] for name, runs in groups.items()}
    kinds = next(iter(placed.values()))[0][1]
    found = {}
    for quantity in QUANTITIES:
        figures = [_figure(quantity, at, axis, placed) for at, axis in enumerate(kinds)]
        found[quantity[1]] = [figure for figure in figures if any(series.points() for series in figure.lines)]
    return {title: figures for title, figures in found.items() if figures}


def _figure(
    quantity: tuple[str, str, str, Callable[[History], Values]],
    at: int,
    axis: Axis,
    groups: Mapping[str, Sequence[tuple[History, list[Axis]]]],
) -> Figure:
    """Return the figure of a quantity by the axis at this place of each run's axes, a line for each group."""
    key, title, unit, values = quantity
    lines = []
    for number_of_line, (name, runs) in enumerate(groups.items()):
        rows = [(own[at].values, values(history)) for history, own in runs]
        colour, dashed = line_colour(number_of_line), number_of_line >= len(LINE_COLOURS)
        lines.append(over_seeds(name, rows, colour=colour, dashed=dashed))
    return Figure(
        f"{key}-by-{axis.key}",
        f"{title} by {axis.title}",
        "Every run's own ladder and games: only a match compares two runs' nets.",
        unit,
        axis.name,
        lines=tuple(line for line in lines if line.points()),
        x_from_zero=axis.key != "generation",
    )

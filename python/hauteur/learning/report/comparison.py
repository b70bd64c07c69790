"""A report that compares learning runs: what differs in their recipes, and figures with a line for each recipe.

Runs of one recipe with different seeds are one line: their mean, with the spread from the lowest to the highest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe
from hauteur.learning.report.figures import History, comparison_figures, number, total
from hauteur.learning.report.page import best_elo, finished_generations, last_measured
from hauteur.learning.report.verdict import COLUMNS as VERDICT_COLUMNS
from hauteur.learning.report.verdict import Verdict, verdicts
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.figure import short
from hauteur.plots.report import Report, ReportSection, ReportTable
from hauteur.system.formatting import duration, setting_text
from hauteur.system.settings import flat_settings

FREE_OF_MEANING = ("run.seed", "run.tag", "run.directory", "run.threads", "run.solved_positions")
"""Settings in which the runs of one line may differ."""

LEGEND = (
    "One line a recipe. Runs of one recipe with different seeds are drawn as their mean, as far as all of them have "
    "got, with the spread from the lowest to the highest."
)


def settings_of_line(recipe: Recipe) -> dict[str, Any]:
    """Return the settings that runs of one line share, by dotted key: all but FREE_OF_MEANING."""
    settings = flat_settings(recipe.model_dump(mode="json"))
    return {key: value for key, value in settings.items() if key not in FREE_OF_MEANING}


@dataclass(frozen=True)
class ComparedRun:
    """Run with its distinguishing name."""

    name: str
    recipe: Recipe
    history: History

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that runs of one line share, by dotted key."""
        return settings_of_line(self.recipe)

    def cells(self) -> list[str]:
        """The row of the run in the table of runs, as COLUMNS."""
        last = self.history[-1]
        return [
            self.name,
            str(self.recipe.run.seed),
            str(len(self.history)),
            _text(total(self.history, "games.games"), "{:,.0f}".format),
            _text(number(last, "cost.normalised_total"), short),
            _text(number(last, "compute.flops_total"), "{:.2e}".format),
            _text(number(last, "seconds"), duration),
            _text(number(last, "cpu_seconds"), duration),
            _text(number(last, "exact_play.share"), "{:.1%}".format),
            _text(number(last_measured(self.history), "yardstick.score"), "{:.1%}".format),
            _text(best_elo(self.history), "{:+.0f}".format),
        ]


COLUMNS = (
    "run",
    "seed",
    "generations",
    "games",
    "normalised budget",
    "FLOPs",
    "wall time",
    "CPU time",
    "exact play",
    "yardstick",
    "Elo of best",
)

NO_MEASURE = (
    "No verdict: the runs have no seed or no measure of strength in common, such as exact play or a yardstick of one "
    "opponent, or one of them had no measured net yet at the cost of the cheapest: more generations have."
)
ONE_LOOK = (
    "Each run counts with its last measured net that costs no more than the run which has spent the least; runs with "
    "one seed are a pair, and the 95 % interval is that of the pairs. It is right for one look, after all planned "
    "seeds."
)

Groups = Mapping[str, Sequence[ComparedRun]]
"""Runs of one recipe by the name of their line."""


def _text(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None else form(value)


def read_runs(paths: Sequence[Path]) -> list[ComparedRun]:
    """Read the runs in these folders; ValueError for duplicates, runs without metrics, or different games."""
    places = [path.resolve() for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise ValueError(f"{path} is given twice")
    runs = []
    for path, name in zip(paths, _names(places), strict=True):
        folder = RunFolder(path)
        run = ComparedRun(name, folder.stored_recipe(), finished_generations(folder))
        runs.append(run)
        first_game = runs[0].recipe.game
        if run.recipe.game != first_game:
            games = f"{paths[0]} is of {first_game}, {path} of {run.recipe.game}"
            raise ValueError(f"only runs of one game can be compared: {games}")
    return runs


def _names(places: Sequence[Path]) -> list[str]:
    """Return the shortest trailing part of each path, of equal length, that tells them apart."""
    longest = max(len(place.parts) for place in places)
    for parts in range(1, longest + 1):
        names = ["/".join(place.parts[-parts:]) for place in places]
        if len(set(names)) == len(names):
            break
    return names


def grouped(runs: Sequence[ComparedRun]) -> dict[str, list[ComparedRun]]:
    """Runs whose recipes differ in nothing but the seed are together, under the name of the first."""
    found: list[list[ComparedRun]] = []
    for run in runs:
        same = next((group for group in found if group[0].settings == run.settings), None)
        if same is None:
            found.append([run])
        else:
            same.append(run)
    return {_group_name(group): group for group in found}


def _group_name(group: Sequence[ComparedRun]) -> str:
    """Return the name of runs that differ in nothing but the seed: that of the first, and how many they are."""
    seeds = f" ({len(group)} seeds)" if len(group) > 1 else ""
    return f"{group[0].name}{seeds}"


def comparison(groups: Groups) -> Report:
    """Return the runs, the settings that differ, and the figures."""
    runs = [run for group in groups.values() for run in group]
    names, rows = differences(groups)
    histories = {}
    for name, group in groups.items():
        histories[name] = [run.history for run in group]
    figures = comparison_figures(histories)
    same = [] if rows else ["The recipes differ in nothing but the seed."]
    sections = [
        *_verdict_section(groups),
        ReportSection("Runs", tables=[ReportTable(COLUMNS, [run.cells() for run in runs])]),
        ReportSection("What differs", same, tables=[ReportTable(names, rows)] if rows else []),
        *(ReportSection(title, figures=some) for title, some in figures.items()),
    ]
    return Report(f"{runs[0].recipe.game}: {len(runs)} runs compared", LEGEND, sections=sections)


def _verdict_section(groups: Groups) -> list[ReportSection]:
    """Return which recipe is better; nothing for runs of one recipe."""
    if len(groups) < 2:
        return []
    found = verdicts(groups)
    if not found:
        return [ReportSection("Which is better", [NO_MEASURE])]
    rows = [verdict.cells() for verdict in found]
    return [ReportSection("Which is better", [ONE_LOOK], tables=[ReportTable(VERDICT_COLUMNS, rows)])]


def verdict_lines(groups: Groups) -> list[str]:
    """Return the verdicts as lines of text; none for runs of one recipe."""
    if len(groups) < 2:
        return []
    found: list[Verdict] = verdicts(groups)
    return [str(verdict) for verdict in found] or [NO_MEASURE]


def differences(groups: Groups) -> tuple[list[str], list[list[str]]]:
    """Names of the columns and rows of the table of settings that differ; a dash where a setting does not exist."""
    settings = [group[0].settings for group in groups.values()]
    keys = dict.fromkeys(key for row in settings for key in row)
    rows = []
    for key in keys:
        values = [setting_text(row.get(key), absent="–") or '""' for row in settings]
        if len(set(values)) > 1:
            rows.append([key, *values])
    return ["setting", *groups], rows

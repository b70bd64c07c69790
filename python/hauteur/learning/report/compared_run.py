"""A learning run as a report that compares several has it: its settings, and its row in the table of runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hauteur.learning.recipe import Recipe
from hauteur.learning.report.figures import History, number, total
from hauteur.learning.report.page import best_elo, last_measured
from hauteur.plots.figure import short
from hauteur.system.formatting import duration
from hauteur.system.settings import flat_settings

FREE_OF_MEANING = ("run.seed", "run.tag", "run.directory", "run.threads", "run.solved_positions")
"""Settings in which the runs of one line may differ."""


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


def _text(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None else form(value)

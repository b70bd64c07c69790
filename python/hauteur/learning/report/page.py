"""The report of a learning run as data: facts, figures, games, numbers, its recipe; finished, or while it goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from hauteur.cluster.counts import numbers_in_words
from hauteur.learning.progress import RunProgress, read_progress
from hauteur.learning.recipe import Recipe, recipe_toml
from hauteur.learning.report.figures import FigureSetting, run_figures, start_figures
from hauteur.learning.report.series import AXES, History, axes, number
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.figure import short
from hauteur.plots.page import facts_html
from hauteur.plots.report import Fact, Report, ReportSection, ReportTable
from hauteur.system.formatting import duration
from hauteur.system.lock import is_locked

Line = dict[str, Any]
MOST_ROWS = 100
"""Generations of which the page of a run that goes on has the numbers, the last ones."""


def run_report(folder: RunFolder) -> Report:
    """Return the report of the run in this folder. ValueError if there is no run, or nothing to report yet."""
    from hauteur.games.registry import load_game
    from hauteur.learning.report.games import sample_games

    recipe, start = folder.stored_recipe(), folder.read_start()
    history = finished_generations(folder) if start is None else folder.read_metrics()
    games, unread = sample_games(folder, load_game(recipe.game))
    played = [ReportSection("Games of the generations", unread, games=games)]
    return report_of(recipe, history, folder.read_meta(), start, played)


def report_of(
    recipe: Recipe, history: Sequence[Line], meta: Line, start: Line | None = None, games: Sequence[ReportSection] = ()
) -> Report:
    """Return the report of a run by its metrics. meta: versions and machine; start: the metrics of generation 0."""
    first, *rest = figure_sections(recipe, history, start) or [ReportSection("Learning")]
    reproduce = ReportSection(
        "Reproduce",
        text=["The same settings and seed on the same machine give the same games and the same weights."],
        code={
            "hauteur train config.toml --run another-folder, with this config.toml": recipe_toml(recipe),
            "Versions and machine": json.dumps(meta, indent=2),
        },
    )
    sections = [first, *games, *rest, *numbers(history), reproduce]
    title = f"Learning {recipe.game}: {recipe.run.tag}"
    return Report(title, summary(recipe, history), facts_of(history, start), sections)


def write_report(folder: RunFolder, output: Path | None = None) -> Path:
    """Write the page of the run in this folder to `output` (default: its report.html); errors as `run_report`."""
    return run_report(folder).write(output or folder.report)


def finished_generations(folder: RunFolder) -> list[Line]:
    """The metrics of a run's generations, from 1; ValueError when there are none yet."""
    history = folder.read_metrics()
    if not history:
        raise ValueError(f"{folder.path}: no generation is finished yet, so there is nothing to report")
    return history


def figure_sections(
    recipe: Recipe, history: Sequence[Line], start: Line | None = None, axis: str = "generation"
) -> list[ReportSection]:
    """The figures of a run with this recipe, by section.

    start: its metrics of generation 0; axis: see `run_figures`.
    """
    gate = recipe.gate
    source = "the games that it played as episodes" if gate.by == "episodes" else "each generation's gate match"
    threshold = gate.threshold if gate.by in ("match", "episodes") else None
    target = None if recipe.controller is None else recipe.controller.target
    first = {"Learning from recorded games": start_figures(start)} if start is not None else {}
    found = first | run_figures(history, FigureSetting(source, threshold, target), axis)
    return [ReportSection(name, figures=figures) for name, figures in found.items()]


def summary(recipe: Recipe, history: Sequence[Line]) -> str:
    """Return what is learned and how, in a line."""
    nets = [net for net in (recipe.network, recipe.large) if net is not None]
    towers = " and ".join(net.summary for net in nets)
    if recipe.start is not None and recipe.start.net is not None:  # it keeps its shape, whatever the recipe has
        towers = f"begun from {Path(recipe.start.net).name}"
    total = max(recipe.run.generations, len(history))  # a run that was prolonged by an earlier version
    run = f"Run {recipe.run.tag}, seed {recipe.run.seed}: {towers}"
    if not recipe.run.generations:
        return f"{run}; no self-play."
    return f"{run}; {recipe.selfplay.visits} visits a move; {len(history)} of {total} generations."


def facts_of(history: Sequence[Line], start: Line | None) -> list[Fact]:
    """Return the main facts: of the start from recorded games, then totals and last values of the generations."""
    last: Line = history[-1] if history else {}
    rounds = [] if start is None else start["start"]["rounds"]
    begun: Line = {} if start is None else start
    kinds: tuple[tuple[float | None, Callable[[float], str], str], ...] = (
        (number(begun, "start.games"), "{:,.0f}".format, "recorded games"),
        (number(begun, "start.positions"), "{:,.0f}".format, "recorded positions"),
        (number(begun, "train_steps"), "{:,.0f}".format, "first steps"),
        (number(rounds[-1], "held_out.policy_accuracy") if rounds else None, "{:.1%}".format, "held-out first moves"),
        (total(history, "games.games"), "{:,.0f}".format, "games"),
        (total(history, "games.positions"), "{:,.0f}".format, "positions"),
        (number(last, "train_steps"), "{:,.0f}".format, "training steps"),
        (number(last, "best"), "gen {:.0f}".format, "best net"),
        (best_elo(history), "{:+.0f}".format, "Elo over the first net"),
        (number(last, "cost.normalised_total"), short, "normalised budget"),
        (number(last, "seconds"), duration, "time"),
        (number(last, "cpu_seconds"), duration, "processor time"),
    )
    return [(text(value), name) for value, text, name in kinds if value is not None]


def total(history: Sequence[Line], path: str) -> float | None:
    """Sum over the generations; None when no generation has the number."""
    values = [number(line, path) for line in history]
    return sum(value or 0 for value in values) if any(value is not None for value in values) else None


def best_elo(history: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the Elo of the best net; None if no generation was gated by games."""
    gated = any(number(line, "elo") is not None for line in history)
    return number(history[-1], "best_elo") if gated else None


COLUMNS = (
    ("generation", "generation", "{:.0f}"),
    ("games", "games.games", "{:,.0f}"),
    ("positions", "games.positions", "{:,.0f}"),
    ("length", "games.mean_length", "{:.1f}"),
    ("policy loss", "train.policy_loss", "{:.3f}"),
    ("value loss", "train.value_loss", "{:.3f}"),
    ("gate score", "gate.score", "{:.1%}"),
    ("Elo", "elo", "{:+.0f}"),
    ("games/s", "selfplay.games_per_second", "{:.1f}"),
    ("visits/s", "selfplay.visits_per_second", "{:,.0f}"),
    ("evaluations/s", "selfplay.evaluations_per_second", "{:,.0f}"),
    ("batch fill", "selfplay.mean_batch_fill", "{:.0%}"),
    ("cache hits", "selfplay.cache_hit_rate", "{:.0%}"),
    ("network", "selfplay.network_share", "{:.0%}"),
    ("search", "selfplay.search_share", "{:.0%}"),
    ("Python", "selfplay.python_share", "{:.0%}"),
    ("workers", "workers.present", "{:.1f}"),
    ("units in flight", "workers.in_flight", "{:.1f}"),
    ("units", "workers.units", "{:,.0f}"),
    ("retried", "workers.retried", "{:,.0f}"),
    ("idle", "workers.idle_share", "{:.0%}"),
)
"""Name, metric and form of every column of the table."""


def numbers(history: Sequence[Line]) -> list[ReportSection]:
    """The numbers by generation, folded up, without the columns that this run has nothing in."""
    known = [one for one in COLUMNS if any(number(line, one[1]) is not None for line in history)]
    if not known:
        return []
    rows = []
    for line in history:
        values = [(number(line, path), form) for _, path, form in known]
        rows.append(["" if value is None else form.format(value) for value, form in values])
    return [
        ReportSection(
            "Numbers", tables=[ReportTable([name for name, _, _ in known], rows, folded="Numbers by generation")]
        )
    ]


def live_report(folder: RunFolder, axis: str) -> Report:
    """Return facts, figures by an axis and numbers of a run until now. ValueError for an axis that it does not have."""
    recipe, start, history = folder.stored_recipe(), folder.read_start(), folder.read_metrics()
    text = summary(recipe, history)
    if not history and start is None:
        return Report(recipe.game, f"{text} No generation is finished yet; facts and figures come with the first.")
    sections = [*figure_sections(recipe, history, start, axis), *numbers(history[-MOST_ROWS:])]
    if len(history) > MOST_ROWS:
        text = f"{text} Numbers are of the last {MOST_ROWS} generations."
    return Report(recipe.game, text, facts_of(history, start), sections)


def axes_of(folder: RunFolder) -> dict[str, str]:
    """Return the axes that the figures of a run can be drawn by: keys and words."""
    history = folder.read_metrics()
    found = axes([history], tuple(AXES))[0] if history else ()
    return {axis.key: axis.title for axis in found} or {"generation": AXES["generation"]}


class RunNumbers(NamedTuple):
    """A run in a list. done, total: generations; elo: of the best net over the first, where it was gated by games."""

    done: int
    total: int
    games: int
    elo: float | None
    seconds: float


def run_numbers(folder: RunFolder) -> RunNumbers:
    """Return the facts of a run for a list."""
    history = folder.read_metrics()
    planned = max(folder.stored_recipe().run.generations, len(history))
    if not history:
        return RunNumbers(0, planned, 0, None, 0.0)
    games, seconds = total(history, "games.games"), number(history[-1], "seconds")
    return RunNumbers(len(history), planned, int(games or 0), best_elo(history), seconds or 0.0)


def progress_html(folder: RunFolder, state: str, now: float | None = None) -> str:
    """Return how far a run is: generations, and the step of a running one, as bars and in words.

    state: running, finished or stopped, as `hauteur.studies.folders` has it; now: seconds since 1970, default: now.
    """
    history, found = folder.read_metrics(), read_progress(folder.progress)
    planned = max(folder.stored_recipe().run.generations, len(history))
    spent = (number(history[-1], "seconds") or 0.0) if history else 0.0
    words = f"{len(history)} of {planned} generations"
    if state == "finished":
        return _bar("run", len(history), planned, f"{words}, finished in {duration(spent)}")
    if state == "stopped":
        where = "" if found is None else f" in generation {found.generation}, {found.step}"
        return _bar("run", len(history), planned, f"{words}, stopped{where}")
    left = f", about {duration(spent / len(history) * (planned - len(history)))} left" if history else ""
    run = _bar("run", len(history), planned, f"{words}{left}")
    return run + (_step_bar(found, history, time.time() if now is None else now))


def progress_lines(folder: RunFolder) -> list[str]:
    """Return how far a run is that goes on, and what its workers have done in this generation; of others nothing."""
    found = read_progress(folder.progress) if is_locked(folder.path) else None
    if found is None:
        return []
    counts = [] if found.numbers is None else numbers_in_words(found.numbers)
    return [str(found), *([", ".join(f"{words} {value}" for value, words in counts)] if counts else [])]


def _step_bar(found: RunProgress | None, history: History, now: float) -> str:
    if found is None:
        return _bar("step", 0, 1, f"generation {len(history) + 1} begins")
    left = found.seconds_left(now)
    words = f"{found}{'' if left is None else f', {duration(left)} left'}"
    bar = _bar("step", found.done, found.total or max(found.done, 1), words)
    if found.numbers is None:
        return bar
    return f"{bar}<p>Workers in this generation:</p>{facts_html(numbers_in_words(found.numbers))}"


def _bar(name: str, done: int, total: int, words: str) -> str:
    """Return a bar with what it shows in words."""
    value = f'value="{min(done, total)}" max="{max(total, 1)}"'
    return f'<p class="progress"><progress aria-label="{name}" {value}></progress> <span>{escape(words)}</span></p>'

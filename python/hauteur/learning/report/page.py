"""The report of a learning run as data: facts, figures, games, numbers, its recipe; finished, or while it goes on."""

import json
import time
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from hauteur.cluster.scheduler import numbers_in_words
from hauteur.learning.display import read_progress
from hauteur.learning.recipe import Recipe, recipe_toml
from hauteur.learning.report.figures import ROUNDS, History, Line, axes, column, is_gated, number, run_figures, total
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.figure import short
from hauteur.plots.page import facts_html
from hauteur.plots.report import Fact, Report, ReportSection, ReportTable
from hauteur.system.formatting import duration
from hauteur.system.lock import is_locked

MOST_ROWS = 100
"""Generations of which a page has the numbers, the last ones."""


def run_report(folder: RunFolder) -> Report:
    """Return the report of the run in this folder. ValueError if there is no run, or nothing to report yet."""
    from hauteur.games.registry import load_game
    from hauteur.learning.report.games import sample_games

    recipe = folder.stored_recipe()
    start = folder.read_start()
    history = finished_generations(folder) if start is None else folder.read_metrics()
    games, unread = sample_games(folder, load_game(recipe.game))
    played = [ReportSection("Games of the generations", unread, games=games)]
    return report_of(recipe, history, folder.read_meta(), start, played)


def live_report(folder: RunFolder, axis: str) -> Report:
    """Return facts, figures by an axis and numbers of a run until now. ValueError for an axis that it does not have."""
    recipe = folder.stored_recipe()
    start = folder.read_start()
    history = folder.read_metrics()
    if not history and start is None:
        text = "No generation is finished yet; facts and figures come with the first."
        return Report(recipe.game, f"{summary(recipe, history)} {text}")
    return report_of(recipe, history, None, start, axis=axis)


def report_of(
    recipe: Recipe,
    history: History,
    meta: Line | None,
    start: Line | None = None,
    games: Sequence[ReportSection] = (),
    *,
    axis: str = "generation",
) -> Report:
    """Return the report of a run by its metrics.

    meta: versions and machine, with which the run can be made again; None: it goes on. start: the metrics of generation
    0, of a run that begins with recorded games; axis: that everything is drawn by.
    """
    rounds = [] if start is None else start["start"]["rounds"]
    numbers_of_rounds = [float(number) for number in range(1, len(rounds) + 1)]
    begun = ROUNDS.of(numbers_of_rounds, rounds)
    figures = run_figures(recipe, history, axis)
    exact = []
    if "Exact play" in figures:
        exact.append(ReportSection("Exact play", figures=figures.pop("Exact play")))
    if begun is not None:
        figures = {"Learning from recorded games": [begun], **figures}
    drawn = [ReportSection(name, figures=some) for name, some in figures.items()]
    first, *rest = drawn or [ReportSection("Learning")]
    sections = [*exact, first, *games, *rest, *numbers(history)]
    if meta is not None:
        text = "The same settings and seed on the same machine give the same games and the same weights."
        made = {
            "hauteur train config.toml --run another-folder, with this config.toml": recipe_toml(recipe),
            "Versions and machine": json.dumps(meta, indent=2),
        }
        sections.append(ReportSection("Reproduce", [text], code=made))
    title = f"Learning {recipe.game}: {recipe.run.tag}"
    return Report(title, summary(recipe, history), facts_of(history, start, rounds), sections)


def finished_generations(folder: RunFolder) -> list[dict[str, Any]]:
    """The metrics of a run's generations, from 1; ValueError when there are none yet."""
    history = folder.read_metrics()
    if not history:
        raise ValueError(f"{folder.path}: no generation is finished yet, so there is nothing to report")
    return history


def summary(recipe: Recipe, history: History) -> str:
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


def facts_of(history: History, start: Line | None, rounds: History) -> list[Fact]:
    """Return the main facts: of the start from recorded games, then totals and last values of the generations."""
    last: Line = history[-1] if history else {}
    begun: Line = {} if start is None else start
    last_round: Line = rounds[-1] if rounds else {}
    measured = last_measured(history)
    kinds: tuple[tuple[float | None, str, str], ...] = (
        (number(measured, "yardstick.score"), "{:.1%}", "score against the yardstick"),
        (number(last, "exact_play.share"), "{:.1%}", "moves that keep the exact value"),
        (number(begun, "start.games"), "{:,.0f}", "recorded games"),
        (number(begun, "start.positions"), "{:,.0f}", "recorded positions"),
        (number(begun, "train_steps"), "{:,.0f}", "first steps"),
        (number(last_round, "held_out.policy_accuracy"), "{:.1%}", "held-out first moves"),
        (total(history, "games.games"), "{:,.0f}", "games"),
        (total(history, "games.positions"), "{:,.0f}", "positions"),
        (number(last, "train_steps"), "{:,.0f}", "training steps"),
        (number(last, "best"), "gen {:.0f}", "best net"),
        (best_elo(history), "{:+.0f}", "Elo over the first net"),
    )
    facts = []
    for value, form, name in kinds:
        if value is not None:
            facts.append((form.format(value), name))
    spent: tuple[tuple[float | None, Callable[[float], str], str], ...] = (
        (number(last, "cost.normalised_total"), short, "normalised budget"),
        (number(last, "compute.flops_total"), "{:.2e}".format, "FLOPs"),
        (number(last, "seconds"), duration, "time"),
        (number(last, "cpu_seconds"), duration, "processor time"),
    )
    for value, text, name in spent:
        if value is not None:
            facts.append((text(value), name))
    return facts


def last_measured(history: History) -> Line:
    """Return the last line whose net was measured against the yardstick; an empty one where none was."""
    return next((line for line in reversed(history) if "yardstick" in line), {})


def best_elo(history: History) -> float | None:
    """Return the Elo of the best net; None if no generation was gated by games."""
    if not is_gated(history):
        return None
    return number(history[-1], "best_elo")


COLUMNS = (
    ("generation", "generation", "{:.0f}"),
    ("games", "games.games", "{:,.0f}"),
    ("positions", "games.positions", "{:,.0f}"),
    ("length", "games.mean_length", "{:.1f}"),
    ("policy loss", "train.policy_loss", "{:.3f}"),
    ("value loss", "train.value_loss", "{:.3f}"),
    ("yardstick", "yardstick.score", "{:.1%}"),
    ("gate score", "gate.score", "{:.1%}"),
    ("Elo", "elo", "{:+.0f}"),
    ("evaluations/s", "selfplay.evaluations_per_second", "{:,.0f}"),
    ("batch fill", "selfplay.mean_batch_fill", "{:.0%}"),
    ("workers", "workers.present", "{:.1f}"),
)
"""Name, metric and form of every column of the table of generations."""


def numbers(history: History) -> list[ReportSection]:
    """The numbers of the last generations, folded up, without the columns that they have nothing in."""
    lines = history[-MOST_ROWS:]
    names = []
    columns = []
    for name, path, form in COLUMNS:
        values = column(lines, path)
        if any(value is not None for value in values):
            names.append(name)
            columns.append(["" if value is None else form.format(value) for value in values])
    if not names:
        return []
    rows = list(zip(*columns, strict=True))
    return [ReportSection("Numbers", tables=[ReportTable(names, rows, folded="Numbers by generation")])]


def axes_of(folder: RunFolder) -> dict[str, str]:
    """Return the axes that the figures of a run can be drawn by: keys and words."""
    found = axes([folder.read_metrics()])
    return {key: axis.name for key, axis in found.items()} or {"generation": "generation"}


class RunNumbers(NamedTuple):
    """A run in a list."""

    done: int
    """Finished generations."""
    total: int
    """Generations of the run."""
    games: int
    """Games of self-play so far."""
    elo: float | None
    """Elo of the best net over the first one; None where no gate was decided by games."""
    seconds: float
    """Seconds of the run so far."""
    yardstick: float | None = None
    """Score of the last net that was measured against the yardstick, 0 to 1; None without one."""

    @property
    def strength(self) -> str:
        """The measure of strength in words: of the yardstick, else Elo of the gate; empty where there is neither."""
        if self.yardstick is not None:
            return f"{self.yardstick:.1%} against the yardstick"
        if self.elo is None:
            return ""
        return f"Elo {self.elo:+.0f}"


def run_numbers(folder: RunFolder) -> RunNumbers:
    """Return the facts of a run for a list."""
    history = folder.read_metrics()
    planned = max(folder.stored_recipe().run.generations, len(history))
    if not history:
        return RunNumbers(0, planned, 0, None, 0.0)
    games = total(history, "games.games")
    seconds = number(history[-1], "seconds")
    measured = number(last_measured(history), "yardstick.score")
    return RunNumbers(len(history), planned, int(games or 0), best_elo(history), seconds or 0.0, measured)


def progress_html(folder: RunFolder, state: str, now: float | None = None) -> str:
    """Return how far a run is: generations, and the step of a running one, as bars and in words.

    state: running, finished or stopped, as `hauteur.system.folders` has it; now: seconds since 1970, default: now.
    """
    history = folder.read_metrics()
    step = read_progress(folder.progress)
    done = len(history)
    planned = max(folder.stored_recipe().run.generations, done)
    spent = 0.0
    if history:
        spent = number(history[-1], "seconds") or 0.0
    words = f"{done} of {planned} generations"
    if state == "finished":
        return _bar("run", done, planned, f"{words}, finished in {duration(spent)}")
    if state == "stopped":
        where = "" if step is None else f" in generation {step.generation}, {step.step}"
        return _bar("run", done, planned, f"{words}, stopped{where}")
    if done:
        left = spent / done * (planned - done)
        words += f", about {duration(left)} left"
    whole = _bar("run", done, planned, words)
    if step is None:
        return whole + _bar("step", 0, 1, f"generation {done + 1} begins")
    text = str(step)
    seconds = step.seconds_left(time.time() if now is None else now)
    if seconds is not None:
        text += f", {duration(seconds)} left"
    whole += _bar("step", step.done, step.total or max(step.done, 1), text)
    if step.numbers is None:
        return whole
    return f"{whole}<p>Workers in this generation:</p>{facts_html(numbers_in_words(step.numbers))}"


def _bar(name: str, done: int, total: int, words: str) -> str:
    value = f'value="{min(done, total)}" max="{max(total, 1)}"'
    return f'<p class="progress"><progress aria-label="{name}" {value}></progress> <span>{escape(words)}</span></p>'


def progress_lines(folder: RunFolder) -> list[str]:
    """Return how far a run is that goes on, and what its workers have done in this generation; of others nothing."""
    # A killed process leaves its file behind, so only a folder that is held is believed.
    found = read_progress(folder.progress) if is_locked(folder.path) else None
    if found is None:
        return []
    counts = [] if found.numbers is None else numbers_in_words(found.numbers)
    progress = [str(found)]
    if counts:
        progress.append(", ".join(f"{words} {value}" for value, words in counts))
    return progress

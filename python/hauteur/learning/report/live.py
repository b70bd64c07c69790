"""Parts of a page about a run while it goes on: how far it is, and its figures until now by an axis that is chosen."""

from __future__ import annotations

import time
from html import escape
from typing import NamedTuple

from hauteur.cluster.counts import numbers_in_words
from hauteur.learning.progress import RunProgress, read_progress
from hauteur.learning.report.axes import AXES, axes
from hauteur.learning.report.columns import History, number
from hauteur.learning.report.page import best_elo, facts_of, numbers_table, sections_of, summary, total
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.page import facts_html, figures_html
from hauteur.system.formatting import duration
from hauteur.system.lock import is_locked

MOST_ROWS = 100
"""Generations of which the page has the numbers as a table, the last ones."""


def progress_html(folder: RunFolder, state: str, now: float | None = None) -> str:
    """Return how far a run is: generations, and the step of a running one, as bars and in words.

    state: running, finished or stopped, as `hauteur.studies.folders` tells; now: seconds since 1970, default: now.
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
    numbers = [] if found.numbers is None else numbers_in_words(found.numbers)
    return [str(found), *([", ".join(f"{words} {value}" for value, words in numbers)] if numbers else [])]


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


def live_html(folder: RunFolder, axis: str) -> str:
    """Return facts, figures by an axis and numbers of a run until now. ValueError for an axis that it does not have."""
    recipe, start, history = folder.stored_recipe(), folder.read_start(), folder.read_metrics()
    said = f"<p>{escape(summary(recipe, history))}</p>"
    if not history and start is None:
        return f"{said}<p>No generation is finished yet; facts and figures come with the first.</p>"
    sections = sections_of(recipe, history, start, axis if history else None)
    parts = [f"<h2>{escape(name)}</h2>{figures_html(figures)}" for name, figures in sections.items()]
    left = f"<p>Numbers are of the last {MOST_ROWS} generations.</p>" if len(history) > MOST_ROWS else ""
    return "".join([said, facts_html(facts_of(history, start)), *parts, numbers_table(history[-MOST_ROWS:]), left])


class RunNumbers(NamedTuple):
    """A run in a list. done, total: generations; elo: of the best net over the first, where games have judged it."""

    done: int
    total: int
    games: int
    elo: float | None
    seconds: float


def run_numbers(folder: RunFolder) -> RunNumbers:
    """Return what a list tells of a run."""
    history = folder.read_metrics()
    planned = max(folder.stored_recipe().run.generations, len(history))
    if not history:
        return RunNumbers(0, planned, 0, None, 0.0)
    games, seconds = total(history, "games.games"), number(history[-1], "seconds")
    return RunNumbers(len(history), planned, int(games or 0), best_elo(history), seconds or 0.0)


def axes_of(folder: RunFolder) -> dict[str, str]:
    """Return the axes that the figures of a run can be drawn by: keys and words."""
    history = folder.read_metrics()
    found = axes([history], tuple(AXES))[0] if history else ()
    return {axis.key: axis.title for axis in found} or {"generation": AXES["generation"]}

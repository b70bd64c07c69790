"""report.html of a learning run: figures and tables in one file that needs nothing else, in light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hauteur.games.registry import load_game
from hauteur.learning.recipe import Recipe, recipe_toml
from hauteur.learning.report.board_games import games_html
from hauteur.learning.report.columns import number
from hauteur.learning.report.figures_beginning import start_figures
from hauteur.learning.report.figures_learning import FigureSetting, run_figures
from hauteur.learning.report.net_views import views_html
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import Figure
from hauteur.plots.figure import short
from hauteur.plots.page import facts_html, figures_html, page, table_html
from hauteur.system.files import write_bytes
from hauteur.system.formatting import duration

Line = dict[str, Any]


def write_report(folder: RunFolder, output: Path | None = None) -> Path:
    """Write the page of the run in this folder to `output` (default: its report.html).

    Raise ValueError if there is no run, or nothing to report yet.
    """
    target = output or folder.report
    recipe, start = folder.stored_recipe(), folder.read_start()
    history = finished_generations(folder) if start is None else folder.read_metrics()
    write_bytes(target, report_page(recipe, history, folder.read_meta(), start, played_parts(folder, recipe)).encode())
    return target


def played_parts(folder: RunFolder, recipe: Recipe) -> list[str]:
    """Return the parts of the page that show games on a board, and what the nets think of a few positions."""
    game = load_game(recipe.game)
    return [
        "<h2>Games of the generations</h2>",
        games_html(folder, game),
        "<h2>What the nets think</h2>",
        views_html(folder, game),
    ]


def finished_generations(folder: RunFolder) -> list[Line]:
    """The metrics of a run's generations, from 1; ValueError when there are none yet."""
    history = folder.read_metrics()
    if not history:
        raise ValueError(f"{folder.path}: no generation is finished yet, so there is nothing to report")
    return history


def run_sections(folder: RunFolder) -> dict[str, list[Figure]]:
    """The figures of the run in this folder, by section of the page."""
    start = folder.read_start()
    history = finished_generations(folder) if start is None else folder.read_metrics()
    return sections_of(folder.stored_recipe(), history, start)


def sections_of(
    recipe: Recipe, history: Sequence[Line], start: Line | None = None, axis: str | None = None
) -> dict[str, list[Figure]]:
    """The figures of a run with this recipe, by section of the page.

    start: its metrics of generation 0; axis: as `run_figures` takes it.
    """
    gate = recipe.gate
    judge = "the games that it played as episodes" if gate.by == "episodes" else "each generation's gate match"
    threshold = gate.threshold if gate.by in ("match", "episodes") else None
    target = None if recipe.controller is None else recipe.controller.target
    first = {"Learning from recorded games": start_figures(start)} if start is not None else {}
    began = (number(start, "seconds") or 0.0) if start is not None else 0.0
    return first | run_figures(history, FigureSetting(judge, threshold, target, began), axis)


def report_page(
    recipe: Recipe, history: Sequence[Line], meta: Line, start: Line | None = None, played: Sequence[str] = ()
) -> str:
    """The whole page; start: the metrics of generation 0, where the run began with recorded games; played: parts of the
    page with games and positions.
    """
    sections = sections_of(recipe, history, start)
    parts = [
        f"<h1>Learning {escape(recipe.game)}</h1>",
        f"<p>{escape(summary(recipe, history))}</p>",
        facts_html(facts_of(history, start)),
        *_sections(sections, played),
        numbers_table(history),
        *_reproduce(recipe, meta),
    ]
    return page(f"{recipe.game}: {recipe.run.tag}", parts)


def _sections(sections: dict[str, list[Figure]], played: Sequence[str]) -> list[str]:
    """Return the sections with figures, and games and positions behind the first of them, which is about learning."""
    parts = [f"<h2>{escape(name)}</h2>{figures_html(figures)}" for name, figures in sections.items()]
    return [*parts[:1], *played, *parts[1:]]


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


def facts_of(history: Sequence[Line], start: Line | None) -> list[tuple[str, str]]:
    """Return what the page tells first: values and what they are."""
    return _start_facts(start) + _facts(history)


def _facts(history: Sequence[Line]) -> list[tuple[str, str]]:
    """Return the totals and last values of the run's generations, where known."""
    if not history:
        return []
    last = history[-1]
    kinds: tuple[tuple[float | None, Callable[[float], str], str], ...] = (
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


def _start_facts(start: Line | None) -> list[tuple[str, str]]:
    """Return the facts of the run's start from recorded games."""
    if start is None:
        return []
    kinds = (
        ("start.games", "recorded games"),
        ("start.positions", "recorded positions"),
        ("train_steps", "first steps"),
    )
    values = [(number(start, path), name) for path, name in kinds]
    facts = [(f"{value:,.0f}", name) for value, name in values if value is not None]
    rounds = start["start"]["rounds"]
    accuracy = number(rounds[-1], "held_out.policy_accuracy") if rounds else None
    return facts + ([] if accuracy is None else [(f"{accuracy:.1%}", "held-out first moves")])


def total(history: Sequence[Line], path: str) -> float | None:
    """Sum over the generations; None when no generation has the number."""
    values = [number(line, path) for line in history]
    return sum(value or 0 for value in values) if any(value is not None for value in values) else None


def best_elo(history: Sequence[Line]) -> float | None:
    """Return the Elo of the best net; None if no generation was gated by games."""
    judged = any(number(line, "elo") is not None for line in history)
    return number(history[-1], "best_elo") if judged else None


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
    ("replayed", "workers.replayed", "{:,.0f}"),
    ("compared", "workers.compared", "{:,.0f}"),
    ("replaced", "workers.replaced", "{:,.0f}"),
    ("idle", "workers.idle_share", "{:.0%}"),
)
"""Name, metric and form of every column of the table."""


def numbers_table(history: Sequence[Line]) -> str:
    """The numbers by generation, folded up, without the columns that this run has nothing in."""
    known = [
        (name, path, form) for name, path, form in COLUMNS if any(number(line, path) is not None for line in history)
    ]
    if not known:
        return ""
    rows = []
    for line in history:
        values = [(number(line, path), form) for _, path, form in known]
        rows.append(["" if value is None else form.format(value) for value, form in values])
    table = table_html([name for name, _, _ in known], rows)
    return f"<details><summary>Numbers by generation</summary>{table}</details>"


def _reproduce(recipe: Recipe, meta: Line) -> list[str]:
    facts = json.dumps(meta, indent=2)
    return [
        "<h2>Reproduce</h2>",
        "<p>The same settings and seed on the same machine give the same games and the same weights.</p>",
        "<pre>hauteur train config.toml --run another-folder</pre>",
        f"<details open><summary>config.toml</summary><pre>{escape(recipe_toml(recipe))}</pre></details>",
        f"<details><summary>Versions and machine</summary><pre>{escape(facts)}</pre></details>",
    ]

"""Figures of a run whose games were played by workers."""

from __future__ import annotations

from hauteur.learning.report.columns import History, column, generations, number
from hauteur.plots.figure import Figure
from hauteur.plots.kinds import lines


def worker_figures(history: History) -> list[Figure | None]:
    """Workers and units over the generations; None for what the metrics do not have."""
    return [workers(history), units(history), idle(history)]


def workers(history: History) -> Figure | None:
    """Plot the workers and the units that they had."""
    rows = {"workers": column(history, "workers.present"), "units in flight": column(history, "workers.in_flight")}
    text = "Workers, and the units of games that they had, on average while there was work."
    return lines("workers", "Workers", text, "number", xs=generations(history), rows=rows, from_zero=True)


def units(history: History) -> Figure | None:
    """Plot what became of units."""
    rows = {name: column(history, f"workers.{name}") for name in ("units", "retried", "failed")}
    text = (
        "Units that were played; those that were given out again because a worker left, failed or took too long; those "
        "that a worker could not play."
    )
    return lines("units", "Units", text, "units", xs=generations(history), rows=rows, from_zero=True)


def idle(history: History) -> Figure | None:
    """Plot the share of the workers' time without work."""
    if not any(number(line, "workers.idle_share") is not None for line in history):
        return None
    rows = {"idle": column(history, "workers.idle_share")}
    text = "Share of the workers' time in which they had no unit although there was work."
    return lines("idle", "Idle workers", text, "share", xs=generations(history), rows=rows, percent=True)

"""Reports of searches as plain data for the pages."""

from __future__ import annotations

from typing import Any

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootMove, RootReport

LINE_PLIES = 12
"""Plies of a line that a page shows."""


def report_view(report: RootReport) -> dict[str, Any]:
    """Return a report; values are for the player to move, unknown ones null. wdl: shares from 0 to 1."""
    total = sum(move.visits for move in report.moves) or 1
    return {
        "visits": report.visits,
        "nodes": report.nodes,
        "memory": report.memory,
        "seconds": report.pace.seconds,
        "visits_per_second": report.pace.visits_per_second,
        "depth": report.pace.depth,
        "seldepth": report.seldepth,
        "wdl": report.wdl,
        "value": report.value[0] - report.value[2],
        "mate": report.mate,
        "reason": report.reason,
        "to_move": report.state.to_move,
        "moves": [_move_view(report.state, move, total) for move in report.moves],
    }


def _move_view(state: _core.State, move: RootMove, total: int) -> dict[str, Any]:
    return {
        "a": move.action,
        "text": move_text(state, move.action),
        "visits": move.visits,
        "share": move.visits / total,
        "prior": move.prior,
        "q": None if move.wdl is None else move.q,
        "value": move.value,
        "wdl": move.wdl,
        "proven": move.proven,
        "mate": move.mate,
        "line": line_texts(state, move.line[:LINE_PLIES]),
    }

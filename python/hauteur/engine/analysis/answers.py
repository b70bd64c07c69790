"""Answers of the analysis protocol, as JSON holds them. Values are for the player to move.

An answer has no times, so that the same query has the same answer, whatever is searched beside it.
"""

from __future__ import annotations

from typing import Any

from hauteur import _core
from hauteur.engine.analysis.query import Action, Query, QueryError
from hauteur.games.game_line import end_text
from hauteur.games.played_game import texts_of
from hauteur.mcts.report import RootMove, RootReport, Wdl, wdl_of_result

DIGITS = 6
"""Decimal places of values and priors."""


def analysed(query: Query, turn: int, report: RootReport) -> dict[str, Any]:
    """Return the answer to a turn of a query that was searched."""
    state = report.state
    visited = [move for move in report.moves if move.visits]
    answer = {
        **_head(query, turn),
        "rootInfo": {
            "currentPlayer": state.game.sides[state.to_move],
            "visits": report.visits,
            **_values(report.wdl),
            "rawWdl": _rounded(report.value),
            "mate": report.mate,
        },
        "moveInfos": [_move_info(query, state, move, order) for order, move in enumerate(visited)],
    }
    if query.with_policy:
        priors = sorted(report.moves, key=lambda move: -move.prior)
        answer["policy"] = {state.action_to_text(move.action): round(move.prior, DIGITS) for move in priors}
    return answer


def finished(query: Query, turn: int, state: _core.State) -> dict[str, Any]:
    """Return the answer to a turn after which the game is over."""
    outcome = state.outcome() or 0
    own = outcome if state.to_move == 0 else -outcome
    root = {"currentPlayer": state.game.sides[state.to_move], "visits": 0, **_values(wdl_of_result(own))}
    return {**_head(query, turn), "gameOver": end_text(state), "rootInfo": root, "moveInfos": []}


def without_results(query: Query, turn: int) -> dict[str, Any]:
    """Return the answer to a turn that was ended before its search began."""
    return {**_head(query, turn), "noResults": True}


def failed(query: Query, turn: int, message: str) -> dict[str, Any]:
    """Return the answer to a turn whose search broke off."""
    return {"id": query.id, "turnNumber": turn, "field": None, "error": message}


def refused(error: QueryError) -> dict[str, Any]:
    """Return the answer to a line that is no query."""
    return {"id": error.query_id, "field": error.field, "error": str(error)}


def warnings(query: Query) -> list[dict[str, Any]]:
    """Return a line for each thing that was changed to read a query."""
    return [{"id": query.id, "field": "position", "warning": note} for note in query.notes]


def repeated(action: Action, **facts: Any) -> dict[str, Any]:
    """Return the answer to an action: the action itself, and facts."""
    return {**action.values, **facts}


def _head(query: Query, turn: int) -> dict[str, Any]:
    """Return the fields that every answer about a turn begins with."""
    return {"id": query.id, "turnNumber": turn, "isDuringSearch": False}


def _values(wdl: Wdl) -> dict[str, Any]:
    """Return chances of win, draw and loss in the three forms that clients read."""
    win, draw, loss = wdl
    return {
        "winrate": round(win + 0.5 * draw, DIGITS),
        "value": round(win - loss, DIGITS),
        "wdl": _rounded(wdl),
    }


def _rounded(wdl: Wdl) -> list[float]:
    """Return chances with the places that answers have."""
    return [round(chance, DIGITS) for chance in wdl]


def _move_info(query: Query, state: _core.State, move: RootMove, order: int) -> dict[str, Any]:
    """Return what an answer says of a visited move. order: 0 for the one to play."""
    assert move.wdl is not None, "a visited move has chances"
    line = texts_of(state, move.line[: query.pv_length])
    return {
        "move": line[0],
        "order": order,
        "visits": move.visits,
        "prior": round(move.prior, DIGITS),
        **_values(move.wdl),
        "pv": line,
    }

"""Two searches of one position, move by move and node by node. Values of moves are for the player to move."""

from __future__ import annotations

import math
from typing import Any

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootMove, RootReport
from hauteur.mcts.tree_source import Edge
from hauteur.studies.explain.question import ExplainedSearch, Line, TreeNodes, TreePlace, proven_result

SHOWN_NODES = 20
"""Nodes that a list of the difference of two trees names."""


def moves_json(a: ExplainedSearch, b: ExplainedSearch) -> list[dict[str, Any]]:
    """Return every move with the figures of both searches, the most visited by either first; `shift`: N of B less A."""
    state, sides = a.report.state, [{move.action: move for move in side.report.moves} for side in (a, b)]
    totals = [max(sum(move.visits for move in side.report.moves), 1) for side in (a, b)]
    rows: list[dict[str, Any]] = []
    for action in sides[0]:
        found = [moves[action] for moves in sides]
        rows.append(
            {
                "action": action,
                "move": move_text(state, action),
                "text": state.action_to_text(action),
                "a": _move_json(state, found[0], totals[0]),
                "b": _move_json(state, found[1], totals[1]),
                "shift": found[1].visits - found[0].visits,
            }
        )
    rows.sort(key=lambda row: -max(row["a"]["visits"], row["b"]["visits"]))
    return rows


def visits_moved(a: RootReport, b: RootReport) -> int:
    """Return the visits that one search gave to other moves of the root than the other search did."""
    others = {move.action: move.visits for move in b.moves}
    return sum(max(move.visits - others[move.action], 0) for move in a.moves)


def values_json(a: TreeNodes, b: TreeNodes) -> dict[str, Any]:
    """Return how many nodes two trees have in common, and at how many of them Q differs, and by how much."""
    pairs = [(place, b.nodes[line]) for line, place in a.nodes.items() if line in b.nodes]
    changes = [abs(one.q - other.q) for one, other in pairs if one.visits and other.visits and one.q != other.q]
    mean = math.fsum(changes) / len(changes) if changes else 0.0
    return {
        "nodes_in_both": len(pairs),
        "values_changed": len(changes),
        "mean_change": mean,
        "greatest_change": max(changes, default=0.0),
    }


def lines_json(a: ExplainedSearch, b: ExplainedSearch) -> dict[str, Any]:
    """Return the best lines of both, and the ply (from 0) at which they part, None where the shorter one never does."""
    state, lines = a.report.state, [side.report.moves[0].line for side in (a, b)]
    parts = next((ply for ply, (x, y) in enumerate(zip(*lines, strict=False)) if x != y), None)
    a_text, b_text = (line_texts(state, line) for line in lines)
    return {"a": a_text, "b": b_text, "parts_at": parts}


def trees_json(a: ExplainedSearch, b: ExplainedSearch) -> dict[str, Any]:
    """Return what two trees have in common and what not: counts, the largest shifts of visits, and
    the first line at which they differ: of all lines with other visits the shortest, of these the most visited.
    """
    state, mine, theirs = a.report.state, a.tree, b.tree
    both = [line for line in mine.nodes if line in theirs.nodes]
    changed = [line for line in both if mine.nodes[line].visits != theirs.nodes[line].visits]
    changed.sort(key=lambda line: -abs(mine.nodes[line].visits - theirs.nodes[line].visits))
    only_a, only_b = _only(mine, theirs), _only(theirs, mine)
    first = min(
        [*changed, *only_a, *only_b],
        key=lambda line: (len(line), -max(_visits(line, mine), _visits(line, theirs))),
        default=None,
    )
    return {
        "equal": a.digest == b.digest,
        "complete": mine.complete and theirs.complete,
        "nodes": {"a": len(mine.nodes), "b": len(theirs.nodes), "both": len(both)},
        "same_visits": len(both) - len(changed),
        "only": {"a": len(only_a), "b": len(only_b)},
        "shifts": [_place_json(state, line, mine, theirs) for line in changed[:SHOWN_NODES]],
        "first": None if first is None else _place_json(state, first, mine, theirs),
    }


def children_json(a: ExplainedSearch, b: ExplainedSearch, line: Line) -> list[dict[str, Any]]:
    """Return the moves behind a line of actions that either search visited, the most visited first.

    Each has its figures in both, None where a search did not visit it, and `more`: whether there are moves behind it.
    q is for the player who makes the move; weight: the share by which search-contempt draws it; frozen: whether the
    replies to it are drawn. Raise ValueError for a line that is in neither tree.
    """
    places = [side.tree.nodes.get(line) for side in (a, b)]
    if places == [None, None]:
        raise ValueError(f"neither tree has a node behind {list(line)[:40]}")
    state = a.report.state.copy()
    for action in line:
        state.apply(action)
    edges = [{int(edge["action"]): edge for edge in place.children} if place else {} for place in places]
    rows = []
    for action in {**edges[0], **edges[1]}:
        behind = [side.tree.nodes.get((*line, action)) for side in (a, b)]
        rows.append(
            {
                "line": [*line, action],
                "move": move_text(state, action),
                "a": _edge_json(places[0], edges[0].get(action), behind[0]),
                "b": _edge_json(places[1], edges[1].get(action), behind[1]),
                "more": any(place is not None and place.children for place in behind),
            }
        )
    return sorted(rows, key=lambda row: -max(row[name]["visits"] for name in "ab" if row[name]))


def _edge_json(place: TreePlace | None, edge: Edge | None, behind: TreePlace | None) -> dict[str, Any] | None:
    if place is None or edge is None:
        return None
    weights = place.weights
    return {
        "visits": int(edge["visits"]),
        "q": float(edge["q"]) if edge["visits"] else None,
        "prior": float(edge["prior"]),
        "proven": proven_result(edge),
        "weight": None if weights is None else weights[int(edge["action"])] / sum(weights.values()),
        "frozen": behind is not None and behind.weights is not None,
    }


def _only(mine: TreeNodes, theirs: TreeNodes) -> list[Line]:
    """Lines of one tree alone, the most visited first; the top of each subtree stands for it in order of visits."""
    lines = [line for line in mine.nodes if line not in theirs.nodes]
    return sorted(lines, key=lambda line: (-mine.nodes[line].visits, len(line), line))


def _visits(line: Line, tree: TreeNodes) -> int:
    found = tree.nodes.get(line)
    return 0 if found is None else found.visits


def _place_json(state: _core.State, line: Line, a: TreeNodes, b: TreeNodes) -> dict[str, Any]:
    """A node with the figures that it has in both trees, None where it is not in one."""
    found = {name: _figures(tree.nodes.get(line)) for name, tree in (("a", a), ("b", b))}
    return {"line": list(line), "moves": line_texts(state, line), **found}


def _figures(place: TreePlace | None) -> dict[str, Any] | None:
    return None if place is None else {"visits": place.visits, "q": place.q if place.visits else None}


def _move_json(state: _core.State, move: RootMove, total: int) -> dict[str, Any]:
    return {
        "visits": move.visits,
        "share": move.visits / total,
        "prior": move.prior,
        "q": move.q if move.visits else None,
        "wdl": list(move.wdl) if move.wdl else None,
        "value": move.value,
        "proven": move.proven,
        "line": line_texts(state, move.line),
    }

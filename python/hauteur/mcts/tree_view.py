"""Nodes of a search tree as plain data, for whoever shows a tree: rows that are opened one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hauteur.games.played_game import move_text
from hauteur.mcts.search_tree import SearchTree, TreeNode

FIRST_NODES = 200
"""Nodes of the first view of a tree."""
MOST_CHILDREN = 400
"""Rows of one opened node; the other moves are counted."""


def first_nodes(tree: SearchTree, most: int = FIRST_NODES) -> dict[str, Any]:
    """Return the root and the most visited nodes below it, nested.

    Of a node whose moves are listed, those left out are counted as in `opened`. The time depends on `most`, not on the
    size of the tree.
    """
    nodes = tree.most_visited(most)
    rows = {node.line: node_row(node) for node in nodes}
    for node in nodes[1:]:
        rows[node.line[:-1]].setdefault("children", []).append(rows[node.line])
    for row in rows.values():
        if "children" in row:
            row["left_out"] = row["replies"] - len(row["children"])
    return rows[()]


def opened(tree: SearchTree, line: Sequence[int]) -> dict[str, Any]:
    """Return the node behind a line of actions with all its moves, those without a visit too.

    Raise ValueError for a move that is not there.
    """
    node = tree.node(line)
    row = node_row(node)
    row["children"] = [node_row(child) for child in node.children[:MOST_CHILDREN]]
    row["left_out"] = len(node.children) - len(row["children"])
    return row


def node_row(node: TreeNode) -> dict[str, Any]:
    """Return a node with its marks, ready for JSON; what is not known is null.

    line: actions from the root; chooser: the player, 0 or 1, whom `q`, `wdl`, `value` and `proven` are for, see
    `TreeNode`. share: of the visits of the node before. drawn: where that node is frozen (search-contempt), how often
    this move is drawn, 0 to 1. frozen: this node is. node_visits: more than visits where other moves lead here too
    (graph search). replies: moves of this node that were visited.
    """
    parent = node.parent
    state = node.state if parent is None else parent.state
    return {
        "line": list(node.line),
        "move": "" if parent is None else move_text(parent.state, node.line[-1]),
        "chooser": state.to_move,
        "visits": node.visits,
        "share": None if parent is None else node.visits / max(parent.node_visits - 1, node.visits, 1),
        "large_visits": node.large_visits,
        "node_visits": node.node_visits,
        "prior": node.prior,
        "q": _known(node.q),
        "wdl": None if math.isnan(node.wdl[0]) else [float(share) for share in node.wdl],
        "value": _known(node.value),
        "score": _known(node.score),
        "terminal": node.terminal,
        "proven": node.proven,
        "plies": node.plies,
        "frozen": node.is_frozen,
        "drawn": _drawn(node),
        "replies": node.replies,
    }


def _drawn(node: TreeNode) -> float | None:
    """The share of this move in the frozen weights of the node before; None where that is not frozen."""
    if node.parent is None or not node.parent.is_frozen:
        return None
    weights = node.parent.frozen or {}
    return weights.get(node.line[-1], 0.0) / (sum(weights.values()) or 1.0)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value

"""The tree of a search to walk through: nodes are read from the core as they are asked for, never all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur.games.played_game import move_text
from hauteur.mcts.tree_source import MOST_NODES, Edge, TreeSource, edges_of, read_tree, write_tree
from hauteur.system.files import sha256_of
from hauteur.system.tables import html_table

if TYPE_CHECKING:
    import pandas

    from hauteur import _core
    from hauteur.plots.tree import Picture


SAVED_NODES = 20_000
"""Nodes of a file, unless more or fewer are asked for."""
SHOWN_NODES = 40
"""Nodes of a picture, unless more or fewer are asked for."""


@dataclass(eq=False, repr=False)
class TreeNode:
    """One position of a search tree, and the edge that leads to it.

    `q`, `wdl`, `value` and `proven` are for the player who chose the move that leads here, at the root for the player
    to move; so the children of a node are compared as that node's player compares them.

    >>> import hauteur as ht
    >>> root = ht.search(ht.load_game("connect4").new_initial_state(), "uniform", visits=100).tree.root
    >>> root.visits == 1 + sum(child.visits for child in root.children)
    True
    >>> child = root.children[0]
    >>> child.parent is root, child.depth, child.state.ply, child.line == (child.action,)
    (True, 1, 1, True)
    """

    _tree: SearchTree
    parent: TreeNode | None
    """The node before; None at the root."""
    line: tuple[int, ...]
    """The actions from the root to here."""
    visits: int
    """Completed visits N; those of the root include its own evaluation."""
    large_visits: int
    """Completed visits of the second net (two-net search), 0 with one net."""
    node_visits: int
    """Visits of the position in the tree: more than `visits` where other moves lead to it too (graph search); 0 where
    there is no node."""
    replies: int
    """Moves of this node that were visited."""
    prior: float
    """Prior probability P of the move, without noise; 1 at the root."""
    q: float
    """Mean value of the visits, -1 to 1, draw score and contempt included; NaN before the first visit."""
    wdl: NDArray[np.float32]
    """Win, draw, loss by the search, float32 [3]; NaN before the first visit."""
    value: float
    """The network's own value of the position, win minus loss, -1 to 1; NaN where it was not evaluated."""
    score: float
    """Q + U, by which selection compares the children of a node, without noise; NaN at the root."""
    terminal: bool
    """True where the game is over here."""
    proven: int | None
    """The result that the solver has proven: 1 win, 0 draw, -1 loss; None without a proof."""
    plies: int | None
    """Plies to the proven end; None where nothing is proven, or a tablebase alone knows the result."""
    is_frozen: bool
    """True where search-contempt draws the moves of this node by frozen weights."""
    weight: float | None
    """The weight by which search-contempt draws this move at the node before; None where that is not frozen."""

    @property
    def action(self) -> int | None:
        """The action that leads here; None at the root."""
        return self.line[-1] if self.line else None

    @cached_property
    def move(self) -> str:
        """That action as text; empty at the root."""
        if self.parent is None:
            return ""
        return self.parent.state.action_to_text(self.line[-1])

    @property
    def depth(self) -> int:
        """Plies from the root."""
        return len(self.line)

    @cached_property
    def children(self) -> tuple[TreeNode, ...]:
        """A node for each legal move, the most visited first; those never visited have 0 visits. Empty at a leaf."""
        nodes = []
        for edge in self._tree.source.edges(self.line):
            line = (*self.line, int(edge["action"]))
            nodes.append(_node(self._tree, self, line, edge))
        return tuple(nodes)

    @property
    def frozen(self) -> dict[int, float] | None:
        """The weights by which search-contempt draws the moves of this node, by action: their visits when it froze, to
        the power 1/temperature. Moves that are never drawn are left out; None where the node is not frozen.
        """
        if not self.is_frozen:
            return None
        return {child.line[-1]: child.weight for child in self.children if child.weight}

    @cached_property
    def state(self) -> _core.State:
        """The position; `copy()` it before playing on."""
        if self.parent is None:
            return self._tree.state
        return self.parent.state.child(self.line[-1])

    def __repr__(self) -> str:
        move = self.move or "root"
        q = "" if math.isnan(self.q) else f", q={self.q:+.3f}"
        return f"TreeNode({move}, visits={self.visits:,}{q}, prior={self.prior:.3f})"

    def _repr_html_(self) -> str:
        rows = [(node.move, node.visits, node.q, node.prior, node.value) for node in self.children]
        table = html_table(("move", "visits", "q", "prior", "value"), rows)
        return f"<p>{escape(repr(self))}</p>{table}"


def _node(tree: SearchTree, parent: TreeNode | None, line: tuple[int, ...], edge: Edge) -> TreeNode:
    wdl = edge["reported_wdl"]
    value = edge["value"]
    return TreeNode(
        tree,
        parent,
        line,
        visits=edge["visits"],
        large_visits=edge["large_visits"],
        node_visits=edge["node_visits"],
        replies=edge["replies"],
        prior=edge["prior"],
        # The core has the FPU as q of a move without visits: not what the search found.
        q=math.nan if wdl is None else edge["q"] + 0.0,
        wdl=np.full(3, np.nan, np.float32) if wdl is None else np.array(wdl, np.float32),
        value=math.nan if value is None else value + 0.0,
        score=edge["score"],
        terminal=edge["terminal"],
        proven=edge["lower"] if edge["lower"] == edge["upper"] else None,
        plies=edge["plies"],
        is_frozen=edge["node_frozen"],
        weight=edge["frozen"],
    )


class SearchTree:
    """A search tree. `tree.root.children[0].children` walks down; a step costs one call of the core.

    state: the position of the root. The tree of an `Analysis` grows with further searches of its position, and raises
    ValueError once the analysis has gone on to another one.
    """

    def __init__(self, state: _core.State, source: TreeSource) -> None:
        self._state = state
        self.source = source

    @property
    def state(self) -> _core.State:
        """A copy of the root's position."""
        return self._state.copy()

    @property
    def root(self) -> TreeNode:
        # A new node at every call: nodes keep their children once read, and the tree of an analysis grows meanwhile.
        return _node(self, None, (), self.source.root())

    def node(self, line: Sequence[int | str]) -> TreeNode:
        """Return the node after a line of moves, numbers or texts. Raise ValueError for a move that is not there."""
        node = self.root
        for move in line:
            action = node.state.parse(move) if isinstance(move, str) else int(move)
            found = next((child for child in node.children if child.action == action), None)
            if found is None:
                raise ValueError(
                    f"the tree has no move {move!r} after {[*node.line]}: {len(node.children)} moves there"
                )
            node = found
        return node

    def most_visited(self, max_nodes: int = SHOWN_NODES) -> list[TreeNode]:
        """Return the most visited nodes, parents before children, the root first. Visits of a child are at most its
        parent's, so only these nodes and their moves are read.
        """
        if max_nodes < 1:
            raise ValueError(f"max_nodes must be >= 1, got {max_nodes}")
        nodes = [self.root]
        columns = self.source.branches(max_nodes - 1)
        parents = columns["parent"]
        edges = edges_of(columns, np.arange(len(parents)))
        for parent, edge in zip(parents.tolist(), edges, strict=True):
            # The root is none of the rows: -1 stands for it. Every parent stands before its children.
            before = nodes[parent + 1]
            line = (*before.line, edge["action"])
            nodes.append(_node(self, before, line, edge))
        return nodes

    def save(self, path: str | Path, *, max_nodes: int = SAVED_NODES, nets: Sequence[str | Path] = ()) -> int:
        """Write the most visited nodes to a file, with the position, the settings, the seed and the tree's digest.

        path: `.json`. max_nodes: 1 to 200,000. nets: files of the search's nets, whose names and hashes are written
        too. Return the number of nodes written; moves without a visit are not.
        Raise ValueError for another ending, too many nodes, and a position that was not searched.

        >>> import tempfile
        >>> import hauteur as ht
        >>> tree = ht.search(ht.load_game("connect4").new_initial_state(), "uniform", visits=100).tree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     count = tree.save(f"{folder}/tree.json")
        ...     opened = tree.open(f"{folder}/tree.json")
        >>> opened.root.visits, [child.visits for child in opened.root.children] == [
        ...     child.visits for child in tree.root.children
        ... ]
        (100, True)
        """
        path = Path(path)
        facts = self.source.facts()
        if not 1 <= max_nodes <= MOST_NODES:
            raise ValueError(f"max_nodes must be 1 to {MOST_NODES:,}, got {max_nodes:,}")
        root = self.source.root()
        columns = self.source.branches(max_nodes)
        if not root["visits"]:
            raise ValueError(f"{path}: there is no tree to save: the position was not searched")
        count = len(columns["parent"])
        # With exactly `max_nodes` there may be more that were not asked for.
        complete = count < max_nodes and facts.get("complete", True)
        if nets:
            facts["nets"] = [{"name": Path(net).name, "sha256": sha256_of(Path(net))} for net in nets]
        write_tree(path, self._state, root, columns, facts | {"complete": complete})
        return count

    @staticmethod
    def open(path: str | Path) -> SearchTree:
        """Return the tree of a file, to be read as any other. Raise ValueError, in one line, for what is none."""
        return SearchTree(*read_tree(Path(path)))

    def to_pandas(self, max_nodes: int = 500) -> pandas.DataFrame:
        """Return the most visited nodes as a DataFrame, a `node_row` a node, the root first. It needs pandas."""
        import pandas

        return pandas.DataFrame([node_row(node) for node in self.most_visited(max_nodes)])

    def plot(self, max_nodes: int = SHOWN_NODES) -> Picture:
        """Draw the most visited nodes: sizes follow visits, colours the value for the player at the root (blue good,
        orange bad). A notebook shows the picture; `.save("tree.svg")` writes it.
        """
        from hauteur.plots.tree import TreeMark, tree_picture

        nodes = self.most_visited(max_nodes)
        numbers = {node.line: number for number, node in enumerate(nodes)}
        player = self._state.to_move
        marks = []
        for node in nodes:
            chooser = player if node.parent is None else node.parent.state.to_move
            parent = None if node.parent is None else numbers[node.parent.line]
            value = 0.0
            if not math.isnan(node.q):
                value = node.q if chooser == player else -node.q
            label = f"{node.move or 'root'} · {node.visits:,}"
            title = f"{node!r}, for the root's player {value:+.3f}"
            marks.append(TreeMark(parent, label, title, node.visits, value))
        return tree_picture(marks, f"search tree, {nodes[0].visits:,} visits")

    def __repr__(self) -> str:
        root = self.root
        return f"SearchTree({self._state.game.spec}, {root.visits:,} visits, {len(root.children)} moves at the root)"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.plot()._repr_svg_()}"


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
        parent = rows[node.line[:-1]]
        parent.setdefault("children", []).append(rows[node.line])
    for row in rows.values():
        if "children" in row:
            row["left_out"] = row["replies"] - len(row["children"])
    return rows[()]


def opened(tree: SearchTree, line: Sequence[int]) -> dict[str, Any]:
    """Return the node after a line of actions with all its moves, those without a visit too.

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
        # Without the parent's own evaluation, which belongs to no move.
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
    return (node.weight or 0.0) / (sum(weights.values()) or 1.0)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value

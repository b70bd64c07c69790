"""What the page Analyse looks into: the tree of its search, or one from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hauteur.games.played_game import line_texts
from hauteur.mcts.search_tree import SAVED_NODES, SearchTree, first_nodes, opened
from hauteur.mcts.tree_source import MOST_NODES, position_of
from hauteur.networks.names import WITHOUT_FILE
from hauteur.system.settings import Section
from hauteur.web.positions import position_view
from hauteur.web.sessions.session import Fields

FOLDER = "trees"
"""Folder of a root that trees are saved in."""
MOST_FILES = 500
"""Trees that are listed, the newest ones."""


def saved_trees(roots: Sequence[str]) -> dict[str, Path]:
    """Return the trees in the roots by name, the newest first; names begin with the root's: `runs/trees/a.json`."""
    files = [
        (path.stat().st_mtime_ns, Path(root).name, path)
        for root in roots
        for path in (Path(root) / FOLDER).glob("*")
        if path.suffix == ".json" and not path.name.startswith(".") and path.is_file()
    ]
    files.sort(key=lambda found: found[0], reverse=True)
    return {f"{root}/{FOLDER}/{path.name}": path for _, root, path in files[:MOST_FILES]}


def tree_named(name: str, roots: Sequence[str]) -> Path:
    """Return the file of a tree. Raise ValueError for a name that is not listed."""
    found = saved_trees(roots).get(name)
    if found is None:
        raise ValueError(f"there is no saved tree {name[:120]!r} in the folders that the server was given")
    return found


def new_tree_file(roots: Sequence[str], facts: dict[str, Any]) -> Path:
    """Return a path for a tree that will be saved, in the first root; its name has game, visits and digest."""
    if not roots:
        raise ValueError("this server was given no folder to save in: hauteur web FOLDER")
    folder = Path(roots[0]) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    game = re.sub(r"[^a-z0-9]+", "-", str(facts["game"]).lower()).strip("-")[:40]
    return folder / f"{game}-{facts['visits']}-{facts['digest'][:8]}.json"


MOST_OPEN = 100
"""Nodes that one request opens."""

Line = Annotated[tuple[Annotated[int, Field(ge=0, lt=65_536)], ...], Field(max_length=5000)]


class NodeFields(Section):
    """A node, by the actions from the root; flip: the board from the other side."""

    line: Line
    flip: bool = False


class LinesFields(Section):
    """Nodes to open."""

    lines: Annotated[tuple[Line, ...], Field(max_length=MOST_OPEN)]


class SaveFields(Section):
    """How to save a tree: how many nodes at most."""

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = SAVED_NODES


class TreeName(Section):
    """A saved tree."""

    name: Annotated[str, Field(max_length=400)]


class TreeShelf:
    """The saved trees below some roots, and the one that is looked into."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots
        self._nets: Sequence[str] = ()
        self.loaded: SearchTree | None = None
        """None: the page looks into its search."""

    def close(self, *, nets: Sequence[str] | None = None) -> None:
        """Look into the search again. nets: the files of its nets."""
        self.loaded = None
        if nets is not None:
            self._nets = [net for net in nets if net not in WITHOUT_FILE]

    def first(self, tree: SearchTree) -> Fields:
        """Return the most visited nodes."""
        return {"root": first_nodes(tree)}

    def nodes(self, tree: SearchTree, lines: Sequence[Sequence[int]]) -> Fields:
        """Return nodes with their moves; those that are not there are left out."""
        found = []
        for line in lines:
            try:
                found.append(opened(tree, line))
            except ValueError:
                continue
        return {"nodes": found}

    def look(self, tree: SearchTree, wanted: NodeFields) -> Fields:
        """Return the position of a node, and the moves that lead to it."""
        state = tree.node(wanted.line).state
        return {
            "position": position_view(state, flip=wanted.flip),
            "moves": line_texts(tree.state, wanted.line),
        }

    def save(self, tree: SearchTree, wanted: SaveFields) -> Fields:
        """Write a tree into the first root; return name, nodes and whether that is all of it."""
        root = tree.root
        facts = {"game": tree.state.game.name, "visits": root.visits, **tree.source.facts()}
        path = new_tree_file(self._roots, {"digest": "", **facts})
        nets = self._nets if self.loaded is None else ()
        count = tree.save(path, max_nodes=wanted.nodes, nets=nets)
        name = next(name for name, known in saved_trees(self._roots).items() if known == path)
        return {"name": name, "nodes": count, "visits": root.visits}

    def names(self) -> list[str]:
        """Return the names of the saved trees, the newest first."""
        return list(saved_trees(self._roots))

    def load(self, name: str) -> dict[str, Any]:
        """Look into a saved tree from now on; return its position and the facts of its file."""
        tree = SearchTree.open(tree_named(name, self._roots))
        self.loaded = tree
        state = tree.state
        place = position_of(state)
        return {
            "game": place["game"],
            "moves": line_texts(state.start, state.moves),
            "position": position_view(state),
            "facts": tree.source.facts(),
            "root": first_nodes(tree),
            "top": opened(tree, ()),
        }

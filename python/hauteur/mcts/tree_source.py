"""The sources of the nodes of a search tree: a forest that is read as nodes are asked for, or a file.

A file of JSON has the position, what the search was, and as columns the root and its most visited nodes. It may be from
any source: its size is limited, and every number is checked when it is opened. Moves are checked when the position
behind them is asked for.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.games.registry import load_game
from hauteur.system.files import read_json, write_bytes
from hauteur.system.settings import Section, validated

if TYPE_CHECKING:
    from hauteur import _core


Edge = Mapping[str, Any]
"""One edge of a node, with the keys of `_core.Forest.edges_at`."""

Columns = Mapping[str, NDArray[Any]]
"""Many edges, with the columns of `_core.Forest.branches`."""


class ForestTree:
    """The nodes of a tree of a forest.

    check: raises ValueError where the tree is not that of the search any more. facts: what the forest does not know of
    the search.
    """

    def __init__(
        self,
        forest: _core.Forest,
        number: int,
        check: Callable[[], None] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._forest = forest
        self._number = number
        self._check = check
        self._facts = dict(facts or {})

    def root(self) -> Edge:
        """The root, with the keys of an edge."""
        self._ready()
        ids = [self._number]
        forest = self._forest
        number = self._number
        lower, upper, plies = forest.root_bounds(number)
        wdl = forest.reported_values(ids)[0]
        network = forest.network_values(ids)[0]
        edges = self.edges(())
        visits = int(forest.root_node_visits(ids)[0])
        return {
            "visits": visits,
            "large_visits": 0,
            "node_visits": visits,
            "prior": 1.0,
            "score": math.nan,
            "q": forest.root_mean(number),
            "reported_wdl": None if np.isnan(wdl).any() else tuple(wdl),
            "value": None if np.isnan(network).any() else float(network[0] - network[2]),
            "terminal": False,
            "frozen": None,
            "lower": lower,
            "upper": upper,
            "plies": plies,
            "node_frozen": any(edge["frozen"] is not None for edge in edges),
            "replies": sum(edge["visits"] > 0 for edge in edges),
        }

    def edges(self, line: Sequence[int], most: int | None = None) -> Sequence[Edge]:
        self._ready()
        try:
            return self._forest.edges_at(self._number, list(line), most) or ()
        except RuntimeError:  # another thread is in the core with this forest
            raise _BEING_SEARCHED from None

    def branches(self, count: int) -> Columns:
        self._ready()
        try:
            return self._forest.branches(self._number, count)
        except RuntimeError:
            raise _BEING_SEARCHED from None

    def explained(self, state: _core.State, facts: str, most: int) -> _core.Explained:
        """Return the tree as comparisons read it. state: its root; facts: what it does not know; most: nodes."""
        self._ready()
        return _core.Explained(self._forest, self._number, state, facts, most)

    def facts(self) -> dict[str, Any]:
        """Return what is known of the search, and the digest of the tree."""
        self._ready()
        return self._facts | {"digest": f"{self._forest.digest(self._number):016x}"}

    def _ready(self) -> None:
        if self._check is not None:
            self._check()


_BEING_SEARCHED = RuntimeError("the tree is being searched: read it by Analysis.ask, in on_report or after the search")


def edges_of(columns: Columns, rows: Sequence[int] | NDArray[np.int64]) -> Iterator[Edge]:
    """Yield these rows of columns as edges."""
    lists = {}
    for name, column in columns.items():
        if name != "parent":
            lists[name] = column[rows].tolist()
    for values in zip(*lists.values(), strict=True):
        edge = dict(zip(lists, values, strict=True))
        wdl = edge["reported_wdl"]
        edge["reported_wdl"] = None if math.isnan(wdl[0]) else tuple(wdl)
        for name in ("value", "frozen"):
            if math.isnan(edge[name]):
                edge[name] = None
        if edge["plies"] < 0:
            edge["plies"] = None
        yield edge


FORMAT = "hauteur tree 2"
MOST_NODES = 200_000
"""Nodes below the root that a file may hold."""
MOST_BYTES = 64 * 2**20
"""Bytes that a file may have, and its columns once they are read."""
MOST_MOVES = 10_000

Text = Annotated[str, Field(max_length=400)]


class SavedNet(Section):
    """A net of the search. sha256: of its file, hexadecimal; empty for what is no file."""

    name: Text
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""


class SavedHeader(Section):
    """Facts of a tree in its file."""

    format: Annotated[str, Field(pattern=f"^{FORMAT}$")]
    """Name and version of the format."""
    hauteur: Text
    """Version of the program that wrote the file."""
    game: Text
    """Spec of the game, with the position that it began from."""
    moves: Annotated[tuple[Annotated[int, Field(ge=0, lt=65_536)], ...], Field(max_length=MOST_MOVES)]
    """Actions from there to the root."""
    settings: dict[str, Any] | None = None
    """Settings of the search; None: not known."""
    seed: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    """Seed of the search; None: not known."""
    nets: Annotated[tuple[SavedNet, ...], Field(max_length=2)] = ()
    """Nets of the search, with two nets the small one first."""
    digest: Annotated[str, Field(pattern="^([0-9a-f]{16})?$")] = ""
    """Hash of the whole tree, 16 hexadecimal digits; empty: not known."""
    complete: bool
    """The file has all nodes of the tree, not only the most visited ones."""


COLUMNS: Mapping[str, tuple[type[np.generic], float, float]] = {
    "parent": (np.int32, -1, 2**31 - 1),
    "action": (np.uint16, 0, 2**16 - 1),
    "visits": (np.uint32, 1, 2**32 - 1),
    "large_visits": (np.uint32, 0, 2**32 - 1),
    "prior": (np.float32, 0, 1.001),
    "q": (np.float32, -2, 2),
    "win": (np.float32, -0.001, 1.001),
    "draw": (np.float32, -0.001, 1.001),
    "loss": (np.float32, -0.001, 1.001),
    "value": (np.float32, -1.001, 1.001),
    "score": (np.float32, -1e30, 1e30),
    "terminal": (np.bool_, 0, 1),
    "lower": (np.int8, -1, 1),
    "upper": (np.int8, -1, 1),
    "plies": (np.int32, -1, 65_535),
    "frozen": (np.float32, 0, 1e30),
    "replies": (np.uint32, 0, 65_536),
    "node_visits": (np.uint32, 0, 2**32 - 1),
    "node_frozen": (np.bool_, 0, 1),
}
"""The columns of a file, in row 0 the root: types, least and largest value. NaN, null in JSON, is not known."""
UNKNOWN = frozenset({"win", "draw", "loss", "value", "score", "frozen"})
"""Columns that may have NaN."""


class SavedTree:
    """The nodes of a tree from a file, the root in row 0; moves without a visit are not in it."""

    def __init__(self, header: SavedHeader, columns: Columns) -> None:
        self.header = header
        self._columns = columns
        parents = columns["parent"]
        # Stable: the children of a node stay in the order of the file, the most visited first.
        self._order = np.argsort(parents, kind="stable")
        self._starts = np.searchsorted(parents[self._order], np.arange(len(parents) + 1))

    def root(self) -> Edge:
        return next(edges_of(self._columns, [0]))

    def edges(self, line: Sequence[int], most: int | None = None) -> Sequence[Edge]:
        rows = self._behind(0)
        for action in line:
            found = rows[self._columns["action"][rows] == action]
            if not len(found):
                return ()
            rows = self._behind(int(found[0]))
        return tuple(edges_of(self._columns, rows[:most]))

    def branches(self, count: int) -> Columns:
        """The most visited nodes: they stand in the file in this order."""
        below = {name: column[1 : count + 1] for name, column in self._columns.items()}
        return below | {"parent": below["parent"] - 1}

    def facts(self) -> dict[str, Any]:
        return self.header.model_dump(include={"settings", "seed", "nets", "digest", "complete", "hauteur"})

    def _behind(self, row: int) -> NDArray[np.int64]:
        return self._order[self._starts[row] : self._starts[row + 1]]


TreeSource = ForestTree | SavedTree
"""The source of the nodes of a tree."""


def write_tree(path: Path, state: _core.State, root: Edge, columns: Columns, facts: Mapping[str, Any]) -> None:
    """Write a tree whole, or not at all. Raise ValueError for another ending."""
    check_ending(path)
    given = {
        "format": FORMAT,
        "hauteur": _core.__version__,
        "game": state.game.spec,
        "moves": state.moves,
        **facts,
    }
    header = validated(SavedHeader, given, str(path))
    content = header.model_dump(mode="json")
    nodes = _with_root(root, columns)
    content["nodes"] = {name: _json_list(column) for name, column in nodes.items()}
    # allow_nan: JSON has no NaN, and readers in other languages would refuse the file.
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    write_bytes(path, text.encode() + b"\n")


def _with_root(root: Edge, below: Columns) -> dict[str, NDArray[Any]]:
    """The columns of a file: the root, then the nodes below it."""
    first: dict[str, Any] = {"parent": -1, "action": 0, **root}
    flat = dict(below)
    flat["parent"] = below["parent"] + 1
    if first["plies"] is None:
        first["plies"] = -1
    root_wdl = root["reported_wdl"] or [None] * 3
    for place, name in enumerate(("win", "draw", "loss")):
        first[name] = root_wdl[place]
        flat[name] = below["reported_wdl"][:, place]
    columns = {}
    for name, (kind, _, _) in COLUMNS.items():
        value = np.nan if first[name] is None else first[name]
        columns[name] = np.append(value, flat[name]).astype(kind)
    return columns


def read_tree(path: Path) -> tuple[_core.State, SavedTree]:
    """Return the position and the nodes of a file. Raise ValueError, in one line, for what is none or too large."""
    check_ending(path)
    # Before it is read: as Python's lists the numbers take many times the bytes of the file.
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path}: has {path.stat().st_size:,} bytes; a tree is read up to {MOST_BYTES:,}")
    header, columns = _read_json(path)
    checked = validated(SavedHeader, header, str(path))
    problem = _wrong(columns)
    if problem:
        raise ValueError(f"{path}: {problem}")
    wdl = np.stack([columns.pop(name) for name in ("win", "draw", "loss")], axis=1)
    try:
        start = load_game(checked.game).new_initial_state()
        state = position_after(start, checked.moves)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return state, SavedTree(checked, columns | {"reported_wdl": wdl})


def check_ending(path: Path) -> None:
    """Raise ValueError where a path is not that of a file for trees."""
    if path.suffix != ".json":
        raise ValueError(f"{path}: a tree is saved as .json")


def _json_list(column: NDArray[Any]) -> list[Any]:
    """The values of a column, floats in the nine digits that float32 has."""
    if column.dtype.kind != "f":
        found: list[Any] = column.tolist()
        return found
    return [None if value != value else float(f"{value:.9g}") for value in column.tolist()]


def _read_json(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the known columns of a file. ValueError for what is no tree."""
    header = read_json(path)
    lists = header.pop("nodes", None)
    if not isinstance(lists, dict) or not all(isinstance(column, list) for column in lists.values()):
        raise ValueError(f"{path}: not a tree: nodes must have columns of numbers")
    if any(len(column) > MOST_NODES for column in lists.values()):
        raise ValueError(f"{path}: has more than {MOST_NODES:,} nodes")
    columns = {}
    try:
        for name, column in lists.items():
            if name in COLUMNS:
                # With its type given null becomes NaN; without, numpy would make an array of objects of it.
                kind = np.float64 if name in UNKNOWN else None
                columns[name] = np.array(column, kind)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{path}: not a tree: a column of its nodes holds something that is no number") from None
    return header, columns


def _wrong(columns: dict[str, NDArray[Any]]) -> str:
    """Return what is wrong with columns from a file, empty if nothing is; they get their types."""
    count = len(columns.get("parent", ()))
    for name, (kind, least, most) in COLUMNS.items():
        column = columns.get(name)
        if column is None or column.shape != (count,) or column.dtype.kind not in "biuf":
            return f"its column {name} is missing, or has another length or type than the others"
        known = column[~np.isnan(column)] if name in UNKNOWN else column
        is_allowed = (known >= least) & (known <= most)
        if not is_allowed.all():
            return f"its column {name} must be {least} to {most}"
        # Only now: astype would wrap a number that does not fit, in silence.
        columns[name] = column.astype(kind)
    parents = columns["parent"]
    # Parents first: so the nodes are one tree without cycles, and the first n of them are one too.
    is_late = parents >= np.arange(count)
    has_none = parents[1:] < 0
    if not count or is_late.any() or has_none.any():
        return "a node stands before its parent, or has none"
    actions = columns["action"].astype(np.int64)
    # Parent and action in one number, as an action has 16 bits.
    moves = parents.astype(np.int64) * 2**16 + actions
    if len(np.unique(moves)) != count:
        return "a node has two children by one move"
    is_crossed = columns["lower"] > columns["upper"]
    if is_crossed.any():
        return "a node has a lower bound above its upper one"
    return ""

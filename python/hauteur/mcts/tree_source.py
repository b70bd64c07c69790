"""The sources of the nodes of a search tree: a forest that is read as nodes are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hauteur import _core

Edge = Mapping[str, Any]
"""One edge of a node, with the keys of `_core.Forest.edges_behind`."""

Columns = Mapping[str, NDArray[Any]]
"""Many edges, with the columns of `_core.Forest.branches`."""


class TreeSource(Protocol):
    """The source of the nodes of a tree: a forest, or a file."""

    def root(self) -> Edge:
        """The root as if an edge led to it, for its player to move."""

    def edges(self, line: Sequence[int], most: int | None = None) -> Sequence[Edge]:
        """The edges of the position behind a line of actions, the most visited first; none at a leaf."""

    def branches(self, count: int) -> Columns:
        """The most visited nodes below the root, at most so many, parents before children."""

    def facts(self) -> dict[str, Any]:
        """Return what the tree came about by, as far as it is known: settings, seed, nets, digest."""


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
        self._forest, self._number, self._check, self._facts = forest, number, check, dict(facts or {})

    def root(self) -> Edge:
        """The root, with the keys of an edge."""
        self._ready()
        ids, forest, number = [self._number], self._forest, self._number
        lower, upper, plies = forest.root_bounds(number)
        wdl, network = forest.reported_values(ids)[0], forest.network_values(ids)[0]
        edges = self.edges(())
        visits = int(forest.root_node_visits(ids)[0])
        return {
            "visits": visits,
            "large_visits": 0,
            "node_visits": visits,
            "prior": 1.0,
            "q": forest.root_mean(number),
            "reported_wdl": None if np.isnan(wdl).any() else tuple(wdl),
            "value": None if np.isnan(network).any() else float(network[0] - network[2]),
            "terminal": False,
            "lower": lower,
            "upper": upper,
            "plies": plies,
            "node_frozen": any(edge["frozen"] is not None for edge in edges),
            "replies": sum(edge["visits"] > 0 for edge in edges),
        }

    def edges(self, line: Sequence[int], most: int | None = None) -> Sequence[Edge]:
        """The edges behind a line."""
        self._ready()
        try:
            return self._forest.edges_behind(self._number, list(line), most) or ()
        except RuntimeError:  # another thread is in the core with this forest
            raise _BEING_SEARCHED from None

    def branches(self, count: int) -> Columns:
        """The most visited nodes."""
        self._ready()
        try:
            return self._forest.branches(self._number, count)
        except RuntimeError:
            raise _BEING_SEARCHED from None

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
    lists = {name: column[rows].tolist() for name, column in columns.items() if name != "parent"}
    for values in zip(*lists.values(), strict=True):
        edge = dict(zip(lists, values, strict=True))
        wdl, value, frozen = edge["reported_wdl"], edge["value"], edge["frozen"]
        edge["reported_wdl"] = None if math.isnan(wdl[0]) else tuple(wdl)
        edge["value"] = None if math.isnan(value) else value
        edge["frozen"] = None if math.isnan(frozen) else frozen
        edge["plies"] = None if edge["plies"] < 0 else edge["plies"]
        yield edge

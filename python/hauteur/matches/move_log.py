"""The moves of running games as columns: one row a move, written for many games at once, taken when a game is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.record import COLUMNS

MOVE_COLUMNS = [one for one in COLUMNS if one.level == "move"]
EDGE_COLUMNS = [one for one in COLUMNS if one.level == "edge"]

FIRST_ROWS = 1024
"""Rows that a log begins with."""

Policy = tuple[NDArray[Any], NDArray[Any]]
"""The edges of a move that have a count, and these counts: one array for each of EDGE_COLUMNS."""


@dataclass(frozen=True)
class Moves:
    """Moves of T games, chosen at once.

    actions: [T]; columns: what is known of them, by column of GameRecord, [T] or [T, width]; notes: what was said of
    them.
    """

    actions: Sequence[int]
    columns: Mapping[str, Any]
    policies: Sequence[Policy]
    notes: Sequence[str] = ()

    @property
    def values(self) -> list[float]:
        """Values of their searches for the movers, -1 to 1; NaN where there was none."""
        wdl = self.columns.get("root_wdl")
        return [np.nan] * len(self.actions) if wdl is None else (wdl[:, 0] - wdl[:, 2]).tolist()


@dataclass
class MoveLog:
    """The columns of all moves of running games; the rows of games that are over are used again."""

    _columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._columns = {one.name: one.array([]) for one in MOVE_COLUMNS}

    def add(self, moves: Moves, movers: Sequence[int]) -> list[int]:
        """Write a row for each move; return their numbers."""
        count = len(moves.actions)
        if len(self._free) < count:
            self._grow(count)
        rows = self._free[-count:]
        del self._free[-count:]
        lengths = [len(edges) for edges, _ in moves.policies]
        known = {**moves.columns, "actions": moves.actions, "movers": movers, "policy_lengths": lengths}
        for one in MOVE_COLUMNS:
            self._columns[one.name][rows] = known.get(one.name, one.default)
        return rows

    def take(self, rows: list[int]) -> dict[str, Any]:
        """Return the columns of these rows, which are free then."""
        self._free.extend(rows)
        return {name: column[rows] for name, column in self._columns.items()}

    def _grow(self, count: int) -> None:
        before = len(self._columns["actions"])
        more = max(count, before, FIRST_ROWS)
        for one in MOVE_COLUMNS:
            column = self._columns[one.name]
            self._columns[one.name] = np.concatenate([column, np.zeros((more, *column.shape[1:]), column.dtype)])
        self._free.extend(range(before, before + more))


def policies_of(targets: NDArray[np.uint32]) -> list[Policy]:
    """Return the policy of each row of [T, A]."""
    rows, edges = np.nonzero(targets)
    counts, ends = targets[rows, edges], np.searchsorted(rows, np.arange(1, len(targets) + 1)).tolist()
    return [(edges[begin:end], counts[begin:end]) for begin, end in pairwise([0, *ends])]


def joined_policies(policies: Sequence[Policy]) -> dict[str, Any]:
    """Return the columns of all edges of these moves, one move after another."""
    parts = zip(*policies, strict=True) if policies else ([] for _ in EDGE_COLUMNS)
    return {
        one.name: np.concatenate([one.array([]), *arrays]).astype(one.dtype)
        for one, arrays in zip(EDGE_COLUMNS, parts, strict=True)
    }

"""What search rules written in Python are given: nodes, edges and the ways of visits of many trees, as arrays."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

NODE_FACTS = 5
"""Rows of a table of nodes before its columns; Edges and Way have theirs below."""
EDGE_FACTS = 8


class Table:
    """Rows of floats with names; `table["name"]` is a column of the rule that is being called."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        """columns: what rules keep, [C, rows' width]."""
        self._rows, self._columns = rows, columns
        self._places: dict[str, int] = {}

    def __getitem__(self, name: str) -> Floats:
        found: Floats = self._columns[self._place(name)]
        return found

    def _row(self, number: int) -> Floats:
        found: Floats = self._rows[number]
        return found

    def _flags(self, number: int) -> Flags:
        found: Flags = self._rows[number] != 0
        return found

    def show_to(self, places: dict[str, int]) -> None:
        """Show the columns of a rule: their places by name."""
        self._places = places

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise KeyError(f"{name!r} is not in the rule's columns: {', '.join(self._places) or 'it has none'}")
        return self._places[name]


class Nodes(Table):
    """The nodes of one depth that choose an edge now, [n], one a tree, each as its mover sees it.

    `nodes["name"]`: the rule's columns of the position itself.
    """

    def __init__(self, depth: int, tree: Numbers, rows: Floats, handed: dict[tuple[int, str], Floats]) -> None:
        super().__init__(rows, rows[NODE_FACTS:])
        self.depth = depth
        """Plies below the root: 0 at the roots."""
        self.tree = tree
        """The number of each tree in its forest."""
        self._handed, self._rule = handed, 0

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def visits(self) -> Floats:
        """N(s), the position's own evaluation included."""
        return self._row(0)

    @property
    def mean(self) -> Floats:
        """Mean W - L of all visits, -1 to 1."""
        return self._row(1)

    @property
    def drawn(self) -> Floats:
        """Mean share of draws, 0 to 1."""
        return self._row(2)

    @property
    def network(self) -> Floats:
        """W - L by the network alone."""
        return self._row(3)

    @property
    def sign(self) -> Floats:
        """1 where the first player is to move, else -1: `sign * mean` is the first player's."""
        return self._row(4)

    def handed(self, name: str, default: float) -> Floats:
        """Return what the rule handed down to these nodes one depth above, [n]; `default` where it was not asked."""
        found = self._handed.get((self._rule, name))
        return np.full(len(self.tree), default) if found is None else np.where(np.isnan(found), default, found)

    def show_rule(self, rule: int, places: dict[str, int]) -> None:
        """Show columns and what was handed down of a rule by its number."""
        self._rule = rule
        self.show_to(places)


class Edges(Table):
    """The edges of these nodes, [E], those of one node after those of another, each as the node's mover sees it.

    `edges["name"]`: the rule's columns of the position behind the edge; 0 before the first visit.
    """

    def __init__(self, starts: Numbers, action: NDArray[np.uint16], rows: Floats) -> None:
        super().__init__(rows, rows[EDGE_FACTS:])
        self.starts = starts
        """Where the edges of each node begin, and where the last ones end, [n + 1]."""
        self._actions = action
        self.random: Floats = np.empty(0)
        """The random numbers that the rule asks for with `random`; those of a tree depend on its seed alone."""
        self.below: dict[tuple[int, str], Floats] = {}
        """What is handed down, by rule and name."""
        self._rule = 0

    def __len__(self) -> int:
        return len(self._actions)

    @cached_property
    def node(self) -> Numbers:
        """The place of each edge's node."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def visits(self) -> Floats:
        """N(s, a)."""
        return self._row(0)

    @cached_property
    def action(self) -> Numbers:
        """The action of each edge, an index into the policy."""
        return self._actions.astype(np.int64)

    @property
    def in_flight(self) -> Floats:
        """Visits that wait for the network."""
        return self._row(1)

    @property
    def mean(self) -> Floats:
        """Mean W - L of the visits, -1 to 1; 0 before the first."""
        return self._row(2)

    @property
    def drawn(self) -> Floats:
        """Mean share of draws; 0 before the first visit."""
        return self._row(3)

    @property
    def prior(self) -> Floats:
        """P(s, a) as the network gave it."""
        return self._row(4)

    @property
    def ended(self) -> Flags:
        """True where the game is known to be over behind the edge."""
        return self._flags(5)

    @property
    def proven(self) -> Flags:
        """True where the result is proven (solver)."""
        return self._flags(6)

    @property
    def allowed(self) -> Flags:
        """True where the search may take the edge: not what a root is kept from."""
        return self._flags(7)

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a value a node, [n], as one an edge, [E]."""
        found: NDArray[Any] = values[self.node]
        return found

    def total(self, values: Floats) -> Floats:
        """Return the sum over the edges of each node, [n]."""
        found: Floats = np.add.reduceat(values, self.starts[:-1])
        return found

    def hand_down(self, name: str, values: Floats) -> None:
        """Keep a number an edge, [E], that `nodes.handed(name, default)` finds one depth below in this descent."""
        if np.shape(values) != (len(self),):
            raise ValueError(f"hand_down needs a number an edge, shape {(len(self),)}, got {np.shape(values)}")
        self.below[self._rule, name] = values

    def show_rule(self, rule: int, places: dict[str, int], random: int | None) -> None:
        """Show columns and random numbers of a rule by its number; random: their place, which final choices lack."""
        self._rule = rule
        self.show_to(places)
        if random is not None and random < len(self._columns):
            self.random = self._columns[random]


class Way(Table):
    """The ways of visits that are backed up now, one a tree: the positions from each leaf, [S] together, to its root.

    A position's statistics stand on the edge that leads to it and are as the mover above sees them; a root's are as its
    own mover does. `way["name"]` are the rule's columns of the positions; `way["name"] = values` changes them.
    """

    def __init__(self, tree: Numbers, starts: Numbers, rows: Floats) -> None:
        super().__init__(rows, rows[:0])
        self.tree = tree
        """The number of each tree in its forest, [m]."""
        self.starts = starts
        """Where each way begins, and where the last one ends, [m + 1]."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __setitem__(self, name: str, values: Floats) -> None:
        if np.shape(values) != (len(self),) or not np.isfinite(values).all():
            raise ValueError(f"column {name!r} must be finite numbers of shape ({len(self)},)")
        self._columns[self._place(name)] = values

    def take_steps(self, steps: Floats) -> None:
        """Take the step sizes that a rule has decided."""
        self._rows[5] = steps

    def show_columns(self, columns: Floats) -> None:
        """Show the columns of the positions, [C, S], which rules change."""
        self._columns = columns

    @property
    def visits(self) -> Floats:
        """Visits, this one included."""
        return self._row(0)

    @property
    def value(self) -> Floats:
        """W - L of the visit, -1 to 1."""
        return self._row(1)

    @property
    def drawn(self) -> Floats:
        """Share of draws of the visit."""
        return self._row(2)

    @property
    def mean(self) -> Floats:
        """Mean W - L before the visit; 0 before the first."""
        return self._row(3)

    @property
    def sign(self) -> Floats:
        """1 where the first player is who sees that, else -1."""
        return self._row(4)

    @property
    def step(self) -> Floats:
        """How far the visit moves the mean: 1 / visits, unless a rule says otherwise."""
        return self._row(5)

    @cached_property
    def height(self) -> Numbers:
        """Plies above the leaf: 0 at leaves."""
        return np.arange(len(self)) - np.repeat(self.starts[:-1], np.diff(self.starts))

    @cached_property
    def depth(self) -> Numbers:
        """Plies below the root: 0 at roots."""
        return np.repeat(self.starts[1:], np.diff(self.starts)) - 1 - np.arange(len(self))

"""The tree of an analysis: it follows a game, and keeps the subtree of what was played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.mcts.plain_settings import SearchSettings

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.mcts.own_rules import Rule, RuleChain
    from hauteur.networks.evaluators.base import Evaluator


class AnalysisNets:
    """One evaluator or more, given as they are or as what `hauteur.evaluator` makes one of, closed here then.

    rows: maximum rows of a batch; None: those that the small one prefers.
    """

    def __init__(
        self,
        small: object,
        large: object = None,
        rows: int | None = None,
        more: Sequence[object] = (),
    ) -> None:
        if more and large is None:
            raise ValueError(f"nets after the second one need it: large= is missing, got {len(more)} in more=")
        self._sources = [small]
        if large is not None:
            self._sources += [large, *more]
        self._rows = rows
        self._open: list[Evaluator] = []
        self._game = ""

    def open(self, game: _core.Game) -> bool:
        """Make the evaluators for this game, unless they are there; return whether they were made.

        Where one cannot be made there are none afterwards.
        """
        if self._open and self._game == game.spec:
            return False
        self.close()
        try:
            for source in self._sources:
                self._open.append(evaluator_for(game, source))
        except BaseException:
            # Some of the nets of this game must not pass for those of the game before.
            self.close()
            raise
        self._game = game.spec
        return True

    @property
    def source(self) -> object:
        """What the evaluator, the small one of two, was given as."""
        return self._sources[0]

    @property
    def small(self) -> Evaluator:
        """The evaluator, the small one of two; ValueError before the first position."""
        if not self._open:
            raise ValueError("the session has no position yet: call set_position first")
        return self._open[0]

    @property
    def large(self) -> Evaluator | None:
        """The second evaluator, None where there is one only."""
        if len(self._open) > 1:
            return self._open[1]
        return None

    @property
    def more(self) -> tuple[Evaluator, ...]:
        """The evaluators after the second one."""
        return tuple(self._open[2:])

    @property
    def batch_size(self) -> int:
        """Maximum rows of a batch."""
        return self._rows or self.small.batch_size

    def close(self) -> None:
        """Close the evaluators that were opened here; those that were passed in stay open."""
        for evaluator, source in zip(self._open, self._sources, strict=False):
            if evaluator is not source:
                evaluator.close()
        self._open = []


def evaluator_for(game: _core.Game, source: object) -> Evaluator:
    """Return an evaluator unchanged, or what `hauteur.evaluator` makes of the source."""
    if hasattr(source, "submit") and hasattr(source, "batch_size"):
        ours = game.feature_shape
        theirs = getattr(source, "feature_shape", ours)
        # Of other shapes it goes on to the factory, which says in one line what it is for.
        if tuple(ours) == tuple(theirs):
            return cast("Evaluator", source)
    # Here: an engine answers `uci` without the readers and layers of nets that this brings.
    from hauteur.networks.evaluators.factory import evaluator

    return evaluator(game, source)


def given_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return search rules in Python as a tuple; ValueError for something else."""
    if rules == ():
        return ()
    from hauteur.mcts.own_rules import checked_rules  # here: engines have none

    return checked_rules(rules)


class TreeCounters(NamedTuple):
    """Counts of the core in a tree: totals since it began, which a new root does not reset, but for `root_visits`."""

    root_visits: int
    """Visits of the present root, those before it became the root included."""
    visits: int
    """Visits that count towards limits; with two nets the small one's."""
    depth_sum: int
    """Lengths of the paths of these visits together, in plies."""
    rows: int
    """Positions that a network evaluated."""
    tablebase_hits: int
    """Leaves that a tablebase evaluated."""


class TreeFacts(NamedTuple):
    """A tree as a whole. digest: hash of all nodes, visits and values, 16 hexadecimal digits, equal for equal trees;
    counters: as `_core.Forest.tree_stats` names them.
    """

    digest: str
    counters: dict[str, float]


@dataclass
class FollowedTree:
    """A forest of one tree, and the position at its root."""

    params: SearchSettings
    """Settings of the search."""
    seed: int = 0
    """Seed of the random draws."""
    tablebase: _core.Tablebase | None = None
    """Exact results for leaves, or for the root's moves where it knows the root (chess)."""
    fast_play: bool = False
    """Of the root's moves that a tablebase calls won, allow only the fastest."""
    rules: Sequence[Rule] = ()
    """Search rules written in Python."""
    version: int = 0
    """Number that changes whenever the tree is begun anew or its root moves."""
    _forest: _core.Forest | None = None
    _leaf_tablebase: _core.Tablebase | None = None
    _start: tuple[str, str] = ("", "")
    _actions: tuple[int, ...] = ()
    _position: _core.State | None = None
    number: int = 0
    """The tree's id in its forest."""

    @property
    def forest(self) -> _core.Forest:
        """The forest; ValueError before the first position."""
        if self._forest is None:
            raise ValueError("the session has no position yet: call set_position first")
        return self._forest

    @property
    def ids(self) -> NDArray[np.int64]:
        """The tree's id, int64 [1], as calls of the forest take it."""
        return np.array([self.number], np.int64)

    @property
    def state(self) -> _core.State:
        """A copy of the root's position."""
        return self.forest.state(self.number)

    @property
    def position(self) -> _core.State:
        """A copy of the position, which knows the moves that led to it as far as they were given."""
        return self.state if self._position is None else self._position.copy()

    @property
    def counters(self) -> TreeCounters:
        """Counts of the tree so far."""
        return TreeCounters(*self.forest.root_counters(self.number))

    @property
    def facts(self) -> TreeFacts:
        """Digest and counts of the whole tree."""
        digest = self.forest.digest(self.number)
        return TreeFacts(f"{digest:016x}", self.forest.tree_stats(self.number))

    def go_to(self, start: _core.State, actions: Sequence[int]) -> bool:
        """Go to the position after `actions` from `start`; return whether the tree was kept."""
        line = tuple(actions)
        key = (start.game.spec, start.notation())
        known = len(self._actions)
        # The core keeps only the subtree of the played move, so a takeback or another line begins a new tree.
        kept = self._forest is not None and key == self._start and line[:known] == self._actions
        # Played before the tree is touched: an illegal move raises, and leaves everything as it was.
        position = position_after(start, line)
        for action in line[known:] if kept else ():
            self.forest.advance(self.ids, np.array([action], np.uint16))
            self.version += 1
        if not kept:
            self._restart(position)
        self._start = key
        self._actions = line
        self._position = position
        return kept

    def clear(self) -> None:
        """Forget the tree; the next position begins a new one."""
        # The forest and not only its tree, since the evaluations are in its cache.
        self._forest = None
        self._actions = ()
        self.version += 1

    def consult_tablebase(self, only: tuple[int, ...]) -> tuple[tuple[int, ...], int | None]:
        """Return the root moves to search, and the result of the root where the tables know it.

        The result is that under the fifty-move rule, as its counter stands; the moves are those that keep it. Below
        such a root every leaf would be known and none better than another, so there the network decides alone; a tree
        that was built the other way is begun anew.
        """
        tables = self.tablebase
        state = self.state
        kept = tables.root_actions(state, self.fast_play) if tables is not None else None
        leaf_tables = tables if kept is None else None
        if leaf_tables is not self._leaf_tablebase:
            # Values of the tables are in the means of all nodes above their leaves and cannot be taken out again.
            self.forest.remove(self.ids)
            self.forest.set_tablebase(leaf_tables)
            self.number = self.forest.add(state)
            self._leaf_tablebase = leaf_tables
            self.version += 1
        # Where none of the moves that the user named keeps the result, the tables have no say.
        best = tuple(kept or ())
        if only:
            best = tuple(action for action in best if action in only)
        if tables is None or not best:
            return only, None
        return best, tables.result(state)

    def _chain(self) -> RuleChain | None:
        """Return what the forest calls for the rules in Python; None where there are none."""
        if not self.rules:
            return None
        from hauteur.mcts.own_rules import rule_chain

        return rule_chain(self.rules)

    def _restart(self, state: _core.State) -> None:
        """Begin a tree at this position, in a new forest if the game is another one."""
        if self._forest is None or self._forest.game.spec != state.game.spec:
            self._forest = _core.Forest(state.game, self.params, self.seed, 1, self._chain())
            self._leaf_tablebase = None
        else:
            # The forest stays, and its cache: after a takeback the new tree finds the evaluations of the old one there.
            self._forest.remove(self.ids)
        self.number = self._forest.add(state)
        self.version += 1

"""The searches of a question."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

from hauteur.engine.nets import NetChoice, Opener, OpenNets, open_evaluator, open_nets
from hauteur.mcts.analysis import ALL_LINES, Analysis
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootReport
from hauteur.mcts.result import SearchResult
from hauteur.mcts.search_tree import SearchTree
from hauteur.mcts.tree_source import Edge
from hauteur.studies.explain.question import Question, Side

MOST_NODES = 50_000
"""Nodes of a tree that are read, the most visited first."""

Line = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreePlace:
    """A node behind a line of actions from the root; q and prior are for the player who chose the last of them."""

    line: Line
    visits: int
    edge: Edge
    """The edge that leads here, with the keys of `_core.Forest.edges_behind`."""
    children: tuple[Edge, ...]
    """Its edges with visits, or with a proof; the most visited first."""

    @property
    def q(self) -> float:
        """Mean value of the visits."""
        return float(self.edge["q"])

    @property
    def proven(self) -> int | None:
        """The proven result, None without a proof."""
        return proven_result(self.edge)

    @property
    def is_repeat(self) -> bool:
        """Return whether visits end here although the game goes on, and no network was asked: a repeat that counts."""
        return self.visits > 0 and not self.edge["terminal"] and self.edge["value"] is None and not self.children

    @property
    def weights(self) -> dict[int, float] | None:
        """The weights that replies are drawn by, of a node frozen by search-contempt."""
        if not self.children or self.children[0].get("frozen") is None:
            return None
        return {int(edge["action"]): float(edge["frozen"]) for edge in self.children}


@dataclass(frozen=True)
class TreeNodes:
    """The nodes that were read, by line; complete: whether these are all of the tree."""

    nodes: dict[Line, TreePlace]
    complete: bool


def read_nodes(tree: SearchTree, most: int = MOST_NODES, *, proofs: bool = False) -> TreeNodes:
    """Read the nodes of a tree that have visits, the most visited `most` of them; proofs: those proven without, too."""
    found: dict[Line, TreePlace] = {}
    waiting: list[tuple[int, int, Line, Edge]] = [(0, 0, (), tree.source.root())]
    added = 0
    while waiting and len(found) < most:
        *_, line, edge = heapq.heappop(waiting)
        is_leaf = bool(line) and not edge["replies"]
        wanted = None if proofs or not line else int(edge["replies"])
        children = () if is_leaf else tuple(filter(_counts, tree.source.edges(line, wanted)))
        found[line] = TreePlace(line, int(edge["visits"]), edge, children)
        for child in children:
            added += 1
            heapq.heappush(waiting, (-int(child["visits"]), added, (*line, int(child["action"])), child))
    return TreeNodes(found, complete=not waiting)


def proven_result(edge: Edge) -> int | None:
    """Return the proven result behind an edge, None without a proof."""
    return int(edge["lower"]) if edge["lower"] == edge["upper"] else None


def _counts(edge: Edge) -> bool:
    return bool(edge["visits"]) or edge["lower"] == edge["upper"]


class ExplainStopped(Exception):  # noqa: N818  (no error: somebody wanted it)
    """The comparison was stopped before its end."""


@dataclass(eq=False)
class ExplainedSearch:
    """A search at its end. evaluator: what computed it; counters: `_core.Forest.tree_stats`."""

    side: Side
    report: RootReport
    result: SearchResult
    digest: str
    counters: dict[str, float]
    evaluator: str

    @property
    def q(self) -> float:
        """Q of the root for its mover."""
        return float(self.result.tree.source.root()["q"])

    @cached_property
    def tree(self) -> TreeNodes:
        """The nodes of the tree."""
        return read_nodes(self.result.tree, proofs=self.side.search.solver is not None)


@dataclass
class Searches:
    """Searches of a question's position with any settings. on_progress: gets the share of the present search that is
    done, several times a second. A context manager: closes the nets.
    """

    question: Question
    opener: Opener = open_evaluator
    on_progress: Callable[[float], None] | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _nets: dict[NetChoice, OpenNets] = field(default_factory=dict)
    _made: dict[tuple[NetChoice, str], ExplainedSearch] = field(default_factory=dict)
    _control: SearchControl = field(default_factory=SearchControl)
    _stopped: bool = False

    def __enter__(self) -> Searches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the nets; trees can still be read."""
        self._stack.close()

    def stop(self) -> None:
        """End the present search and all that follow; any thread may call it."""
        self._stopped = True
        self._control.stop()

    def of(self, side: Side, *, keep: bool = True) -> ExplainedSearch:
        """Return the search of a side; keep: its tree is kept for whoever asks for it again. Raise ExplainStopped once
        `stop` was called.
        """
        key = side.nets, side.search.without_neutral_rules().model_dump_json()
        found = self._made.get(key) or self._search(side)
        if keep:
            self._made[key] = found
        return found

    def _search(self, side: Side) -> ExplainedSearch:
        question, nets = self.question, self._open(side.nets)
        analysis = Analysis(
            nets.small, side.search, large=nets.large, seed=question.seed, batch_size=question.batch_size
        )
        analysis.set_position(question.start, question.actions)
        self._control = SearchControl()
        if not self._stopped:
            limits = Limits(visits=question.visits)
            report = analysis.search(limits, lines=ALL_LINES, on_report=self._report, control=self._control)
        if self._stopped:
            raise ExplainStopped
        facts = analysis.tree_facts()
        return ExplainedSearch(side, report, analysis.result(), facts.digest, facts.counters, nets.name)

    def _open(self, choice: NetChoice) -> OpenNets:
        if choice not in self._nets:
            nets = self._nets[choice] = open_nets(self.question.start.game, choice, self.opener)
            self._stack.callback(nets.close)
        return self._nets[choice]

    def _report(self, report: RootReport) -> None:
        if self.on_progress is not None:
            self.on_progress(min(report.visits / self.question.visits, 1.0))

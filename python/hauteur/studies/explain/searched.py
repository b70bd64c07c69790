"""The searches of a question."""

from __future__ import annotations

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
from hauteur.studies.explain.nodes import TreeNodes, read_nodes
from hauteur.studies.explain.question import Question, Side


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

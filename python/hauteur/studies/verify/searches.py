"""Searches: the visits of the root's moves against the reference, by set of options and number of nodes."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import Forest, Game, State
from hauteur.mcts.driver import run_searches
from hauteur.studies.verify import rules
from hauteur.studies.verify.files import SearchesFile, SearchPosition, SearchSet, WantedSearch, action_of, reached, read
from hauteur.studies.verify.nets import find_net, reference_evaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

Floats = NDArray[np.float64]

TOLERANCE = 0.01
"""Largest mean total-variation distance that is allowed, for every set and number of nodes."""


@dataclass
class NodesReport:
    """All searches of a set with the same number of nodes.

    distances: total-variation distance of the root visits, one a search: sum |n_a - m_a| / 2 with n and m as shares;
    identical: searches with the same visits of every move; prior, root_q: largest differences, where there are any.
    """

    nodes: int
    names: list[str] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    identical: int = 0
    prior: float | None = None
    root_q: float | None = None

    @property
    def share(self) -> float:
        """Share of identical searches."""
        return self.identical / len(self.distances)

    @property
    def mean(self) -> float:
        """Mean distance."""
        return float(np.mean(self.distances))

    @property
    def largest(self) -> float:
        """Largest distance."""
        return max(self.distances)

    @property
    def farthest(self) -> str:
        """The position with the largest distance."""
        return self.names[int(np.argmax(self.distances))]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {
            "nodes": self.nodes,
            "searches": len(self.distances),
            "identical": self.identical,
            "share": self.share,
            "mean_distance": self.mean,
            "largest_distance": self.largest,
            "farthest": self.farthest,
            "dP": self.prior,
            "dQ": self.root_q,
        }

    def line(self) -> str:
        """The report in words."""
        where = f" ({self.farthest})" if self.largest > 0 else ""
        return (
            f"  {self.nodes:>7} nodes: {self.identical:>3} of {len(self.distances):>3} identical ({self.share:6.1%}), "
            f"distance mean {self.mean:.4f}, largest {self.largest:.4f}{where}"
            + ("" if self.prior is None else f"; |dP| <= {self.prior:.1e}")
            + ("" if self.root_q is None else f"; |d root Q| <= {self.root_q:.1e}")
        )


@dataclass
class SetReport:
    """One set: what was compared by number of nodes, or why it was skipped."""

    name: str
    net: str
    skipped: list[str] = field(default_factory=list)
    nodes: list[NodesReport] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        found = [report.as_json() for report in self.nodes]
        return {"set": self.name, "net": self.net, "skipped": self.skipped, "nodes": found}

    def lines(self) -> list[str]:
        """The report in words."""
        title = f"{self.name} ({self.net})"
        if self.skipped:
            return [f"{title}: skipped, it needs {'; '.join(self.skipped)}"]
        return [f"{title}:", *(report.line() for report in self.nodes)]


@dataclass(frozen=True)
class SearchesReport:
    """One report a set."""

    backend: str
    sets: list[SetReport]

    @property
    def is_empty(self) -> bool:
        """True where every set was skipped."""
        return all(found.skipped for found in self.sets)

    def exceeds(self, tolerance: float) -> bool:
        """Return whether the mean distance of a set and number of nodes is beyond `tolerance`."""
        return not all(report.mean <= tolerance for found in self.sets for report in found.nodes)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {"backend": self.backend, "sets": [found.as_json() for found in self.sets]}

    def lines(self) -> list[str]:
        """The report in words."""
        return [line for found in self.sets for line in found.lines()]


def searches(
    path: Path,
    folder: Path,
    *,
    backend: "Backend | None" = None,
    threads: int | None = None,
    on_set: Callable[[SetReport], None] | None = None,
) -> SearchesReport:
    """Repeat the searches of a reference file, all positions of a set side by side, each tree exactly sequential.

    `on_set` receives each set's report once complete; large files take minutes.
    """
    reference = read(path, SearchesFile)
    for found in reference.sets:
        _check_options(path, found)
    nets = {found.net: find_net(folder, found.net) for found in reference.sets if not rules.unmet(found.options)}
    reports = []
    with ExitStack() as opened:
        open_net = cache(lambda name: opened.enter_context(reference_evaluator(nets[name], backend, threads)))
        for found in reference.sets:
            report = SetReport(name=found.name, net=found.net, skipped=rules.unmet(found.options))
            if not report.skipped:
                report.nodes = _compare_set(found, open_net(found.net))
            reports.append(report)
            if on_set is not None:
                on_set(report)
    return SearchesReport(backend=backend or "auto", sets=reports)


def _check_options(path: Path, found: SearchSet) -> None:
    """ValueError for unknown options or values, before anything is computed."""
    try:
        rules.check_names(found.options)
        rules.unmet(found.options)
        rules.settings(found.options)
    except ValueError as error:
        raise ValueError(f"{path}: set {found.name!r}: {error}") from None


def _compare_set(found: SearchSet, evaluator: "Evaluator") -> list[NodesReport]:
    """Grow one tree a position and compare it at every number of nodes.

    A search of 800 nodes passes through that of 100 nodes, so one tree serves all searches of a position.
    """
    states = [reached(position, history_fill=rules.history_fill(found.options)) for position in found.positions]
    forest = Forest(Game("chess"), rules.settings(found.options))
    trees = np.array([forest.add(state) for state in states], np.int64)
    reports = []
    for nodes in sorted({nodes for position in found.positions for nodes in position.searches}):
        wanted = [index for index, position in enumerate(found.positions) if nodes in position.searches]
        report = NodesReport(nodes)
        _grow(forest, trees[wanted], nodes, evaluator)
        for index, tree in zip(wanted, trees[wanted], strict=True):
            _compare_search(report, found.positions[index], states[index], Root.of(forest, tree))
        reports.append(report)
    return reports


def _grow(forest: Forest, trees: NDArray[np.int64], nodes: int, evaluator: "Evaluator") -> None:
    """Search these trees, and no others, up to so many root visits."""
    limits = np.full(len(trees), nodes, np.uint32)
    forest.set_visit_limits(trees, limits)
    run_searches(forest, evaluator, batch_size=len(trees), in_flight=1)


@dataclass(frozen=True)
class Root:
    """Root of a search: visits and priors of all actions [A], and Q of the root's mover."""

    visits: Floats
    priors: Floats
    q: float

    @staticmethod
    def of(forest: Forest, tree: np.int64) -> "Root":
        """The root of a tree."""
        ids = np.array([tree], np.int64)
        win, _, loss = forest.root_values(ids)[0].astype(float)
        visits, priors = forest.root_visits(ids)[0], forest.root_priors(ids)[0]
        priors[forest.proven_results(ids)[0] == -1] = 0.0  # as lc0 reports moves that are proven lost
        return Root(visits.astype(float), priors.astype(float), float(win - loss))


def _compare_search(report: NodesReport, position: SearchPosition, state: State, root: Root) -> None:
    wanted = position.searches[report.nodes]
    actions = _actions(position, wanted, state)
    visits = np.zeros_like(root.visits)
    visits[actions] = [move.visits for move in wanted.moves]
    report.names.append(position.id)
    report.distances.append(distance(root.visits, visits))
    report.identical += bool(np.array_equal(root.visits, visits))
    for action, move in zip(actions, wanted.moves, strict=True):
        if move.prior is not None:
            report.prior = max(report.prior or 0.0, abs(float(root.priors[action]) - move.prior / 100))
    if wanted.root_Q is not None:
        report.root_q = max(report.root_q or 0.0, abs(root.q - wanted.root_Q))


def _actions(position: SearchPosition, wanted: WantedSearch, state: State) -> list[int]:
    try:
        actions = [action_of(state, move.move) for move in wanted.moves]
    except ValueError as error:
        raise ValueError(f"position {position.id!r}: {error}") from None
    if len(set(actions)) < len(actions):
        raise ValueError(f"position {position.id!r}: a move is listed twice")
    return actions


def distance(visits: Floats, others: Floats) -> float:
    """Total-variation distance of two distributions of visits, 0 to 1; 0 if neither has any."""
    if not visits.any() or not others.any():
        return float(visits.any() != others.any())
    return float(np.abs(visits / visits.sum() - others / others.sum()).sum() / 2)

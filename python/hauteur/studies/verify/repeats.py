"""Searches with random draws: mean visits over repeats against recorded means, by position and ScLimit.

The unit for a move is the standard error of both means together, SE = sqrt(s1^2 / n1 + s2^2 / n2), s the sample
standard deviations of the visits over n1 and n2 repeats. Visits are whole numbers: a deviation of 0 over n repeats
shows only that fewer than one of them was off by a visit, so s is taken to be at least 1 / sqrt(n), which is the
deviation of n repeats of which one is off by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import Forest, Game, State
from hauteur.mcts.driver import run_searches
from hauteur.studies.verify import rules
from hauteur.studies.verify.files import (
    LimitPosition,
    LimitResult,
    LimitsFile,
    Options,
    Replies,
    action_of,
    reached,
    read,
)
from hauteur.studies.verify.nets import find_net, reference_evaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

Floats = NDArray[np.float64]

SEEDS = 50
LEAST_SHARE = 0.02
"""Moves with a recorded share of the visits up to this one are not compared."""
MOST_ERRORS = 3.0
"""Standard errors that a move's mean may be off."""
REQUIRED = 0.95
"""Share of the moves that must lie within `MOST_ERRORS`."""
BATCH = 256


@dataclass(frozen=True)
class Means:
    """Mean and sample standard deviation of visits over repeats, by move."""

    mean: Floats
    std: Floats
    repeats: int

    @staticmethod
    def of(visits: Floats) -> "Means":
        """Compute the means of visits [repeats, moves]."""
        std = visits.std(axis=0, ddof=1) if len(visits) > 1 else np.zeros(visits.shape[1])
        return Means(visits.mean(axis=0), std, len(visits))

    @property
    def error(self) -> Floats:
        """Standard error of the means, in visits."""
        floor = 1 / np.sqrt(self.repeats)
        return np.asarray(np.maximum(self.std, floor) / np.sqrt(self.repeats), np.float64)


def errors_apart(own: Means, recorded: Means) -> Floats:
    """Distance of two means, in standard errors of both together."""
    apart = np.abs(own.mean - recorded.mean) / np.hypot(own.error, recorded.error)
    return np.asarray(apart, np.float64)


@dataclass
class Count:
    """Numbers of moves compared and within the limit, and the farthest outlier."""

    compared: int = 0
    within: int = 0
    farthest: float = 0.0
    where: str = ""

    def add_moves(self, apart: Floats, names: Sequence[str]) -> None:
        """Add the distances of some moves, in standard errors."""
        self.compared += len(apart)
        self.within += int((apart <= MOST_ERRORS).sum())
        if len(apart) and apart.max() > self.farthest:
            self.farthest, self.where = float(apart.max()), names[int(apart.argmax())]

    def add(self, other: "Count") -> None:
        """Add another count."""
        self.compared += other.compared
        self.within += other.within
        if other.farthest > self.farthest:
            self.farthest, self.where = other.farthest, other.where

    @property
    def share(self) -> float:
        """Share of the moves within the limit; 1 where there are none."""
        return self.within / self.compared if self.compared else 1.0

    def as_json(self) -> dict[str, Any]:
        """The count as JSON holds it."""
        facts = {"compared": self.compared, "within": self.within, "share": self.share}
        return {**facts, "farthest_errors": self.farthest, "farthest": self.where}

    def text(self) -> str:
        """The count in words."""
        return f"{self.within:>3} of {self.compared:>3} within ({self.share:6.1%}), farthest {self.farthest:4.1f} SE"


@dataclass
class LimitReport:
    """One position with one ScLimit.

    moves, replies: root moves, and replies to the move that was best in most recorded searches; distance: total
    variation of the mean root visits; root_q: mean of the root's Q here and as recorded.
    """

    position: str
    limit: int
    moves: Count
    replies: Count
    distance: float
    root_q: tuple[float, float | None]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        counts = {"moves": self.moves.as_json(), "replies": self.replies.as_json()}
        q = {"root_Q": self.root_q[0], "recorded_root_Q": self.root_q[1]}
        return {"position": self.position, "ScLimit": self.limit, **counts, "distance": self.distance, **q}

    def line(self) -> str:
        """The report in words."""
        replies = f"; replies {self.replies.within} of {self.replies.compared}" if self.replies.compared else ""
        where = f" ({self.moves.where})" if self.moves.where else ""
        return f"  {self.limit:>10} {self.position}: {self.moves.text()}{where}; distance {self.distance:.4f}{replies}"


@dataclass
class RepeatsReport:
    """One report a position and limit."""

    backend: str
    net: str
    nodes: int
    seeds: int
    results: list[LimitReport] = field(default_factory=list)

    def total(self, limit: int | None = None, *, replies: bool = False) -> Count:
        """All moves, or all replies, of one limit or of all limits."""
        total = Count()
        for found in self.results:
            if limit in (None, found.limit):
                total.add(found.replies if replies else found.moves)
        return total

    @property
    def is_empty(self) -> bool:
        """True where nothing was compared."""
        return not self.results

    def exceeds(self, required: float) -> bool:
        """Return whether the share of moves within the limit is below `required`."""
        return not self.total().share >= required

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        limits = sorted({found.limit for found in self.results})
        by_limit = {str(limit): self.total(limit).as_json() for limit in limits}
        facts = {"backend": self.backend, "net": self.net, "nodes": self.nodes, "seeds": self.seeds}
        totals = {"moves": self.total().as_json(), "replies": self.total(replies=True).as_json()}
        return {**facts, **totals, "by_limit": by_limit, "results": [found.as_json() for found in self.results]}

    def lines(self) -> list[str]:
        """The report in words."""
        return [*(found.line() for found in self.results), *self.summary()]

    def summary(self) -> list[str]:
        """The totals in words."""
        limits = sorted({found.limit for found in self.results})
        by_limit = [f"ScLimit {limit:>10}: {self.total(limit).text()}" for limit in limits]
        return [*by_limit, f"all moves:          {self.total().text()}", self._replies_line()]

    def _replies_line(self) -> str:
        return f"replies to the best: {self.total(replies=True).text()}"


def repeats(
    path: Path,
    folder: Path,
    *,
    seeds: int = SEEDS,
    backend: "Backend | None" = None,
    threads: int | None = None,
    on_result: Callable[[LimitReport], None] | None = None,
) -> RepeatsReport:
    """Repeat every position and limit of a reference file with `seeds` seeds, each tree exactly sequential.

    All trees of a limit grow side by side in one forest and share its evaluation cache. `on_result` receives each
    report once complete.
    """
    if seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, got {seeds}")
    reference = read(path, LimitsFile)
    _check_options(path, reference.options)
    net = find_net(folder, reference.net)
    report = RepeatsReport(backend or "auto", reference.net, reference.nodes, seeds)
    with reference_evaluator(net, backend, threads) as evaluator:
        for limit in sorted({result.ScLimit for position in reference.positions for result in position.by_limit}):
            for found in _repeat_limit(reference, limit, seeds, evaluator):
                report.results.append(found)
                if on_result is not None:
                    on_result(found)
    return report


def _check_options(path: Path, options: Options) -> None:
    """Raise ValueError for unknown options, or options that require a rule not recomputed here."""
    try:
        rules.check_names(options)
        unmet = rules.unmet(options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if unmet:
        raise ValueError(f"{path}: the searches need {'; '.join(unmet)}")


def _repeat_limit(reference: LimitsFile, limit: int, seeds: int, evaluator: "Evaluator") -> list[LimitReport]:
    """All positions of one limit, `seeds` trees each."""
    options: Options = {**reference.options, "ScLimit": limit}
    forest = Forest(Game("chess"), rules.settings(options, cache_size=5_000_000))
    wanted = [(p, result) for p in reference.positions for result in p.by_limit if result.ScLimit == limit]
    states = [reached(position, history_fill=rules.history_fill(options)) for position, _ in wanted]
    trees = [np.array([forest.add(state, seed) for seed in range(seeds)], np.int64) for state in states]
    everything = np.concatenate(trees)
    forest.set_visit_limits(everything, np.full(len(everything), reference.nodes, np.uint32))
    run_searches(forest, evaluator, batch_size=min(BATCH, len(everything)), in_flight=1)
    pairs = zip(wanted, states, trees, strict=True)
    return [_compare(position, result, state, forest, ids) for (position, result), state, ids in pairs]


def _compare(
    position: LimitPosition, result: LimitResult, state: State, forest: Forest, trees: NDArray[np.int64]
) -> LimitReport:
    """One position with one limit against its record."""
    actions = _actions(position, [move.move for move in result.moves], state)
    own = Means.of(forest.root_visits(trees)[:, actions].astype(float))
    recorded = _recorded([(move.visits, move.std) for move in result.moves], result.repeats)
    q = forest.root_values(trees)[:, 0] - forest.root_values(trees)[:, 2]
    return LimitReport(
        position=position.id,
        limit=result.ScLimit,
        moves=_count(own, recorded, [move.move for move in result.moves]),
        replies=_compare_replies(position, result.replies_to_top_move, state, forest, trees),
        distance=float(np.abs(own.mean / own.mean.sum() - recorded.mean / recorded.mean.sum()).sum() / 2),
        root_q=(float(q.mean()), result.root_Q[0] if result.root_Q else None),
    )


def _compare_replies(
    position: LimitPosition, replies: Replies | None, state: State, forest: Forest, trees: NDArray[np.int64]
) -> Count:
    """Visits of the replies to the recorded best move, over the trees in which it is the best one too."""
    if replies is None or not replies.replies:
        return Count()
    top = _actions(position, [replies.top], state)[0]
    same = [int(tree) for tree in trees if forest.root_edges(int(tree))[0]["action"] == top]
    if not same:
        return Count(compared=len(replies.replies), where=replies.top)
    behind = state.copy()
    behind.apply(top)
    actions = _actions(position, [reply.move for reply in replies.replies], behind)
    visits = [{action: n for action, n, _ in forest.edges_after(tree, [top])} for tree in same]
    own = Means.of(np.array([[tree[action] for action in actions] for tree in visits], float))
    recorded = _recorded([(reply.visits, reply.std) for reply in replies.replies], replies.n_repeats)
    return _count(own, recorded, [f"{replies.top} {reply.move}" for reply in replies.replies])


def _recorded(rows: Sequence[tuple[float, float]], count: int) -> Means:
    means, deviations = zip(*rows, strict=True)
    return Means(np.array(means, float), np.array(deviations, float), count)


def _count(own: Means, recorded: Means, names: Sequence[str]) -> Count:
    """The moves whose recorded share is large enough."""
    large = recorded.mean > LEAST_SHARE * recorded.mean.sum()
    count = Count()
    count.add_moves(
        errors_apart(own, recorded)[large], [name for name, is_large in zip(names, large, strict=True) if is_large]
    )
    return count


def _actions(position: LimitPosition, moves: Sequence[str], state: State) -> list[int]:
    try:
        actions = [action_of(state, move) for move in moves]
    except ValueError as error:
        raise ValueError(f"position {position.id!r}: {error}") from None
    if len(set(actions)) < len(actions):
        raise ValueError(f"position {position.id!r}: a move is listed twice")
    return actions

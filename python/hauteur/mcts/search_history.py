"""Visits and values of the root's moves over the time of a search, in bounded space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hauteur.mcts.report import RootReport

MOST_SAMPLES = 200
"""Samples that are kept; then every second one goes, and only every second report is taken."""


@dataclass(frozen=True)
class MoveCurve:
    """One move over the samples. q: for the root's mover, -1 to 1, None before the first visit."""

    action: int
    visits: tuple[int, ...]
    q: tuple[float | None, ...]


class SearchHistory:
    """The reports of a search at even distances, at most `most` of them and the newest one.

    A report without its lines is kept of each: lines are those of the newest report.

    >>> import hauteur as ht
    >>> history, state = SearchHistory(most=4), ht.load_game("connect4").new_initial_state()
    >>> with ht.Analysis("uniform") as analysis:
    ...     for visits in range(10, 110, 10):
    ...         history.add(analysis.go(state, visits=visits).report)
    >>> [report.visits for report in history.samples]
    [10, 50, 90, 100]
    """

    def __init__(self, most: int = MOST_SAMPLES) -> None:
        if most < 2:
            raise ValueError(f"most must be >= 2, got {most}")
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Forget all: another search begins."""
        self._kept: list[RootReport] = []
        self._newest: RootReport | None = None
        self._stride = 1
        self._seen = 0

    def add(self, report: RootReport) -> None:
        """Take the next report."""
        slim = replace(report, moves=tuple(replace(move, line=()) for move in report.moves))
        self._newest = slim
        if self._seen % self._stride == 0:
            self._kept.append(slim)
        self._seen += 1
        if len(self._kept) > self.most:
            self._kept = self._kept[::2]
            self._stride *= 2

    @property
    def samples(self) -> Sequence[RootReport]:
        """The reports that were kept, oldest first, the newest report at the end."""
        newest = self._newest
        return self._kept if newest is None or self._kept[-1] is newest else [*self._kept, newest]

    def curves(self, moves: int = 8) -> list[MoveCurve]:
        """Return the moves that have most visits now over all samples, most visited first."""
        samples = self.samples
        if not samples:
            return []
        tables = [{move.action: move for move in report.moves} for report in samples]
        chosen = sorted(samples[-1].moves, key=lambda move: -move.visits)[:moves]
        found = []
        for action in (move.action for move in chosen if move.visits):
            rows = [table.get(action) for table in tables]
            visits = tuple(0 if row is None else row.visits for row in rows)
            q = tuple(None if row is None or row.wdl is None else row.q for row in rows)
            found.append(MoveCurve(action, visits, q))
        return found

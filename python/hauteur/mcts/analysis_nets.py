"""The evaluators of an analysis, opened with its first position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.evaluators.base import Evaluator


@dataclass
class AnalysisNets:
    """One evaluator or two, given as they are or as what `hauteur.evaluator` makes one of, closed here then."""

    small_source: object
    large_source: object = None
    rows: int | None = None
    _open: list[Evaluator] = field(default_factory=list)
    _game: str = ""

    def open(self, game: _core.Game) -> None:
        """Make the evaluators for this game, unless they are there."""
        if self._open and self._game == game.spec:
            return
        self.close()
        sources = [self.small_source, *([] if self.large_source is None else [self.large_source])]
        for source in sources:
            self._open.append(evaluator_for(game, source))
        self._game = game.spec

    @property
    def small(self) -> Evaluator:
        """The evaluator, the small one of two; ValueError before the first position."""
        if not self._open:
            raise ValueError("the session has no position yet: call set_position first")
        return self._open[0]

    @property
    def large(self) -> Evaluator | None:
        """The second evaluator, None where there is one only."""
        return self._open[1] if len(self._open) > 1 else None

    @property
    def batch_size(self) -> int:
        """Most rows of a batch."""
        return self.rows or self.small.batch_size

    def close(self) -> None:
        """Close the evaluators that were made here."""
        for evaluator in self._open:
            if evaluator is not self.small_source and evaluator is not self.large_source:
                evaluator.close()
        self._open = []


def evaluator_for(game: _core.Game, source: object) -> Evaluator:
    """Return an evaluator as it is, or what `hauteur.evaluator` makes of the source."""
    if hasattr(source, "submit") and hasattr(source, "batch_size"):
        ours, theirs = game.feature_shape, getattr(source, "feature_shape", game.feature_shape)
        if tuple(ours) == tuple(theirs):
            return cast("Evaluator", source)
    from hauteur.networks.evaluators.factory import evaluator

    return evaluator(game, source)

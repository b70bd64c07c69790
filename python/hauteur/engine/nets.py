"""Opening the nets of a player: which ones, and the evaluators that answer for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.evaluators.base import Backend, Evaluator, Precision

ROWS_A_THREAD = 64
"""Rows of a batch for each thread of the processor, at which nets reach their speed ..."""
MOST_ROWS = 256
"""... as far as the batches of one tree are not larger than this, ..."""
LEAST_ROWS_A_THREAD = 16
"""... and at least this many: with fewer a thread has too little to do."""


WARM_UP_SECONDS = 1.0
"""No batch of a warm-up is expected to take longer."""


@dataclass(frozen=True)
class NetChoice:
    """The nets of a player, and what computes them."""

    net: str
    """A file, `uniform` or `rollout`."""
    large: str = ""
    """The second net, in the same words: a large one or a model of the opponent; empty: there is one net."""
    backend: Backend | None = None
    """What computes the nets; None: what suits the machine."""
    precision: Precision | None = None
    """Type of the numbers that they are computed in; None: what suits the machine."""
    threads: int = 0
    """Threads of each net on the processor; 0: all that the process may use."""


@dataclass(frozen=True)
class OpenNets:
    """The evaluators of a player."""

    small: Evaluator
    large: Evaluator | None = None

    @property
    def name(self) -> str:
        """Tell what computes them, and how."""
        return " and ".join(evaluator.name for evaluator in (self.small, self.large) if evaluator is not None)

    @property
    def reading(self) -> tuple[Evaluator, ...]:
        """Those that are given features: `uniform` and `rollout` are not."""
        from hauteur.networks.evaluators.base import StateEvaluator, UniformEvaluator

        used = (evaluator for evaluator in (self.small, self.large) if evaluator is not None)
        return tuple(evaluator for evaluator in used if not isinstance(evaluator, UniformEvaluator | StateEvaluator))

    def warm_up(self) -> float:
        """Evaluate batches of the sizes that searches have, once: the first of each size takes longer than others.

        Sizes that would take long are left out: searches on the clock do not begin with them. Return the seconds that
        one row alone takes, of all nets together; 0 without a net that reads features.
        """
        alone = 0.0
        for evaluator in self.reading:
            row = np.zeros((1, *evaluator.feature_shape), np.float32)
            # The first computation prepares what later ones use, and is no measure of them.
            evaluator(row)
            began = time.perf_counter()
            evaluator(row)
            seconds = time.perf_counter() - began
            alone += seconds
            for rows in (2, evaluator.batch_size):
                if rows * seconds < WARM_UP_SECONDS:
                    evaluator(np.repeat(row, rows, axis=0))
        return alone

    def close(self) -> None:
        """Close the evaluators; a search with them must have ended."""
        for evaluator in (self.small, self.large):
            if evaluator is not None:
                evaluator.close()


Opener = Callable[["_core.Game", NetChoice], "Evaluator"]
"""Opens `net` of a choice."""


def open_evaluator(game: _core.Game, choice: NetChoice) -> Evaluator:
    """Open the (small) net of a choice, with batches that suit the search of one tree.

    Raises ValueError for a net that is not for this game, OSError for a file that cannot be read.
    """
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.system.hardware import usable_cores

    threads = choice.threads or usable_cores()
    rows = max(min(ROWS_A_THREAD * threads, MOST_ROWS), LEAST_ROWS_A_THREAD * threads)
    return make_evaluator(
        game,
        choice.net,
        backend=choice.backend,
        precision=choice.precision or "auto",
        threads=choice.threads or None,
        batch_size=None if choice.backend == "torch" else rows,
    )


def open_nets(game: _core.Game, choice: NetChoice, opener: Opener = open_evaluator) -> OpenNets:
    """Open all nets of a choice; where one cannot be opened none stays open."""
    with ExitStack() as stack:
        nets = OpenNets(opener(game, choice))
        stack.callback(nets.close)
        if choice.large:
            only_large = replace(choice, net=choice.large, large="")
            nets = replace(nets, large=opener(game, only_large))
        stack.pop_all()
    return nets

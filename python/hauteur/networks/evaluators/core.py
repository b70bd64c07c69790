"""Residual networks computed by the core: the same bits in every batch, and in float32 on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Precision
from hauteur.networks.evaluators.fastest import fastest_network
from hauteur.networks.layers import core_layers

if TYPE_CHECKING:
    from hauteur.networks.registry import Net


class CoreEvaluator(GameEvaluator):
    """A residual network computed by the core, which needs no Python for it while it searches.

    core: what searches in the core evaluate with. precision: float32 (default), bfloat16 where the processor multiplies
    it, auto: the faster one here, which is measured; threads share the rows of a batch; instructions: default the best
    for the precision (for auto always).
    """

    def __init__(
        self,
        game: _core.Game,
        net: Net,
        *,
        precision: Precision | None = None,
        threads: int = 1,
        batch_size: int | None = None,
        instructions: str | None = None,
    ) -> None:
        rows = batch_size or PREFERRED_ROWS * threads
        try:
            layers = core_layers(net.architecture, net.tensors)
            if precision == "auto" and instructions is None:
                self.core = fastest_network(layers, threads, rows)
            else:
                self.core = _core.Network(layers, _named(precision), threads, rows, instructions)
        except ValueError as error:
            raise ValueError(f"{net.path}: {error}") from None
        how = f"{self.core.precision} {self.core.instructions}"
        super().__init__(game, f"{net.path.name} core {how} {threads} threads", rows)

    def compute(self, features: Floats) -> Answers:
        """Compute rows in this thread and those of the core."""
        return self.core.evaluate(features)


def _named(precision: Precision | None) -> Precision:
    """Return the precision that is asked for; float32 where it is left to the instructions."""
    return "float32" if precision in (None, "auto") else precision

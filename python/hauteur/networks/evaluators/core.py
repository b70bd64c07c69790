"""Residual networks computed by the core: the same bits in every batch, and in float32 on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Precision
from hauteur.networks.layers import core_layers

if TYPE_CHECKING:
    from hauteur.networks.registry import Net


class CoreEvaluator(GameEvaluator):
    """A residual network computed by the core, which needs no Python for it while it searches.

    core: what searches in the core evaluate with. precision: float32 (default), bfloat16 where the processor multiplies
    it, auto: that where it does; threads share the rows of a batch; instructions: default the best that there are.
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
        chosen = fastest_precision() if precision == "auto" else precision or "float32"
        try:
            layers = core_layers(net.architecture, net.tensors)
            self.core = _core.Network(layers, chosen, threads, rows, instructions)
        except ValueError as error:
            raise ValueError(f"{net.path}: {error}") from None
        how = f"{self.core.precision} {self.core.instructions}"
        super().__init__(game, f"{net.path.name} core {how} {threads} threads", rows)

    def compute(self, features: Floats) -> Answers:
        """Compute rows in this thread and those of the core."""
        return self.core.evaluate(features)


def fastest_precision() -> Precision:
    """Return bfloat16 where the best instructions of this processor multiply it, else float32."""
    _, precisions = _core.Network.available()[0]
    return "bfloat16" if "bfloat16" in precisions else "float32"

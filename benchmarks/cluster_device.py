"""A network of which every batch takes HAUTEUR_BATCH_MS milliseconds longer, in which the processor is free.

Workers that open it wait as for a network on a device of its own, so that one machine can show more workers than it
has processors.
"""

import os
import time
from typing import Any

from torch import Tensor, nn

import hauteur as ht
from hauteur.networks.evaluators.torch import TorchEvaluator

SECONDS = float(os.environ["HAUTEUR_BATCH_MS"]) / 1000
submit = TorchEvaluator.submit


@ht.register_network("on-a-device")
class OnADevice(nn.Module):
    """A small network."""

    def __init__(self, game: ht.Game, width: int = 64) -> None:
        super().__init__()
        planes, rows, columns = game.feature_shape
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(planes * rows * columns, width), nn.ReLU())
        self.policy = nn.Linear(width, game.num_actions)
        self.value = nn.Linear(width, 3)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        x = self.body(features)
        return self.policy(x), self.value(x)


def slower(self: TorchEvaluator, features: Any) -> Any:
    """Start the computation after the time of the device."""
    time.sleep(SECONDS)
    return submit(self, features)


TorchEvaluator.submit = slower  # type: ignore[method-assign]

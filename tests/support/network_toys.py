"""Networks that tests register: a small transformer as a class, a linear network as a function."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from hauteur.networks.registered import register_network


@register_network("toy-transformer")
class ToyTransformer(nn.Module):
    """One token a square, with a buffer of whole numbers that no file holds."""

    def __init__(self, game: Any, width: int = 8, layers: int = 1, *, drop: float = 0.0, scalar: bool = False) -> None:
        super().__init__()
        planes, rows, columns = game.feature_shape
        self.embed = nn.Linear(planes, width)
        self.register_buffer("places", torch.arange(rows * columns))
        self.place = nn.Embedding(rows * columns, width)
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, drop, batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.policy = nn.Linear(width * rows * columns, game.num_actions)
        self.value = nn.Linear(width, 1 if scalar else 3)
        self.scalar = scalar

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        tokens = features.view(*features.shape[:2], -1).transpose(1, 2)  # view: fails unless the layout is plain
        x = self.body(self.embed(tokens) + self.place(self.places))
        value = self.value(x.mean(dim=1))
        return self.policy(x.flatten(1)), torch.tanh(value) if self.scalar else value


class Linear(nn.Module):
    """Two linear layers."""

    def __init__(self, cells: int, actions: int, width: int) -> None:
        super().__init__()
        self.policy = nn.Linear(cells, actions)
        self.value = nn.Linear(cells, width)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        flat = features.flatten(1)
        return self.policy(flat), self.value(flat)


@register_network("toy-linear")
def toy_linear(game: Any, *, value_width: int = 3) -> nn.Module:
    """A linear network."""
    planes, rows, columns = game.feature_shape
    return Linear(planes * rows * columns, game.num_actions, value_width)

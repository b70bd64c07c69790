"""Validation: accuracy of a network in training on held-out positions. Imports torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from hauteur.learning.bootstrap.data import Positions
from hauteur.learning.train import CandidateTrainer, losses

ROWS = 256
MOST = 16_384
"""Most positions that are measured, evenly spaced."""


@dataclass(frozen=True)
class HeldOut:
    """Means over the positions: the two losses in nats (the scalar value's: a square), and the share of positions in
    which the network's first legal move is the first of the policy target.
    """

    positions: int
    policy_loss: float
    value_loss: float
    policy_accuracy: float


@torch.no_grad()
def measure(trainer: CandidateTrainer, data: Positions, *, root_value_share: float = 0.0) -> HeldOut:
    """The trainer's network, or the mean of its weights where one is kept, on these positions."""
    network = (trainer.average if trainer.average is not None else trainer.network).eval()
    count = min(data.positions, MOST)
    chosen = np.arange(count) * data.positions // count
    total = np.zeros(3)
    for rows in np.array_split(chosen, -(-count // ROWS)):
        samples = data.samples_of(rows, root_value_share=root_value_share)
        if samples.legal is None:
            raise ValueError("held-out positions must say which moves are legal")
        arrays = (samples.features, samples.policy, samples.wdl, samples.legal)
        features, policy, wdl, legal = (torch.from_numpy(array).to(trainer.device) for array in arrays)
        logits, value, *_ = network(features)
        parts = losses(logits.float(), value.float(), policy, wdl, legal if trainer.settings.mask_illegal else None)
        hits = (logits.masked_fill(legal == 0, -torch.inf).argmax(dim=1) == policy.argmax(dim=1)).float().mean()
        total += len(rows) * np.array([parts.policy.item(), parts.value.item(), hits.item()])
    policy_loss, value_loss, accuracy = (total / count).tolist()
    return HeldOut(count, policy_loss, value_loss, accuracy)

"""The training loop that a user of torch would write, to measure ours by. Imports torch."""

from __future__ import annotations

import time
from copy import deepcopy

import torch

from hauteur.learning.recipe import TrainSettings
from hauteur.learning.train import Batch, Source, losses
from hauteur.networks.modules import Network, memory_format
from hauteur.system.seeds import stream

BATCHES = 5
"""Batches that it takes in turn, drawn before."""


class PlainLoop:
    """Forward, backward, a step of torch's AdamW, on a copy of a network; all threads share each operation."""

    def __init__(self, network: Network, settings: TrainSettings, source: Source) -> None:
        self._network = deepcopy(network).train()
        self._optimiser = torch.optim.AdamW(self._network.parameters(), fused=True)
        self._rows, self._bfloat16 = settings.batch_size, settings.mixed_precision == "bfloat16"
        self._device = torch.device(settings.device)
        draws = [
            source.sample(stream(1, "plain", number), self._rows, root_value_share=0.0, symmetries=settings.symmetries)
            for number in range(BATCHES)
        ]
        self._batches = [Batch.of(samples).to(self._device) for samples in draws]

    def samples_per_second(self, steps: int, threads: int) -> float:
        """Take so many steps."""
        torch.set_num_threads(threads)
        began = time.perf_counter()
        for step in range(steps):
            batch = self._batches[step % BATCHES]
            rows = batch.features.contiguous(memory_format=memory_format(self._network))
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._bfloat16):
                policy_logits, value, *_ = self._network(rows)
            parts = losses(policy_logits.float(), value.float(), batch.policy, batch.wdl)
            self._optimiser.zero_grad()
            (parts.policy + parts.value).backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()
        return steps * self._rows / (time.perf_counter() - began)

"""Evaluators made of torch modules: the user's own, hauteur's, or one that is being trained."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import nn

from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Precision
from hauteur.networks.evaluators.callables import check_probe
from hauteur.networks.evaluators.torch import TYPES, torch_device
from hauteur.networks.modules import checked_outputs, wdl_of

if TYPE_CHECKING:
    from hauteur import _core


class ModuleEvaluator(GameEvaluator):
    """A torch module: features [B, C, H, W] -> policy logits [B, A], value [B, 3] (logits of win, draw, loss) or
    [B, 1] (-1 to 1, as of tanh); further outputs are ignored. hauteur's own networks have these outputs.

    It computes with a copy of the module in evaluation mode, without gradients: training the module further does not
    change the evaluator. Errors of the module reach the caller of the search with their own traceback.
    """

    def __init__(
        self,
        game: _core.Game,
        module: nn.Module,
        *,
        device: str | None = None,
        precision: Precision | None = None,
        threads: int = 1,
        batch_size: int | None = None,
    ) -> None:
        """device, precision: default where and what the module's parameters are. ValueError where it does not fit."""
        label = type(module).__name__
        if precision is not None and precision not in TYPES:
            raise ValueError(f"precision of torch must be one of {', '.join(TYPES)}, got {precision!r}")
        first = next(module.parameters(), torch.zeros(()))
        self._device = first.device if device is None else torch_device(device)
        self._type = first.dtype if precision is None else TYPES[precision]
        try:
            self._module = copy.deepcopy(module).to(self._device, self._type).eval()
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"evaluator {label}: the module cannot be copied: {error}") from error
        self._threads = threads
        precise = str(self._type).removeprefix("torch.")
        super().__init__(game, f"{label} torch {precise} {self._device}", batch_size or PREFERRED_ROWS)
        check_probe(game, self)

    @torch.inference_mode()
    def __call__(self, features: Floats) -> Answers:
        if self._device.type == "cpu":
            torch.set_num_threads(self._threads)  # belongs to the thread that computes
        returned = self._module(torch.from_numpy(features).to(self._device, self._type))
        policy, value = checked_outputs(returned, len(features), self.num_actions, f"evaluator {self.name}: the module")
        return policy.float().cpu().numpy(), wdl_of(value.float()).cpu().numpy()

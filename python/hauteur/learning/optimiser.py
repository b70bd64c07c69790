"""The optimiser of training: AdamW or SGD by torch's fused kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from hauteur.learning.sections import TrainSettings

BETAS = (0.9, 0.999)
"""Decay of Adam's first and second moment (Kingma and Ba 2015); torch's default."""
EPSILON = 1e-8
"""What Adam adds to the root of the second moment; torch's default."""

Kept = dict[str, list[Tensor]]
"""What an optimiser keeps of some parameters, by name."""


class Optimiser:
    """AdamW (Loshchilov and Hutter 2019) or SGD by torch's fused kernels, without the classes of torch.optim.

    The first of those classes that is made imports torch._dynamo and sympy: 900 modules, one to three seconds, 0.2 GB.
    The kernels are the same, so the weights are, bit for bit; so are the names of what a checkpoint keeps. Weight decay
    c is on convolution and dense weights, not on biases, normalisation and gates; that of SGD has the gradient c theta.

    state: tensors of parameter number i, by name; absent before its first gradient.
    """

    def __init__(self, network: nn.Module, settings: TrainSettings) -> None:
        decayed = set()
        for module in network.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                decayed.add(id(module.weight))
        weights = []
        others = []
        for parameter in network.parameters():
            if id(parameter) in decayed:
                weights.append(parameter)
            else:
                others.append(parameter)
        self.parameters = [*weights, *others]
        self.state: dict[int, dict[str, Tensor]] = {}
        self._decayed = len(weights)
        self._settings = settings

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the parameters by their gradients. rate: the learning rate of this step."""
        decayed = []
        others = []
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            if number not in self.state:
                self.state[number] = self._begin(parameter)
            if number < self._decayed:
                decayed.append(number)
            else:
                others.append(number)
        # Two calls: the fused kernels take one weight decay for all parameters that they are given.
        self._step_of(decayed, rate, self._settings.weight_decay)
        self._step_of(others, rate, 0.0)

    def _step_of(self, numbers: Sequence[int], rate: float, decay: float) -> None:
        """Change the parameters of these numbers, all of which have a gradient."""
        if not numbers:
            return
        move = self._sgd if self._settings.optimiser == "sgd" else self._adamw
        parameters = [self.parameters[number] for number in numbers]
        gradients = [one.grad for one in parameters if one.grad is not None]
        states = [self.state[number] for number in numbers]
        kept = {}
        for name in states[0]:
            kept[name] = [state[name] for state in states]
        move(list[Tensor](parameters), gradients, kept, rate, decay)

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by the number of the parameter and the name."""
        found = {}
        for number, kept in self.state.items():
            for name, tensor in kept.items():
                found[f"{number}.{name}"] = tensor
        return found

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from these `tensors()`, which are copied into the layout of the parameters."""
        for key, stored in tensors.items():
            number, _, name = key.partition(".")
            parameter = self.parameters[int(number)]
            # The fused kernels want the parameter's layout in memory, such as channels last, which no file keeps.
            like = torch.empty_like(parameter) if stored.ndim else torch.empty((), device=parameter.device)
            kept = self.state.setdefault(int(number), {})
            kept[name] = like.detach().copy_(stored)

    def _begin(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        """Return what is kept of a parameter before its first step."""
        if self._settings.optimiser == "sgd":
            if not self._settings.momentum:
                return {}
            return {"momentum_buffer": torch.zeros_like(parameter)}
        step = torch.zeros((), device=parameter.device)
        return {"step": step, "exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}

    def _adamw(self, parameters: list[Tensor], gradients: list[Tensor], kept: Kept, rate: float, decay: float) -> None:
        """Take a step of AdamW with these parameters, whose weight decay is the same."""
        torch._foreach_add_(kept["step"], 1)
        torch._fused_adamw_(
            parameters,
            gradients,
            kept["exp_avg"],
            kept["exp_avg_sq"],
            [],
            kept["step"],
            lr=rate,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def _sgd(self, parameters: list[Tensor], gradients: list[Tensor], kept: Kept, rate: float, decay: float) -> None:
        """Take a step of SGD with these parameters, whose weight decay is the same."""
        # The buffers of momentum begin at 0, so that the first step is like the others: without dampening it comes to
        # the gradient, as torch's does.
        torch._fused_sgd_(
            parameters,
            gradients,
            kept.get("momentum_buffer", []),
            lr=rate,
            momentum=self._settings.momentum,
            weight_decay=decay,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )

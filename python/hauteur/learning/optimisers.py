"""AdamW and SGD by torch's fused kernels, without the classes of torch.optim. Imports torch.

The first of those classes that is made imports torch._dynamo and sympy: 900 modules, one to three seconds, 0.2 GB. The
kernels are the same, so the weights are, bit for bit; so are the names of what a checkpoint keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from hauteur.learning.recipe import TrainSettings

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Of Adam (Kingma and Ba 2015), torch's defaults."""


@dataclass
class Optimiser:
    """Parameters with what is kept beside each; weight decay c is on the first `decayed` of them.

    state: tensors of parameter number i, by name; absent before its first gradient.
    """

    parameters: list[nn.Parameter]
    decayed: int
    weight_decay: float
    state: dict[int, dict[str, Tensor]] = field(default_factory=dict)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move all parameters that have a gradient."""
        numbers = [number for number, parameter in enumerate(self.parameters) if parameter.grad is not None]
        for number in numbers:
            if number not in self.state:
                self.state[number] = self._begin(self.parameters[number])
        self._move([number for number in numbers if number < self.decayed], rate, self.weight_decay)
        self._move([number for number in numbers if number >= self.decayed], rate, 0.0)

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by the number of the parameter and the name."""
        return {f"{number}.{name}": tensor for number, kept in self.state.items() for name, tensor in kept.items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from these `tensors()`, which are copied into the layout of the parameters."""
        for key, stored in tensors.items():
            number, _, name = key.partition(".")
            parameter = self.parameters[int(number)]
            like = torch.empty_like(parameter) if stored.ndim else torch.empty((), device=parameter.device)
            self.state.setdefault(int(number), {})[name] = like.detach().copy_(stored)

    def _begin(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        raise NotImplementedError

    def _move(self, numbers: list[int], rate: float, weight_decay: float) -> None:
        raise NotImplementedError

    def _columns(self, numbers: list[int], *names: str) -> list[list[Tensor]]:
        """Return parameters, gradients, and what is kept by these names."""
        parameters = [self.parameters[number] for number in numbers]
        kept = [[self.state[number][name] for number in numbers] for name in names]
        return [list(parameters), [one.grad for one in parameters if one.grad is not None], *kept]


class AdamW(Optimiser):
    """Loshchilov and Hutter (2019): the decay is decoupled from the gradient."""

    def _begin(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        step = torch.zeros((), device=parameter.device)
        return {"step": step, "exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}

    def _move(self, numbers: list[int], rate: float, weight_decay: float) -> None:
        if not numbers:
            return
        parameters, gradients, means, squares, steps = self._columns(numbers, "exp_avg", "exp_avg_sq", "step")
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(
            parameters,
            gradients,
            means,
            squares,
            [],
            steps,
            lr=rate,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )


@dataclass
class Sgd(Optimiser):
    """Stochastic gradient descent; the decay's gradient is c theta, that is (c/2) |theta|^2 in the loss."""

    momentum: float = 0.0

    def _begin(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        return {"momentum_buffer": torch.zeros_like(parameter)} if self.momentum else {}

    def _move(self, numbers: list[int], rate: float, weight_decay: float) -> None:
        if not numbers:
            return
        parameters, gradients, *buffers = self._columns(numbers, *["momentum_buffer"] * bool(self.momentum))
        torch._fused_sgd_(
            parameters,
            gradients,
            buffers[0] if buffers else [],
            lr=rate,
            momentum=self.momentum,
            weight_decay=weight_decay,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )


def optimiser_of(network: nn.Module, settings: TrainSettings) -> Optimiser:
    """Return the optimiser; weight decay on convolution and dense weights, not on biases, normalisation and gates."""
    decayed = {id(m.weight) for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)}
    weights = [p for p in network.parameters() if id(p) in decayed]
    others = [p for p in network.parameters() if id(p) not in decayed]
    if settings.optimiser == "sgd":
        return Sgd([*weights, *others], len(weights), settings.weight_decay, momentum=settings.momentum)
    return AdamW([*weights, *others], len(weights), settings.weight_decay)

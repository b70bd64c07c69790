"""Heads that exist in training alone, and their losses: the opponent's reply, soft policy, short-term values, error,
ownership and score.

They are computed from the tower's last planes, next to the network's own heads, whose gradients they leave alone; what
they teach is in the tower. A network's file, its evaluators and its running mean do not have them; checkpoints do.
Imports torch.
"""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from hauteur.learning.sections import ExtraTargets
from hauteur.networks.computation import Convolution, Operations, policy_head, value_head
from hauteur.networks.layers import layers_of
from hauteur.networks.modules import Network, wdl_of
from hauteur.networks.torch_networks import ResidualTower, TorchNetwork

Value = TypeVar("Value")
Tensors = Mapping[str, Tensor]


class ExtraHeads(ResidualTower):
    """The heads of `[train.extra]` of one residual tower, shaped like its own heads; ValueError for another network."""

    def __init__(self, network: Network, extra: ExtraTargets, seed: int) -> None:
        if not isinstance(network, ResidualTower):
            raise ValueError(f"train.extra: its heads are of networks of kind resnet, got {type(network).__name__}")
        architecture = network.architecture
        self.extra = extra
        body = (architecture.filters, *architecture.feature_shape[1:])
        layers = layers_of(architecture, lambda ops, x: _outputs(ops, x, extra), body)
        super().__init__(architecture, layers)
        # Drawn by a generator of their own: heads that are switched on leave the network's first weights as they are.
        self.initialise(torch.Generator().manual_seed(seed))

    def forward(self, body: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """Outputs by name from the tower's planes [B, filters, rows, columns]."""
        return _outputs(cast("Operations[Tensor]", self), body, self.extra)


class WithHeads(nn.Module):
    """A network and its extra heads: features -> policy logits, value, further outputs by name."""

    def __init__(self, network: TorchNetwork, heads: ExtraHeads) -> None:
        super().__init__()
        self.network = network
        self.heads = heads

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        body = self.network.body(features)
        policy, value = self.network.answers(body)
        return policy, value, self.heads(body)


def _outputs(ops: Operations[Any], body: Value, extra: ExtraTargets) -> dict[str, Value]:
    """The outputs that have a weight, by name."""
    heads = {
        "reply": lambda: policy_head(ops, body, "reply.policy"),
        "soft_policy": lambda: policy_head(ops, body, "soft.policy"),
        "short_term": lambda: value_head(ops, body, "short_term.value", 3 * len(extra.horizons)),
        "value_error": lambda: value_head(ops, body, "error.value", 1),
        "ownership": lambda: ops.convolution(body, Convolution("ownership.output", 1, 1, norm=False)),
        "score": lambda: value_head(ops, body, "score.value", 1),
    }
    return {name: heads[name]() for name in extra.weights}


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Mean over the rows of -sum target log softmax(logits) over the last axis."""
    log_chances = functional.log_softmax(logits, dim=-1)
    return -(target * log_chances).sum(dim=-1).mean()


def extra_losses(extra: ExtraTargets, outputs: Tensors, value: Tensor, batch: Tensors) -> dict[str, Tensor]:
    """Return the losses of the heads, means over the batch, without their weights; all outputs are float32.

    reply: cross-entropy with the policy target of the next move; rows without one add nothing. soft_policy: with
    pi^(1 / T), normalised. short_term: with `short_term_values`, mean over the horizons. value_error: the Huber loss of
    softplus(output) and (v - z)^2, with win - loss as v of the network, which gets no gradient of it, and z of the
    target. ownership: the mean over the squares of the binary cross-entropy of sigmoid(output) with (o + 1) / 2, o the
    mover's ownership, 1, 0 or -1. score: the Huber loss of the lead in sides of the board. Rows without an end by the
    rules, whose targets are not numbers, add nothing to these two. Where the batch says what is legal, the soft policy
    is over these actions alone.
    """
    found = dict[str, Tensor]()
    for name in extra.weights:
        output = outputs[name]
        if name == "reply":
            found[name] = cross_entropy(output, batch[name])
        elif name == "soft_policy":
            soft = batch["policy"] ** (1 / extra.soft_temperature)
            total = soft.sum(dim=1, keepdim=True).clamp(min=1e-6)
            if "legal" in batch:
                output = output.masked_fill(batch["legal"] == 0, -1e10)
            found[name] = cross_entropy(output, soft / total)
        elif name == "short_term":
            target = batch[name]
            found[name] = cross_entropy(output.reshape(*target.shape), target)
        elif name == "ownership":
            found[name] = _ownership_loss(output, batch[name])
        elif name == "score":
            lead = batch[name]
            known = lead.isfinite()
            lost = functional.huber_loss(output[:, 0], lead.nan_to_num(), reduction="none")
            found[name] = (lost * known).mean()
        else:
            # Detached: the value would else learn to make its error predictable.
            wdl = wdl_of(value.detach())
            target = batch["wdl"]
            own = wdl[:, 0] - wdl[:, 2]
            wanted = target[:, 0] - target[:, 2]
            error = (own - wanted) ** 2
            # A square is never below 0, nor is what predicts it.
            expected = functional.softplus(output[:, 0])
            found[name] = functional.huber_loss(expected, error)
    return found


def _ownership_loss(output: Tensor, ownership: Tensor) -> Tensor:
    """Return the mean loss of logits [B, 1, rows, columns]; rows of `ownership` that are not numbers add nothing."""
    known = ownership.isfinite()
    chances = (ownership.nan_to_num() + 1) / 2
    lost = functional.binary_cross_entropy_with_logits(output, chances, reduction="none")
    return (lost * known).mean()

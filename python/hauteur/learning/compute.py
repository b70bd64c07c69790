"""The compute of a learning run: floating-point operations of its nets, by a common rule and as they really are.

The rule is that of scaling laws (Kaplan et al. 2020, section 2.1) as prophet-bench charges it: a forward pass costs
2 P T operations and a trained position 6 P T, with P parameters and T places of the board (64 in chess). A convolution
uses each of its weights once a place, so the rule is close to the truth for a tower, and the same for every network.
True multiply-adds are counted in a forward pass of one position; training takes three times as many.

All evaluations of the run's own nets are charged: self-play, probes, searches of old positions, gate matches. Those of
other nets (a fixed opponent, a model of the opponent, a teacher) are not: they are no part of what is learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from hauteur.system.jsonl import Journal

if TYPE_CHECKING:
    from torch import Tensor, nn

FORWARD = 2
"""Operations a parameter and place of a forward pass."""
TRAINED = 6
"""Operations a parameter and place of a position that is trained on."""

PASSES_OF_TRAINING = 3
"""Multiply-adds of training in those of a forward pass: forward, gradients of the values, gradients of the weights."""


@dataclass(frozen=True)
class NetCompute:
    """What one position costs a network."""

    parameters: int
    """P: numbers that are learned."""
    places: int
    """T: rows times columns of the features."""
    multiply_adds: int
    """Of a forward pass, in convolutions and products of matrices."""

    def flops(self, evaluations: int, samples: int) -> int:
        """Return the operations by the rule."""
        return (FORWARD * evaluations + TRAINED * samples) * self.parameters * self.places

    def true_multiply_adds(self, evaluations: int, samples: int) -> int:
        """Return the multiply-adds of forward passes and of training."""
        return (evaluations + PASSES_OF_TRAINING * samples) * self.multiply_adds


def net_compute(network: nn.Module, feature_shape: tuple[int, int, int]) -> NetCompute:
    """Return what a torch network for features [C, H, W] costs. Its mode (training or not) is as before afterwards."""
    import torch

    from hauteur.networks.torch_networks import ResidualTower

    first = next(network.parameters())
    features = torch.zeros((1, *feature_shape), dtype=torch.float32, device=first.device)
    count = counted_by_layer if isinstance(network, ResidualTower) else counted_by_torch
    was_training = network.training
    # In training a normalisation would take these zeros into its running means.
    network.eval()
    with torch.no_grad():
        multiply_adds = count(network, features)
    network.train(was_training)
    _, rows, columns = feature_shape
    parameters = sum(parameter.numel() for parameter in network.parameters())
    return NetCompute(parameters, rows * columns, multiply_adds)


def counted_by_layer(network: nn.Module, features: Tensor) -> int:
    """Return the multiply-adds of a forward pass by its convolutions and dense layers, which are all of a residual net.

    torch's own counter imports torch._dynamo and sympy when it is used first: two seconds at the start of every run.
    """
    from torch import nn

    counts = []

    def add(layer: nn.Module, _: object, outputs: Tensor) -> None:
        weights_of_an_output = layer.get_parameter("weight")[0].numel()
        counts.append(outputs.numel() * weights_of_an_output)

    layers = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
    hooks = [layer.register_forward_hook(add) for layer in layers]
    network(features)
    for hook in hooks:
        hook.remove()
    return sum(counts)


def counted_by_torch(network: nn.Module, features: Tensor) -> int:
    """Return the multiply-adds of a forward pass of any network, as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        network(features)
    # torch counts a multiplication and an addition as two.
    return int(counter.get_total_flops()) // 2


def compute_metrics(
    found: Mapping[str, int] | None,
    before: int,
    nets: Sequence[NetCompute],
    evaluations: Sequence[int],
    samples: int = 0,
) -> dict[str, int]:
    """Return the compute of a generation with what was added to it.

    Parameters
    ----------
    found
        The generation's numbers so far, None where there are none.
    before
        Operations by the rule of all earlier generations.
    nets
        The run's net, then the large one where there are two.
    evaluations
        Forward passes of each that are added.
    samples
        Positions that each is trained on besides.
    """
    old = found or {}
    charged = list(zip(nets, evaluations, strict=False))
    flops = sum(net.flops(count, samples) for net, count in charged)
    adds = sum(net.true_multiply_adds(count, samples) for net, count in charged)
    generation = old.get("flops", 0) + flops
    return {
        "evaluations": old.get("evaluations", 0) + sum(evaluations[: len(nets)]),
        "samples": old.get("samples", 0) + samples * len(nets),
        "flops": generation,
        "flops_total": before + generation,
        "multiply_adds": old.get("multiply_adds", 0) + adds,
    }


def flops_until(lines: Iterable[Mapping[str, Any]], nets: Sequence[NetCompute]) -> int:
    """Return the operations of finished generations by the rule.

    Generations that an earlier version of this program learned, which did not count, are charged by their games'
    evaluations and their samples.
    """
    spent = 0
    for line in lines:
        # A line has the total of all before it, so that the last one which counted is enough.
        if "compute" in line:
            spent = int(line["compute"]["flops_total"])
            continue
        cost = line.get("cost", {})
        evaluations = (cost.get("evaluations", 0), cost.get("evaluations_large", 0))
        samples = line.get("train", {}).get("samples", 0)
        for net, count in zip(nets, evaluations, strict=False):
            spent += net.flops(count, samples)
    return spent


class UnitCost(BaseModel):
    """Forward passes that a unit of games took; a line of the file of a run's costs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    """Of the unit: self-play or reanalyse."""
    generation: int
    """Whose games they are."""
    number: int
    """Of the unit in the generation."""
    evaluations: int
    """Of the run's own net."""
    evaluations_large: int = 0
    """Of the large net."""


@dataclass(frozen=True)
class UnitCosts:
    """The file of what units have cost, so that a killed generation is charged for all that it has played.

    A unit counts once, by its last line: one that was played again, after a kill between its line and its file or as
    its file was damaged, has two, and how much a run may spend must not depend on such chances.
    """

    path: Path

    def add(self, cost: UnitCost) -> None:
        """Write the cost of a unit, on disk when this returns."""
        self._journal.append(cost)

    def of(self, kind: str, generation: int) -> tuple[int, int]:
        """Return the forward passes of both nets in the units of a generation; ValueError for a damaged file."""
        costs = {
            cost.number: cost for cost in self._journal.entries() if (cost.kind, cost.generation) == (kind, generation)
        }
        own = sum(cost.evaluations for cost in costs.values())
        large = sum(cost.evaluations_large for cost in costs.values())
        return own, large

    @property
    def _journal(self) -> Journal[UnitCost]:
        """The file, a line a unit."""
        return Journal(self.path, UnitCost, "the cost of a unit of games")

"""The layers of a lc0 network file as torch parameters: each tensor of the file is used once, the rest is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hauteur.networks.lc0_layers import Floats
from hauteur.networks.lc0_layout import NORM, fold_norm

Activation = Callable[[Tensor], Tensor]


def _relu_2(x: Tensor) -> Tensor:
    return functional.relu(x) ** 2


def _identity(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[str, Activation] = {
    "relu": functional.relu,
    "mish": functional.mish,
    "none": _identity,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "selu": functional.selu,
    "swish": functional.silu,
    "relu_2": _relu_2,
}


class Layers(Mapping[str, Floats]):
    """Layers by path, and the parameters that were made of them."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._tensors = tensors
        self._parameters: dict[str, nn.Parameter] = {}
        self._tails: dict[str, Floats] = {}

    def __getitem__(self, path: str) -> Floats:
        return self._tensors[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def parameter(self, path: str, values: Floats | None = None, used: int | None = None) -> nn.Parameter:
        """The parameter of a layer, one for all that share the layer. values: if not the layer's own; used: only the
        first so many rows."""
        if path not in self._parameters:
            chosen = np.array(self[path] if values is None else values, np.float32)
            self._parameters[path] = nn.Parameter(torch.from_numpy(chosen[:used]))
            if used is not None and used < len(chosen):
                self._tails[path] = chosen[used:]
        return self._parameters[path]

    def paths_of(self, module: nn.Module) -> dict[str, str]:
        """The layer of every parameter of a module that was built of these layers, by the parameter's name."""
        paths = {id(parameter): path for path, parameter in self._parameters.items()}
        return {name: paths[id(parameter)] for name, parameter in module.named_parameters()}

    def rest(self) -> dict[str, Floats]:
        """Return the tensors in no parameter: unused layers, unused rows of layers. Folded batch norms are excluded."""
        folded = {path.removesuffix(".weights") for path in self._parameters}
        left = (path for path in self if path not in self._parameters)
        unused = [path for path in left if not (path.endswith(NORM) and path.rpartition(".")[0] in folded)]
        return {path: np.array(self[path], np.float32) for path in unused} | self._tails


def convolution(layers: Layers, path: str, outputs: int | None = None) -> nn.Conv2d:
    """A ConvBlock as one convolution; `outputs`: only the first of its planes."""
    weights, bias = fold_norm(layers, path)
    channels, inputs, kernel, _ = weights.shape
    conv = nn.Conv2d(inputs, outputs or channels, kernel, padding=kernel // 2, device="meta")
    conv.weight = layers.parameter(f"{path}.weights", weights, outputs)
    conv.bias = layers.parameter(f"{path}.biases", bias, outputs)
    return conv


def dense_layer(layers: Layers, weights: str, biases: str | None = None) -> nn.Linear:
    """A dense layer from the tensors at these paths."""
    outputs, inputs = layers[weights].shape
    linear = nn.Linear(inputs, outputs, bias=biases is not None, device="meta")
    linear.weight = layers.parameter(weights)
    if biases is not None:
        linear.bias = layers.parameter(biases)
    return linear


def layer_norm(layers: Layers, path: str, epsilon: float) -> nn.LayerNorm:
    """A layer norm from the tensors below `path`."""
    norm = nn.LayerNorm(len(layers[f"{path}_gammas"]), eps=epsilon)
    norm.weight = layers.parameter(f"{path}_gammas")
    norm.bias = layers.parameter(f"{path}_betas")
    return norm

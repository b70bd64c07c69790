"""The layers of a network: what a file calls their tensors, batch norms folded in, and the form that the core takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.architecture import Architecture, Lc0Architecture, ResNetArchitecture
from hauteur.networks.chess_moves import CONVOLUTION_PLANES, convolution_indices
from hauteur.networks.computation import USED_PLANES, Convolution

Floats = NDArray[np.float32]

EPSILON = 1e-5
"""Of batch normalisation."""

NORM = ("bn_gammas", "bn_betas", "bn_means", "bn_stddivs")
"""lc0's tensors of a batch normalisation; those of torch in the same order:"""
TORCH_NORM = ("weight", "bias", "running_mean", "running_var")


class Affine(NamedTuple):
    """Weights [out, in] or [out, in, k, k] and bias [out] of a layer, float32."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True)
class LayerNames:
    """Names of a network's tensors in its file, by the paths of `computation`."""

    architecture: ResNetArchitecture | Lc0Architecture

    @property
    def is_lc0(self) -> bool:
        return isinstance(self.architecture, Lc0Architecture)

    def convolution(self, layer: Convolution) -> tuple[str, ...]:
        """Weights, then bias, or gammas, betas, means and variances of the batch normalisation."""
        path = layer.path
        if self.is_lc0:
            base = self._lc0_path(path)
            return f"{base}.weights", *(f"{base}.{name}" for name in (NORM if layer.norm else ("biases",)))
        if layer.norm:
            return f"{path}.conv.weight", *(f"{path}.norm.{name}" for name in TORCH_NORM)
        return f"{path}.weight", f"{path}.bias"

    def dense(self, path: str) -> tuple[str, str]:
        """Weights and bias."""
        if not self.is_lc0:
            return f"{path}.weight", f"{path}.bias"
        base = self._lc0_path(path)
        for name, number in ((".se.reduce", 1), (".se.expand", 2)):
            if base.endswith(name):
                base = base.removesuffix(name)
                return f"{base}.se.w{number}", f"{base}.se.b{number}"
        return base if base.endswith(".compress") else f"{base}_w", f"{base}_b"

    def norm(self, path: str) -> tuple[str, str]:
        """Gammas and betas of a layer normalisation."""
        return f"{path}_gammas", f"{path}_betas"

    def _lc0_path(self, path: str) -> str:
        """lc0's path of a layer; those of attention have them already."""
        architecture = self.architecture
        assert isinstance(architecture, Lc0Architecture)
        policy, value = architecture.policy_prefix, architecture.value_prefix
        classical = architecture.policy == "classical"
        heads = {
            "policy.conv": f"{policy}policy" if classical else f"{policy}policy1",
            "policy.output": f"{policy}ip_pol" if classical else f"{policy}policy",
            "value.conv": f"{value}value",
            "value.embed": f"{value}ip_val",
            "value.hidden": f"{value}ip1_val",
            "value.output": f"{value}ip2_val",
        }
        return heads.get(path) or path.replace("blocks.", "residual.", 1)


@dataclass(frozen=True)
class Layers:
    """The layers of a network by the paths of `computation`. tensors: by their names in the file, in their shapes."""

    architecture: ResNetArchitecture | Lc0Architecture
    tensors: Mapping[str, Floats]

    @property
    def names(self) -> LayerNames:
        return LayerNames(self.architecture)

    def has(self, path: str) -> bool:
        """Return whether there is such a dense layer, or a tensor of this name."""
        return path in self.tensors or self.names.dense(path)[0] in self.tensors

    def dense(self, path: str) -> tuple[Floats, Floats | None]:
        """Weights [out, in] and bias [out], None without one."""
        weights, bias = self.names.dense(path)
        return self.tensors[weights], self.tensors.get(bias)

    def convolution(self, layer: Convolution) -> Affine:
        """A convolution, its batch normalisation folded in, in float64."""
        weights_name, *rest = self.names.convolution(layer)
        if self.names.is_lc0:
            weights, bias = fold_norm(self.tensors, weights_name)
            return _contiguous(weights[: layer.used], bias[: layer.used])
        kernel, *values = (self.tensors[name].astype(np.float64) for name in (weights_name, *rest))
        if not layer.norm:
            return _contiguous(kernel, values[0])
        gamma, beta, mean, variance = values
        scale = gamma / np.sqrt(variance + EPSILON)
        return _contiguous(kernel * scale[:, None, None, None], beta - mean * scale)


def fold_norm(tensors: Mapping[str, Floats], weights_name: str) -> Affine:
    """Weights and bias of lc0's convolution with its norm, if it has one: w g / s, beta + (b - mean) g / s."""
    path = weights_name.removesuffix(".weights")
    weights = tensors[weights_name].astype(np.float64)
    zeros = np.zeros(len(weights))
    bias = tensors.get(f"{path}.biases", zeros).astype(np.float64)
    if f"{path}.bn_means" in tensors:
        scale = 1 / np.sqrt(tensors[f"{path}.bn_stddivs"].astype(np.float64) + EPSILON)
        scale = scale * tensors.get(f"{path}.bn_gammas", zeros + 1)
        bias = tensors.get(f"{path}.bn_betas", zeros) + (bias - tensors[f"{path}.bn_means"]) * scale
        weights = weights * scale[:, None, None, None]
    return Affine(weights.astype(np.float32), bias.astype(np.float32))


def _contiguous(weights: NDArray[np.floating], bias: NDArray[np.floating]) -> Affine:
    return Affine(np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias, np.float32))


# What the core computes.


Excitation = tuple[Affine, Affine]
"""Squeeze-excitation: filters to channels, channels to twice the filters."""


Block = tuple[Affine, Affine, Excitation | None, Affine | None]
"""Two convolutions, excitation, pooling: means and maxima of some filters to biases of the others."""


class CoreLayers(TypedDict):
    """A residual network. board: rows and columns; blocks: two convolutions, the excitation and the pooling of each;
    policy: the convolution before the last layer, that layer, and, where it is a convolution too, the index of each
    action among its planes (None: it is dense); value: planes, hidden layer, outputs (win, draw, loss, or one number);
    pooled: whether the hidden layer sees mean and maximum behind the squares of each plane."""

    board: tuple[int, int]
    activation: str
    input: Affine
    blocks: list[Block]
    policy: tuple[Affine, Affine, list[int] | None]
    value: tuple[Affine, Affine, Affine]
    pooled: bool


def computed_by_core(architecture: Architecture) -> bool:
    """Return whether the core computes this network: a residual tower, without attention."""
    if isinstance(architecture, Lc0Architecture):
        return bool(architecture.filters) and not architecture.encoders and architecture.policy != "attention"
    return isinstance(architecture, ResNetArchitecture)


class _CoreLayers(Layers):
    """Collects the layers that a core's network has."""

    def affine(self, path: str) -> Affine:
        """A dense layer; a bias of zeros where there is none."""
        weights, bias = self.dense(path)
        return _contiguous(weights, np.zeros(len(weights)) if bias is None else bias)

    def block(self, path: str) -> Block:
        first, second = (self.convolution(Convolution(f"{path}.conv{i}", 3)) for i in (1, 2))
        excites, pools = self.has(f"{path}.se.reduce"), self.has(f"{path}.pool")
        excitation = (self.affine(f"{path}.se.reduce"), self.affine(f"{path}.se.expand")) if excites else None
        return first, second, excitation, self.affine(f"{path}.pool") if pools else None

    def policy(self) -> tuple[Affine, Affine, list[int] | None]:
        """The convolution before the last layer, that layer, the index of each action among its planes."""
        if self.architecture.policy != "convolution":
            return self.convolution(Convolution("policy.conv", 1)), self.affine("policy.output"), None
        if isinstance(self.architecture, Lc0Architecture):
            output = Convolution("policy.output", 3, used=USED_PLANES)
        else:
            output = Convolution("policy.output", 3, norm=False)
        hidden = self.convolution(Convolution("policy.conv", 3))
        return hidden, self.convolution(output), _actions(self.architecture)


def core_layers(architecture: Architecture, tensors: Mapping[str, Floats]) -> CoreLayers:
    """Return the layers of a network that the core computes; ValueError for another (`computed_by_core`)."""
    if not (isinstance(architecture, ResNetArchitecture | Lc0Architecture) and computed_by_core(architecture)):
        raise ValueError(f"backend core computes residual networks, got {architecture.summary()}; torch computes it")
    layers = _CoreLayers(architecture, tensors)
    value = layers.convolution(Convolution("value.conv", 1))
    _, rows, columns = architecture.feature_shape
    return {
        "board": (rows, columns),
        "activation": architecture.activation,
        "input": layers.convolution(Convolution("input", 3)),
        "blocks": [layers.block(f"blocks.{i}") for i in range(architecture.blocks)],
        "policy": layers.policy(),
        "value": (value, layers.affine("value.hidden"), layers.affine("value.output")),
        "pooled": isinstance(architecture, ResNetArchitecture) and architecture.pooling > 0,
    }


def _actions(architecture: ResNetArchitecture | Lc0Architecture) -> list[int]:
    """Return the index of each action among the planes of the last convolution."""
    if isinstance(architecture, Lc0Architecture) or architecture.policy_planes == CONVOLUTION_PLANES:
        return [int(index) for index in convolution_indices()]
    return list(range(architecture.num_actions))

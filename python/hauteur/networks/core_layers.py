"""The layers of a residual network as the core takes them: batch norms folded in, in the order of the computation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypedDict

import numpy as np

from hauteur.networks.architecture import Architecture, Lc0Architecture, ResNetArchitecture
from hauteur.networks.chess_moves import CONVOLUTION_PLANES, convolution_indices
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.lc0_layout import USED_PLANES, fold_norm

_EPSILON = 1e-5
"""Of torch's batch normalisation."""


class Affine(NamedTuple):
    """Weights [out, in] or [out, in, k, k] and bias [out] of a layer, float32."""

    weights: Floats
    bias: Floats


Excitation = tuple[Affine, Affine]
"""Squeeze-excitation: filters to channels, channels to twice the filters."""


class CoreLayers(TypedDict):
    """A residual network. board: rows and columns; blocks: two convolutions and the excitation of each; policy: the
    convolution before the last layer, that layer, and, where it is a convolution too, the index of each action among
    its planes (None: it is dense); value: planes, hidden layer, outputs (win, draw, loss, or one number)."""

    board: tuple[int, int]
    activation: str
    input: Affine
    blocks: list[tuple[Affine, Affine, Excitation | None]]
    policy: tuple[Affine, Affine, list[int] | None]
    value: tuple[Affine, Affine, Affine]


def computed_by_core(architecture: Architecture) -> bool:
    """Return whether the core computes this network: a residual tower, without attention."""
    if isinstance(architecture, Lc0Architecture):
        return bool(architecture.filters) and not architecture.encoders and architecture.policy != "attention"
    return isinstance(architecture, ResNetArchitecture)


def core_layers(architecture: Architecture, tensors: Mapping[str, Floats]) -> CoreLayers:
    """Return the layers of a network that the core computes; ValueError for another (`computed_by_core`)."""
    if not computed_by_core(architecture):
        raise ValueError(f"backend core computes residual networks, got {architecture.summary()}; torch computes it")
    if isinstance(architecture, Lc0Architecture):
        return _lc0_layers(architecture, tensors)
    assert isinstance(architecture, ResNetArchitecture)
    return _tower_layers(architecture, tensors)


def _tower_layers(architecture: ResNetArchitecture, tensors: Mapping[str, Floats]) -> CoreLayers:
    def affine(path: str) -> Affine:
        return _contiguous(tensors[f"{path}.weight"], tensors[f"{path}.bias"])

    def folded(path: str) -> Affine:
        """A convolution with its batch normalisation: w g / s, beta - mean g / s, computed in float64."""
        kernel = tensors[f"{path}.conv.weight"].astype(np.float64)
        gamma, beta, mean, variance = (
            tensors[f"{path}.norm.{name}"].astype(np.float64)
            for name in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / np.sqrt(variance + _EPSILON)
        return _contiguous(kernel * scale[:, None, None, None], beta - mean * scale)

    def excitation(path: str) -> Excitation | None:
        if not architecture.se_channels:
            return None
        return affine(f"{path}.se.reduce"), affine(f"{path}.se.expand")

    blocks = (f"blocks.{i}" for i in range(architecture.blocks))
    _, rows, columns = architecture.feature_shape
    return {
        "board": (rows, columns),
        "activation": architecture.activation,
        "input": folded("input"),
        "blocks": [(folded(f"{path}.conv1"), folded(f"{path}.conv2"), excitation(path)) for path in blocks],
        "policy": (folded("policy.conv"), affine("policy.output"), _actions(architecture)),
        "value": (folded("value.conv"), affine("value.hidden"), affine("value.output")),
    }


def _actions(architecture: ResNetArchitecture) -> list[int] | None:
    """Return the index of each action among the planes of the last convolution; None where the last layer is dense."""
    if architecture.policy == "dense":
        return None
    if architecture.policy_planes == CONVOLUTION_PLANES:
        return [int(index) for index in convolution_indices()]
    return list(range(architecture.num_actions))


def _lc0_layers(architecture: Lc0Architecture, tensors: Mapping[str, Floats]) -> CoreLayers:
    def folded(path: str, outputs: int | None = None) -> Affine:
        weights, bias = fold_norm(tensors, path)
        return _contiguous(weights[:outputs], bias[:outputs])

    def dense(path: str) -> Affine:
        weights = tensors[f"{path}_w"]
        return _contiguous(weights, tensors.get(f"{path}_b", np.zeros(len(weights), np.float32)))

    def excitation(path: str) -> Excitation | None:
        if f"{path}.w1" not in tensors:
            return None
        reduce, expand = (_contiguous(tensors[f"{path}.w{n}"], tensors[f"{path}.b{n}"]) for n in (1, 2))
        return reduce, expand

    prefix, value = architecture.policy_prefix, architecture.value_prefix
    if architecture.policy == "classical":
        policy = (folded(f"{prefix}policy"), dense(f"{prefix}ip_pol"), None)
    else:
        planes = folded(f"{prefix}policy", USED_PLANES)
        policy = (folded(f"{prefix}policy1"), planes, convolution_indices().tolist())
    blocks = (f"residual.{i}" for i in range(architecture.blocks))
    _, rows, columns = architecture.feature_shape
    return {
        "board": (rows, columns),
        "activation": architecture.activation,
        "input": folded("input"),
        "blocks": [(folded(f"{path}.conv1"), folded(f"{path}.conv2"), excitation(f"{path}.se")) for path in blocks],
        "policy": policy,
        "value": (folded(f"{value}value"), dense(f"{value}ip1_val"), dense(f"{value}ip2_val")),
    }


def _contiguous(weights: np.ndarray[tuple[int, ...]], bias: np.ndarray[tuple[int, ...]]) -> Affine:
    return Affine(np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias, np.float32))

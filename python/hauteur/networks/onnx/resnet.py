"""The ONNX graph of a residual tower trained here; the torch module is `networks/resnet.py`."""

from collections.abc import Mapping

import numpy as np

from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.chess_moves import CONVOLUTION_PLANES, convolution_indices
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.onnx.graph import Graph, Value
from hauteur.networks.onnx.layers import Affine, SqueezeExcitation, residual_block, win_draw_loss

_EPSILON = 1e-5
"""Of torch's batch normalisation."""


def write_resnet(graph: Graph, architecture: ResNetArchitecture, tensors: Mapping[str, Floats]) -> None:
    """Add the network from `features` to `policy` and `wdl`, its batch norms folded into the convolutions."""
    network = _ResNetParts(graph, architecture, tensors)
    body = network.body(graph.input("features", architecture.feature_shape))
    graph.output("policy", network.policy(body), [architecture.num_actions])
    graph.output("wdl", win_draw_loss(graph, network.value(body), architecture.value), [3])


class _ResNetParts:
    """The parts of the network; names are those of its tensors."""

    def __init__(self, graph: Graph, architecture: ResNetArchitecture, tensors: Mapping[str, Floats]) -> None:
        self._graph = graph
        self._architecture = architecture
        self._tensors = tensors

    def body(self, features: Value) -> Value:
        """Input convolution and residual blocks."""
        x = self._activated(self._graph.convolution(features, *self._folded("input")))
        for i in range(self._architecture.blocks):
            path = f"blocks.{i}"
            first, second = (self._folded(f"{path}.{name}") for name in ("conv1", "conv2"))
            excitation = None
            if self._architecture.se_channels:
                excitation = SqueezeExcitation(self._affine(f"{path}.se.reduce"), self._affine(f"{path}.se.expand"))
            x = residual_block(self._graph, x, first, second, excitation, self._architecture.activation)
        return x

    def policy(self, x: Value) -> Value:
        """Logits [rows, actions]."""
        hidden = self._activated(self._graph.convolution(x, *self._folded("policy.conv")))
        output = self._affine("policy.output")
        if self._architecture.policy == "dense":
            return self._graph.dense(self._graph.flatten(hidden), *output)
        planes = self._graph.flatten(self._graph.convolution(hidden, *output))
        if self._architecture.policy_planes != CONVOLUTION_PLANES:
            return planes
        return self._graph.gather(planes, convolution_indices())

    def value(self, x: Value) -> Value:
        """Logits [rows, 3], or one number before its tanh."""
        embedded = self._activated(self._graph.convolution(x, *self._folded("value.conv")))
        hidden = self._activated(self._graph.dense(self._graph.flatten(embedded), *self._affine("value.hidden")))
        return self._graph.dense(hidden, *self._affine("value.output"))

    def _activated(self, x: Value) -> Value:
        return self._graph.activation(x, self._architecture.activation)

    def _affine(self, path: str) -> Affine:
        return Affine(self._tensors[f"{path}.weight"], self._tensors[f"{path}.bias"])

    def _folded(self, path: str) -> Affine:
        """A convolution with its batch normalisation: w g / s, beta - mean g / s, computed in float64."""
        kernel = self._tensors[f"{path}.conv.weight"].astype(np.float64)
        gamma, beta, mean, variance = (
            self._tensors[f"{path}.norm.{name}"].astype(np.float64)
            for name in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / np.sqrt(variance + _EPSILON)
        weights, bias = kernel * scale[:, None, None, None], beta - mean * scale
        return Affine(weights.astype(np.float32), bias.astype(np.float32))

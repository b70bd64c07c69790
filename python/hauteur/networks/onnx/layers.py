"""Layers that residual towers of both kinds share, added to an ONNX graph."""

import numpy as np

from hauteur.networks.core_layers import Affine, Excitation
from hauteur.networks.onnx.graph import Graph, Value


def residual_block(
    graph: Graph, x: Value, first: Affine, second: Affine, excitation: Excitation | None, activation: str
) -> Value:
    """Add activation(x + excite(conv(activation(conv(x)))))."""
    y = graph.convolution(graph.activation(graph.convolution(x, *first), activation), *second)
    if excitation is not None:
        y = _excited(graph, y, excitation, activation)
    return graph.activation(graph.add("Add", x, y), activation)


def _excited(graph: Graph, x: Value, excitation: Excitation, activation: str) -> Value:
    """sigmoid(gamma) x + beta, gamma and beta [rows, filters, 1, 1] from the means of all planes."""
    reduce, expand = excitation
    means = graph.flatten(graph.add("GlobalAveragePool", x))
    squeezed = graph.activation(graph.dense(means, *reduce), activation)
    filters = reduce.weights.shape[1]
    both = graph.reshape(graph.dense(squeezed, *expand), 2 * filters, 1, 1)
    gamma, beta = graph.slice(both, 1, 0, filters), graph.slice(both, 1, filters, 2 * filters)
    return graph.add("Add", graph.add("Mul", graph.add("Sigmoid", gamma), x), beta)


def win_draw_loss(graph: Graph, value: Value, kind: str) -> Value:
    """Probabilities [rows, 3] from logits [rows, 3] (`wdl`), or from v [rows, 1] before its tanh (`scalar`):
    ((1 + v) / 2, 0, (1 - v) / 2)."""
    if kind == "wdl":
        return graph.add("Softmax", value, axis=1)
    halves = np.array([[0.5, 0.0, -0.5]], np.float32)
    scaled = graph.add("Mul", graph.add("Tanh", value), graph.constant(halves))
    return graph.add("Add", scaled, graph.constant(abs(halves)))

"""The ONNX graph of a residual tower trained here; the torch module is `networks/resnet.py`."""

from collections.abc import Mapping

import numpy as np

from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.core_layers import core_layers
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.onnx.graph import Graph, Value
from hauteur.networks.onnx.layers import residual_block, win_draw_loss


def write_resnet(graph: Graph, architecture: ResNetArchitecture, tensors: Mapping[str, Floats]) -> None:
    """Add the network from `features` to `policy` and `wdl`, its batch norms folded into the convolutions."""

    def activated(x: Value) -> Value:
        return graph.activation(x, architecture.activation)

    layers = core_layers(architecture, tensors)
    x = activated(graph.convolution(graph.input("features", architecture.feature_shape), *layers["input"]))
    for first, second, excitation in layers["blocks"]:
        x = residual_block(graph, x, first, second, excitation, architecture.activation)
    planes, output, actions = layers["policy"]
    hidden = activated(graph.convolution(x, *planes))
    if actions is None:
        logits = graph.dense(graph.flatten(hidden), *output)
    else:
        logits = graph.gather(graph.flatten(graph.convolution(hidden, *output)), np.array(actions))
    graph.output("policy", logits, [architecture.num_actions])
    planes, hidden_layer, output = layers["value"]
    hidden = activated(graph.dense(graph.flatten(activated(graph.convolution(x, *planes))), *hidden_layer))
    graph.output("wdl", win_draw_loss(graph, graph.dense(hidden, *output), architecture.value), [3])

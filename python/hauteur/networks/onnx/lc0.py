"""The ONNX graph of an lc0 network: towers and heads; the torch module is `networks/lc0_module.py`."""

from hauteur.networks.chess_moves import convolution_indices
from hauteur.networks.core_layers import Affine, Excitation
from hauteur.networks.lc0_layout import USED_PLANES
from hauteur.networks.onnx.attention import attention_body, attention_policy
from hauteur.networks.onnx.graph import Value
from hauteur.networks.onnx.layers import residual_block, win_draw_loss
from hauteur.networks.onnx.lc0_graph import Lc0Graph


def write_lc0(graph: Lc0Graph) -> None:
    """Add the network from `features` to `policy`, `wdl` and, with that head, `moves_left`."""
    architecture = graph.architecture
    x = graph.input("features", architecture.feature_shape)
    if architecture.filters:
        x = _tower(graph, x)
    if architecture.encoders:
        x = attention_body(graph, x)
    graph.output("policy", _policy(graph, x), [architecture.num_actions])
    prefix = architecture.value_prefix
    value = _head(graph, x, f"{prefix}value", f"{prefix}ip{{}}_val")
    graph.output("wdl", win_draw_loss(graph, value, architecture.value), [3])
    if architecture.moves_left:
        graph.output("moves_left", graph.add("Relu", _head(graph, x, "moves_left", "ip{}_mov")), [1])


def _tower(graph: Lc0Graph, x: Value) -> Value:
    """Input convolution and residual blocks."""
    x = graph.default_activation(graph.convolution(x, *graph.folded("input")))
    for i in range(graph.architecture.blocks):
        path = f"residual.{i}"
        excitation: Excitation | None = None
        if f"{path}.se.w1" in graph.tensors:
            reduce, expand = (
                Affine(graph.tensors[f"{path}.se.w{n}"], graph.tensors[f"{path}.se.b{n}"]) for n in (1, 2)
            )
            excitation = reduce, expand
        first, second = graph.folded(f"{path}.conv1"), graph.folded(f"{path}.conv2")
        x = residual_block(graph, x, first, second, excitation, graph.architecture.activation)
    return x


def _policy(graph: Lc0Graph, x: Value) -> Value:
    """Logits [rows, 1858]."""
    prefix = graph.architecture.policy_prefix
    if graph.architecture.policy == "attention":
        return attention_policy(graph, x)
    if graph.architecture.policy == "classical":
        hidden = graph.default_activation(graph.convolution(x, *graph.folded(f"{prefix}policy")))
        return graph.linear(graph.flatten(hidden), f"{prefix}ip_pol")
    hidden = graph.default_activation(graph.convolution(x, *graph.folded(f"{prefix}policy1")))
    planes = graph.convolution(hidden, *graph.folded(f"{prefix}policy", USED_PLANES))
    return graph.gather(graph.flatten(planes), convolution_indices())


def _head(graph: Lc0Graph, x: Value, embedding: str, dense: str) -> Value:
    """Value and moves-left heads: convolution (after a tower) or dense layer a square (after encoders), two dense."""
    if graph.architecture.encoders:
        embedded = graph.linear(x, dense.format(""))
    else:
        embedded = graph.convolution(x, *graph.folded(embedding))
    flat = graph.flatten(graph.default_activation(embedded))
    hidden = graph.default_activation(graph.linear(flat, dense.format(1)))
    return graph.linear(hidden, dense.format(2))

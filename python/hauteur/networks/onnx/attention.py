"""Attention in the ONNX graph of an lc0 network: the body of encoders, smolgen, and the attention policy head.

A token is a square, [rows, 64, channels]; the torch modules, with the papers, are in `networks/lc0_attention.py`.
"""

import math

import numpy as np

from hauteur.networks.chess_moves import attention_indices, reach_map
from hauteur.networks.lc0_layout import policy_embedding, policy_encoders
from hauteur.networks.onnx.graph import Value
from hauteur.networks.onnx.lc0_graph import Lc0Graph

_DENSE_EPSILON = 1e-3
"""Of the layer norms of networks with PE_DENSE, and of smolgen's; others have 1e-6."""


def attention_body(graph: Lc0Graph, x: Value) -> Value:
    """[rows, channels, 8, 8] to [rows, 64, embedding]."""
    architecture = graph.architecture
    # Sublayers are scaled by alpha before the skip connection (DeepNorm); N = encoders.
    alpha = (2 * architecture.encoders) ** -0.25
    x = _embedding(graph, _square_tokens(graph, x), alpha)
    for i in range(architecture.encoders):
        x = _encoder(graph, x, f"encoder.{i}", architecture.heads, alpha)
    return x


def attention_policy(graph: Lc0Graph, x: Value) -> Value:
    """Every pair of squares by scaled dot product, promotions from the squares of the last rank: [rows, 1858]."""
    architecture, prefix = graph.architecture, graph.architecture.policy_prefix
    # Towers with an attention head come from a time when SELU was fixed.
    activation = architecture.activation if architecture.structure >= 6 else "selu"
    tokens = x if architecture.encoders else _square_tokens(graph, x)
    embedded = graph.activation(graph.linear(tokens, policy_embedding(prefix, graph.tensors.__contains__)), activation)
    heads = int(architecture.scalars.get(f"{prefix}pol_headcount", 0))
    for path in policy_encoders(prefix, graph.tensors.__contains__):
        embedded = _encoder(graph, embedded, path, heads, 1.0)
    query, key = graph.linear(embedded, f"{prefix}ip2_pol"), graph.linear(embedded, f"{prefix}ip3_pol")
    depth = len(graph.tensors[f"{prefix}ip2_pol_w"])
    pairs = graph.scaled(graph.add("MatMul", query, graph.transpose(key, 0, 2, 1)), 1 / math.sqrt(depth))
    flat = graph.add("Concat", graph.flatten(pairs), graph.flatten(_promotions(graph, key, pairs)), axis=1)
    return graph.gather(flat, attention_indices())


def _promotions(graph: Lc0Graph, key: Value, pairs: Value) -> Value:
    """[rows, 8 from, 8 to, 3 pieces]: the pair's logit, the piece's offset at the target, one for all pieces."""
    offsets = graph.linear(graph.slice(key, 1, 56, 64), f"{graph.architecture.policy_prefix}ip4_pol")
    offsets = graph.add("Add", graph.slice(offsets, 2, 0, 3), graph.slice(offsets, 2, 3, 4))
    last = graph.slice(graph.slice(pairs, 1, 48, 56), 2, 56, 64)
    return graph.add("Add", graph.reshape(last, 8, 8, 1), graph.reshape(offsets, 1, 8, 3))


def _square_tokens(graph: Lc0Graph, planes: Value) -> Value:
    """[rows, channels, 8, 8] to [rows, 64, channels]."""
    return graph.transpose(graph.reshape(planes, 0, 64), 0, 2, 1)


def _embedding(graph: Lc0Graph, tokens: Value, alpha: float) -> Value:
    """Position information, dense layer, gates; with PE_DENSE also layer norms and a feed-forward layer."""
    architecture = graph.architecture
    dense = architecture.input_embedding == "dense"
    if not architecture.filters:
        tokens = _with_positions(graph, tokens)
    x = graph.default_activation(graph.linear(tokens, "ip_emb"))
    if dense:
        x = graph.norm(x, "ip_emb_ln", _DENSE_EPSILON)
    for kind, path in (("Mul", "ip_mult_gate"), ("Add", "ip_add_gate")):
        if path in graph.tensors:
            x = graph.add(kind, x, graph.constant(np.ascontiguousarray(graph.tensors[path].T)))
    if dense:
        x = _feed_forward(graph, x, "ip_emb_ffn", architecture.activation, alpha)
        x = graph.norm(x, "ip_emb_ffn_ln", _DENSE_EPSILON)
    return x


def _with_positions(graph: Lc0Graph, tokens: Value) -> Value:
    """The tokens of a network without a tower, beside what tells the squares apart."""
    kind = graph.architecture.input_embedding
    if kind == "none":
        return tokens
    if kind == "dense":
        first = graph.flatten(graph.slice(tokens, 2, 0, 12))
        return graph.add("Concat", tokens, graph.reshape(graph.linear(first, "ip_emb_preproc"), 64, -1), axis=2)
    # A constant has no rows to begin with: it is added to as many zeros as there are tokens.
    zeros = graph.scaled(graph.slice(tokens, 2, 0, 1), 0.0)
    return graph.add("Concat", tokens, graph.add("Add", zeros, graph.constant(reach_map())), axis=2)


def _encoder(graph: Lc0Graph, x: Value, path: str, heads: int, alpha: float) -> Value:
    """Post-norm encoder: norm(x + alpha attention(x)), then norm(x + alpha feed-forward(x))."""
    epsilon = _DENSE_EPSILON if graph.architecture.input_embedding == "dense" else 1e-6
    attended = graph.scaled(_attention(graph, x, f"{path}.mha", heads), alpha)
    x = graph.norm(graph.add("Add", x, attended), f"{path}.ln1", epsilon)
    x = _feed_forward(graph, x, f"{path}.ffn", graph.architecture.ffn_activation, alpha)
    return graph.norm(x, f"{path}.ln2", epsilon)


def _feed_forward(graph: Lc0Graph, x: Value, path: str, activation: str, alpha: float) -> Value:
    """x + alpha dense(activation(dense(x)))."""
    hidden = graph.activation(graph.linear(x, f"{path}.dense1"), activation)
    return graph.add("Add", x, graph.scaled(graph.linear(hidden, f"{path}.dense2"), alpha))


def _attention(graph: Lc0Graph, x: Value, path: str, heads: int) -> Value:
    """Multi-head attention; smolgen adds weights computed from the whole position before the softmax."""
    depth = len(graph.tensors[f"{path}.q_w"]) // heads
    query, key, value = (
        graph.transpose(graph.reshape(graph.linear(x, f"{path}.{name}"), 64, heads, depth), *axes)
        for name, axes in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3)))
    )
    scores = graph.scaled(graph.add("MatMul", query, key), 1 / math.sqrt(depth))
    if f"{path}.smolgen.compress" in graph.tensors:
        scores = graph.add("Add", scores, _smolgen(graph, x, f"{path}.smolgen", heads))
    mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=3), value)
    return graph.linear(graph.reshape(graph.transpose(mixed, 0, 2, 1, 3), 64, heads * depth), f"{path}.dense")


def _smolgen(graph: Lc0Graph, x: Value, path: str, heads: int) -> Value:
    """Attention weights [rows, heads, 64, 64] generated from all squares; the last layer is shared by all encoders."""
    activation = graph.architecture.smolgen_activation
    compressed = graph.flatten(graph.dense(x, graph.tensors[f"{path}.compress"]))
    hidden = graph.activation(graph.linear(compressed, f"{path}.dense1"), activation)
    hidden = graph.norm(hidden, f"{path}.ln1", _DENSE_EPSILON)
    generated = graph.activation(graph.linear(hidden, f"{path}.dense2"), activation)
    generated = graph.reshape(graph.norm(generated, f"{path}.ln2", _DENSE_EPSILON), heads, -1)
    return graph.reshape(graph.dense(generated, graph.tensors["smolgen_w"]), heads, 64, 64)

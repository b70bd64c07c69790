"""The computation of a network, written once: residual towers, attention bodies and their heads.

`computed` is carried out by different operations: torch modules compute it (`torch_networks.py`), an ONNX graph writes
it down (`onnx.py`), and `layers.py` infers and checks shapes by it. Layers have the paths of this computation;
`layers.py` knows what a file calls their tensors.

Sources: the residual tower is AlphaZero's (Silver et al. 2017, "Mastering the game of Go without human knowledge",
Methods), its global pooling Wu's (2019, "Accelerating Self-Play Learning in Go"); squeeze-excitation, encoders and the
attention policy are lc0's (its ONNX converter). Shapes are without the rows of the batch; a token is a square, [64,
channels].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hauteur.networks.chess_moves import CONVOLUTION_PLANES
from hauteur.networks.lc0_architecture import Lc0Architecture

if TYPE_CHECKING:
    from hauteur.networks.resnet_architecture import ResNetArchitecture

USED_PLANES = 73
"""Planes of lc0's convolution policy that are moves; its files have 80."""

DENSE_EPSILON = 1e-3
"""Of the layer norms of networks with the embedding `dense`, and of smolgen's; others have 1e-6."""

VALUE_OUTPUTS = {"wdl": 3, "scalar": 1}

Value = TypeVar("Value")
"""A tensor on its way through the network, whatever stands for it."""


@dataclass(frozen=True)
class Convolution:
    """Padded convolution, [in, rows, columns] -> [out, rows, columns]."""

    path: str
    """Path of the layer in the computation."""
    kernel: int
    """Rows and columns of the kernel."""
    outputs: int | None = None
    """Channels of the output; None: they follow from the tensors."""
    used: int | None = None
    """Output channels that are computed, the first ones; None: all."""
    norm: bool = True
    """Batch normalisation may follow."""


@dataclass(frozen=True)
class Dense:
    """Dense layer, [..., in] -> [..., out]. outputs: None where they follow from the tensors."""

    path: str
    outputs: int | None = None
    bias: bool = True


class Operations(Protocol[Value]):
    """Carries a network out."""

    @property
    def architecture(self) -> ResNetArchitecture | Lc0Architecture: ...
    def has(self, path: str) -> bool:
        """Return whether the network has this layer."""

    def width(self, path: str) -> int:
        """Outputs of a dense layer."""

    def convolution(self, x: Value, layer: Convolution) -> Value: ...
    def dense(self, x: Value, layer: Dense) -> Value: ...
    def norm(self, x: Value, path: str, epsilon: float) -> Value:
        """Layer normalisation of the last axis."""

    def gate(self, x: Value, path: str) -> Value:
        """The tensor [embedding, 64] of this path as [64, embedding], times x or, `ip_add_gate`, added to it."""

    def activation(self, x: Value, name: str) -> Value: ...
    def add(self, x: Value, y: Value) -> Value: ...
    def scaled(self, x: Value, factor: float) -> Value: ...
    def product(self, x: Value, y: Value) -> Value:
        """Matrices [..., i, j] times [..., j, k]."""

    def softmax(self, x: Value) -> Value:
        """Softmax of the last axis."""

    def excited(self, x: Value, both: Value) -> Value:
        """sigmoid(gamma) x + beta: x [filters, rows, columns], both: gamma and beta [2 filters]."""

    def means(self, x: Value) -> Value:
        """Means of all planes, [filters]."""

    def pooled(self, x: Value) -> Value:
        """Mean and maximum of each plane, [filters, 2]."""

    def flatten(self, x: Value) -> Value: ...
    def reshape(self, x: Value, *shape: int) -> Value:
        """The same numbers in another shape; -1: what is left."""

    def transpose(self, x: Value, *axes: int) -> Value:
        """The axes in this order, those of a row counted from 1."""

    def slice(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """Elements begin to end - 1 along an axis, which is counted from 1."""

    def concatenated(self, x: Value, y: Value, axis: int) -> Value: ...
    def with_reach(self, tokens: Value) -> Value:
        """The tokens [64, channels], joined to the row of each square in `chess_moves.reach_map`: 64 more channels."""

    def moves(self, x: Value, head: str) -> Value:
        """The logits of all actions from the flat outputs of a head: attention, convolution (chess) or squares."""


def computed(ops: Operations[Value], features: Value) -> tuple[Value, Value]:
    """Carry the network out on features [planes, rows, columns]: policy logits [actions], and the value before softmax
    [3] or tanh [1]. What else a file has (plies left, further heads) is not computed.
    """
    x = body(ops, features)
    return policy_head(ops, x), value_head(ops, x)


def body(ops: Operations[Value], features: Value) -> Value:
    """Compute what the heads begin with: planes [filters, rows, columns], or tokens after encoders."""
    architecture = ops.architecture
    x = features
    if architecture.filters:
        x = _tower(ops, x)
    return _attention_body(ops, x) if architecture.encoders else x


def _size(ops: Operations[Any], name: str) -> int | None:
    """A size that the architecture of a residual tower gives; None of lc0's, whose files tell it."""
    return getattr(ops.architecture, name) if ops.architecture.kind == "resnet" else None


def _activated(ops: Operations[Value], x: Value) -> Value:
    """Apply the activation of the architecture."""
    return ops.activation(x, ops.architecture.activation)


def _tower(ops: Operations[Value], x: Value) -> Value:
    """Input convolution, then blocks: activation(x + excite(conv(activation(pool(conv(x))))))."""
    architecture = ops.architecture
    filters = architecture.filters
    x = ops.convolution(x, Convolution("input", 3, filters))
    x = _activated(ops, x)
    for i in range(architecture.blocks):
        path = f"blocks.{i}"
        y = ops.convolution(x, Convolution(f"{path}.conv1", 3, filters))
        # lc0's files have no pooling.
        if architecture.kind == "resnet" and architecture.pools(i):
            y = _pooled(ops, y, f"{path}.pool")
        else:
            y = _activated(ops, y)
        y = ops.convolution(y, Convolution(f"{path}.conv2", 3, filters))
        if ops.has(f"{path}.se.reduce"):
            y = _squeezed(ops, y, f"{path}.se")
        x = ops.add(x, y)
        x = _activated(ops, x)
    return x


def _squeezed(ops: Operations[Value], y: Value, path: str) -> Value:
    """Squeeze-excitation with bias, as lc0 has it: half of twice the filters scale the planes, half are added."""
    reduce = Dense(f"{path}.reduce", _size(ops, "se_channels"))
    expand = Dense(f"{path}.expand", 2 * ops.architecture.filters)
    squeezed = ops.dense(ops.means(y), reduce)
    expanded = ops.dense(_activated(ops, squeezed), expand)
    return ops.excited(y, expanded)


def _pooled(ops: Operations[Value], y: Value, path: str) -> Value:
    """Activate planes, after biases from the means and maxima of the first ones, already activated, to the others."""
    channels = _size(ops, "pooling") or 0
    filters = ops.architecture.filters
    own = _activated(ops, ops.slice(y, 1, 0, channels))
    others = ops.slice(y, 1, channels, filters)
    pooled = ops.flatten(ops.pooled(own))
    biases = ops.dense(pooled, Dense(path, filters - channels))
    biases = ops.reshape(biases, filters - channels, 1, 1)
    others = ops.add(others, biases)
    others = _activated(ops, others)
    return ops.concatenated(own, others, 1)


def policy_head(ops: Operations[Value], x: Value, path: str = "policy") -> Value:
    """Compute logits [actions] from the body. path: of the head's layers."""
    architecture = ops.architecture
    if architecture.policy == "attention":
        return _attention_policy(ops, x)
    if architecture.policy == "convolution":
        return _convolution_policy(ops, x, path)
    layer = Convolution(f"{path}.conv", 1, _size(ops, "policy_channels"))
    hidden = _activated(ops, ops.convolution(x, layer))
    output = Dense(f"{path}.output", architecture.num_actions)
    return ops.dense(ops.flatten(hidden), output)


def _convolution_policy(ops: Operations[Value], x: Value, path: str) -> Value:
    """Two convolutions to planes of moves: one output a square, or lc0's planes of chess."""
    architecture = ops.architecture
    layer = Convolution(f"{path}.conv", 3, _size(ops, "filters"))
    hidden = _activated(ops, ops.convolution(x, layer))
    if isinstance(architecture, Lc0Architecture):
        # Seven of the 80 planes are never a move; they are in the files, and not computed.
        output = Convolution("policy.output", 3, CONVOLUTION_PLANES, used=USED_PLANES)
        form = "convolution"
    else:
        output = Convolution(f"{path}.output", 3, architecture.policy_planes, norm=False)
        form = "squares" if architecture.policy_planes == 1 else "convolution"
    planes = ops.convolution(hidden, output)
    return ops.moves(ops.flatten(planes), form)


def value_head(ops: Operations[Value], x: Value, path: str = "value", outputs: int = 0) -> Value:
    """Compute the value's outputs: convolution (after a tower) or dense layer a square (after encoders), where the
    network pools with mean and maximum of each plane after its squares, and two dense layers.

    path: of the layers; outputs: of the last one, 0: those of the network's value.
    """
    if ops.architecture.encoders:
        embedded = ops.dense(x, Dense(f"{path}.embed"))
    else:
        layer = Convolution(f"{path}.conv", 1, _size(ops, "value_channels"))
        embedded = ops.convolution(x, layer)
    embedded = _activated(ops, embedded)
    if _size(ops, "pooling"):
        squares = ops.reshape(embedded, 0, -1)
        embedded = ops.concatenated(squares, ops.pooled(embedded), 2)
    flat = ops.flatten(embedded)
    hidden = ops.dense(flat, Dense(f"{path}.hidden", _size(ops, "value_hidden")))
    hidden = _activated(ops, hidden)
    width = outputs or VALUE_OUTPUTS[ops.architecture.value]
    return ops.dense(hidden, Dense(f"{path}.output", width))


# Attention, as in lc0's networks; the paths are those of its files.


def _lc0(ops: Operations[Any]) -> Lc0Architecture:
    """Return the architecture of a network with encoders or an attention policy."""
    assert isinstance(ops.architecture, Lc0Architecture)  # no other has encoders or an attention policy
    return ops.architecture


def _square_tokens(ops: Operations[Value], x: Value) -> Value:
    """[channels, 8, 8] to [64, channels]."""
    return ops.transpose(ops.reshape(x, 0, 64), 0, 2, 1)


def _attention_body(ops: Operations[Value], x: Value) -> Value:
    """Embedding of the squares and a stack of encoders, [channels, 8, 8] -> [64, embedding]."""
    architecture = _lc0(ops)
    # Sublayers are scaled by alpha before the skip connection (DeepNorm); N = encoders.
    alpha = (2 * architecture.encoders) ** -0.25
    x = _embedding(ops, _square_tokens(ops, x), alpha)
    for i in range(architecture.encoders):
        x = _encoder(ops, x, f"encoder.{i}", architecture.heads, alpha)
    return x


def _embedding(ops: Operations[Value], tokens: Value, alpha: float) -> Value:
    """Position information, dense layer, gates; with `dense` also layer norms and a feed-forward layer."""
    architecture = _lc0(ops)
    # As in lc0: after a tower tokens get no encoding of their squares, whose neighbours the convolutions have seen.
    kind = "none" if architecture.filters else architecture.input_embedding
    if kind == "map":
        # Attention sees a set of squares: without this it would not know how they lie to each other.
        tokens = ops.with_reach(tokens)
    elif kind == "dense":
        # The first twelve planes are the pieces of the present position: the learned encoding sees the whole
        # board.
        pieces = ops.flatten(ops.slice(tokens, 2, 0, 12))
        squares = ops.dense(pieces, Dense("ip_emb_preproc"))
        tokens = ops.concatenated(tokens, ops.reshape(squares, 64, -1), 2)
    dense = architecture.input_embedding == "dense"
    x = _activated(ops, ops.dense(tokens, Dense("ip_emb", architecture.embedding)))
    if dense:
        x = ops.norm(x, "ip_emb_ln", DENSE_EPSILON)
    for gate in ("ip_mult_gate", "ip_add_gate"):
        if ops.has(gate):
            x = ops.gate(x, gate)
    if dense:
        x = ops.norm(
            _feed_forward(ops, x, "ip_emb_ffn", architecture.activation, alpha), "ip_emb_ffn_ln", DENSE_EPSILON
        )
    return x


def _encoder(ops: Operations[Value], x: Value, path: str, heads: int, alpha: float) -> Value:
    """Post-norm encoder: norm(x + alpha attention(x)), then norm(x + alpha feed-forward(x))."""
    architecture = _lc0(ops)
    epsilon = DENSE_EPSILON if architecture.input_embedding == "dense" else 1e-6
    attended = ops.scaled(_attention(ops, x, f"{path}.mha", heads), alpha)
    x = ops.norm(ops.add(x, attended), f"{path}.ln1", epsilon)
    x = _feed_forward(ops, x, f"{path}.ffn", architecture.ffn_activation, alpha)
    return ops.norm(x, f"{path}.ln2", epsilon)


def _feed_forward(ops: Operations[Value], x: Value, path: str, activation: str, alpha: float) -> Value:
    """x + alpha dense(activation(dense(x)))."""
    hidden = ops.activation(ops.dense(x, Dense(f"{path}.dense1")), activation)
    output = ops.dense(hidden, Dense(f"{path}.dense2"))
    return ops.add(x, ops.scaled(output, alpha))


def _attention(ops: Operations[Value], x: Value, path: str, heads: int) -> Value:
    """Multi-head attention; smolgen adds weights computed from the whole position before the softmax."""
    channels = ops.width(f"{path}.q")
    if heads < 1 or channels % heads:
        raise ValueError(f"layer {path} has {channels} channels, not a multiple of {heads} heads")
    depth = channels // heads

    def by_head(name: str) -> Value:
        """Project x for all heads at once: [squares, heads, depth]."""
        projected = ops.dense(x, Dense(f"{path}.{name}", channels))
        return ops.reshape(projected, 64, heads, depth)

    query = ops.transpose(by_head("q"), 0, 2, 1, 3)
    key = ops.transpose(by_head("k"), 0, 2, 3, 1)
    value = ops.transpose(by_head("v"), 0, 2, 1, 3)
    # Scaled first, as in lc0: smolgen's weights were learned beside scores of this size.
    scores = ops.scaled(ops.product(query, key), 1 / sqrt(depth))
    if ops.has(f"{path}.smolgen.compress"):
        generated = _smolgen(ops, x, f"{path}.smolgen", heads)
        scores = ops.add(scores, generated)
    mixed = ops.product(ops.softmax(scores), value)
    by_square = ops.transpose(mixed, 0, 2, 1, 3)
    joined = ops.reshape(by_square, 64, channels)
    return ops.dense(joined, Dense(f"{path}.dense"))


def _smolgen(ops: Operations[Value], x: Value, path: str, heads: int) -> Value:
    """Attention weights [heads, 64, 64] generated from all squares; the last layer is shared by all encoders."""
    activation = _lc0(ops).smolgen_activation
    compressed = ops.dense(x, Dense(f"{path}.compress", bias=False))
    hidden = ops.dense(ops.flatten(compressed), Dense(f"{path}.dense1"))
    hidden = ops.activation(hidden, activation)
    hidden = ops.norm(hidden, f"{path}.ln1", DENSE_EPSILON)
    generated = ops.dense(hidden, Dense(f"{path}.dense2"))
    generated = ops.activation(generated, activation)
    generated = ops.norm(generated, f"{path}.ln2", DENSE_EPSILON)
    by_head = ops.reshape(generated, heads, -1)
    weights = ops.dense(by_head, Dense("smolgen", 4096, bias=False))
    return ops.reshape(weights, heads, 64, 64)


def _attention_policy(ops: Operations[Value], x: Value) -> Value:
    """Every pair of squares by scaled dot product, promotions from the squares of the last rank."""
    architecture = _lc0(ops)
    prefix = architecture.policy_prefix
    # Towers with an attention head come from a time when SELU was fixed.
    activation = architecture.activation if architecture.structure >= 6 else "selu"
    tokens = x if architecture.encoders else _square_tokens(ops, x)
    # The head's own embedding, else the one that all heads share.
    name = f"{prefix}ip_pol"
    if prefix and not ops.has(name):
        name = "policy_heads.ip_pol"
    embedded = ops.dense(tokens, Dense(name))
    embedded = ops.activation(embedded, activation)
    heads = int(architecture.scalars.get(f"{prefix}pol_headcount", 0))
    for number in count():
        path = f"{prefix}pol_encoder.{number}"
        if not ops.has(f"{path}.mha.q"):
            break
        embedded = _encoder(ops, embedded, path, heads, 1.0)
    depth = ops.width(f"{prefix}ip2_pol")
    query = ops.dense(embedded, Dense(f"{prefix}ip2_pol"))
    key = ops.dense(embedded, Dense(f"{prefix}ip3_pol", depth))
    products = ops.product(query, ops.transpose(key, 0, 2, 1))
    pairs = ops.scaled(products, 1 / sqrt(depth))
    plain = ops.flatten(pairs)
    promotions = ops.flatten(_promotions(ops, key, pairs))
    logits = ops.concatenated(plain, promotions, 1)
    return ops.moves(logits, "attention")


def _promotions(ops: Operations[Value], key: Value, pairs: Value) -> Value:
    """[8 from, 8 to, 3 pieces]: the pair's logit, the piece's offset at the target, one for all pieces."""
    # Squares 56 to 63 are the last rank, where promotions arrive.
    arrivals = ops.slice(key, 1, 56, 64)
    prefix = _lc0(ops).policy_prefix
    offsets = ops.dense(arrivals, Dense(f"{prefix}ip4_pol", 4, bias=False))
    of_piece = ops.slice(offsets, 2, 0, 3)
    of_all = ops.slice(offsets, 2, 3, 4)
    offsets = ops.add(of_piece, of_all)
    # From the seventh rank (48 to 55) to the eighth: the logit of the pair is shared by its promotions.
    from_seventh = ops.slice(pairs, 1, 48, 56)
    last = ops.slice(from_seventh, 2, 56, 64)
    return ops.add(ops.reshape(last, 8, 8, 1), ops.reshape(offsets, 1, 8, 3))

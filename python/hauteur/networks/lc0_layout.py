"""The layers that an lc0 network must have, and the shape of each: inferred from the sizes, checked against each other.

Convolutions are [out, in, k, k], dense layers [out, in], gates [embedding, 64].
"""

from collections.abc import Callable, Mapping
from itertools import count, takewhile

import numpy as np

from hauteur.networks.architecture import Lc0Architecture, Shape
from hauteur.networks.lc0_layers import Floats

_VALUE_OUTPUTS = {"wdl": 3, "scalar": 1}
_UNUSED = ("policy_heads.", "value_heads.", "ip_val_err", "ip_val_cat", "smolgen_b")
"""Beginnings of layers that may be present without being used: further heads, and leftovers of old files."""

NORM = ("bn_means", "bn_stddivs", "bn_gammas", "bn_betas")
"""Layers of a batch normalisation, in its ConvBlock."""

USED_PLANES = 73
"""Planes of the convolution policy's output that are moves."""

_BATCH_NORM_EPSILON = 1e-5


def lc0_shapes(sizes: Mapping[str, int], architecture: Lc0Architecture) -> dict[str, Shape]:
    """Return the shape of every layer that the network uses, by path.

    `sizes`: number of values of each layer of the file. Raise ValueError naming the layer that is missing, has a
    wrong size, or is unknown.
    """
    layout = _Layout(sizes)
    channels = _body(layout, architecture)
    _policy(layout, architecture, channels)
    _value(layout, architecture, channels)
    if architecture.moves_left:
        _moves_left(layout, architecture, channels)
    unknown = [path for path in sizes if path not in layout.shapes and not path.startswith(_UNUSED)]
    if unknown:
        raise ValueError(f"layer {unknown[0]} has no place in a network of this structure ({architecture.summary()})")
    return layout.shapes


class _Layout:
    """Collects the shapes of layers, checking each against its size."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self.shapes: dict[str, Shape] = {}

    def has(self, path: str) -> bool:
        return path in self._sizes

    def size(self, path: str) -> int:
        if path not in self._sizes:
            raise ValueError(f"layer {path} is missing")
        return self._sizes[path]

    def take(self, path: str, *shape: int) -> None:
        """The layer must have this shape."""
        expected = 1
        for length in shape:
            expected *= length
        if self.size(path) != expected:
            raise ValueError(
                f"layer {path} has {self.size(path)} numbers, expected {expected} ({'x'.join(map(str, shape))})"
            )
        self.shapes[path] = shape

    def outputs(self, path: str, inputs: int) -> int:
        """Return the number of outputs of a layer, from its size."""
        outputs, rest = divmod(self.size(path), max(inputs, 1))
        if rest or outputs == 0:
            raise ValueError(f"layer {path} has {self.size(path)} numbers, expected a multiple of {inputs}")
        return outputs

    def convolution(self, path: str, inputs: int, kernel: int, outputs: int | None = None) -> int:
        """A ConvBlock, with biases or batch normalisation or both; returns its output channels."""
        if outputs is None:
            outputs = self.outputs(f"{path}.weights", inputs * kernel * kernel)
        self.take(f"{path}.weights", outputs, inputs, kernel, kernel)
        if self.has(f"{path}.bn_means") != self.has(f"{path}.bn_stddivs"):
            raise ValueError(f"layer {path} has only one of bn_means and bn_stddivs")
        for name in ("biases", *NORM):
            if self.has(f"{path}.{name}"):
                self.take(f"{path}.{name}", outputs)
        return outputs

    def dense(self, weights: str, biases: str, inputs: int, outputs: int | None = None) -> int:
        """A dense layer; returns its outputs."""
        if outputs is None:
            outputs = self.size(biases)
        self.take(biases, outputs)
        self.take(weights, outputs, inputs)
        return outputs

    def norm(self, path: str, size: int) -> None:
        """A layer normalisation."""
        self.take(f"{path}_gammas", size)
        self.take(f"{path}_betas", size)


def _body(layout: _Layout, architecture: Lc0Architecture) -> int:
    """Return the channels that the heads see."""
    channels = 0
    if architecture.filters:
        channels = architecture.filters
        layout.convolution("input", architecture.feature_shape[0], 3, channels)
        for i in range(architecture.blocks):
            _residual(layout, f"residual.{i}", channels)
    if not architecture.encoders:
        return channels
    return _attention_body(layout, architecture, channels)


def _residual(layout: _Layout, path: str, filters: int) -> None:
    layout.convolution(f"{path}.conv1", filters, 3, filters)
    layout.convolution(f"{path}.conv2", filters, 3, filters)
    if layout.has(f"{path}.se.w1"):
        squeezed = layout.dense(f"{path}.se.w1", f"{path}.se.b1", filters)
        layout.dense(f"{path}.se.w2", f"{path}.se.b2", squeezed, 2 * filters)


def _attention_body(layout: _Layout, architecture: Lc0Architecture, channels: int) -> int:
    dense = architecture.input_embedding == "dense" and not channels
    if not channels:
        channels = architecture.feature_shape[0] + (_preprocessed(layout) if dense else 64)
    embedding = layout.dense("ip_emb_w", "ip_emb_b", channels, architecture.embedding)
    for gate in ("ip_mult_gate", "ip_add_gate"):
        if layout.has(gate):
            layout.take(gate, embedding, 64)
    if architecture.input_embedding == "dense":
        layout.norm("ip_emb_ln", embedding)
        _ffn(layout, "ip_emb_ffn", embedding)
        layout.norm("ip_emb_ffn_ln", embedding)
    if architecture.smolgen:
        layout.take("smolgen_w", 4096, layout.outputs("smolgen_w", 4096))
    for i in range(architecture.encoders):
        _encoder(layout, f"encoder.{i}", embedding, architecture.heads)
    return embedding


def _preprocessed(layout: _Layout) -> int:
    """PE_DENSE: 64 squares x 12 planes to 64 x E; returns E."""
    outputs = layout.outputs("ip_emb_preproc_b", 64)
    layout.dense("ip_emb_preproc_w", "ip_emb_preproc_b", 64 * 12, 64 * outputs)
    return outputs


def _ffn(layout: _Layout, path: str, embedding: int) -> None:
    hidden = layout.dense(f"{path}.dense1_w", f"{path}.dense1_b", embedding)
    layout.dense(f"{path}.dense2_w", f"{path}.dense2_b", hidden, embedding)


def _encoder(layout: _Layout, path: str, embedding: int, heads: int) -> None:
    mha = f"{path}.mha"
    depth = layout.dense(f"{mha}.q_w", f"{mha}.q_b", embedding)
    if heads < 1 or depth % heads:
        raise ValueError(f"layer {mha} has {depth} channels, not a multiple of {heads} heads")
    layout.dense(f"{mha}.k_w", f"{mha}.k_b", embedding, depth)
    layout.dense(f"{mha}.v_w", f"{mha}.v_b", embedding, depth)
    layout.dense(f"{mha}.dense_w", f"{mha}.dense_b", depth, embedding)
    if layout.has(f"{mha}.smolgen.compress"):
        _smolgen(layout, f"{mha}.smolgen", embedding, heads)
    layout.norm(f"{path}.ln1", embedding)
    _ffn(layout, f"{path}.ffn", embedding)
    layout.norm(f"{path}.ln2", embedding)


def _smolgen(layout: _Layout, path: str, embedding: int, heads: int) -> None:
    compressed = layout.outputs(f"{path}.compress", embedding)
    layout.take(f"{path}.compress", compressed, embedding)
    hidden = layout.dense(f"{path}.dense1_w", f"{path}.dense1_b", 64 * compressed)
    layout.norm(f"{path}.ln1", hidden)
    generated = layout.outputs("smolgen_w", 4096)
    layout.dense(f"{path}.dense2_w", f"{path}.dense2_b", hidden, heads * generated)
    layout.norm(f"{path}.ln2", heads * generated)


def _policy(layout: _Layout, architecture: Lc0Architecture, channels: int) -> None:
    prefix, moves = architecture.policy_prefix, architecture.num_actions
    if architecture.policy == "attention":
        _attention_policy(layout, architecture, channels)
    elif architecture.policy == "convolution":
        between = layout.convolution(f"{prefix}policy1", channels, 3)
        layout.convolution(f"{prefix}policy", between, 3, 80)
    else:
        outputs = layout.convolution(f"{prefix}policy", channels, 1)
        layout.dense(f"{prefix}ip_pol_w", f"{prefix}ip_pol_b", 64 * outputs, moves)


def _attention_policy(layout: _Layout, architecture: Lc0Architecture, channels: int) -> None:
    prefix = architecture.policy_prefix
    shared = policy_embedding(prefix, layout.has)
    embedding = layout.dense(f"{shared}_w", f"{shared}_b", channels)
    heads = int(architecture.scalars.get(f"{prefix}pol_headcount", 0))
    for path in policy_encoders(prefix, layout.has):
        _encoder(layout, path, embedding, heads)
    depth = layout.dense(f"{prefix}ip2_pol_w", f"{prefix}ip2_pol_b", embedding)
    layout.dense(f"{prefix}ip3_pol_w", f"{prefix}ip3_pol_b", embedding, depth)
    layout.take(f"{prefix}ip4_pol_w", 4, depth)


def fold_norm(layers: Mapping[str, Floats], path: str) -> tuple[Floats, Floats]:
    """Weights and bias of a ConvBlock, its batch normalisation folded in: w g / s, beta + (b - mean) g / s."""
    weights = layers[f"{path}.weights"].astype(np.float64)
    zeros = np.zeros(len(weights))
    bias = layers.get(f"{path}.biases", zeros).astype(np.float64)
    if f"{path}.bn_means" in layers:
        scale = 1 / np.sqrt(layers[f"{path}.bn_stddivs"].astype(np.float64) + _BATCH_NORM_EPSILON)
        scale = scale * layers.get(f"{path}.bn_gammas", zeros + 1)
        bias = layers.get(f"{path}.bn_betas", zeros) + (bias - layers[f"{path}.bn_means"]) * scale
        weights = weights * scale[:, None, None, None]
    return weights.astype(np.float32), bias.astype(np.float32)


def policy_embedding(prefix: str, has: Callable[[str], bool]) -> str:
    """Path of the policy's embedding, without `_w` or `_b`: the head's own, else the one that all heads share."""
    own = f"{prefix}ip_pol"
    return own if has(f"{own}_w") or not prefix else "policy_heads.ip_pol"


def policy_encoders(prefix: str, has: Callable[[str], bool]) -> list[str]:
    """Paths of the policy head's own encoders."""
    paths = (f"{prefix}pol_encoder.{i}" for i in count())
    return list(takewhile(lambda path: has(f"{path}.mha.q_w"), paths))


def _value(layout: _Layout, architecture: Lc0Architecture, channels: int) -> None:
    prefix = architecture.value_prefix
    if architecture.encoders:
        channels = layout.dense(f"{prefix}ip_val_w", f"{prefix}ip_val_b", channels)
    else:
        channels = layout.convolution(f"{prefix}value", channels, 1)
    hidden = layout.dense(f"{prefix}ip1_val_w", f"{prefix}ip1_val_b", 64 * channels)
    layout.dense(f"{prefix}ip2_val_w", f"{prefix}ip2_val_b", hidden, _VALUE_OUTPUTS[architecture.value])


def _moves_left(layout: _Layout, architecture: Lc0Architecture, channels: int) -> None:
    if architecture.encoders:
        channels = layout.dense("ip_mov_w", "ip_mov_b", channels)
    else:
        channels = layout.convolution("moves_left", channels, 1)
    hidden = layout.dense("ip1_mov_w", "ip1_mov_b", 64 * channels)
    layout.dense("ip2_mov_w", "ip2_mov_b", hidden, 1)

"""The layers of a network: what a file calls their tensors, batch norms folded in, and the form that the core takes.

The shapes of the tensors: the network's computation carried out on shapes, which are inferred and checked by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.chess_moves import CONVOLUTION_PLANES, convolution_indices
from hauteur.networks.computation import USED_PLANES, Convolution, Dense, Operations, computed
from hauteur.networks.lc0_architecture import Lc0Architecture

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture
    from hauteur.networks.resnet_architecture import ResNetArchitecture

Shape = tuple[int, ...]
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
        """True for networks with the layers of lc0."""
        return isinstance(self.architecture, Lc0Architecture)

    def convolution(self, layer: Convolution) -> tuple[str, ...]:
        """Weights, then bias, or gammas, betas, means and variances of the batch normalisation."""
        path = layer.path
        if self.is_lc0:
            base = self._lc0_path(path)
            names = NORM if layer.norm else ("biases",)
            return f"{base}.weights", *(f"{base}.{name}" for name in names)
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
        policy = architecture.policy_prefix
        value = architecture.value_prefix
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
        """Names of the tensors of layers."""
        return LayerNames(self.architecture)

    def has(self, path: str) -> bool:
        """Return whether there is such a dense layer, or a tensor of this name."""
        weights, _ = self.names.dense(path)
        return path in self.tensors or weights in self.tensors

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
        kernel = self.tensors[weights_name].astype(np.float64)
        values = [self.tensors[name].astype(np.float64) for name in rest]
        if not layer.norm:
            return _contiguous(kernel, values[0])
        gamma, beta, mean, variance = values
        scale = gamma / np.sqrt(variance + EPSILON)
        scaled = kernel * scale[:, None, None, None]
        return _contiguous(scaled, beta - mean * scale)


def fold_norm(tensors: Mapping[str, Floats], weights_name: str) -> Affine:
    """Weights and bias of lc0's convolution with its norm, if it has one: w g / s, beta + (b - mean) g / s."""
    path = weights_name.removesuffix(".weights")
    # In float64, so that the fold rounds once, at its end.
    weights = tensors[weights_name].astype(np.float64)
    zeros = np.zeros(len(weights))
    bias = tensors.get(f"{path}.biases", zeros).astype(np.float64)
    if f"{path}.bn_means" in tensors:
        means = tensors[f"{path}.bn_means"]
        # lc0's name says deviations; its files hold variances.
        variances = tensors[f"{path}.bn_stddivs"].astype(np.float64)
        # Older files have neither gammas nor betas.
        gammas = tensors.get(f"{path}.bn_gammas", zeros + 1)
        betas = tensors.get(f"{path}.bn_betas", zeros)
        scale = 1 / np.sqrt(variances + EPSILON)
        scale = scale * gammas
        bias = betas + (bias - means) * scale
        weights = weights * scale[:, None, None, None]
    return Affine(weights.astype(np.float32), bias.astype(np.float32))


def _contiguous(weights: NDArray[np.floating], bias: NDArray[np.floating]) -> Affine:
    """Return weights and bias as contiguous float32 arrays."""
    return Affine(np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias, np.float32))


# What the core computes.


Excitation = tuple[Affine, Affine]
"""Squeeze-excitation: filters to channels, channels to twice the filters."""


Block = tuple[Affine, Affine, Excitation | None, Affine | None]
"""Two convolutions, excitation, pooling: means and maxima of some filters to biases of the others."""


class CoreLayers(TypedDict):
    """The layers of a residual network, as the core takes them."""

    board: tuple[int, int]
    """Rows and columns of the board."""
    activation: str
    """Activation after every convolution and hidden layer: `relu` or `mish`."""
    input: Affine
    """The input convolution."""
    blocks: list[Block]
    """Two convolutions, the excitation and the pooling of each block."""
    policy: tuple[Affine, Affine, list[int] | None]
    """The convolution before the last layer, that layer, and, where it is a convolution too, the index of each action
    among its planes (None: it is dense)."""
    value: tuple[Affine, Affine, Affine]
    """Planes, hidden layer, outputs (win, draw, loss, or one number)."""
    pooled: bool
    """The value's hidden layer sees mean and maximum of each plane after its squares."""


def computed_by_core(architecture: Architecture) -> bool:
    """Return whether the core computes this network: a residual tower, without attention."""
    if isinstance(architecture, Lc0Architecture):
        return bool(architecture.filters) and not architecture.encoders and architecture.policy != "attention"
    return architecture.kind == "resnet"


class _CoreLayers(Layers):
    """Collects the layers that a core's network has."""

    def affine(self, path: str) -> Affine:
        """A dense layer; a bias of zeros where there is none."""
        weights, bias = self.dense(path)
        return _contiguous(weights, np.zeros(len(weights)) if bias is None else bias)

    def block(self, path: str) -> Block:
        """Return the layers of a residual block."""
        first = self.convolution(Convolution(f"{path}.conv1", 3))
        second = self.convolution(Convolution(f"{path}.conv2", 3))
        excitation = None
        if self.has(f"{path}.se.reduce"):
            excitation = (self.affine(f"{path}.se.reduce"), self.affine(f"{path}.se.expand"))
        pooling = self.affine(f"{path}.pool") if self.has(f"{path}.pool") else None
        return first, second, excitation, pooling

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
    if architecture.kind == "registered" or not computed_by_core(architecture):
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
        "pooled": architecture.kind == "resnet" and architecture.pooling > 0,
    }


def _actions(architecture: ResNetArchitecture | Lc0Architecture) -> list[int]:
    """Return the index of each action among the planes of the last convolution."""
    if isinstance(architecture, Lc0Architecture) or architecture.policy_planes == CONVOLUTION_PLANES:
        return [int(index) for index in convolution_indices()]
    return list(range(architecture.num_actions))


_UNUSED = (
    *("policy_heads.", "value_heads.", "ip_val_err", "ip_val_cat", "smolgen_b"),
    *("moves_left.", "ip_mov", "ip1_mov", "ip2_mov"),
)
"""Beginnings of layers that may be present without being used: further heads, plies left, leftovers of old files."""


@dataclass(frozen=True)
class SizedLayer:
    """A layer of a residual tower and the shape of its weights, [out, in, k, k] or [out, in]."""

    layer: Convolution | Dense
    shape: Shape

    def tensors(self, names: LayerNames) -> dict[str, Shape]:
        """Return the shapes of the layer's tensors by their names."""
        if isinstance(self.layer, Convolution):
            weights, *rest = names.convolution(self.layer)
        else:
            weights, *rest = names.dense(self.layer.path)
        of_vectors = self.shape[:1]
        return {weights: self.shape, **dict.fromkeys(rest, of_vectors)}


@lru_cache(8)
def resnet_layers(architecture: ResNetArchitecture) -> tuple[SizedLayer, ...]:
    """Return the layers of a residual tower, in the order of the computation."""
    return tuple(layers_of(architecture, computed, architecture.feature_shape))


def layers_of(
    architecture: ResNetArchitecture, computation: Callable[[Operations[Any], Any], object], given: Shape
) -> list[SizedLayer]:
    """Return the layers that a part of a residual tower's computation uses, on a value of the given shape."""
    shapes = _Shapes(architecture)
    computation(cast("Operations[Shape]", shapes), given)
    return shapes.layers


def resnet_shapes(architecture: ResNetArchitecture) -> dict[str, Shape]:
    """Return the shape of every tensor of a residual tower, by its name."""
    names = LayerNames(architecture)
    shapes: dict[str, Shape] = {}
    for layer in resnet_layers(architecture):
        shapes |= layer.tensors(names)
    return shapes


def lc0_shapes(sizes: Mapping[str, int], architecture: Lc0Architecture) -> dict[str, Shape]:
    """Return the shape of every layer that the network uses, by path.

    `sizes`: number of values of each layer of the file. Raise ValueError naming the layer that is missing, has a
    wrong size, or is unknown.
    """
    shapes = _Lc0Shapes(architecture, sizes)
    computed(cast("Operations[Shape]", shapes), architecture.feature_shape)
    unknown = [path for path in sizes if path not in shapes.taken and not path.startswith(_UNUSED)]
    if unknown:
        raise ValueError(f"layer {unknown[0]} has no place in a network of this structure ({architecture.summary()})")
    return shapes.taken


class _Shapes:
    """The operations of `computation` on shapes, without the rows of the batch; sizes come from the architecture."""

    def __init__(self, architecture: ResNetArchitecture | Lc0Architecture) -> None:
        self.architecture = architecture
        self.names = LayerNames(architecture)
        self.layers: list[SizedLayer] = []
        self._last = ""

    def has(self, path: str) -> bool:
        """Return whether the network has an optional layer."""
        del path  # the only layer that a tower is asked for
        return self.architecture.kind == "resnet" and self.architecture.se_channels > 0

    def convolution(self, x: Shape, layer: Convolution) -> Shape:
        """Note a convolution; return the shape of its output."""
        assert layer.outputs is not None  # towers have no layers of an unknown width
        shape = (layer.outputs, x[0], layer.kernel, layer.kernel)
        self.layers.append(SizedLayer(layer, shape))
        return (layer.used or layer.outputs, *x[1:])

    def dense(self, x: Shape, layer: Dense) -> Shape:
        """Note a dense layer; return the shape of its output."""
        assert layer.outputs is not None
        self.layers.append(SizedLayer(layer, (layer.outputs, x[-1])))
        return (*x[:-1], layer.outputs)

    def _unchanged(self, x: Shape, *others: object) -> Shape:
        """Return the shape of an operation that keeps it."""
        del others
        return x

    activation = scaled = softmax = excited = _unchanged

    def add(self, x: Shape, y: Shape) -> Shape:
        """Return the shape of a sum; ValueError where the shapes do not fit."""
        if any(a != b and 1 not in (a, b) for a, b in zip(x, y, strict=True)):
            raise ValueError(f"layer {self._last} has outputs {y}, which are added to {x}")
        return tuple(map(max, x, y))

    def product(self, x: Shape, y: Shape) -> Shape:
        """Return the shape of a matrix product; ValueError where the shapes do not fit."""
        if x[-1] != y[-2]:
            raise ValueError(f"layer {self._last} has {y[-2]} outputs, expected {x[-1]}")
        return (*x[:-1], y[-1])

    def means(self, x: Shape) -> Shape:
        """Return the shape of the means over the board."""
        return x[:1]

    def pooled(self, x: Shape) -> Shape:
        """Return the shape of mean and maximum of each plane."""
        return (x[0], 2)

    def flatten(self, x: Shape) -> Shape:
        """Return the shape of a flattened tensor."""
        return (prod(x),)

    def reshape(self, x: Shape, *shape: int) -> Shape:
        """Return the new shape; 0 keeps a length, -1 is what is left."""
        lengths = [x[i] if length == 0 else length for i, length in enumerate(shape)]
        known = prod(length for length in lengths if length > 0)
        rest, left = divmod(prod(x), known)
        fits = left == 0 and (-1 in lengths or rest == 1)
        if not fits:
            raise ValueError(f"layer {self._last} has {prod(x)} outputs, which do not divide into {lengths}")
        return tuple(rest if length == -1 else length for length in lengths)

    def transpose(self, x: Shape, *axes: int) -> Shape:
        """Return the shape with its axes in another order."""
        return tuple(x[axis - 1] for axis in axes[1:])

    def slice(self, x: Shape, axis: int, begin: int, end: int) -> Shape:
        """Return the shape of a part along an axis."""
        return (*x[: axis - 1], end - begin, *x[axis:])

    def concatenated(self, x: Shape, y: Shape, axis: int) -> Shape:
        """Return the shape of two tensors joined along an axis."""
        length = x[axis - 1] + y[axis - 1]
        return (*x[: axis - 1], length, *x[axis:])

    def with_reach(self, tokens: Shape) -> Shape:
        """Return the shape of tokens with the squares that each reaches."""
        return (tokens[0], tokens[1] + 64)

    def moves(self, x: Shape, head: str) -> Shape:
        """Return the shape of the policy."""
        del x, head
        return (self.architecture.num_actions,)


class _Lc0Shapes(_Shapes):
    """The same for a file of lc0's, whose layers tell their sizes. taken: the shapes of those that are used."""

    def __init__(self, architecture: Lc0Architecture, sizes: Mapping[str, int]) -> None:
        super().__init__(architecture)
        self._sizes = sizes
        self.taken: dict[str, Shape] = {}

    def has(self, path: str) -> bool:
        """Return whether the file has an optional layer."""
        weights, _ = self.names.dense(path)
        return path in self._sizes or weights in self._sizes

    def width(self, path: str) -> int:
        """Return the outputs of a dense layer."""
        _, biases = self.names.dense(path)
        return self._size(biases)

    def convolution(self, x: Shape, layer: Convolution) -> Shape:
        """Take the tensors of a convolution; return the shape of its output."""
        weights = self.names.convolution(layer)[0]
        outputs = layer.outputs or self._outputs(weights, x[0] * layer.kernel**2)
        self._take(weights, outputs, x[0], layer.kernel, layer.kernel)
        base = weights.removesuffix(".weights")
        # A norm with deviations alone would be left out in silence, and the net would play on with other numbers.
        has_means = f"{base}.bn_means" in self._sizes
        has_deviations = f"{base}.bn_stddivs" in self._sizes
        if has_means != has_deviations:
            raise ValueError(f"layer {base} has only one of bn_means and bn_stddivs")
        for name in ("biases", *NORM):
            if f"{base}.{name}" in self._sizes:
                self._take(f"{base}.{name}", outputs)
        return (layer.used or outputs, *x[1:])

    def dense(self, x: Shape, layer: Dense) -> Shape:
        """Take the tensors of a dense layer; return the shape of its output."""
        weights, biases = self.names.dense(layer.path)
        outputs = layer.outputs
        if not outputs:
            outputs = self._size(biases) if layer.bias else self._outputs(weights, x[-1])
        if layer.bias:
            self._take(biases, outputs)
        self._take(weights, outputs, x[-1])
        return (*x[:-1], outputs)

    def norm(self, x: Shape, path: str, epsilon: float) -> Shape:
        """Take the tensors of a layer normalisation."""
        del epsilon
        for name in self.names.norm(path):
            self._take(name, x[-1])
        return x

    def gate(self, x: Shape, path: str) -> Shape:
        """Take the tensor of a gate, one number for each square and channel."""
        self._take(path, x[-1], 64)
        return x

    def _size(self, name: str) -> int:
        """Return the number of values of a tensor; ValueError where it is missing or empty."""
        if name not in self._sizes:
            raise ValueError(f"layer {name} is missing")
        if self._sizes[name] == 0:
            raise ValueError(f"layer {name} has no numbers")
        return self._sizes[name]

    def _outputs(self, name: str, inputs: int) -> int:
        """Return the number of outputs of a layer, from its size."""
        outputs, rest = divmod(self._size(name), max(inputs, 1))
        if rest or outputs == 0:
            raise ValueError(f"layer {name} has {self._size(name)} numbers, expected a multiple of {inputs}")
        return outputs

    def _take(self, name: str, *shape: int) -> None:
        """Note the shape of a layer; ValueError where it has another size."""
        if self._size(name) != prod(shape):
            expected = f"{prod(shape)} ({'x'.join(map(str, shape))})"
            raise ValueError(f"layer {name} has {self._size(name)} numbers, expected {expected}")
        self._last = name
        self.taken[name] = shape

"""The shapes of a network's tensors: its computation carried out on shapes, which are inferred and checked by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from hauteur.networks.architecture import Lc0Architecture, ResNetArchitecture, Shape
from hauteur.networks.computation import Convolution, Dense, Operations, computed
from hauteur.networks.layers import NORM, LayerNames

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
        found = names.convolution(self.layer) if isinstance(self.layer, Convolution) else names.dense(self.layer.path)
        return {name: self.shape if i == 0 else self.shape[:1] for i, name in enumerate(found)}


def resnet_layers(architecture: ResNetArchitecture) -> list[SizedLayer]:
    """Return the layers of a residual tower, in the order of the computation."""
    return layers_of(architecture, computed, architecture.feature_shape)


def layers_of(
    architecture: ResNetArchitecture, computation: Callable[[Operations[Any], Any], object], given: Shape
) -> list[SizedLayer]:
    """Return the layers that a part of a residual tower's computation uses, on a value of the given shape."""
    shapes = _Shapes(architecture)
    computation(cast("Operations[Shape]", shapes), given)
    return shapes.layers


def resnet_shapes(architecture: ResNetArchitecture) -> dict[str, Shape]:
    """Return the shape of every tensor of a residual tower, by its name."""
    names, shapes = LayerNames(architecture), dict[str, Shape]()
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
        del path  # the only layer that a tower is asked for
        return isinstance(self.architecture, ResNetArchitecture) and self.architecture.se_channels > 0

    def convolution(self, x: Shape, layer: Convolution) -> Shape:
        assert layer.outputs is not None  # towers have no layers of an unknown width
        self.layers.append(SizedLayer(layer, (layer.outputs, x[0], layer.kernel, layer.kernel)))
        return (layer.used or layer.outputs, *x[1:])

    def dense(self, x: Shape, layer: Dense) -> Shape:
        assert layer.outputs is not None
        self.layers.append(SizedLayer(layer, (layer.outputs, x[-1])))
        return (*x[:-1], layer.outputs)

    def _unchanged(self, x: Shape, *others: object) -> Shape:
        del others
        return x

    activation = scaled = softmax = excited = _unchanged

    def add(self, x: Shape, y: Shape) -> Shape:
        if any(a != b and 1 not in (a, b) for a, b in zip(x, y, strict=True)):
            raise ValueError(f"layer {self._last} has outputs {y}, which are added to {x}")
        return tuple(map(max, x, y))

    def product(self, x: Shape, y: Shape) -> Shape:
        if x[-1] != y[-2]:
            raise ValueError(f"layer {self._last} has {y[-2]} outputs, expected {x[-1]}")
        return (*x[:-1], y[-1])

    def means(self, x: Shape) -> Shape:
        return x[:1]

    def pooled(self, x: Shape) -> Shape:
        return (x[0], 2)

    def flatten(self, x: Shape) -> Shape:
        return (prod(x),)

    def reshape(self, x: Shape, *shape: int) -> Shape:
        kept = [x[i] if length == 0 else length for i, length in enumerate(shape)]
        rest, left = divmod(prod(x), prod(length for length in kept if length > 0))
        if left or (-1 not in kept and rest != 1):
            raise ValueError(f"layer {self._last} has {prod(x)} outputs, which do not divide into {kept}")
        return tuple(rest if length == -1 else length for length in kept)

    def transpose(self, x: Shape, *axes: int) -> Shape:
        return tuple(x[axis - 1] for axis in axes[1:])

    def slice(self, x: Shape, axis: int, begin: int, end: int) -> Shape:
        return (*x[: axis - 1], end - begin, *x[axis:])

    def concatenated(self, x: Shape, y: Shape, axis: int) -> Shape:
        return (*x[: axis - 1], x[axis - 1] + y[axis - 1], *x[axis:])

    def with_reach(self, tokens: Shape) -> Shape:
        return (tokens[0], tokens[1] + 64)

    def moves(self, x: Shape, head: str) -> Shape:
        del x, head
        return (self.architecture.num_actions,)


class _Lc0Shapes(_Shapes):
    """The same for a file of lc0's, whose layers tell their sizes. taken: the shapes of those that are used."""

    def __init__(self, architecture: Lc0Architecture, sizes: Mapping[str, int]) -> None:
        super().__init__(architecture)
        self._sizes = sizes
        self.taken: dict[str, Shape] = {}

    def has(self, path: str) -> bool:
        return path in self._sizes or self.names.dense(path)[0] in self._sizes

    def width(self, path: str) -> int:
        return self._size(self.names.dense(path)[1])

    def convolution(self, x: Shape, layer: Convolution) -> Shape:
        weights = self.names.convolution(layer)[0]
        outputs = layer.outputs or self._outputs(weights, x[0] * layer.kernel**2)
        self._take(weights, outputs, x[0], layer.kernel, layer.kernel)
        base = weights.removesuffix(".weights")
        if (f"{base}.bn_means" in self._sizes) != (f"{base}.bn_stddivs" in self._sizes):
            raise ValueError(f"layer {base} has only one of bn_means and bn_stddivs")
        for name in ("biases", *NORM):
            if f"{base}.{name}" in self._sizes:
                self._take(f"{base}.{name}", outputs)
        return (layer.used or outputs, *x[1:])

    def dense(self, x: Shape, layer: Dense) -> Shape:
        weights, biases = self.names.dense(layer.path)
        outputs = layer.outputs or (self._size(biases) if layer.bias else self._outputs(weights, x[-1]))
        if layer.bias:
            self._take(biases, outputs)
        self._take(weights, outputs, x[-1])
        return (*x[:-1], outputs)

    def norm(self, x: Shape, path: str, epsilon: float) -> Shape:
        del epsilon
        for name in self.names.norm(path):
            self._take(name, x[-1])
        return x

    def gate(self, x: Shape, path: str) -> Shape:
        self._take(path, x[-1], 64)
        return x

    def _size(self, name: str) -> int:
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

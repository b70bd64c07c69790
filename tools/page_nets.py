"""Nets in the form that the page without a server reads (crates/page/src/net.rs): as small as their files, same bits.

A layer's numbers stay in the type that the network's own file has (16 bits), and the batch norm behind it becomes a
factor for each output. Whatever is written is read back here and compared, bit for bit, with the layers that the wheel
computes.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.networks import load
from hauteur.networks.computation import USED_PLANES, Convolution
from hauteur.networks.layers import EPSILON, Affine, CoreLayers, Floats, LayerNames, core_layers
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.resnet_architecture import ResNetArchitecture

FORMAT = "hauteur page net 1"
ALIGNED = 8
"""Bytes at whose multiples arrays begin."""
STEPS = np.float32(65535)
"""Steps of lc0's linear encoding between the ends of a range."""


@dataclass
class Numbers:
    """The arrays of a file, one behind the other."""

    data: bytearray = field(default_factory=bytearray)

    def add(self, values: NDArray[Any]) -> int:
        """Append an array, little-endian; return where it begins."""
        self.data += bytes(-len(self.data) % ALIGNED)
        begins = len(self.data)
        self.data += np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()
        return begins

    def weights(self, values: Floats) -> dict[str, Any]:
        """Append weights in the shortest type that gives them back exactly."""
        with np.errstate(over="ignore"):
            half = values.astype(np.float16)
        if np.array_equal(half.astype(np.float32), values):
            return {"at": self.add(half), "kind": "float16"}
        low = np.float32(values.min())
        high = np.float32(values.max())
        scale = float(STEPS) / (float(high) - float(low)) if high > low else 0.0
        steps = np.rint((values.astype(np.float64) - float(low)) * scale).astype(np.uint16)
        t = steps.astype(np.float32) / STEPS
        if np.array_equal((low * (1 - t) + high * t).astype(np.float32), values):
            return {"at": self.add(steps), "kind": "linear16", "range": [float(low), float(high)]}
        return {"at": self.add(values), "kind": "float32"}


@dataclass
class NetWriter:
    """Writes one net. tensors: of its file."""

    architecture: ResNetArchitecture | Lc0Architecture
    tensors: dict[str, Floats]
    numbers: Numbers = field(default_factory=Numbers)

    def convolution(self, layer: Convolution, folded: Affine) -> dict[str, Any]:
        """Return the entry of a convolution. Raise ValueError where its numbers could not be read back."""
        names = LayerNames(self.architecture).convolution(layer)
        raw = self.tensors[names[0]]
        used = len(raw) if layer.used is None else layer.used
        scale = self._scale(names, len(raw))
        return self._entry(layer.path, raw[:used], None if scale is None else scale[:used], folded)

    def _scale(self, names: tuple[str, ...], outputs: int) -> NDArray[np.float64] | None:
        """The factor of each output that a batch norm makes, as `hauteur.networks.layers` folds it."""
        if isinstance(self.architecture, Lc0Architecture):
            path = names[0].removesuffix(".weights")
            if f"{path}.bn_means" not in self.tensors:
                return None
            scale = 1 / np.sqrt(self.tensors[f"{path}.bn_stddivs"].astype(np.float64) + EPSILON)
            return scale * self.tensors.get(f"{path}.bn_gammas", np.ones(outputs))
        if len(names) == 2:
            return None
        gamma, _, _, variance = (self.tensors[name].astype(np.float64) for name in names[1:])
        return gamma / np.sqrt(variance + EPSILON)

    def dense(self, path: str, folded: Affine) -> dict[str, Any]:
        """Return the entry of a dense layer."""
        return self._entry(path, folded.weights, None, folded)

    def _entry(self, path: str, raw: Floats, scale: NDArray[np.float64] | None, folded: Affine) -> dict[str, Any]:
        shaped = raw.reshape(folded.weights.shape)
        rows = shaped.reshape(len(shaped), -1)
        again = rows if scale is None else (rows.astype(np.float64) * scale[:, None]).astype(np.float32)
        if not np.array_equal(again, folded.weights.reshape(rows.shape)):
            raise ValueError(f"layer {path}: its weights cannot be written for the page")
        return {
            "shape": list(shaped.shape),
            "weights": self.numbers.weights(rows),
            "scale": None if scale is None else self.numbers.add(scale),
            "bias": self.numbers.add(folded.bias),
        }

    def header(self, layers: CoreLayers) -> dict[str, Any]:
        """Return the header of the file; the numbers are there then."""
        convolves = self.architecture.policy == "convolution"
        is_lc0 = isinstance(self.architecture, Lc0Architecture)
        planes, last, actions = layers["policy"]
        output = Convolution("policy.output", 3, used=USED_PLANES if is_lc0 else None, norm=is_lc0)
        value, hidden, outputs = layers["value"]
        return {
            "format": FORMAT,
            "board": list(layers["board"]),
            "activation": layers["activation"],
            "input": self.convolution(Convolution("input", 3), layers["input"]),
            "blocks": [self._block(number, block) for number, block in enumerate(layers["blocks"])],
            "policy": [
                self.convolution(Convolution("policy.conv", 3 if convolves else 1), planes),
                self.convolution(output, last) if convolves else self.dense("policy.output", last),
            ],
            "actions": actions,
            "value": [
                self.convolution(Convolution("value.conv", 1), value),
                self.dense("value.hidden", hidden),
                self.dense("value.output", outputs),
            ],
            "pooled": layers["pooled"],
        }

    def _block(self, number: int, block: Any) -> dict[str, Any]:
        first, second, excitation, pooling = block
        path = f"blocks.{number}"
        return {
            "first": self.convolution(Convolution(f"{path}.conv1", 3), first),
            "second": self.convolution(Convolution(f"{path}.conv2", 3), second),
            "excitation": excitation and [self.dense(f"{path}.se", layer) for layer in excitation],
            "pooling": pooling and self.dense(f"{path}.pool", pooling),
        }


def page_net(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the facts of a net as the page has them, and its file for the page.

    Raise ValueError, naming the file, for a net that the core does not compute, OSError for one that cannot be read.
    """
    net = load(path)
    architecture = net.architecture
    try:
        layers = core_layers(architecture, net.tensors)
        assert isinstance(architecture, ResNetArchitecture | Lc0Architecture)
        writer = NetWriter(architecture, dict(net.tensors))
        header = json.dumps(writer.header(layers), separators=(",", ":")).encode()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    header += b" " * (-(len(header) + 4) % ALIGNED)
    shape = list(architecture.feature_shape)
    actions = architecture.num_actions
    facts = {"file": path.name, "feature_shape": shape, "num_actions": actions}
    return facts, struct.pack("<I", len(header)) + header + bytes(writer.numbers.data)

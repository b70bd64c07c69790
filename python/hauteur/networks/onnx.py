"""ONNX models of networks, as bytes, written from the weights without torch: for ONNX Runtime, and to be run elsewhere.

Inputs: `features` float32 [rows, planes, rows, columns]; outputs: `policy` float32 [rows, actions] (logits), `wdl`
float32 [rows, 3] (probabilities). Only what network files need of the format: float32 and int64 tensors, a batch of any
size as the first axis. The messages and their field numbers are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NewType

import numpy as np

from hauteur.networks.architecture import Architecture
from hauteur.networks.chess_moves import attention_indices, convolution_indices, reach_map
from hauteur.networks.computation import Convolution, Dense, computed
from hauteur.networks.layers import Floats, Layers
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.registry import MODULES, Contents, Format, Net
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.networks.wire import Message, schema_of, write_message

Value = NewType("Value", str)
"""Name of a tensor inside the graph."""

# Layer normalisation is an operator from opset 17 on; 8 is the format's version in the release with opset 18.
OPSET = 18
_IR_VERSION = 8
_FLOAT, _INT64 = 1, 7
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7


SCHEMA = schema_of("""
Model: ir_version uint; producer_name string; 7=graph Graph; opset_import Opset*
Opset: domain string; version uint
Graph: node Node*; name string; 5=initializer Tensor*; 11=input output ValueInfo*
Node: input output string*; name op_type string; attribute Attribute*
Attribute: name string; f float; i uint; 8=ints uint*; 20=type uint
Tensor: dims uint*; data_type uint; 8=name string; raw_data bytes
ValueInfo: name string; type Type
Type: tensor_type TensorType
TensorType: elem_type uint; shape Shape
Shape: dim Dimension*
Dimension: dim_value uint; dim_param string
""")


def _attribute(name: str, value: float | Sequence[int]) -> Message:
    """Return an attribute of a node."""
    if isinstance(value, int):
        return {"name": name, "i": value, "type": _ATTRIBUTE_INT}
    if isinstance(value, float):
        return {"name": name, "f": value, "type": _ATTRIBUTE_FLOAT}
    return {"name": name, "ints": list(value), "type": _ATTRIBUTE_INTS}


def _value_info(name: str, shape: Sequence[int]) -> Message:
    """Return the description of an input or output with any number of rows."""
    dimensions: list[Message] = [{"dim_param": "rows"}, *({"dim_value": length} for length in shape)]
    tensor: Message = {"elem_type": _FLOAT, "shape": {"dim": dimensions}}
    return {"name": name, "type": {"tensor_type": tensor}}


class NetworkGraph:
    """The operations of `computation` as nodes of a graph; values have the rows of the batch as their first axis."""

    def __init__(self, architecture: ResNetArchitecture | Lc0Architecture, tensors: Mapping[str, Floats]) -> None:
        """`tensors`: all of the network by name, in their shapes."""
        self.architecture = architecture
        self.nodes: list[Message] = []
        self.constants: dict[tuple[str, bytes], Message] = {}
        self._layers = Layers(architecture, tensors)
        self.has = self._layers.has

    def constant(self, values: Any) -> Value:
        """A tensor of the file: int64 for integers, else float32; equal tensors are stored once."""
        array = np.asarray(values)
        integral = array.dtype.kind == "i"
        array = np.ascontiguousarray(array, "<i8" if integral else "<f4")
        data = array.tobytes()
        key = f"{array.dtype} {np.shape(values)}", data
        if key not in self.constants:
            self.constants[key] = {
                "dims": list(np.shape(values)),
                "data_type": _INT64 if integral else _FLOAT,
                "name": f"tensor_{len(self.constants)}",
                "raw_data": data,
            }
        return Value(self.constants[key]["name"])

    def add_node(self, kind: str, *inputs: Value, **attributes: float | Sequence[int]) -> Value:
        """A node of an operator of ONNX with one output. Attributes: floats, ints, lists of ints."""
        name = f"{kind}_{len(self.nodes)}"
        written = [_attribute(key, value) for key, value in attributes.items()]
        self.nodes.append(
            {"op_type": kind, "name": name, "input": list(inputs), "output": [name], "attribute": written}
        )
        return Value(name)

    def width(self, path: str) -> int:
        return len(self._layers.dense(path)[0])

    def convolution(self, x: Value, layer: Convolution) -> Value:
        # Batch normalisation is folded into the weights, which inference need not compute each time.
        weights, bias = map(self.constant, self._layers.convolution(layer))
        kernel = layer.kernel
        return self.add_node("Conv", x, weights, bias, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)

    def dense(self, x: Value, layer: Dense) -> Value:
        weights, bias = self._layers.dense(layer.path)
        # Gemm would take the bias too, but only for matrices, and tokens have an axis more.
        product = self.add_node("MatMul", x, self.constant(np.ascontiguousarray(weights.T)))
        if bias is None:
            return product
        return self.add_node("Add", product, self.constant(bias))

    def norm(self, x: Value, path: str, epsilon: float) -> Value:
        tensors = [self._layers.tensors[name] for name in self._layers.names.norm(path)]
        gammas, betas = map(self.constant, tensors)
        return self.add_node("LayerNormalization", x, gammas, betas, epsilon=epsilon)

    def gate(self, x: Value, path: str) -> Value:
        values = self.constant(np.ascontiguousarray(self._layers.tensors[path].T))
        return self.add_node("Add" if path == "ip_add_gate" else "Mul", x, values)

    def activation(self, x: Value, name: str) -> Value:
        if name == "none":
            return x
        if name == "swish":
            return self.add_node("Mul", x, self.add_node("Sigmoid", x))
        if name == "relu_2":
            positive = self.add_node("Relu", x)
            return self.add_node("Mul", positive, positive)
        return self.add_node(name.capitalize(), x)

    def add(self, x: Value, y: Value) -> Value:
        return self.add_node("Add", x, y)

    def scaled(self, x: Value, factor: float) -> Value:
        return self.add_node("Mul", x, self.constant(np.float32(factor)))

    def product(self, x: Value, y: Value) -> Value:
        return self.add_node("MatMul", x, y)

    def softmax(self, x: Value) -> Value:
        return self.add_node("Softmax", x)  # of the last axis

    def excited(self, x: Value, both: Value) -> Value:
        filters = self.architecture.filters
        planes = self.reshape(both, 2 * filters, 1, 1)
        gamma = self.slice(planes, 1, 0, filters)
        beta = self.slice(planes, 1, filters, 2 * filters)
        scaled = self.add_node("Mul", self.add_node("Sigmoid", gamma), x)
        return self.add_node("Add", scaled, beta)

    def means(self, x: Value) -> Value:
        return self.flatten(self.add_node("GlobalAveragePool", x))

    def pooled(self, x: Value) -> Value:
        mean = self.reshape(self.add_node("GlobalAveragePool", x), 0, 1)
        greatest = self.reshape(self.add_node("GlobalMaxPool", x), 0, 1)
        return self.concatenated(mean, greatest, 2)

    def flatten(self, x: Value) -> Value:
        return self.add_node("Flatten", x, axis=1)

    def reshape(self, x: Value, *shape: int) -> Value:
        # A 0 keeps the rows of the batch, whatever their number.
        return self.add_node("Reshape", x, self.constant([0, *shape]))

    def transpose(self, x: Value, *axes: int) -> Value:
        return self.add_node("Transpose", x, perm=axes)

    def slice(self, x: Value, axis: int, begin: int, end: int) -> Value:
        return self.add_node("Slice", x, *(self.constant([number]) for number in (begin, end, axis)))

    def concatenated(self, x: Value, y: Value, axis: int) -> Value:
        return self.add_node("Concat", x, y, axis=axis)

    def with_reach(self, tokens: Value) -> Value:
        # A constant has no rows to begin with: it is added to as many zeros as there are tokens.
        zeros = self.scaled(self.slice(tokens, 2, 0, 1), 0.0)
        return self.concatenated(tokens, self.add(zeros, self.constant(reach_map())), 2)

    def moves(self, x: Value, head: str) -> Value:
        if head == "squares":
            return x
        indices = attention_indices() if head == "attention" else convolution_indices()
        return self.add_node("Gather", x, self.constant(indices), axis=1)

    def win_draw_loss(self, value: Value) -> Value:
        """Probabilities [rows, 3] from logits [rows, 3], or from v [rows, 1] before its tanh: ((1 + v) / 2, 0, (1 - v)
        / 2)."""
        if self.architecture.value == "wdl":
            return self.softmax(value)
        halves = np.array([[0.5, 0.0, -0.5]], np.float32)
        scaled = self.add_node("Mul", self.add_node("Tanh", value), self.constant(halves))
        return self.add_node("Add", scaled, self.constant(abs(halves)))


def onnx_bytes(architecture: Architecture, tensors: Mapping[str, Floats]) -> bytes:
    """A network as the bytes of an `.onnx` file, float32. ValueError for a registered one."""
    if not isinstance(architecture, Lc0Architecture | ResNetArchitecture):
        raise ValueError(f"{architecture.summary()} is a registered network: torch.onnx.export writes its module")
    graph = NetworkGraph(architecture, tensors)
    policy, value = computed(graph, Value("features"))
    for name, found in (("policy", policy), ("wdl", graph.win_draw_loss(value))):
        # Tensors inside have numbered names: these give the outputs theirs.
        graph.nodes.append({"op_type": "Identity", "name": name, "input": [found], "output": [name]})
    network: Message = {
        "node": graph.nodes,
        "name": "network",
        "initializer": list(graph.constants.values()),
        "input": [_value_info("features", architecture.feature_shape)],
        "output": [_value_info("policy", [architecture.num_actions]), _value_info("wdl", [3])],
    }
    operators = [{"domain": "", "version": OPSET}]
    model = {"ir_version": _IR_VERSION, "producer_name": "hauteur", "graph": network, "opset_import": operators}
    return write_message(model, SCHEMA, "Model")


class OnnxFormat(Format):
    """ONNX models: written for other programs, not read again."""

    name = "onnx"
    suffix = ".onnx"

    def load(self, path: Path) -> Net:
        """Raise ValueError: operations are not weights by name."""
        others = ", ".join(suffix for suffix in MODULES if suffix != self.suffix)
        raise ValueError(f"{path}: an ONNX file is for other programs: give the net that it was made of ({others})")

    def save(self, contents: Contents, encoding: str | None) -> bytes:
        """Return the bytes of an ONNX model; ValueError for an encoding other than float32."""
        if encoding not in (None, "float32"):
            raise ValueError(f"ONNX files are written in float32, not in {encoding}")
        return onnx_bytes(contents.architecture, contents.tensors)


FORMAT = OnnxFormat()

"""ONNX models as bytes: a graph that grows node by node, and its protocol buffer.

Only what network files need: float32 and int64 tensors, a batch of any size as the first axis. The messages and their
field numbers are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NewType

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.wire import Message, WireField, write_message

Value = NewType("Value", str)
"""Name of a tensor inside the graph."""

OPSET = 18
_IR_VERSION = 8
_FLOAT, _INT64 = 1, 7
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7


def _one(name: str, kind: Any, message: str = "") -> WireField:
    return WireField(name, kind, message)


def _many(name: str, kind: Any, message: str = "") -> WireField:
    return WireField(name, kind, message, repeated=True)


SCHEMA = {
    "Model": {
        1: _one("ir_version", "uint"),
        2: _one("producer_name", "string"),
        7: _one("graph", "message", "Graph"),
        8: _many("opset_import", "message", "Opset"),
        14: _many("metadata_props", "message", "Entry"),
    },
    "Entry": {1: _one("key", "string"), 2: _one("value", "string")},
    "Opset": {1: _one("domain", "string"), 2: _one("version", "uint")},
    "Graph": {
        1: _many("node", "message", "Node"),
        2: _one("name", "string"),
        5: _many("initializer", "message", "Tensor"),
        11: _many("input", "message", "ValueInfo"),
        12: _many("output", "message", "ValueInfo"),
    },
    "Node": {
        1: _many("input", "string"),
        2: _many("output", "string"),
        3: _one("name", "string"),
        4: _one("op_type", "string"),
        5: _many("attribute", "message", "Attribute"),
    },
    "Attribute": {
        1: _one("name", "string"),
        2: _one("f", "float"),
        3: _one("i", "uint"),
        8: _many("ints", "uint"),
        20: _one("type", "uint"),
    },
    "Tensor": {
        1: _many("dims", "uint"),
        2: _one("data_type", "uint"),
        8: _one("name", "string"),
        9: _one("raw_data", "bytes"),
    },
    "ValueInfo": {1: _one("name", "string"), 2: _one("type", "message", "Type")},
    "Type": {1: _one("tensor_type", "message", "TensorType")},
    "TensorType": {1: _one("elem_type", "uint"), 2: _one("shape", "message", "Shape")},
    "Shape": {1: _many("dim", "message", "Dimension")},
    "Dimension": {1: _one("dim_value", "uint"), 2: _one("dim_param", "string")},
}

READ_SCHEMA = {"Model": {14: SCHEMA["Model"][14]}, "Entry": SCHEMA["Entry"]}
"""Of a model only what hauteur reads: its metadata."""


class Graph:
    """A graph under construction: every method adds nodes and returns the name of their result."""

    def __init__(self) -> None:
        self._nodes: list[Message] = []
        self._tensors: dict[tuple[str, bytes], Message] = {}
        self._inputs: list[Message] = []
        self._outputs: list[Message] = []

    def input(self, name: str, shape: Sequence[int]) -> Value:
        """A float32 input [rows, *shape]."""
        self._inputs.append(_value_info(name, shape))
        return Value(name)

    def output(self, name: str, value: Value, shape: Sequence[int]) -> None:
        """Declare a value as the float32 output [rows, *shape] of this name."""
        self._nodes.append({"op_type": "Identity", "name": name, "input": [value], "output": [name]})
        self._outputs.append(_value_info(name, shape))

    def constant(self, values: Any) -> Value:
        """A tensor of the file: int64 for integers, else float32; equal tensors are stored once."""
        array = np.asarray(values)
        integral = array.dtype.kind == "i"
        array = np.ascontiguousarray(array, "<i8" if integral else "<f4")
        data = array.tobytes()
        key = f"{array.dtype} {np.shape(values)}", data
        if key not in self._tensors:
            self._tensors[key] = {
                "dims": list(np.shape(values)),
                "data_type": _INT64 if integral else _FLOAT,
                "name": f"tensor_{len(self._tensors)}",
                "raw_data": data,
            }
        return Value(self._tensors[key]["name"])

    def add(self, kind: str, *inputs: Value, **attributes: float | Sequence[int]) -> Value:
        """A node of an operator of ONNX with one output. Attributes: floats, ints, lists of ints."""
        name = f"{kind}_{len(self._nodes)}"
        written = [_attribute(key, value) for key, value in attributes.items()]
        self._nodes.append(
            {"op_type": kind, "name": name, "input": list(inputs), "output": [name], "attribute": written}
        )
        return Value(name)

    def convolution(self, x: Value, weights: NDArray[Any], bias: NDArray[Any]) -> Value:
        """A padded convolution, weights [out, in, k, k] with odd k."""
        kernel = weights.shape[-1]
        return self.add(
            "Conv",
            x,
            self.constant(weights),
            self.constant(bias),
            kernel_shape=[kernel, kernel],
            pads=[kernel // 2] * 4,
        )

    def dense(self, x: Value, weights: NDArray[Any], bias: NDArray[Any] | None = None) -> Value:
        """x [rows, ..., in] times weights [out, in], plus the bias [out]."""
        product = self.add("MatMul", x, self.constant(np.ascontiguousarray(weights.T)))
        return product if bias is None else self.add("Add", product, self.constant(bias))

    def scaled(self, x: Value, factor: float) -> Value:
        """The value times a number."""
        return self.add("Mul", x, self.constant(np.float32(factor)))

    def flatten(self, x: Value) -> Value:
        """[rows, ...] to [rows, numbers]."""
        return self.add("Flatten", x, axis=1)

    def reshape(self, x: Value, *shape: int) -> Value:
        """[rows, ...] to [rows, *shape]."""
        return self.add("Reshape", x, self.constant([0, *shape]))

    def transpose(self, x: Value, *axes: int) -> Value:
        """The axes in this order."""
        return self.add("Transpose", x, perm=axes)

    def slice(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """Elements begin to end - 1 along an axis."""
        return self.add("Slice", x, *(self.constant([number]) for number in (begin, end, axis)))

    def gather(self, x: Value, indices: NDArray[np.int64]) -> Value:
        """The columns of these indices, [rows, columns] to [rows, indices]."""
        return self.add("Gather", x, self.constant(indices), axis=1)

    def activation(self, x: Value, name: str) -> Value:
        """An activation by its name in `architecture.ActivationName`."""
        if name == "none":
            return x
        if name == "swish":
            return self.add("Mul", x, self.add("Sigmoid", x))
        if name == "relu_2":
            positive = self.add("Relu", x)
            return self.add("Mul", positive, positive)
        return self.add(_OPERATORS[name], x)

    def to_bytes(self, metadata: Mapping[str, str]) -> bytes:
        """Return the whole model as the bytes of an `.onnx` file."""
        graph: Message = {
            "node": self._nodes,
            "name": "network",
            "initializer": list(self._tensors.values()),
            "input": self._inputs,
            "output": self._outputs,
        }
        model: Message = {
            "ir_version": _IR_VERSION,
            "producer_name": "hauteur",
            "graph": graph,
            "opset_import": [{"domain": "", "version": OPSET}],
            "metadata_props": [{"key": key, "value": value} for key, value in metadata.items()],
        }
        return write_message(model, SCHEMA, "Model")


_OPERATORS = {"relu": "Relu", "mish": "Mish", "tanh": "Tanh", "sigmoid": "Sigmoid", "selu": "Selu"}


def _attribute(name: str, value: float | Sequence[int]) -> Message:
    if isinstance(value, int):
        return {"name": name, "i": value, "type": _ATTRIBUTE_INT}
    if isinstance(value, float):
        return {"name": name, "f": value, "type": _ATTRIBUTE_FLOAT}
    return {"name": name, "ints": list(value), "type": _ATTRIBUTE_INTS}


def _value_info(name: str, shape: Sequence[int]) -> Message:
    dimensions: list[Message] = [{"dim_param": "rows"}, *({"dim_value": length} for length in shape)]
    tensor: Message = {"elem_type": _FLOAT, "shape": {"dim": dimensions}}
    return {"name": name, "type": {"tensor_type": tensor}}

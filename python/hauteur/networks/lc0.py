"""lc0 network files (`.pb.gz`): read and write, without torch.

A network is its `Lc0Architecture` and its layers by path as float32 arrays; `torch_networks.py` computes with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from hauteur.networks.layers import LayerNames, lc0_shapes, resnet_layers
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.lc0_layers import Floats, decode, encode, encoding_of, flatten, size, unflatten
from hauteur.networks.lc0_proto import (
    MAGIC,
    Activation,
    Embedding,
    Encoding,
    InputFormat,
    PolicyFormat,
    Structure,
    ValueFormat,
    pack_net,
    read_net,
)
from hauteur.networks.registry import Contents, Format, Net
from hauteur.networks.wire import Message
from hauteur.system.errors import one_line

if TYPE_CHECKING:
    from hauteur.networks.resnet_architecture import ResNetArchitecture

_OWN_ENCODING_VERSION = (0, 33, 0)
"""The first lc0 that reads encodings other than LINEAR16."""

_POLICIES = {
    PolicyFormat.CLASSICAL: "classical",
    PolicyFormat.CONVOLUTION: "convolution",
    PolicyFormat.ATTENTION: "attention",
}
_VALUES = {ValueFormat.CLASSICAL: "scalar", ValueFormat.WDL: "wdl"}
_EMBEDDINGS = {Embedding.NONE: "none", Embedding.PE_MAP: "map", Embedding.PE_DENSE: "dense"}
_BODIES = (
    Structure.CLASSICAL_WITH_HEADFORMAT,
    Structure.SE_WITH_HEADFORMAT,
    Structure.ATTENTIONBODY_WITH_HEADFORMAT,
    Structure.ATTENTIONBODY_WITH_MULTIHEADFORMAT,
)


class Lc0File:
    """An opened network file: architecture, training facts and shapes read immediately, the tensors on request."""

    def __init__(self, path: Path) -> None:
        """Raise ValueError naming the file and what is wrong with it."""
        net = read_net(path)
        self._path = path
        try:
            self._open(net)
        except ValueError as error:
            raise ValueError(f"{path}: {one_line(error)}") from None

    def _open(self, net: Message) -> None:
        """Read the network's format and sizes; ValueError for what is not supported."""
        if "weights" not in net:
            raise ValueError("holds an ONNX model, not lc0 weights" if "onnx_model" in net else "holds no weights")
        # Old files say nothing, and lc0's 0 is `unknown`: both are read as 16 bits a number.
        number = net.get("format", {}).get("weights_encoding", 0) or Encoding.LINEAR16
        self._encoding = encoding_of({"encoding": number})
        layers, scalars = flatten(net["weights"])
        self._layers = {path: layer for path, layer in layers.items() if layer.get("params")}
        sizes = {path: _size(path, layer, self._encoding) for path, layer in self._layers.items()}
        # From sizes alone: a file is described, or refused, without a number of it being decoded.
        architecture = _architecture(net, sizes, scalars)
        self.shapes = lc0_shapes(sizes, architecture)
        self.facts = {
            "architecture": architecture,
            "game": "chess",
            "training": _training(net.get("training_params", {})),
            "parameters": sum(sizes.values()),
            "encodings": tuple(sorted({encoding_of(layer, self._encoding).name for layer in self._layers.values()})),
        }

    def tensors(self) -> dict[str, Floats]:
        """All layers by path; those the network uses in their shape, others flat."""
        return {path: self._tensor(path, layer) for path, layer in self._layers.items()}

    def _tensor(self, path: str, layer: Message) -> Floats:
        """Decode a tensor; ValueError names it where it is damaged."""
        try:
            values = decode(layer, self._encoding)
            # Their root would be NaN, and with it every answer.
            if path.endswith("bn_stddivs") and (values < 0).any():
                raise ValueError("holds variances below 0")
        except ValueError as error:
            raise ValueError(f"{self._path}: layer {path} {error}") from None
        return values.reshape(self.shapes.get(path, (-1,)))


def _size(path: str, layer: Message, default: Encoding) -> int:
    """Return the number of values of a tensor; ValueError names it where it is damaged."""
    try:
        return size(layer, default)
    except ValueError as error:
        raise ValueError(f"layer {path} {error}") from None


def _training(params: Message) -> dict[str, str | int | float | bool | None]:
    """Return the facts without non-finite numbers; float32 values as their shortest distinguishing decimals."""
    facts: dict[str, str | int | float | bool | None] = {}
    for name, value in params.items():
        if not isinstance(value, float):
            facts[name] = value
        # JSON, which these facts are written to, has no infinity and no NaN.
        elif math.isfinite(value):
            facts[name] = float(str(np.float32(value)))
    return facts


def _architecture(net: Message, sizes: Mapping[str, int], scalars: dict[str, int | str]) -> Lc0Architecture:
    """Return the architecture that format and tensors of a file describe."""
    many_policies = any(path.startswith("policy_heads.") for path in sizes)
    many_values = any(path.startswith("value_heads.") for path in sizes)
    encoders = _count(sizes, "encoder.{}.mha.q_w")
    given_form = net.get("format", {}).get("network_format")
    form = _network_format(given_form, bool(encoders), sizes, many_policies and many_values)
    version = net.get("min_version", {})
    return Lc0Architecture(
        structure=cast("Literal[3, 4, 6, 7]", form["network"]),  # as `_check_format` allows
        # The format names kinds of layers and no sizes: these follow from the tensors.
        filters=sizes.get("input.weights", 0) // (112 * 9),  # of 112 planes, 3x3
        blocks=_count(sizes, "residual.{}.conv1.weights"),
        se="residual.0.se.w1" in sizes,
        embedding=sizes.get("ip_emb_b", 0) if encoders else 0,
        encoders=encoders,
        heads=int(scalars.get("headcount", 0)),
        smolgen="smolgen_w" in sizes,
        # vanilla and winner are the heads that lc0 plays with, unless it is told otherwise.
        policy_prefix="policy_heads.vanilla." if many_policies else "",
        value_prefix="value_heads.winner." if many_values else "",
        scalars=scalars,
        min_version=(version.get("major", 0), version.get("minor", 0), version.get("patch", 0)),
        license=net.get("license", ""),
        **_formats(form, policy_encoders="pol_headcount" in scalars),
    )


def _formats(form: Mapping[str, int], *, policy_encoders: bool) -> dict[str, Any]:
    """The fields of an architecture that the network format alone decides."""
    activation = "mish" if form["default_activation"] == 1 else "relu"
    # Before attention bodies the encoders of a policy head had SELU.
    older = policy_encoders and form["network"] < Structure.ATTENTIONBODY_WITH_HEADFORMAT
    default = "selu" if older else activation
    return {
        "activation": activation,
        "ffn_activation": _activation("FFN activation", form["ffn_activation"], default),
        "smolgen_activation": _activation("smolgen activation", form["smolgen_activation"], activation),
        "input_embedding": _lookup("input embedding", Embedding, _EMBEDDINGS, form["input_embedding"]),
        "policy": _lookup("policy format", PolicyFormat, _POLICIES, form["policy"]),
        "value": _lookup("value format", ValueFormat, _VALUES, form["value"]),
        "moves_left": form["moves_left"] == 1,
    }


def _count(sizes: Mapping[str, int], pattern: str) -> int:
    """Return how many tensors with consecutive numbers a pattern has."""
    result = 0
    while pattern.format(result) in sizes:
        result += 1
    return result


def _network_format(found: Message | None, encoders: bool, sizes: Mapping[str, int], multihead: bool) -> dict[str, int]:
    """The complete format: what old files leave out is filled in as lc0's loader does it."""
    form = {
        "input": 1,
        "output": 1,
        "network": 1,
        "policy": 1,
        "value": 1,
        "moves_left": 0,
        "default_activation": 0,
        "smolgen_activation": 0,
        "ffn_activation": 0,
        "input_embedding": 0,
    }
    form |= found or {}
    if form["network"] in (Structure.CLASSICAL, Structure.SE):
        # In lc0's numbers 3 and 4 are 1 and 2 with formats of heads, which old files leave out.
        form["network"] += 2
        form["policy"] = PolicyFormat.CLASSICAL
        form["value"] = ValueFormat.CLASSICAL
    elif form["network"] == Structure.SE_WITH_HEADFORMAT and encoders:
        form["network"] = Structure.ATTENTIONBODY_WITH_HEADFORMAT
        if "smolgen_w" in sizes:
            form["ffn_activation"] = Activation.RELU_2
            form["smolgen_activation"] = Activation.SWISH
    elif form["network"] == Structure.AB_LEGACY_WITH_MULTIHEADFORMAT:
        form["network"] = Structure.ATTENTIONBODY_WITH_MULTIHEADFORMAT
    if form["network"] == Structure.ATTENTIONBODY_WITH_HEADFORMAT:
        if multihead:
            form["network"] = Structure.ATTENTIONBODY_WITH_MULTIHEADFORMAT
            form["input_embedding"] = Embedding.PE_DENSE
        elif "input_embedding" not in (found or {}):
            form["input_embedding"] = Embedding.PE_MAP
    _check_format(form)
    return form


def _check_format(form: Mapping[str, int]) -> None:
    """Raise ValueError for a format that is not supported."""
    if form["input"] != InputFormat.CLASSICAL_112_PLANE:
        name = _name(InputFormat, form["input"])
        raise ValueError(f"input format {name} is not supported, only 1 (CLASSICAL_112_PLANE)")
    if form["network"] not in _BODIES:
        allowed = ", ".join(f"{s.value} ({s.name})" for s in _BODIES)
        raise ValueError(f"network structure {_name(Structure, form['network'])} is not supported, only {allowed}")
    if form["moves_left"] not in (0, 1):
        raise ValueError(f"moves-left format {form['moves_left']} is not supported, only 0 (none) and 1 (V1)")
    if form["default_activation"] not in (0, 1):
        raise ValueError(
            f"default activation {form['default_activation']} is not supported, only 0 (ReLU) and 1 (mish)"
        )


def _name(enum: Any, number: int) -> str:
    """Return a number of lc0's format with its name."""
    try:
        return f"{number} ({enum(number).name})"
    except ValueError:
        return f"{number} (unknown)"


def _lookup(what: str, enum: Any, names: Mapping[Any, str], number: int) -> Any:
    """Return our name for a number of lc0's format; ValueError where there is none."""
    if number not in names:
        allowed = ", ".join(f"{e.value} ({e.name})" for e in names)
        raise ValueError(f"{what} {_name(enum, number)} is not supported, only {allowed}")
    return names[number]


_ACTIVATIONS = {a: a.name.lower() for a in Activation if a not in (Activation.DEFAULT, Activation.SOFTMAX)}


def _activation(what: str, number: int, default: str) -> Any:
    """Return the activation of a number; the network's own default where the file says so."""
    if number == Activation.DEFAULT:
        return default
    return _lookup(what, Activation, _ACTIVATIONS, number)


def lc0_bytes(
    architecture: Lc0Architecture,
    tensors: Mapping[str, Floats],
    training: Mapping[str, object] | None = None,
    encoding: str = "linear16",
) -> bytes:
    """The network as the bytes of a `.pb.gz` file.

    encoding: linear16, which every lc0 reads, stores 16 bits a number (error up to 1/131070 of a layer's range), and
    exactly what was read from it; float16 and float32 need lc0 0.33. Raises ValueError where the tensors do not make
    a network.
    """
    # Checked before anything is written: a file that lc0 cannot read is worse than none.
    sizes = {path: values.size for path, values in tensors.items()}
    lc0_shapes(sizes, architecture)
    code = Encoding[encoding.upper()]
    layers = {path: _encode(path, values, code) for path, values in tensors.items()}
    version = architecture.min_version
    if code != Encoding.LINEAR16:
        # Older versions of lc0 would read such layers as LINEAR16 without complaint.
        version = max(version, _OWN_ENCODING_VERSION)
    net: Message = {
        "magic": MAGIC,
        "min_version": dict(zip(("major", "minor", "patch"), version, strict=True)),
        "format": {"weights_encoding": int(Encoding.LINEAR16), "network_format": _format_message(architecture)},
        "training_params": _training_message(training or {}),
        "weights": unflatten(layers, architecture.scalars),
    }
    if architecture.license:
        net["license"] = architecture.license
    return pack_net(net)


def _encode(path: str, values: Floats, encoding: Encoding) -> Message:
    """Encode a tensor; ValueError names it where that fails."""
    try:
        return encode(values, encoding)
    except ValueError as error:
        raise ValueError(f"layer {path} {error}") from None


def _format_message(architecture: Lc0Architecture) -> Message:
    """Return the description of a network as lc0's files have it."""
    attention = architecture.encoders > 0
    form: Message = {
        "input": int(InputFormat.CLASSICAL_112_PLANE),
        "output": 2 if architecture.value == "wdl" else 1,
        "network": architecture.structure,
        "policy": _number(_POLICIES, architecture.policy),
        "value": _number(_VALUES, architecture.value),
        "moves_left": int(architecture.moves_left),
    }
    if attention or architecture.activation == "mish":
        form["default_activation"] = int(architecture.activation == "mish")
    if attention:
        form["smolgen_activation"] = _number(_ACTIVATIONS, architecture.smolgen_activation)
        form["input_embedding"] = _number(_EMBEDDINGS, architecture.input_embedding)
    if attention or f"{architecture.policy_prefix}pol_headcount" in architecture.scalars:
        form["ffn_activation"] = _number(_ACTIVATIONS, architecture.ffn_activation)
    return form


def _number(names: Mapping[Any, str], name: str) -> int:
    """Return the number of lc0's format for our name."""
    return next(int(key) for key, value in names.items() if value == name)


_TRAINING_FIELDS = {"training_steps": int, "learning_rate": float, "mse_loss": float, "policy_loss": float}
_TRAINING_FIELDS |= {"accuracy": float, "lc0_params": str}


def _training_message(training: Mapping[str, object]) -> Message:
    """The training facts that an lc0 file has a place for; the steps of a run here are its training steps."""
    message: Message = {}
    facts = {"training_steps": training.get("steps"), **training}
    for name, kind in _TRAINING_FIELDS.items():
        value = facts.get(name)
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            message[name] = kind(value)
    return message


def from_resnet(
    architecture: ResNetArchitecture, tensors: Mapping[str, Floats]
) -> tuple[Lc0Architecture, dict[str, Floats]]:
    """A residual tower for chess in lc0's layers, which compute the same. ValueError when lc0 has no such network."""
    _check_exportable(architecture)
    lc0 = Lc0Architecture(
        structure=4 if architecture.se_channels else 3,
        filters=architecture.filters,
        blocks=architecture.blocks,
        se=architecture.se_channels > 0,
        activation=architecture.activation,
        policy="classical" if architecture.policy == "dense" else "convolution",
        value=architecture.value,
    )
    renamed: dict[str, Floats] = {}
    for layer in resnet_layers(architecture):
        ours = layer.tensors(LayerNames(architecture))
        theirs = layer.tensors(LayerNames(lc0))
        # Both have the tensors of a layer in the same order: weights, then bias or gammas, betas, means, variances.
        for (name, shape), path in zip(ours.items(), theirs, strict=True):
            renamed[path] = np.asarray(tensors[name], np.float32).reshape(shape)
    return lc0, renamed


def _check_exportable(architecture: ResNetArchitecture) -> None:
    """Raise ValueError for a network that lc0's format cannot hold."""
    if architecture.policy_planes != 80:
        raise ValueError(
            f"only chess networks (112x8x8 planes, 1858 actions) fit an lc0 file, got "
            f"{architecture.num_actions} actions and planes {'x'.join(map(str, architecture.feature_shape))}"
        )
    if architecture.pooling:
        raise ValueError(f"lc0 has no global pooling, got {architecture.pooling} pooled channels")
    if (architecture.value_channels, architecture.value_hidden) != (32, 128):
        raise ValueError(
            f"lc0 needs a value head of 32 channels and 128 hidden units, got {architecture.value_channels} "
            f"and {architecture.value_hidden}"
        )


class Lc0Format(Format):
    """Files of Leela Chess Zero; residual towers for chess become lc0's."""

    name = "lc0"
    suffix = ".pb.gz"

    def load(self, path: Path) -> Net:
        """Read a network file of lc0."""
        file = Lc0File(path)
        return self.opened(path, file.tensors, **file.facts)

    def save(self, contents: Contents, encoding: str | None) -> bytes:
        """Return the bytes of a network file of lc0; ValueError for a network that it cannot hold."""
        architecture = contents.architecture
        tensors = dict(contents.tensors)
        if architecture.kind == "registered":
            raise ValueError(f"lc0's format has no place for {architecture.summary()}; allowed: .safetensors")
        if architecture.kind == "resnet":
            architecture, tensors = from_resnet(architecture, tensors)
        return lc0_bytes(architecture, tensors, contents.training, encoding or "linear16")


FORMAT = Lc0Format()

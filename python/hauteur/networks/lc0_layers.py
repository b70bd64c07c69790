"""The numbers of an lc0 network: encodings in the file to float32 and back, message trees to flat paths and back.

A path names a layer as in the file, indices after their list: `residual.3.conv1.weights`, `encoder.0.mha.q_w`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.lc0_proto import SCHEMA, Encoding
from hauteur.networks.wire import Message

Floats = NDArray[np.float32]

_BYTES = {Encoding.LINEAR16: 2, Encoding.FLOAT16: 2, Encoding.BFLOAT16: 2, Encoding.FLOAT32: 4}


def flatten(weights: Message) -> tuple[dict[str, Message], dict[str, int | str]]:
    """A `Weights` message as its layers and its scalar fields, both by path, in the order of the file."""
    layers: dict[str, Message] = {}
    scalars: dict[str, int | str] = {}
    for path, message_type, value in _walk(weights, "Weights", ""):
        if message_type == "Layer":
            layers[path] = value
        else:
            scalars[path] = value
    return layers, scalars


def _walk(message: Message, name: str, prefix: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the layers and scalars of a message by their paths."""
    for field in SCHEMA[name].values():
        if field.name not in message:
            continue
        path = prefix + field.name
        value = message[field.name]
        if field.kind != "message" or field.message == "Layer":
            yield path, field.message, value
        elif field.repeated:
            for i, item in enumerate(value):
                yield from _walk(item, field.message, f"{path}.{i}.")
        else:
            yield from _walk(value, field.message, f"{path}.")


def unflatten(layers: Mapping[str, Message], scalars: Mapping[str, int | str]) -> Message:
    """The `Weights` message of layers and scalars by path. Raises ValueError for a path that no message has."""
    weights: Message = {}
    values = {**layers, **scalars}
    for path in sorted(values, key=_order):
        _insert(weights, path, values[path])
    return weights


def _order(path: str) -> list[tuple[int, str]]:
    """Sort indices as numbers, so that lists are filled in order."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in path.split(".")]


def _insert(weights: Message, path: str, value: Any) -> None:
    """Put a layer or scalar into a message at its path."""
    message = weights
    name = "Weights"
    parts = iter(path.split("."))
    for part in parts:
        field = next((field for field in SCHEMA[name].values() if field.name == part), None)
        if field is None:
            raise ValueError(f"lc0 networks have no layer {path!r}: {name} has no field {part!r}")
        if field.kind != "message" or field.message == "Layer":
            message[part] = value
            return
        name = field.message
        message = _item(message, part, int(next(parts)), path) if field.repeated else message.setdefault(part, {})


def _item(message: Message, part: str, index: int, path: str) -> Message:
    """Return an element of a repeated field; ValueError where one before it is missing."""
    items: list[Message] = message.setdefault(part, [])
    if index == len(items):
        items.append({})
    if index >= len(items):
        raise ValueError(f"layer {path!r} stands after a gap: {part} {len(items)} is missing")
    return items[index]


def size(layer: Message, default: Encoding = Encoding.LINEAR16) -> int:
    """Return the number of values in a layer."""
    return len(layer.get("params", b"")) // _BYTES[encoding_of(layer, default)]


def encoding_of(layer: Message, default: Encoding = Encoding.LINEAR16) -> Encoding:
    """The layer's encoding; `default` is the file's, for layers without their own."""
    number = layer.get("encoding", 0) or default
    try:
        return Encoding(number)
    except ValueError:
        allowed = ", ".join(f"{e.value} {e.name}" for e in Encoding)
        raise ValueError(f"has encoding {number}, expected one of {allowed}") from None


def decode(layer: Message, default: Encoding = Encoding.LINEAR16) -> Floats:
    """The numbers of a layer, float32 [size], all finite.

    LINEAR16: t = x / 65535, value = min (1 - t) + max t for the uint16 x (lc0, weights_adapter).
    """
    encoding = encoding_of(layer, default)
    params = layer.get("params", b"")
    if len(params) % _BYTES[encoding]:
        raise ValueError(f"has {len(params)} bytes, not a multiple of {_BYTES[encoding]} ({encoding.name})")
    values = _decode(params, encoding, layer)
    if not np.isfinite(values).all():
        raise ValueError("holds numbers that are not finite")
    return values


def _decode(params: memoryview, encoding: Encoding, layer: Message) -> Floats:
    """Return the numbers of a layer as float32."""
    if encoding == Encoding.FLOAT32:
        return np.frombuffer(params, "<f4").astype(np.float32)
    if encoding == Encoding.FLOAT16:
        return np.frombuffer(params, "<f2").astype(np.float32)
    raw = np.frombuffer(params, "<u2")
    if encoding == Encoding.BFLOAT16:
        # A bfloat16 is the upper half of a float32; numpy has no such type.
        return (raw.astype(np.uint32) << 16).view(np.float32)
    low = np.float32(layer.get("min_val", 0.0))
    high = np.float32(layer.get("max_val", 0.0))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"has the range {low} to {high}, which is not finite")
    # In single precision and in this order, as lc0 computes it: the same bits as lc0's weights.
    t = raw.astype(np.float32) / np.float32(65535)
    with np.errstate(over="ignore"):
        return np.asarray(low * (1 - t) + high * t, np.float32)


def encode(values: Floats, encoding: Encoding) -> Message:
    """A layer message of the numbers. LINEAR16 gives back the very bytes that the numbers were decoded from."""
    flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    if not np.isfinite(flat).all():
        raise ValueError("holds numbers that are not finite")
    if encoding == Encoding.LINEAR16:
        return _encode_linear16(flat)
    with np.errstate(over="ignore"):
        stored = flat.astype("<f2" if encoding == Encoding.FLOAT16 else "<f4")
    if not np.isfinite(stored).all():
        raise ValueError("holds numbers beyond the range of float16 (65504)")
    return {"params": stored.tobytes(), "encoding": int(encoding), "dims": list(values.shape)}


def _encode_linear16(flat: Floats) -> Message:
    """Encode numbers in 16 bits between their minimum and maximum."""
    low = float(flat.min()) if len(flat) else 0.0
    high = float(flat.max()) if len(flat) else 0.0
    scale = 65535 / (high - low) if high > low else 0.0
    # In double precision, so that numbers that were read from 16 bits round back to the same 16 bits.
    raw = np.rint((flat.astype(np.float64) - low) * scale).astype("<u2")
    return {"min_val": low, "max_val": high, "params": raw.tobytes()}

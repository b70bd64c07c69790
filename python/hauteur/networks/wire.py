"""Protocol buffers on the wire: a small strict reader and writer for messages described by a schema.

Only what network files need: proto2 messages of scalars, bytes and messages. All contents are checked before use:
lengths against the bytes available, the number of fields against a limit. Byte fields are views, not copies.

Source of the encoding: https://protobuf.dev/programming-guides/encoding/
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Message = dict[str, Any]
"""A message by field names: int, float, str, memoryview (or bytes to be written), Message, or a list of one of them."""

MAX_FIELDS = 200_000
"""Fields in one file; the largest known networks have some thousands."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class WireField:
    """One field of a message: its name, its encoding, and whether it may be repeated."""

    name: str
    kind: str
    """uint, fixed32, float, bytes, string, message."""
    message: str = ""
    repeated: bool = False


Schema = Mapping[str, Mapping[int, WireField]]
"""Messages by name, each its fields by number."""


_WIRE_TYPE = dict.fromkeys(("bytes", "string", "message"), LENGTH) | {
    "uint": VARINT,
    "fixed32": FIXED32,
    "float": FIXED32,
}


def schema_of(text: str) -> Schema:
    """Return the schema of a text of `MESSAGE: NAME ... KIND; NAME ... KIND; ...`, a line with its indented rest each.

    A field's number is one more than the last one's, or stands before its name: `10=weights`. KIND: of `WireField`, or
    a message's name; `*`: repeated.

    >>> schema_of("Net: magic fixed32; 10=weights Weights*")["Net"][10]
    WireField(name='weights', kind='message', message='Weights', repeated=True)
    """
    found: dict[str, dict[int, WireField]] = {}
    for line in text.strip().replace("\n    ", " ").splitlines():
        message, _, entries = line.partition(": ")
        fields = found.setdefault(message, {})
        number = 0
        for entry in entries.split("; "):
            *names, kind = entry.split()
            of = kind.rstrip("*")
            of_field = (of, "") if of in _WIRE_TYPE else ("message", of)
            for name in names:
                given, _, bare = name.rpartition("=")
                number = int(given) if given else number + 1
                fields[number] = WireField(bare, *of_field, kind != of)
    return found


class _Token(NamedTuple):
    number: int
    wire_type: int
    value: int | memoryview
    offset: int
    """Position of the value in the file."""


Budget = Iterator[int]
"""Gives a number for each field that may still be read."""


def _spend(budget: Budget) -> None:
    """Count a field; ValueError after too many, which a small file could otherwise unfold to."""
    if next(budget, None) is None:
        raise ValueError(f"holds more than {MAX_FIELDS} fields")


def read_message(
    data: bytes | memoryview,
    schema: Schema,
    name: str,
    *,
    strict: frozenset[str] = frozenset(),
) -> Message:
    """Read `data` as message `name` of `schema`.

    Unknown fields are skipped, but are an error in the messages named in `strict`.
    Raises ValueError that names the message, the field and the byte where it went wrong.
    """
    return _read(memoryview(data), schema, name, name, strict, iter(range(MAX_FIELDS)), 0)


def _read(
    view: memoryview,
    schema: Schema,
    name: str,
    where: str,
    strict: frozenset[str],
    budget: Budget,
    base: int,
) -> Message:
    message: Message = {}
    for token in _tokens(view, where, budget, base):
        field = schema[name].get(token.number)
        # Later versions of lc0 may say more, which is no reason to refuse a file, unless it could change the net.
        if field is None:
            if name in strict:
                raise ValueError(f"{where} has a field {token.number} at byte {token.offset}, which is not known here")
            continue
        path = f"{where}.{field.name}"
        if field.kind == "message" and field.repeated:
            path = f"{path}[{len(message.get(field.name, []))}]"
        for value in _values(token, field, schema, path, strict, budget):
            if field.repeated:
                message.setdefault(field.name, []).append(value)
            else:
                message[field.name] = value
    return message


def _values(
    token: _Token,
    field: WireField,
    schema: Schema,
    path: str,
    strict: frozenset[str],
    budget: Budget,
) -> Iterator[Any]:
    """The value of one field; several when numbers are packed."""
    if field.repeated and field.kind == "uint" and isinstance(token.value, memoryview):
        position = 0
        while position < len(token.value):
            _spend(budget)
            number, position = _varint(token.value, position, path, token.offset)
            yield number
        return
    if token.wire_type != _WIRE_TYPE[field.kind]:
        raise ValueError(f"{path} at byte {token.offset} has wire type {token.wire_type}, expected {field.kind}")
    if isinstance(token.value, int):
        yield _number(token.value, field)
    elif field.kind == "message":
        yield _read(token.value, schema, field.message, path, strict, budget, token.offset)
    elif field.kind == "string":
        # replace: a licence in another encoding is no reason to refuse a net.
        yield bytes(token.value).decode("utf-8", errors="replace")
    else:
        yield token.value


def _number(raw: int, field: WireField) -> int | float:
    """Return a number of a field from its bits."""
    if field.kind == "float":
        return float(struct.unpack("<f", struct.pack("<I", raw))[0])
    return raw


def _tokens(view: memoryview, where: str, budget: Budget, base: int) -> Iterator[_Token]:
    """Split a message into its fields; `base` is the position of `view` in the file."""
    position = 0
    while position < len(view):
        _spend(budget)
        start = position
        tag, position = _varint(view, position, where, base)
        number = tag >> 3
        wire_type = tag & 7
        if number == 0:
            raise ValueError(f"{where} has a field numbered 0 at byte {base + start}")
        if wire_type == VARINT:
            value, position = _varint(view, position, where, base)
            yield _Token(number, wire_type, value, base + start)
            continue
        length, position = _length(view, position, wire_type, where, base)
        body = view[position : position + length]
        offset = base + position
        position = position + length
        content = body if wire_type == LENGTH else int.from_bytes(body, "little")
        yield _Token(number, wire_type, content, offset)


def _length(view: memoryview, position: int, wire_type: int, where: str, base: int) -> tuple[int, int]:
    """Return the length in bytes of a field's value and its start."""
    if wire_type == FIXED32:
        length = 4
    elif wire_type == FIXED64:
        length = 8
    elif wire_type == LENGTH:
        length, position = _varint(view, position, where, base)
    else:
        raise ValueError(f"{where} has wire type {wire_type} at byte {base + position}, which is not supported")
    left = len(view) - position
    # Checked before slicing, which would cut short in silence.
    if length > left:
        raise ValueError(
            f"{where} ends too early: a field at byte {base + position} has {length} bytes, {left} are left"
        )
    return length, position


def _varint(view: memoryview, position: int, where: str, base: int) -> tuple[int, int]:
    """Read a variable-length number; return it and the position after it."""
    result = 0
    # 64 bits in groups of seven.
    for i in range(10):
        if position + i >= len(view):
            raise ValueError(f"{where} ends inside a number at byte {base + position}")
        byte = view[position + i]
        result |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            # Ten groups have 70 bits; protocol buffers drop those beyond 64.
            return result & 0xFFFF_FFFF_FFFF_FFFF, position + i + 1
    raise ValueError(f"{where} has a number of more than 10 bytes at byte {base + position}")


def write_message(message: Message, schema: Schema, name: str) -> bytes:
    """Write `message` as message `name` of `schema`, fields in the order of their numbers."""
    fields = schema[name]
    unknown = set(message) - {field.name for field in fields.values()}
    if unknown:
        raise ValueError(f"{name} has no field {sorted(unknown)[0]}")
    parts: list[bytes] = []
    for number, field in sorted(fields.items()):
        if field.name in message:
            given = message[field.name]
            values = given if field.repeated else [given]
            parts.extend(_write_field(number, field, value, schema) for value in values)
    return b"".join(parts)


def _write_field(number: int, field: WireField, value: Any, schema: Schema) -> bytes:
    """Return a field as bytes."""
    tag = _write_varint(number << 3 | _WIRE_TYPE[field.kind])
    if field.kind == "uint":
        return tag + _write_varint(value)
    if field.kind == "fixed32":
        return tag + struct.pack("<I", value)
    if field.kind == "float":
        return tag + struct.pack("<f", value)
    if field.kind == "message":
        body = write_message(value, schema, field.message)
    else:
        body = value.encode() if isinstance(value, str) else bytes(value)
    return tag + _write_varint(len(body)) + body


def _write_varint(value: int) -> bytes:
    """Return a whole number as a varint."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)

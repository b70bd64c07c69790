"""Changes of valid files and messages that fuzz_readers.py feeds to their readers: of bytes, of text, of JSON values.

All of them are drawn from the given random numbers alone, so a case is made again from its number.
"""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

PLAIN_NUMBERS = """0 -0 1 -1 2 7 255 256 65535 65536 2147483647 -2147483648 4294967296 18446744073709551616
9223372036854775807 -9223372036854775809 0.5 -0.5 1e308 1e999 -1e999 5e-324 NaN nan inf -Infinity 1_0 0x10 ² ٣ 1. ."""
PLAIN_WORDS = """# ; ( ) [ ] { } " ' = , -- - % é 😀 null true [] {} %s ../x pass moves
fen 0000 e2e4 e7e8q O-O A1 T19 aa"""
NUMBERS = (*PLAIN_NUMBERS.split(), "1" + "0" * 400, "1" * 5000)
SPACES = ("", " ", "\0", "\n", "\r", "\t", "\\", "\ufeff", "\u2028")
WORDS = (*PLAIN_WORDS.split(), *SPACES, "a" * 300, "x" * 70_000, "K7/8/8/8/8/8/8/k7", "w - - 0 1")
BITS = (8, 16, 32, 64)
EDGES: tuple[int, ...] = tuple(n for b in BITS for n in (0, 1, 2**b - 1, 2 ** (b - 1), 2 ** (b - 1) - 1))
DEPTH = 100_000
"""Brackets that are opened and never closed."""

Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def span(draws: random.Random, data: bytes) -> tuple[int, int]:
    """Return begin and end of a part of the data, mostly a short one."""
    begin = draws.randrange(len(data) + 1)
    most = len(data) - begin
    return begin, begin + draws.choice((0, 1, min(2, most), min(8, most), draws.randrange(most + 1)))


def flip(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Another bit at a few places."""
    out = bytearray(data)
    for _place in range(draws.choice((1, 1, 2, 8)) if out else 0):
        out[draws.randrange(len(out))] ^= 1 << draws.randrange(8)
    return bytes(out)


def number(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A number at the edge of its range in place of some bytes."""
    size = draws.choice((1, 2, 4, 8))
    value = (draws.choice(EDGES) + draws.randrange(-2, 3)) % (1 << 8 * size)
    place = draws.randrange(max(1, len(data) - size + 1))
    return data[:place] + value.to_bytes(size, draws.choice(("little", "big"))) + data[place + size :]


def cut(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Without a part, or without everything behind a place."""
    begin, end = span(draws, data)
    return data[:begin] + (data[end:] if draws.random() < 0.7 else b"")


def doubled(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A part once more, or many times."""
    begin, end = span(draws, data)
    return data[:end] + data[begin:end] * draws.choice((1, 2, 50)) + data[end:]


def spliced(draws: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A part of another file in place of one of this."""
    (begin, end), other = span(draws, data), draws.choice(others)
    first, last = span(draws, other)
    return data[:begin] + other[first:last] + data[end:]


def noise(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Random bytes in a place."""
    begin, end = span(draws, data)
    return data[:begin] + draws.randbytes(draws.choice((1, 4, 60))) + data[end:]


def token(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A number or word of the text replaced."""
    kind, others = (rb"-?[0-9][0-9.]*", NUMBERS) if draws.random() < 0.5 else (rb"[^\s\[\]{}(),:=\"]+", WORDS + NUMBERS)
    found = list(re.finditer(kind, data[:100_000]))
    if not found:
        return data + draws.choice(others).encode()
    place = draws.choice(found)
    return data[: place.start()] + draws.choice(others).encode() + data[place.end() :]


def lines(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A line removed, doubled or moved."""
    parts = data.splitlines(keepends=True) or [b""]
    place = draws.randrange(len(parts))
    line = parts.pop(place) if draws.random() < 0.6 else parts[place]
    if draws.random() < 0.7:
        parts.insert(draws.randrange(len(parts) + 1), line)
    return b"".join(parts)


def deep(draws: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Brackets without end in a place."""
    begin, end = span(draws, data)
    return data[:begin] + draws.choice((b"[", b"(", b"{", b'{"a":', b"((", b"(;B[aa]")) * DEPTH + data[end:]


CHANGES: tuple[Change, ...] = (flip, flip, number, cut, cut, doubled, spliced, noise, token, token, token, lines)


def changed(draws: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return the data after one to four changes; rarely one of them opens brackets without end."""
    for _ in range(draws.choice((1, 1, 2, 4))):
        change = deep if draws.random() < 0.01 else draws.choice(CHANGES)
        data = change(draws, data, others)
    return data


def changed_value(draws: random.Random, value: Any, depth: int = 0) -> Any:
    """Return a JSON value with one value in it replaced, removed, doubled or moved."""
    if isinstance(value, dict | list) and value and (depth == 0 or draws.random() < 0.8):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draws.choice(keys)
        out = value.copy()
        match draws.randrange(8):
            case 0:
                del out[key]
            case 1 if isinstance(out, dict):
                out[draws.choice((*keys, *WORDS))] = out[key]
            case 1 | 2 if isinstance(out, list):
                out[key:key] = [out[key]] * draws.choice((1, 3, 1000))
            case _:
                out[key] = changed_value(draws, out[key], depth + 1)
        return out
    near = [value + 1, value - 1, -value, value * 2] if isinstance(value, int | float) else [str(value) + "x", ""]
    return draws.choice((*near, *near, 0, -1, 1, 2**31, 2**63, 2**64, 0.5, 1e308, None, True, [], {}, "x", [[]]))


def changed_json(draws: random.Random, text: str) -> str:
    """Return a JSON text with one or two of its values changed."""
    value = json.loads(text)
    for _ in range(draws.choice((1, 1, 2))):
        value = changed_value(draws, value)
    return json.dumps(value)


def changed_safetensors(draws: random.Random, data: bytes) -> bytes:
    """Return a safetensors file whose header, a JSON object, is changed and has its right length."""
    (length,) = struct.unpack("<Q", data[:8])
    header = changed_json(draws, data[8 : 8 + length].decode()).encode()
    return struct.pack("<Q", len(header)) + header + data[8 + length :]

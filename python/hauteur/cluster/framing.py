"""Messages through a pipe: a line of JSON, and as many bytes behind it as it announces. Nothing is ever pickled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from hauteur.cluster.unit import MOST_CONTENT

MOST_HEADER = 16 * 2**20
"""Bytes of a line."""


def write_message(stream: IO[bytes], fields: Mapping[str, Any], content: bytes = b"") -> None:
    """Write a message."""
    stream.write(json.dumps({**fields, "bytes": len(content)}).encode() + b"\n" + content)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None at the end. ValueError for what is none."""
    line = stream.readline(MOST_HEADER)
    if not line.endswith(b"\n"):
        return None
    fields = json.loads(line)
    size = fields.pop("bytes", None) if isinstance(fields, dict) else None
    if not isinstance(size, int) or not 0 <= size <= MOST_CONTENT:
        raise ValueError(f"not a message: {line[:80]!r}")
    content = stream.read(size)
    return (fields, content) if len(content) == size else None

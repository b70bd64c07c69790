"""Responses of the Go Text Protocol, version 2: `=ID text` or `?ID message`, then an empty line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

POINT = re.compile(r"[A-HJ-Za-hj-z][0-9]{1,2}", re.ASCII)
"""A point: a column without I, and a row."""
FIRST = re.compile(r"([=?])([0-9]{0,9})(?:\s+(.*))?", re.ASCII)


@dataclass(frozen=True)
class Response:
    """The response to the command with this number; text: without the number, lines apart by line ends."""

    is_good: bool
    number: int | None
    text: str


def parse_response(lines: Sequence[str]) -> Response | None:
    """Read the lines of a response, the empty one that ends it left out; None where they are none."""
    found = FIRST.fullmatch(lines[0]) if lines else None
    if found is None:
        return None
    text = "\n".join([found[3] or "", *lines[1:]])
    return Response(found[1] == "=", int(found[2]) if found[2] else None, text)

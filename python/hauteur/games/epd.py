"""Lines of EPD: a position, then operations such as `bm Nxf7 Qh5; id "WAC.001";`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

OPERATION = re.compile(r"""\s*([A-Za-z]\w*)((?:\s+(?:"[^"]*"|[^\s;"]+))*)\s*(?:;|$)""")
OPERAND = re.compile(r'"([^"]*)"|([^\s;"]+)')
FIELDS = 4
COUNTERS = re.compile(r"\s*\d+\s+\d+(?=\s|$)")
LONGEST = 10_000
"""Characters of a line, at most."""


def parse_epd(line: str) -> tuple[str, dict[str, list[str]]]:
    """The FEN's first four fields (six where two counters follow), and the operands of each operation.

    ValueError for lines that are too short or long, and where something is no operation.
    """
    if len(line) > LONGEST:
        raise ValueError(f"a line of EPD has at most {LONGEST:,} characters, this one has {len(line):,}")
    head = re.match(rf"\s*(?:\S+\s+){{{FIELDS - 1}}}\S+(?=\s|$)", line)
    if head is None:
        raise ValueError(f"a line of EPD begins with {FIELDS} fields of a FEN, got {line[:60].strip()!r}")
    counters = COUNTERS.match(line, head.end())
    end = head.end() if counters is None else counters.end()
    return " ".join(line[:end].split()), _operations(line, end)


def _operations(line: str, position: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    while line[position:].strip(" \t\r\n;"):
        match = OPERATION.match(line, position)
        if match is None:
            raise ValueError(f"expected an operation such as bm Nf3; got {line[position : position + 40].strip()!r}")
        if match[1] in found:
            raise ValueError(f"the operation {match[1]} is given twice")
        found[match[1]] = [quoted or plain for quoted, plain in OPERAND.findall(match[2])]
        position = match.end()
    return found


def epd_line(fen: str, operations: Mapping[str, Sequence[str]], quoted: Sequence[str] = ("id",)) -> str:
    """A line of EPD without line end. quoted: operations whose operands are texts."""
    words = [" ".join(fen.split()[:FIELDS])]
    for name, operands in operations.items():
        texts = [f'"{_clean(text)}"' for text in operands] if name in quoted else operands
        words.append(f"{' '.join([name, *texts])};")
    return " ".join(words)


def _clean(text: str) -> str:
    """A text without what ends it too early."""
    return " ".join(text.replace('"', "'").split())

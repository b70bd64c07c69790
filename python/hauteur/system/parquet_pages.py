"""How much memory a Parquet file takes, from the headers of its pages: what its footer says of that may be wrong.

Footer and headers are structures of Thrift's compact protocol, https://parquet.apache.org/docs/file-format/. They are
read here, because pyarrow's own view of a damaged footer may end the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Fields = Mapping[int, Any]

ROW_GROUPS, COLUMNS, COLUMN = 4, 1, 3
"""Fields of the footer, of a group of rows, and of a column chunk;"""
TYPE, CHUNK_SIZE, DATA_OFFSET, DICTIONARY_OFFSET = 1, 7, 9, 11
"""of what a chunk says of its column;"""
UNPACKED, PACKED, HEADERS, VALUES = 2, 3, (5, 7, 8), 1
"""of the header of a page, which has another one by its kind, with the number of values."""
TEXTS = 6
"""The type of columns of texts."""
PAGE_BYTES = 1024
"""Of a page besides its values;"""
VALUE_BYTES = 8
"""and of a value, with where it stands in a list: a page may have very many that are equal in a few bytes."""
MOST_FOOTER = 2**20
MOST_DEPTH = 8
"""Structures and lists within each other."""


class NoPageError(ValueError):
    """There is no footer or page where one should be."""


def unpacked_bytes(file: Any, most: int) -> int:
    """Return about as many bytes as the columns of a file take in memory while they are read.

    file: pyarrow's, open; most: the rest is not looked at where it is more already. NoPageError or OSError where the
    pages are not where the footer says.
    """
    total, size = 0, file.size()
    for column in _columns(file, size):
        begin, length, dictionary = column[DATA_OFFSET], column[CHUNK_SIZE], column.get(DICTIONARY_OFFSET, 0)
        begin = dictionary if 0 < dictionary < begin else begin
        if min(begin, length) < 0 or begin + length > size:
            raise NoPageError("pages of it are not in it")
        file.seek(begin)
        longest = 0  # of texts, any of which may be as long as the dictionary, which is the first page
        for unpacked, values in page_sizes(file.read(length)):
            total += PAGE_BYTES + unpacked + values * (VALUE_BYTES + longest)
            if total > most:
                return total
            longest = longest or (unpacked if column[TYPE] == TEXTS else 0)
    return total


def _columns(file: Any, size: int) -> Iterator[Fields]:
    """Yield what the footer says of the column chunks."""
    file.seek(max(0, size - 8))
    length = int.from_bytes(file.read(4), "little")
    if not 0 < length <= min(MOST_FOOTER, size - 8):
        raise NoPageError(f"its footer has {length} bytes")
    file.seek(size - 8 - length)
    footer, _ = _structure(file.read(length), 0, 0)
    try:
        for group in footer[ROW_GROUPS]:
            for chunk in group[COLUMNS]:
                column = chunk[COLUMN]
                numbers = [column[TYPE], column[CHUNK_SIZE], column[DATA_OFFSET], column.get(DICTIONARY_OFFSET, 0)]
                if not all(isinstance(number, int) for number in numbers):
                    raise TypeError("no number")
                yield column
    except (KeyError, TypeError):
        raise NoPageError("its footer does not name pages") from None


def page_sizes(chunk: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bytes in memory and the values of each page of a column chunk. NoPageError for what is no page."""
    at = 0
    while at < len(chunk):
        header, at = _structure(chunk, at, 0)
        kind = next((header[name] for name in HEADERS if name in header), None) or {VALUES: 0}
        values = kind.get(VALUES, 0) if isinstance(kind, dict) else None
        sizes: list[Any] = [header.get(UNPACKED), header.get(PACKED), values]
        if not all(isinstance(size, int) and 0 <= size < 2**31 for size in sizes):
            raise NoPageError("a page has no size")
        yield sizes[0], sizes[2]
        at += sizes[1]


def _structure(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the numbers, structures and lists of structures at a place, by their fields, and the place behind."""
    found: dict[int, Any] = {}
    name = 0
    try:
        while (head := data[at]) != 0:
            at += 1
            if head >> 4:
                name += head >> 4
            else:
                name, at = _number(data, at)
            found[name], at = _value(data, at, head & 15, depth + 1)
    except IndexError:
        raise NoPageError("a structure without an end") from None
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value, None for one that is not a number, structure or list, and the place behind."""
    if depth > MOST_DEPTH:
        raise NoPageError("structures that are too deep")
    if kind in (1, 2):  # a truth value has no bytes of its own
        return None, at
    if kind in (4, 5, 6):
        return _number(data, at)
    if kind in (3, 7):
        return None, at + (1 if kind == 3 else 8)
    if kind == 8:
        length, at = _variable(data, at)
        return None, at + length
    if kind == 12:
        return _structure(data, at, depth)
    if kind != 9:
        raise NoPageError(f"a structure with a field of kind {kind}")
    head, at = data[at], at + 1
    count, kind = head >> 4, head & 15
    if count == 15:
        count, at = _variable(data, at)
    found = []
    for _ in range(count):
        data[at]  # there is one
        value, at = _value(data, at + (kind in (1, 2)), kind, depth + 1)
        found.append(value)
    return found, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the signed number at a place, and the place behind."""
    value, at = _variable(data, at)
    return (value >> 1) ^ -(value & 1), at


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned number at a place, seven bits a byte, and the place behind."""
    value = shift = 0
    while (byte := data[at]) >= 128:
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise NoPageError("a number that is too long")
    return value | byte << shift, at + 1

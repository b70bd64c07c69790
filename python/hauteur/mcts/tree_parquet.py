"""Columns of a search tree as a Parquet file, with a header in its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hauteur.system.errors import one_line

HEADER = b"hauteur"
"""Key of the metadata."""
BROKEN = (pa.ArrowException, OSError, MemoryError, RecursionError, ValueError)
"""What reading a damaged file raises."""


def parquet_bytes(header: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of a file."""
    table = pa.table(dict(columns)).replace_schema_metadata({HEADER: json.dumps(header)})
    file = pa.BufferOutputStream()
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    found: bytes = file.getvalue().to_pybytes()
    return found


def read_parquet(
    path: Path, names: Sequence[str], most_rows: int, most_bytes: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and those of the columns that are there and hold numbers.

    Raise ValueError for a damaged file, and one with more rows or bytes, before they are read.
    """
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        metadata = file.metadata
        size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
        too_large = metadata.num_rows > most_rows or size > most_bytes
        known = [field.name for field in file.schema_arrow if field.name in names and _is_number(field.type)]
        table = file.read([] if too_large else known)
        header = json.loads((table.schema.metadata or {}).get(HEADER, b"null"))
        columns = {name: table[name].to_numpy() for name in table.column_names}
    except BROKEN as error:
        raise ValueError(f"{path}: not a whole Parquet file: {one_line(error)[:200]}") from None
    if too_large:
        raise ValueError(f"{path}: has more than {most_rows:,} nodes, or too many bytes for them")
    if not isinstance(header, dict):
        raise ValueError(f"{path}: a Parquet file, but not of a tree")
    return header, columns


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))

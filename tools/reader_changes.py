"""Changes behind the packing and the check sums of files, for fuzz_readers.py."""

from __future__ import annotations

import gzip
import json
import random

from mutations import changed, changed_json, changed_value


def inside_gzip(draws: random.Random, data: bytes) -> bytes:
    """Change what is packed."""
    return gzip.compress(changed(draws, gzip.decompress(data), [data]), 1)


def inside_text(draws: random.Random, data: bytes) -> bytes:
    """Change a value of a JSON text."""
    return changed_json(draws, data.decode()).encode()


def inside_journal(draws: random.Random, data: bytes) -> bytes:
    """Change a line of a journal and write its check sums anew."""
    from hauteur.system.jsonl import _digest, _split

    lines, out = [json.loads(_split(line + b"\n")[0]) for line in data.splitlines()], b""
    place = draws.randrange(len(lines))
    lines[place] = changed_value(draws, lines[place])
    for line in lines:
        body = json.dumps(line)
        sums = _digest(len(out), f"{body}\n".encode()).decode()
        out += f'{body[:-1]}{", " if len(body) > 2 else ""}"check": "{sums}"}}\n'.encode()
    return out


def inside_checkpoint(draws: random.Random, data: bytes) -> bytes:
    """Change the state in a checkpoint and write its hash anew."""
    from safetensors.numpy import load, save

    from hauteur.learning.checkpoint import FORMAT, _digest

    length = int.from_bytes(data[:8], "little")
    state = changed_json(draws, json.loads(data[8 : 8 + length])["__metadata__"]["state"])
    tensors = load(data)
    return save(tensors, metadata={"format": FORMAT, "state": state, "sha256": _digest(state, tensors)})


def inside_shard(draws: random.Random, data: bytes) -> bytes:
    """Change a value of a shard and write its hash anew; values of another type leave it unchanged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hauteur.learning.shards import FORMAT, SCHEMA, table_digest

    rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    row = draws.randrange(len(rows))
    name = draws.choice(list(rows[row]))
    rows[row][name] = changed_value(draws, rows[row][name])
    try:
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return data
    file = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"format": FORMAT, "sha256": table_digest(table)}), file)
    content: bytes = file.getvalue().to_pybytes()
    return content

"""A local worker whose games are altered: the first one that is started with a folder.

    python cluster_wrong_worker.py FOLDER THREADS

The altered files are whole, of possible games, and have the hash of their columns: one visit of the last search of each
unit is counted to another move. FOLDER/altered has a line for each altered unit, FOLDER/wrong the process.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hauteur.cluster import local_worker
from hauteur.learning.shards import SCHEMA, read_table, table_digest
from hauteur.learning.units import LearningJob
from hauteur.matches.record import GameRecord


def altered(content: bytes) -> bytes:
    """A file of games in which a search has one visit more."""
    table = read_table(pa.BufferReader(content), "a unit")
    games = table["policy_counts"].to_pylist()
    games[-1][-1] += 1
    place = SCHEMA.get_field_index("policy_counts")
    table = table.set_column(place, SCHEMA.field(place), pa.array(games, SCHEMA.field(place).type))
    metadata = {**(pq.read_schema(pa.BufferReader(content)).metadata or {}), b"sha256": table_digest(table).encode()}
    kept = {key: value for key, value in metadata.items() if key in (b"format", b"sha256")}
    output = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(kept), output, compression="zstd", write_page_checksum=True)
    return bytes(output.getvalue().to_pybytes())


def go_wrong(folder: Path) -> None:
    """Alter all games of this process."""
    encode = LearningJob._encode

    def wrong(self: LearningJob, records: Sequence[GameRecord]) -> bytes:
        with (folder / "altered").open("a") as file:
            file.write(f"{records[0].plan.index}\n")
        return altered(encode(self, records))

    LearningJob._encode = wrong  # type: ignore[method-assign]


if __name__ == "__main__":
    place, threads = Path(sys.argv[1]), int(sys.argv[2])
    try:
        os.close(os.open(place / "wrong", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        go_wrong(place)
    except FileExistsError:
        pass
    local_worker.main(threads)
    os._exit(0)

"""Local workers one of which alters its games: the first that starts with a folder.

    python cluster_wrong_worker.py FOLDER SHARE SEED WORKERS THREADS

The altered results are whole, of possible games, and have the right hash of their columns: in self-play a visit of the
last search of a unit is counted to another move, in a match a note is added. FOLDER/wrong has the process, FOLDER/units
a line for each of its units: the number of its first game, and whether it is altered.

    python cluster_wrong_worker.py command FOLDER SHARE SEED WORKERS COMMAND ...

runs a command of hauteur with such workers in the place of its own. They begin when so many are there.
"""

import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cluster_common import wait_for
from hauteur.cluster import local, local_worker
from hauteur.learning.shards import SCHEMA, read_table, table_digest
from hauteur.learning.units import LearningJob
from hauteur.matches.record import GameRecord
from hauteur.matches.results import MatchGame
from hauteur.matches.units import MatchJob
from hauteur.system.jsonl import NO_LINK, checked_line, lines_of

Encode = Callable[[Any, Sequence[GameRecord]], bytes]


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


def altered_match(content: bytes) -> bytes:
    """Games of a match, of which the last has a note more."""
    header, *lines = content.splitlines(keepends=True)
    games, link = list[MatchGame](), NO_LINK
    for line in lines:
        body, link = checked_line(line, link)
        games.append(MatchGame.model_validate_json(body))
    last = games[-1]
    games[-1] = last.model_copy(update={"notes": {**last.notes, last.plies: "altered"}})
    return header + lines_of(games)[0]


def go_wrong(folder: Path, share: float, seed: int) -> None:
    """Alter a share of the units of this process."""
    draw = random.Random(seed)

    def wrong(encode: Encode, change: Callable[[bytes], bytes]) -> Encode:
        def encoded(self: Any, records: Sequence[GameRecord]) -> bytes:
            changes = draw.random() < share
            with (folder / "units").open("a") as file:
                file.write(f"{records[0].plan.index} {int(changes)}\n")
            content = encode(self, records)
            return change(content) if changes else content

        return encoded

    for job, change in ((LearningJob, altered), (MatchJob, altered_match)):
        setattr(job, "_encode", wrong(getattr(job, "_encode"), change))  # noqa: B009, B010 (a method of either class)


def worker_command(folder: str, share: str, seed: str, workers: str) -> tuple[str, ...]:
    """What starts such a worker; its threads follow."""
    return (sys.executable, __file__, folder, share, seed, workers)


def units_of(folder: Path) -> list[tuple[int, bool]]:
    """The first games of the units of the wrong worker, and whether it has altered them."""
    lines = (folder / "units").read_text().splitlines() if (folder / "units").exists() else []
    return [(int(index), changed == "1") for index, changed in (line.split() for line in lines)]


if __name__ == "__main__":
    if sys.argv[1] == "command":
        from hauteur.cli.main import main

        started = worker_command(*sys.argv[2:6])
        defaults: Any = local.LocalFleet.__init__.__kwdefaults__
        defaults["command"] = started
        sys.argv[1:] = sys.argv[6:]
        sys.exit(main())
    place = Path(sys.argv[1])
    try:
        os.close(os.open(place / "wrong", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        go_wrong(place, float(sys.argv[2]), int(sys.argv[3]))
    except FileExistsError:
        pass
    (place / f"there-{os.getpid()}").touch()
    wait_for(lambda: len(list(place.glob("there-*"))) >= int(sys.argv[4]), 120, "all workers")
    local_worker.main(int(sys.argv[5]))
    os._exit(0)

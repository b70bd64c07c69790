"""Shards: games on disk as Parquet files, one row a game, with what was played and what the searches found.

A shard is written under a temporary name and renamed, so it is whole or absent. It carries a hash of its columns; what
is damaged, foreign or cannot have been played is refused with the name of the file.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import RESIGNATION
from hauteur.games.registry import load_game
from hauteur.learning.recorded_games import STORED, Games, faults, offsets_of
from hauteur.matches.record import Column, GameRecord, LearnedColumns, columns_of
from hauteur.system.errors import one_line
from hauteur.system.files import write_bytes

FORMAT = "hauteur games 2"

SCHEMA = pa.schema(
    [
        ("game_spec", pa.string()),
        ("index", pa.int64()),  # number of the game in its generation
        ("generation", pa.int32()),
        ("seed", pa.int64()),
        ("net_first", pa.int32()),  # generation of the net that moved as first
        ("net_second", pa.int32()),
        ("start", pa.list_(pa.uint16())),  # actions from the game's initial state to the first searched position
        ("outcome", pa.int8()),
        ("end_reason", pa.string()),
        ("n_scl", pa.float32()),  # of search-contempt; null where it is off
        ("resigned", pa.int8()),  # side that resigned, or played out would have: 0 first, 1 second; -1 neither
        ("origin", pa.string()),  # spec of the game whose initial state it began from; null: the game's own
        *((column.name, pa.list_(pa.from_numpy_dtype(column.dtype))) for column in STORED),
        ("root_q", pa.list_(pa.float32())),  # win - loss of root_wdl
    ]
)

MAY_BE_NULL = ("end_reason", "n_scl", "origin")


def write_shard(
    path: Path,
    game_spec: str,
    games: Sequence[GameRecord],
    *,
    generation: int,
    nets: Sequence[int],
) -> None:
    """Write games as one shard, whole or not at all; nets: generation of each player's net, by player index."""
    write_bytes(path, shard_bytes(game_spec, games, generation=generation, nets=nets))


def shard_bytes(game_spec: str, games: Sequence[GameRecord], *, generation: int, nets: Sequence[int]) -> bytes:
    """Return the content of a shard. The same games give the same bytes with the same version of pyarrow."""
    rows = [_row(game_spec, game, generation, nets) for game in games]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    table = table.replace_schema_metadata({"format": FORMAT, "sha256": table_digest(table)})
    file = pa.BufferOutputStream()
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    content: bytes = file.getvalue().to_pybytes()
    return content


def read_shard(path: Path, game_spec: str) -> Games:
    """Read a shard; ValueError naming the file when it is damaged, foreign, of another game or holds a bad game."""
    return checked_games(read_table(path), path, game_spec)


def checked_games(table: pa.Table, path: Path | str, game_spec: str) -> Games:
    """Return the games of a table of `read_table`; ValueError where they are of another game or cannot be."""
    check_spec(table, path, game_spec)
    games, bad = _examined(table)
    for number, reason in bad.items():
        raise ValueError(f"{path}, game {number + 1}: {reason}")
    return games


def check_spec(table: pa.Table, path: Path | str, game_spec: str) -> None:
    """Raise ValueError where games of a table are of another game."""
    others = set(table["game_spec"].to_pylist()) - {game_spec}
    if others:
        names = ", ".join(sorted(map(str, others)))
        raise ValueError(f"{path}: games of {names}, expected {game_spec}")


def read_table(source: Path | pa.BufferReader, name: str = "") -> pa.Table:
    """Return the columns of a shard as SCHEMA has them; ValueError naming the file when it is damaged or foreign."""
    path = name or source
    try:
        with pa.OSFile(str(source)) if isinstance(source, Path) else source as file:
            shard = pq.ParquetFile(file, page_checksum_verification=True)
            metadata = shard.schema_arrow.metadata or {}
            written = metadata.get(b"format", b"").decode(errors="replace")
            if written != FORMAT or _types(shard.schema_arrow) != _types(SCHEMA):
                raise ValueError(f"{path}: not a shard of games: its format is {written[:80]!r}, expected {FORMAT!r}")
            table = shard.read()
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a whole Parquet file: {one_line(error)[:200]}") from error
    for name in table.column_names:
        if name not in MAY_BE_NULL and _has_nulls(table[name]):
            raise ValueError(f"{path}: its column {name} has places without a value")
    # Page checksums find damaged bytes; the hash finds other values in a whole file, and where there are no checksums.
    # Every shard of this format has it; without it the values could be anything that the rules allow.
    if b"sha256" not in metadata:
        raise ValueError(f"{path}: has no sha256 of its columns, which every shard of games has")
    if metadata[b"sha256"] != table_digest(table).encode():
        raise ValueError(f"{path}: its columns are not those that were written (their sha256 differs)")
    return table.select(SCHEMA.names).combine_chunks()


def _types(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return sorted((field.name, field.type) for field in schema)


def _has_nulls(column: pa.ChunkedArray) -> bool:
    """Return whether the column, or a list in it, has a null."""
    if column.null_count:
        return True
    return bool(pa.types.is_list(column.type) and pc.list_flatten(column).null_count)


def table_digest(table: pa.Table) -> str:
    """Return the sha256 of all names and values, hexadecimal."""
    # Of the values and not of the file, which holds the hash, and whose bytes depend on the version of pyarrow.
    digest = hashlib.sha256()
    for name in SCHEMA.names:
        digest.update(name.encode())
        if pa.types.is_list(table[name].type):
            values, offsets = list_column(table, name)
            digest.update(np.diff(offsets).tobytes())
            digest.update(values.tobytes())
        else:
            digest.update(json.dumps(table[name].to_pylist()).encode())
    return digest.hexdigest()


def _row(game_spec: str, game: GameRecord, generation: int, nets: Sequence[int]) -> dict[str, Any]:
    first, second = game.plan.sides
    return {
        "game_spec": game_spec,
        "index": game.plan.index,
        "generation": generation,
        "seed": game.seed,
        "net_first": nets[first],
        "net_second": nets[second],
        "start": np.array(game.plan.start, np.uint16),
        "outcome": game.outcome,
        "end_reason": game.end_reason,
        "n_scl": game.n_scl,
        "resigned": game.resigned,
        "origin": game.plan.origin_spec,
        **{column.name: getattr(game, column.name).ravel() for column in STORED},
        "root_q": game.root_wdl[:, 0] - game.root_wdl[:, 2],
    }


def list_column(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all values of a list column, and the offsets of its rows [G + 1]."""
    column = table[name]
    lengths = pc.list_value_length(column).to_numpy()
    return pc.list_flatten(column).to_numpy(), offsets_of(lengths)


def games_of(table: pa.Table) -> Games:
    """Return the games of a shard whose columns fit each other, without what training does not read."""
    start, start_offsets = list_column(table, "start")
    actions, action_offsets = list_column(table, "actions")
    starts = np.diff(start_offsets)
    moves = np.diff(action_offsets)
    numbers = np.arange(len(moves))
    of_game = np.concatenate([np.repeat(numbers, starts), np.repeat(numbers, moves)])
    plain = {name: table[name].to_numpy() for name in ("outcome", "generation", "index", "resigned")}
    return Games(
        lines=np.concatenate([start, actions])[np.argsort(of_game, kind="stable")],
        line_lengths=starts + moves,
        move_counts=moves,
        n_scl=table["n_scl"].fill_null(float("nan")).to_numpy(),
        nets=np.stack([table["net_first"].to_numpy(), table["net_second"].to_numpy()], axis=1),
        gave_up=np.array([reason == RESIGNATION for reason in table["end_reason"].to_pylist()], np.bool_),
        origin=np.array(table["origin"].to_pylist(), np.object_),
        **plain,
        **{column.name: _values(table, column) for column in columns_of(LearnedColumns)},
    )


def _values(table: pa.Table, column: Column) -> NDArray[Any]:
    values, _ = list_column(table, column.name)
    if column.width == 1:
        return values
    return values.reshape(-1, column.width)


def bad_games(table: pa.Table) -> dict[int, str]:
    """Return why games of a shard cannot be as they are recorded, by their place from 0."""
    return _examined(table)[1]


def _examined(table: pa.Table) -> tuple[Games, dict[int, str]]:
    """Return the games whose columns fit each other, and why games cannot be as they are recorded, by their place."""
    bad = dict.fromkeys(_misfits(table).tolist(), "has columns that do not fit each other")
    specs = table["game_spec"].to_pylist()
    ends = table["end_reason"].to_pylist()
    rules = dict[str, _core.Game]()
    for spec in dict.fromkeys(specs):
        try:
            rules[spec] = load_game(spec)  # anew: a notebook may have replaced a game of its own meanwhile
        except ValueError as error:
            for number, name in enumerate(specs):
                if name == spec:
                    bad.setdefault(number, str(error))
    # Only games whose columns fit can be cut out of the flat arrays at all; the others are named without a closer look.
    fitting = np.setdiff1d(np.arange(table.num_rows), list(bad)).astype(np.int64)
    games = games_of(table.take(fitting) if bad else table)
    rules_of_games = [rules[specs[place]] for place in fitting.tolist()]
    end_reasons = [ends[place] for place in fitting.tolist()]
    for number, reason in faults(games, rules_of_games, end_reasons):
        bad[int(fitting[number])] = reason
    return games, dict(sorted(bad.items()))


def _misfits(table: pa.Table) -> NDArray[np.int64]:
    """Return the games whose columns have not the same number of moves, or of edges."""
    moves = pc.list_value_length(table["actions"]).to_numpy()
    lengths, offsets = list_column(table, "policy_lengths")
    summed = np.diff(offsets_of(lengths)[offsets])
    expected = {}
    for column in STORED:
        is_of_edges = column.level == "edge"
        expected[column.name] = summed if is_of_edges else moves * column.width
    expected["root_q"] = moves
    wrong = []
    for name, lengths in expected.items():
        found = pc.list_value_length(table[name]).to_numpy()
        wrong.append(found != lengths)
    return np.flatnonzero(np.any(wrong, axis=0))

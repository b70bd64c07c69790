"""Damaged shards: no flipped bit and no wrong value is taken in silently, or ends a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.shards import FORMAT, SCHEMA, bad_games, read_shard, read_table, table_digest

GAME = _core.Game("connect4")
Row = dict[str, Any]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    return shard_of(tmp_path / "a.parquet", GAME, [random_record(GAME, index, plies=20) for index in range(8)])


def with_rows(path: Path, rows: list[Row], **metadata: str) -> Path:
    """A shard of these rows without check sums of its pages."""
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    facts = {"format": FORMAT, "sha256": table_digest(table), **metadata}
    pq.write_table(table.replace_schema_metadata(facts), path)
    return path


def test_a_shard_without_the_hash_of_its_columns_is_refused(tmp_path: Path, shard: Path) -> None:
    path = tmp_path / "bare.parquet"
    pq.write_table(read_table(shard).replace_schema_metadata({"format": FORMAT}), path)
    with pytest.raises(
        ValueError, match=r"bare\.parquet: has no sha256 of its columns, which every shard of games has"
    ):
        read_table(path)


@pytest.mark.parametrize("seed", range(4))
def test_no_flipped_bit_is_taken_in_silently(tmp_path: Path, shard: Path, seed: int) -> None:
    whole = shard.read_bytes()
    random = np.random.default_rng(seed)
    path = tmp_path / "flipped.parquet"
    expected = read_table(shard)
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
        path.write_bytes(data)
        try:
            assert read_table(path).equals(expected)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017 (a flip in what is not read is no error)
            refused += 1
    assert refused > 100


def change(column: str, of: Callable[[list[Any]], object]) -> Callable[[Row], None]:
    def changed(row: Row) -> None:
        row[column] = of(row[column])

    return changed


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            change("origin", lambda _: "nogo(size=5)"),
            r"begins from a position of nogo\(size=5\), but is",
        ),
        (change("origin", lambda _: "no game"), "no game"),
        (change("actions", lambda found: [3] * len(found)), "not legal|is full"),
        (change("actions", lambda found: [*found[:-1], 60_000]), "not legal|60000"),
        (change("actions", lambda found: found[:-1]), "columns that do not fit each other"),
        (change("movers", lambda found: found[1:]), "columns that do not fit each other"),
        (change("movers", lambda found: [1 - mover for mover in found]), "does not say rightly who made each move"),
        (change("start", lambda _: [3]), "not legal|does not say rightly"),
        (change("root_wdl", lambda found: found[:-1]), "columns that do not fit each other"),
        (change("root_wdl", lambda found: [9.0] * len(found)), "without a policy target or a value"),
        (change("policy_lengths", lambda found: [found[0] + 1, *found[1:]]), "columns that do not fit each other"),
        (change("policy_actions", lambda found: [7] * len(found)), "an action that the game does not have"),
        (change("policy_counts", lambda found: [0] * len(found)), "without a policy target"),
        (change("surprise", lambda found: []), "columns that do not fit each other"),
        (change("outcome", lambda _: 2), "an outcome"),
    ],
)
def test_a_game_that_cannot_be_is_named_and_skipped(
    tmp_path: Path, shard: Path, wrong: Callable[[Row], None], message: str
) -> None:
    rows = read_table(shard).to_pylist()
    wrong(rows[5])
    path = with_rows(tmp_path / "b.parquet", rows)
    assert list(bad_games(read_table(path))) == [5]
    with pytest.raises(ValueError, match=rf"b\.parquet, game 6: .*({message})"):
        read_shard(path, GAME.spec)
    buffer = ReplayBuffer(GAME, 100)
    buffer.extend([path, shard])
    assert buffer.games is not None
    assert (buffer.games.games, len(buffer.skipped)) == (8, 1)
    buffer.samples_of(np.arange(buffer.positions))


def test_no_wrong_value_is_fatal(tmp_path: Path, shard: Path) -> None:
    random = np.random.default_rng(1)
    whole = read_table(shard).to_pylist()
    skipped = 0
    names = [field.name for field in SCHEMA if pa.types.is_list(field.type) or pa.types.is_integer(field.type)]
    for _ in range(150):
        rows = [{**row} for row in whole]
        row = rows[random.integers(len(rows))]
        name = names[random.integers(len(names))]
        values = list(np.atleast_1d(row[name]))
        wrong = int(random.choice([0, 1, 5, 100]))
        if values:
            values[random.integers(len(values))] = wrong
        row[name] = values if isinstance(row[name], list) else wrong
        buffer = ReplayBuffer(GAME, 100)
        buffer.extend([with_rows(tmp_path / "b.parquet", rows)])
        skipped += len(buffer.skipped)
        assert all("b.parquet" in message for message in buffer.skipped)
        if not buffer.skipped:
            buffer.samples_of(np.arange(buffer.positions))
    assert skipped > 20

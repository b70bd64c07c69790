"""lc0's training chunks: the layout by known facts, round trips, positions equal to those of the encoder, bad files."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chunk_toys import chunk_of, write_chunk
from hypothesis import given
from hypothesis import strategies as st
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.learning.lc0_chunks import MAX_BYTES, RECORDS, ChunkBuffer, read_chunk
from hauteur.learning.replay import ReplayBuffer
from hauteur.matches.record import GameRecord

CHESS = _core.Game("chess")
ENDGAME = "8/P6k/8/8/3pP3/8/6K1/8 b - e3 5 60"


def played(moves: str, fen: str | None = None) -> GameRecord:
    """A record of these moves with made-up searches."""
    origin = None if fen is None else _core.Game(f"chess(fen={fen})").new_initial_state()
    state = (origin or CHESS.new_initial_state()).copy()
    actions = []
    for move in moves.split():
        actions.append(state.parse(move))
        state.apply(actions[-1])
    count = len(actions)
    base = random_record(CHESS, 1, plies=count)
    return replace(
        base,
        plan=replace(base.plan, origin=origin),
        actions=np.array(actions, np.uint16),
        policy_actions=np.array(actions, np.uint16),
        policy_counts=np.full(count, 3, np.uint32),
        policy_lengths=np.ones(count, np.uint16),
        outcome=1,
        end_reason="resignation",
    )


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    odds = _core.Game(f"chess(fen={ENDGAME})")
    own = [random_record(CHESS, index, plies=120) for index in range(4)]
    return [*own, random_record(CHESS, 4, plies=30, origin=odds.new_initial_state())]


def test_the_layout_of_a_record_is_lc0s() -> None:
    version_6, version_7 = RECORDS[6], RECORDS[7]
    assert (version_6.itemsize, version_7.itemsize) == (8356, 8396)
    known = {
        "input_format": 4,
        "probabilities": 8,
        "planes": 7440,
        "castling": 8272,
        "black_to_move": 8276,
        "rule50": 8277,
        "invariance_info": 8278,
        "root_q": 8280,
        "best_q": 8284,
        "root_d": 8288,
        "best_d": 8292,
        "root_m": 8296,
        "best_m": 8300,
        "plies_left": 8304,
        "result_q": 8308,
        "result_d": 8312,
        "played_q": 8316,
        "played_d": 8320,
        "played_m": 8324,
        "orig_q": 8328,
        "orig_d": 8332,
        "orig_m": 8336,
        "visits": 8340,
        "played_idx": 8344,
        "best_idx": 8346,
        "policy_kld": 8348,
        "q_st": 8352,
    }
    fields = version_6.fields
    assert fields is not None
    assert {name: fields[name][1] for name in known} == known
    assert {name: version_7.fields[name][1] for name in known} == known  # type: ignore[index]
    added = {name: version_7.fields[name][1] for name in ("d_st", "opp_played_idx", "next_played_idx", "more")}  # type: ignore[index]
    assert added == {"d_st": 8356, "opp_played_idx": 8360, "next_played_idx": 8362, "more": 8364}


def test_the_start_position_by_hand() -> None:
    (record, reply) = chunk_of(played("e2e4 e7e5"))
    planes = record["planes"].view("<u8").ravel()
    pieces = [0x000000000000FF00, 0x42, 0x24, 0x81, 0x10, 0x08]  # e1, bit 4, is reversed in its byte to bit 3
    theirs = [0x00FF000000000000, *(low << 56 for low in (0x42, 0x24, 0x81, 0x10, 0x08))]
    assert planes[:12].tolist() == [*pieces, *theirs]
    assert not planes[12:].any()
    assert (record["castling"].tolist(), record["black_to_move"], record["rule50"]) == ([1, 1, 1, 1], 0, 0)
    assert np.count_nonzero(record["probabilities"] >= 0) == 20
    assert set(record["probabilities"].tolist()) == {-1.0, 0.0, 1.0}
    assert (record["played_idx"], record["probabilities"][322]) == (322, 1.0)
    assert (reply["played_idx"], reply["black_to_move"]) == (322, 1)  # e7e5 is e2e4 for the mover
    assert (record["result_q"], record["result_d"], reply["result_q"]) == (1.0, 0.0, -1.0)


def test_a_chunk_reads_back_what_was_written(tmp_path: Path, records: list[GameRecord]) -> None:
    written = chunk_of(records[0])
    write_chunk(tmp_path / "a.gz", written)
    assert read_chunk(tmp_path / "a.gz").tobytes() == written.tobytes()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_chunks_teach_what_the_games_teach(tmp_path: Path, records: list[GameRecord], share: float) -> None:
    replay, chunks = ReplayBuffer(CHESS, 100, legal=True), ChunkBuffer(CHESS)
    replay.extend([shard_of(tmp_path / "gen-00001-0000.parquet", CHESS, records)])
    for index, record in enumerate(records):
        write_chunk(tmp_path / f"{index}.gz", chunk_of(record))
    chunks.extend(sorted(tmp_path.glob("*.gz")))
    assert chunks.positions == replay.positions
    rows = np.arange(chunks.positions)
    ours, theirs = (buffer.samples_of(rows, root_value_share=share) for buffer in (replay, chunks))
    assert np.array_equal(ours.features, theirs.features)
    assert np.abs(ours.policy - theirs.policy).max() < 1e-6
    assert ours.legal is not None
    assert theirs.legal is not None
    assert np.array_equal(ours.legal, theirs.legal)
    assert np.abs(ours.wdl - theirs.wdl).max() < 1e-6
    drawn, again = (chunks.sample(np.random.default_rng(3), 32, root_value_share=share) for _ in range(2))
    assert drawn.features.shape == (32, 112, 8, 8)
    assert np.array_equal(drawn.features, again.features)
    assert drawn.policy.sum(axis=1) == pytest.approx(1)


def packed(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "bad.gz"
    path.write_bytes(gzip.compress(data))
    return path


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match="bad") as caught:
        read_chunk(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_files_that_unpack_to_too_much(tmp_path: Path) -> None:
    path = tmp_path / "bad.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(MAX_BYTES // 2**20 + 1):
            file.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    assert refused(path) == f"has more than {MAX_BYTES} bytes unpacked"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("version", 7, "record 2 has another version than record 0 (6)"),
        ("input_format", 3, "record 2 has input format 3 (112 planes with canonicalisation), only 1"),
        ("input_format", 77, "record 2 has input format 77 (unknown), only 1 (classical, 112 planes) can be read"),
        ("probabilities", 5.0, "record 2 has a probability that is not -1 or 0 to 1"),
        ("probabilities", np.nan, "record 2 has a probability that is not -1 or 0 to 1"),
        ("probabilities", -1.0, "record 2 has probabilities that do not sum to 1"),
        ("probabilities", 0.5, "record 2 has probabilities that do not sum to 1"),
        ("result_q", 1.5, "record 2 has result_q and result_d that are no win, draw and loss"),
        ("result_d", np.nan, "record 2 has result_q and result_d that are no win, draw and loss"),
        ("root_q", np.inf, "record 2 has root_q and root_d that are no win, draw and loss"),
        ("root_d", -0.5, "record 2 has root_q and root_d that are no win, draw and loss"),
        ("played_idx", 1858, "record 2 has a played_idx that is not below 1858"),
    ],
)
def test_the_first_bad_record_is_named(
    tmp_path: Path, records: list[GameRecord], field: str, value: float, message: str
) -> None:
    written = chunk_of(records[0])
    written[field][2:4] = value
    assert refused(packed(tmp_path, written.tobytes())).startswith(message)


@given(place=st.integers(0, 3 * 8356 - 1), value=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    data = bytearray(chunk_of(played("e2e4 e7e5 g1f3")).tobytes())
    data[place] = value
    path = tmp_path_factory.getbasetemp() / "fuzz.gz"
    path.write_bytes(gzip.compress(bytes(data), compresslevel=1))
    buffer = ChunkBuffer(CHESS)
    buffer.extend([path])
    if buffer.skipped:
        assert buffer.skipped[0].startswith(f"{path}: record ")
    elif buffer.positions:
        samples = buffer.samples_of(np.arange(buffer.positions), root_value_share=0.5)
        assert np.isfinite(samples.features).all()
        assert samples.policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert samples.wdl.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert (samples.wdl >= 0).all()

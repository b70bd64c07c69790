"""Games on disk and in the buffer: bad files are named, samples are positions that were played, drawn by surprise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_toys import ToyEvaluator, toy_games
from scipy import stats

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.shards import read_shard, write_shard
from hauteur.matches.arena import GameRules
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import SearchParams
from reference.games import policy_surprise

pytestmark = pytest.mark.quick

GAME = _core.Game("connect4")


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return toy_games(GAME, [GamePlan(index, start=(3, 2, 3)[: index % 4]) for index in range(12)], 10)


@pytest.fixture
def shard(tmp_path: Path, records: list[GameRecord]) -> Path:
    path = tmp_path / "gen-00001-0000.parquet"
    write_shard(path, GAME.spec, records, generation=1, nets=[7])
    return path


def buffer_of(*paths: Path, window: int = 1000) -> ReplayBuffer:
    buffer = ReplayBuffer(GAME, window)
    buffer.extend(paths)
    return buffer


def lines(games: Games) -> list[list[int]]:
    return [games.lines[a:b].tolist() for a, b in zip(games.line_offsets, games.line_offsets[1:], strict=False)]


def full_line(record: GameRecord) -> list[int]:
    return [*record.plan.start, *record.actions.tolist()]


def test_a_shard_reads_back_what_was_written(shard: Path, records: list[GameRecord]) -> None:
    games = read_shard(shard, GAME.spec)
    assert lines(games) == [full_line(record) for record in records]
    assert games.outcome.tolist() == [record.outcome for record in records]
    assert games.movers.tolist() == np.concatenate([record.movers for record in records]).tolist()
    assert games.root_wdl == pytest.approx(np.concatenate([record.root_wdl for record in records]))
    assert games.policy_counts.tolist() == np.concatenate([record.policy_counts for record in records]).tolist()
    assert games.plies.tolist() == [
        len(record.plan.start) + ply for record in records for ply in range(len(record.actions))
    ]
    assert np.diff(games.edge_offsets).tolist() == np.concatenate([r.policy_lengths for r in records]).tolist()


def test_torn_foreign_and_other_games_are_named_and_skipped(
    tmp_path: Path, shard: Path, records: list[GameRecord]
) -> None:
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1]}), foreign)
    other = tmp_path / "other.parquet"
    write_shard(other, "nogo(size=5)", records[:1], generation=1, nets=[0])
    text = tmp_path / "text.parquet"
    text.write_text("nothing")
    buffer = buffer_of(torn, foreign, shard, other, text)
    assert buffer.games is not None
    assert buffer.games.games == len(records)
    assert [message.split(":")[0] for message in buffer.skipped] == [str(p) for p in (torn, foreign, other, text)]
    assert "not a whole Parquet file" in buffer.skipped[0]
    assert "not a shard of games" in buffer.skipped[1]
    assert "games of nogo(size=5), expected connect4" in buffer.skipped[2]


def test_moves_that_are_not_learned_from_are_no_positions(tmp_path: Path, records: list[GameRecord]) -> None:
    first = replace(records[0], learn=np.arange(len(records[0].actions), dtype=np.uint8) % 2)
    path = tmp_path / "x.parquet"
    write_shard(path, GAME.spec, [first, records[1]], generation=1, nets=[0])
    buffer = buffer_of(path)
    assert buffer.games is not None
    assert buffer.positions == buffer.games.positions == int(first.learn.sum()) + len(records[1].actions)
    drawn = buffer.sample(np.random.default_rng(1), 500, symmetries=False)
    learned = {row.tobytes() for row in buffer.samples_of(np.arange(buffer.positions)).features}
    assert {row.tobytes() for row in drawn.features} == learned
    assert len(learned) == buffer.positions


def test_the_window_keeps_the_last_games(tmp_path: Path, shard: Path, records: list[GameRecord]) -> None:
    second = tmp_path / "second.parquet"
    write_shard(second, GAME.spec, records[:4], generation=2, nets=[1])
    buffer = buffer_of(shard, window=9)
    buffer.extend([second])
    assert buffer.games is not None
    expected = [*records[7:], *records[:4]]
    assert lines(buffer.games) == [full_line(record) for record in expected]
    assert buffer.games.generation.tolist() == [1] * 5 + [2] * 4
    assert buffer.positions == sum(len(record.actions) for record in expected)
    assert_targets(buffer, expected)


def test_the_order_of_shards_of_a_generation_does_not_matter(tmp_path: Path, records: list[GameRecord]) -> None:
    paths = [tmp_path / f"{part}.parquet" for part in range(3)]
    for path, part in zip(paths, (records[8:], records[:3], records[3:8]), strict=True):
        write_shard(path, GAME.spec, part[::-1], generation=1, nets=[0])
    games = buffer_of(*paths).games
    assert games is not None
    assert lines(games) == [full_line(record) for record in records]
    assert_targets(buffer_of(*paths), records)


def assert_targets(buffer: ReplayBuffer, records: list[GameRecord]) -> None:
    """Features and targets of all positions, against the games replayed one by one."""
    samples = buffer.samples_of(np.arange(buffer.positions))
    row = 0
    for record in records:
        state = position_after(GAME.new_initial_state(), record.plan.start)
        ends = np.cumsum(record.policy_lengths)
        for ply, action in enumerate(record.actions.tolist()):
            edges = slice(ends[ply] - record.policy_lengths[ply], ends[ply])
            policy = np.zeros(GAME.num_actions)
            policy[record.policy_actions[edges]] = record.policy_counts[edges] / record.policy_counts[edges].sum()
            outcome = record.outcome if state.to_move == 0 else -record.outcome
            assert np.array_equal(samples.features[row], state.features())
            if samples.legal is not None:
                assert np.flatnonzero(samples.legal[row]).tolist() == sorted(state.legal_actions())
            assert samples.policy[row] == pytest.approx(policy)
            assert samples.wdl[row].tolist() == [outcome == 1, outcome == 0, outcome == -1]
            state.apply(action)
            row += 1
    assert row == buffer.positions


def test_the_value_target_mixes_outcome_and_root_value(shard: Path) -> None:
    buffer = buffer_of(shard)
    moves = np.arange(buffer.positions)
    outcome, mixed = (buffer.samples_of(moves, root_value_share=share).wdl for share in (0.0, 0.25))
    assert buffer.games is not None
    assert mixed == pytest.approx(0.75 * outcome + 0.25 * buffer.games.root_wdl, abs=1e-6)


def test_symmetries_turn_features_and_policy_alike(shard: Path) -> None:
    buffer = buffer_of(shard)
    samples = buffer.samples_of(np.arange(buffer.positions))
    mirrored = buffer.transformed(samples, np.ones(buffer.positions, np.int64))
    assert np.array_equal(mirrored.features, samples.features[..., ::-1])
    assert np.array_equal(mirrored.policy, samples.policy[:, ::-1])
    assert np.array_equal(mirrored.wdl, samples.wdl)


def test_samples_say_which_actions_are_legal(shard: Path, records: list[GameRecord]) -> None:
    buffer = ReplayBuffer(GAME, 1000, legal=True)
    buffer.extend([shard])
    assert_targets(buffer, records)
    samples = buffer.samples_of(np.arange(buffer.positions))
    assert samples.legal is not None
    mirrored = buffer.transformed(samples, np.ones(buffer.positions, np.int64))
    assert mirrored.legal is not None
    assert np.array_equal(mirrored.legal, samples.legal[:, ::-1])
    assert buffer_of(shard).sample(np.random.default_rng(0), 4).legal is None


def test_samples_are_uniform_over_positions_and_repeatable(shard: Path) -> None:
    buffer = buffer_of(shard)
    first, again = (buffer.sample(np.random.default_rng(5), 64) for _ in range(2))
    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.policy, again.policy)
    many = buffer.sample(np.random.default_rng(6), 4000, symmetries=False)
    opening = (many.features.reshape(4000, -1).sum(axis=1) == GAME.new_initial_state().features().sum()).mean()
    empty_starts = 3 / buffer.positions  # three games begin with the empty board
    assert opening == pytest.approx(empty_starts, abs=4 * np.sqrt(empty_starts / 4000))


def test_games_from_other_positions_keep_their_origin(tmp_path: Path) -> None:
    chess = _core.Game("chess")
    odds = _core.Game("chess(fen=rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1)")
    plans = [GamePlan(0), GamePlan(1, origin=odds.new_initial_state(), start=(322,))]
    records = toy_games(chess, plans, 4, rules=GameRules(max_plies=6))
    path = tmp_path / "gen-00001-0000.parquet"
    write_shard(path, chess.spec, records, generation=1, nets=[0])
    buffer = ReplayBuffer(chess, 10)
    buffer.extend([path])
    assert buffer.games is not None
    assert buffer.games.origin.tolist() == [None, odds.spec]
    state = odds.new_initial_state()
    state.apply(322)
    first_of_second = buffer.samples_of(np.array([len(records[0].actions)]))
    assert np.array_equal(first_of_second.features[0], state.features())
    started = GamePlan(2, origin=state)
    with pytest.raises(ValueError, match="begins 1 plies after the start"):
        write_shard(path, chess.spec, [replace(records[0], plan=started)], generation=1, nets=[0])


def weighted(folder: Path, records: list[GameRecord], weight: float) -> ReplayBuffer:
    path = folder / "x.parquet"
    write_shard(path, GAME.spec, records, generation=1, nets=[0])
    buffer = ReplayBuffer(GAME, 100, surprise_weight=weight)
    buffer.extend([path])
    return buffer


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_surprise_is_the_divergence(seed: int, actions: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 50, actions).astype(np.uint32)
    priors = random.dirichlet(np.ones(actions)).astype(np.float32)
    assert policy_surprise(counts, priors) == pytest.approx(stats.entropy(counts, priors), abs=1e-5)


def test_games_record_the_divergence_from_the_nets_own_prior(records: list[GameRecord]) -> None:
    """Without the noise that the root was searched with."""
    evaluator = ToyEvaluator(GAME)
    for record in records[:2]:
        state = position_after(GAME.new_initial_state(), record.plan.start)
        ends = np.cumsum(record.policy_lengths)
        for ply, action in enumerate(record.actions.tolist()):
            logits = evaluator.submit(state.features()[None]).result()[0][0].astype(np.float64)
            legal = np.zeros(GAME.num_actions, bool)
            legal[state.legal_actions()] = True
            prior = np.where(legal, np.exp((logits - logits.max()) / SearchParams().policy_temperature), 0)
            edges = slice(ends[ply] - record.policy_lengths[ply], ends[ply])
            target = np.zeros(GAME.num_actions)
            target[record.policy_actions[edges]] = record.policy_counts[edges]
            expected = stats.entropy(target[legal], prior[legal])
            assert record.surprise[ply] == pytest.approx(expected, abs=2e-3)  # priors have 16 bits
            state.apply(action)


@pytest.mark.parametrize("weight", [0.3, 0.5, 1.0])
def test_positions_are_drawn_by_their_weights(tmp_path: Path, records: list[GameRecord], weight: float) -> None:
    half = [replace(r, learn=np.arange(len(r.actions), dtype=np.uint8) % 3 % 2) for r in records[:3]]
    buffer = weighted(tmp_path, [*half, *records[3:6]], weight)
    assert buffer.games is not None
    expected = np.zeros(buffer.positions)
    position = 0
    for record in [*half, *records[3:6]]:
        kl = record.surprise[record.learn == 1].astype(np.float64)
        expected[position : position + len(kl)] = (1 - weight) + weight * len(kl) * kl / kl.sum()
        position += len(kl)
    rows = 200_000
    counts = np.bincount(buffer.draw(np.random.default_rng(7), rows), minlength=buffer.positions)
    expected *= rows / expected.sum()
    assert counts[expected == 0].sum() == 0
    tested = expected > 0
    assert stats.chisquare(counts[tested], expected[tested]).pvalue > 1e-3
    flat = np.full(buffer.positions, rows / buffer.positions)
    assert stats.chisquare(counts, flat).pvalue < 1e-9  # the test would see even draws


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_equal_positions_have_the_means_of_their_targets(records: list[GameRecord], share: float) -> None:
    """Also where games come one after another and leave the window."""
    plain = ReplayBuffer(GAME, 9)
    equal = ReplayBuffer(GAME, 9, average_equal=True)
    for buffer in (plain, equal):
        buffer.add(records[:4])
        buffer.add([*records[2:8], *records[2:4]])
    every = np.arange(plain.positions)
    one, mean = (buffer.samples_of(every, root_value_share=share) for buffer in (plain, equal))
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(one.features):
        groups.setdefault(row.tobytes(), []).append(number)
    assert max(map(len, groups.values())) > 3
    assert np.array_equal(one.features, mean.features)
    for members in groups.values():
        assert mean.policy[members] == pytest.approx(
            np.tile(one.policy[members].mean(axis=0), (len(members), 1)), abs=1e-6
        )
        assert mean.wdl[members] == pytest.approx(np.tile(one.wdl[members].mean(axis=0), (len(members), 1)), abs=1e-6)

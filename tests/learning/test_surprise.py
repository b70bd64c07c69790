"""Policy surprise: its value, and positions drawn by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_toys import ToyEvaluator
from scipy import stats

from hauteur import _core
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.shards import write_shard
from hauteur.matches.arena import play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, SearchParams, Temperature
from hauteur.players.search_player import SearchPlayer
from reference.games import policy_surprise

GAME = _core.Game("connect4")


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    player = SearchPlayer("toy", ToyEvaluator(GAME), SearchParams(dirichlet=Dirichlet()), 10, Temperature(initial=1.0))
    plans = [GamePlan(index) for index in range(6)]
    played = play_games(GAME, [player], plans, seed=1, purpose="t", parallel=4, batch_size=4)
    return sorted(played, key=lambda game: game.plan.index)


def buffer_of(folder: Path, records: list[GameRecord], weight: float) -> ReplayBuffer:
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
        state = GAME.new_initial_state()
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
    buffer = buffer_of(tmp_path, [*half, *records[3:]], weight)
    assert buffer.games is not None
    expected = np.zeros(buffer.positions)
    position = 0
    for record in [*half, *records[3:]]:
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

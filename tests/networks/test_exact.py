"""Answers that are the same bits in every batch: the core's by themselves, others in pieces of one number of rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_toys import attention_net
from learning_toys import ToyEvaluator
from numpy.typing import NDArray
from selfplay_toys import games_of

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.evaluators.base import Answers, Backend, BorrowedAnswers, Evaluator, Floats
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator, precisions_here
from hauteur.networks.evaluators.fixed_rows import PIECE_ROWS, FixedRows, PackedFixedRows, in_fixed_rows
from hauteur.networks.names import shipped_names
from hauteur.players.search_player import SearchPlayer

GAME = load_game("connect4")
SIZES = (*range(1, 41), 63, 64, 65, 100, 127, 128, 129, 200, 255, 256)


class OfTheSize(ToyEvaluator):
    """Answers that tell the size of the batch in their last bits."""

    def __call__(self, features: Floats) -> Answers:
        logits, wdl = super().__call__(features)
        return logits + np.float32(1e-4 * len(features)), wdl


class OfThePlace(ToyEvaluator):
    """Answers that tell the place of the row."""

    def __call__(self, features: Floats) -> Answers:
        logits, wdl = super().__call__(features)
        return logits + np.arange(len(logits), dtype=np.float32)[:, None], wdl


def bits(answers: Answers) -> Any:
    """All answers to each row, uint32 [B, A + 3]."""
    return np.concatenate(answers, axis=1, dtype=np.float32).view(np.uint32)


def assert_same_in_every_batch(evaluator: Evaluator, features: Floats, sizes: tuple[int, ...] = SIZES) -> None:
    expected = bits(evaluator(features))
    for size in sizes:
        first = (len(features) - size) // 2
        part = slice(first, first + size)
        assert np.array_equal(bits(evaluator(features[part])), expected[part]), f"{evaluator.name}: {size} rows"
    order = np.random.default_rng(0).permutation(len(features))
    assert np.array_equal(bits(evaluator(features[order])), expected[order]), f"{evaluator.name}: places in the batch"


def test_where_the_place_shows_rows_are_computed_one_by_one() -> None:
    assert in_fixed_rows(GAME, OfTheSize(GAME), 8).rows == 8
    made = in_fixed_rows(GAME, OfThePlace(GAME), 8)
    assert made.rows == 1
    assert_same_in_every_batch(made, features_of(GAME, random_positions(GAME, 12)), (1, 5, 11))


class Unpacking(ToyEvaluator):
    """A toy that unpacks bit planes itself, and whose answers lie in memory that the next batch uses again."""

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> "Lent":
        unpacked = masks[:, :, None] >> np.arange(42, dtype=np.uint64) & np.uint64(1)
        rows = (unpacked * values[:, :, None]).reshape(-1, *self.feature_shape)
        return Lent(self(rows.astype(np.float32)))


class Lent:
    """Answers that are gone when their owner is."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def result(self) -> Answers:
        return self._answers[0].copy(), self._answers[1].copy()

    def borrowed(self) -> Answers:
        return self._answers

    def __del__(self) -> None:
        for array in self._answers:
            array.fill(np.nan)


def test_bit_planes_are_computed_in_fixed_rows_too() -> None:
    states = random_positions(GAME, 40)
    packed = [state.features_packed() for state in states]
    masks, values = (np.stack(parts) for parts in zip(*packed, strict=True))
    evaluator = Unpacking(GAME)
    pieces = in_fixed_rows(GAME, evaluator, 16)
    assert isinstance(pieces, PackedFixedRows)
    assert not isinstance(in_fixed_rows(GAME, ToyEvaluator(GAME), 16), PackedFixedRows)
    expected = bits(evaluator(features_of(GAME, states)))
    evaluator.rows.clear()
    for size in (1, 15, 16, 17, 40):
        pending = pieces.submit_packed(masks[:size], values[:size])
        assert np.array_equal(bits(pending.result()), expected[:size])
        assert isinstance(pending, BorrowedAnswers)
        assert np.array_equal(bits(pending.borrowed()), expected[:size])
    assert set(evaluator.rows) == {16}


def test_lent_answers_are_read_before_they_are_gone() -> None:
    """Games by bit planes in fixed rows are those by features."""
    found = []
    for evaluator in (in_fixed_rows(GAME, Unpacking(GAME), 16), ToyEvaluator(GAME)):
        player = SearchPlayer("toy", evaluator, SearchParams(), 16, Temperature(initial=1.0))
        games = games_of([player], 12, in_flight=3)
        found.append([(game.actions.tolist(), game.net_value.tolist()) for game in games])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", shipped_names())
def test_the_core_answers_the_same_in_batches_of_1_to_256(name: str) -> None:
    game = load_game(networks.describe(name).game)
    features = features_of(game, random_positions(game, 256))
    for precision in precisions_here("core"):
        with make_evaluator(game, name, backend="core", precision=precision, threads=2) as evaluator:
            assert_same_in_every_batch(evaluator, features)


@pytest.mark.parametrize("backend", ["torch", "onnxruntime"])
@pytest.mark.parametrize("smolgen", [False, True])
def test_others_answer_the_same_where_they_are_to_be_exact(backend: Backend, smolgen: bool, tmp_path: Path) -> None:
    attention = tmp_path / "net.pb.gz"
    networks.save(attention, *attention_net(embedding="map", smolgen=smolgen), game="chess")
    for game, net in ((load_game("chess"), attention), (GAME, "connect4")):
        rows = features_of(game, random_positions(game, 70))
        found = []
        for threads in (1, 2):
            with make_evaluator(
                game, net, backend=backend, threads=threads, batch_size=24, device="cpu", exact=True
            ) as evaluator:
                assert isinstance(evaluator, FixedRows)
                assert evaluator.rows in ((PIECE_ROWS, 1) if smolgen else (PIECE_ROWS,))
                assert evaluator.batch_size == 24
                assert_same_in_every_batch(evaluator, rows, (1, 2, 7, 31, 32, 33, 64, 65))
                found.append(bits(evaluator(rows)))
        assert np.array_equal(*found), f"{backend}: threads"

"""Answers that are the same bits in every batch: the core's by themselves, others in pieces of one number of rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_toys import attention_net
from learning_toys import ToyEvaluator

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks.evaluators.base import Answers, Backend, Evaluator, Floats
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator, precisions_here
from hauteur.networks.evaluators.fixed_rows import PIECE_ROWS, FixedRows, in_fixed_rows
from hauteur.networks.names import shipped_names

pytestmark = pytest.mark.quick

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

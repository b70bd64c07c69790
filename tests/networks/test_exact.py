"""Answers that do not depend on the batch: finding out whether they do, and batches of one size."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from learning_toys import ToyEvaluator

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks import ResNetArchitecture
from hauteur.networks.evaluators.base import Answers, Evaluator, Floats
from hauteur.networks.evaluators.batch_invariant import Exact, FixedRows, depends_on_batch
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.modules import initialise, tensors_of

GAME = load_game("connect4")


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


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "net.safetensors"
    shape = ResNetArchitecture(
        feature_shape=GAME.feature_shape, num_actions=GAME.num_actions, filters=32, blocks=3, policy_channels=8
    )
    networks.save(path, shape, tensors_of(initialise(shape, 1)), game=GAME.spec, training={})
    return path


def test_answers_of_the_row_alone_are_told_from_others() -> None:
    assert not depends_on_batch(ToyEvaluator(GAME))
    assert depends_on_batch(OfTheSize(GAME))
    assert depends_on_batch(OfThePlace(GAME))


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 16, 20])
def test_fixed_rows_give_the_same_answers_in_batches_of_one_size(rows: int) -> None:
    toy = ToyEvaluator(GAME)
    features = np.random.default_rng(1).random((rows, *GAME.feature_shape), np.float32)
    expected = toy(features)
    toy.rows.clear()
    logits, wdl = FixedRows(toy, 8)(features)
    assert np.array_equal(logits, expected[0])
    assert np.array_equal(wdl, expected[1])
    assert toy.rows == [8] * -(-rows // 8)


def test_an_evaluator_is_fixed_only_where_it_needs_it() -> None:
    exact = Exact(rows=8)
    plain, sized = ToyEvaluator(GAME), OfTheSize(GAME)
    assert exact.made(plain, "plain") is plain
    made = exact.made(sized, "sized")
    assert isinstance(made, FixedRows)
    assert not depends_on_batch(made)
    asked = len(sized.rows)
    exact.made(sized, "sized")
    assert len(sized.rows) == asked, "a kind is tried once"


def test_what_cannot_be_made_exact_is_named() -> None:
    with pytest.raises(ValueError, match=r"toy 0 answers a row differently .* run.exact=false"):
        Exact(rows=8).made(OfThePlace(GAME), "placed")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("backend", ["openvino", "torch"])
def test_towers_are_exact_or_can_be_made_so(net: Path, backend: Literal["openvino", "torch"], threads: int) -> None:
    evaluator: Evaluator = make_evaluator(
        GAME, net, backend=backend, precision="float32", threads=threads, device="cpu" if backend == "torch" else None
    )
    made = Exact(rows=64).made(evaluator, backend)
    assert not depends_on_batch(made, seed=1)
    evaluator.close()

"""Odds training for chess at the smallest size: a tiny lc0 net plays without its queen, learns, and is exported."""

from pathlib import Path
from typing import Any

import chess
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.learning.metrics import Display
from hauteur.learning.pipeline import Run, learn
from hauteur.learning.recipe import load_recipe, parse_recipe
from hauteur.networks import Lc0Architecture
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.lc0 import random_net
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.modules import Inference

BOOK = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq -",
    "rnb1kbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
)


def odds_run(folder: Path, **selfplay: Any) -> Run:
    """A run of one generation of four games between two tiny random nets, from positions without a queen."""
    random_net(folder / "start.pb.gz", seed=1)
    random_net(folder / "opponent.pb.gz", seed=2)
    (folder / "book.epd").write_text("\n".join(BOOK))
    values = {
        "game": "chess",
        "start": {"net": str(folder / "start.pb.gz")},
        "opponent": {"net": str(folder / "opponent.pb.gz"), "visits": 1, "colours": "mover"},
        "selfplay": {
            "episodes": "best-versus-opponent",
            "opening_book": str(folder / "book.epd"),
            "games": 4,
            "visits": 3,
            "max_plies": 24,
            "parallel_games": 4,
            "batch_size": 4,
            **selfplay,
        },
        "train": {"batch_size": 8, "samples_per_position": 0.2, "mask_illegal": True, "warmup_steps": 0},
        "gate": {"by": "off"},
        "run": {"generations": 1, "threads": 1, "backend": "torch"},
    }
    return learn(parse_recipe(values, "test"), folder=folder / "run", display=Display())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odds")
    odds_run(folder)
    return folder


def answers(path: Path) -> list[Floats]:
    planes = (np.random.default_rng(1).random((4, 112, 8, 8)) < 0.2).astype(np.float32)
    with torch.inference_mode():
        return [output.numpy() for output in Inference(networks.load(path).module)(torch.from_numpy(planes))]


def test_the_learner_plays_without_its_queen(folder: Path) -> None:
    rows = [row for path in (folder / "run/games").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    assert len(rows) == 4
    for row in rows:
        board = chess.Board(load_game(row["origin"]).new_initial_state().notation())
        assert not board.pieces(chess.QUEEN, board.turn)
        assert len(row["learn"]) == len(row["actions"])
        learner = row["movers"][0]
        assert row["learn"] == [int(mover == learner) for mover in row["movers"]]


def test_the_net_learned_and_is_exported_for_lc0_with_equal_outputs(folder: Path) -> None:
    first, second = (folder / "run/nets" / f"gen-0000{number}.safetensors" for number in (0, 1))
    for before, after in zip(answers(folder / "start.pb.gz"), answers(first), strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.array_equal(answers(first)[0], answers(second)[0])
    exact, rounded = folder / "exact.pb.gz", folder / "rounded.pb.gz"
    networks.convert(second, exact, encoding="float32")
    networks.convert(second, rounded)
    for ours, theirs in zip(answers(second), answers(exact), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(answers(second), answers(rounded), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-3)
    architecture = networks.describe(rounded).architecture
    assert isinstance(architecture, Lc0Architecture)
    assert architecture == networks.describe(folder / "start.pb.gz").architecture


@pytest.mark.parametrize("backend", ["core", "torch"])
def test_a_trained_lc0_net_is_evaluated_from_safetensors(folder: Path, backend: Any) -> None:
    net = folder / "run/nets/gen-00001.safetensors"
    game = load_game("chess")
    evaluator = make_evaluator(game, str(net), backend=backend, precision="float32", threads=1)
    try:
        policy, wdl = evaluator(game.new_initial_state().features()[None])
    finally:
        evaluator.close()
    with torch.inference_mode():
        features = torch.from_numpy(game.new_initial_state().features()[None])
        expected_policy, expected_wdl = Inference(networks.load(net).module)(features)
    np.testing.assert_allclose(policy, expected_policy.numpy(), atol=1e-4)
    np.testing.assert_allclose(wdl, expected_wdl.numpy(), atol=1e-5)


def test_the_recipe_that_ships_is_valid(root: Path) -> None:
    recipe = load_recipe(root / "runs" / "odds_queen.toml")
    assert recipe.opponent is not None
    assert (recipe.game, recipe.opponent.visits, recipe.opponent.colours) == ("chess", 1, "mover")

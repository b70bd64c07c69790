"""Evaluators: all engines agree, answers belong to their rows, work goes on meanwhile, wrong input is named."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from lc0_toys import random_net, random_tensors
from output_differences import largest_difference

from hauteur import _core, networks
from hauteur.networks.evaluators.base import Backend, Floats, Precision
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import has_cuda, make_evaluator, precisions_here
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.resnet_architecture import ResNetArchitecture

pytestmark = pytest.mark.quick

GAMES = {"tictactoe": "wdl", "connect4": "scalar", "nogo(size=5)": "wdl"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nets")


def small_net(folder: Path, spec: str, value: Any) -> tuple[_core.Game, Path]:
    """A random network of 8 filters and 2 blocks for a game."""
    game = _core.Game(spec)
    architecture = ResNetArchitecture(
        feature_shape=game.feature_shape, num_actions=game.num_actions, filters=8, blocks=2, se_channels=4, value=value
    )
    path = folder / f"{game.name}.safetensors"
    if not path.exists():
        networks.save(path, architecture, random_tensors(resnet_shapes(architecture), 1), game=spec)
    return game, path


@pytest.fixture(params=list(GAMES))
def game_and_net(request: pytest.FixtureRequest, folder: Path) -> tuple[_core.Game, Path]:
    return small_net(folder, request.param, GAMES[request.param])


@pytest.fixture(scope="module")
def chess(folder: Path) -> tuple[_core.Game, Path]:
    return _core.Game("chess"), random_net(folder / "chess.pb.gz", filters=8, blocks=2)


def backends() -> list[Backend]:
    return [b for b in get_args(Backend) if b != "onnxruntime" or importlib.util.find_spec("onnxruntime")]


def evaluate(game: _core.Game, net: Path, features: Floats, **settings: Any) -> tuple[Floats, Floats]:
    evaluator = make_evaluator(game, net, device=settings.pop("device", "cpu"), **settings)
    try:
        return evaluator(features)
    finally:
        evaluator.close()


def test_backends_agree_with_each_other(game_and_net: tuple[_core.Game, Path]) -> None:
    game, net = game_and_net
    states = random_positions(game, 40)
    features = features_of(game, states)
    reference = evaluate(game, net, features, backend="torch", precision="float32", threads=1)
    np.testing.assert_allclose(reference[1].sum(axis=1), 1, atol=1e-5)
    for backend in backends():
        answers = evaluate(game, net, features, backend=backend, precision="float32", threads=2)
        assert answers[0].shape == (40, game.num_actions)
        assert answers[0].dtype == answers[1].dtype == np.float32
        assert largest_difference(states, answers, reference) < 1e-4, backend


@pytest.mark.parametrize("backend", backends())
def test_auto_is_a_precision_of_this_machine_and_float32_the_default(
    chess: tuple[_core.Game, Path], backend: Backend
) -> None:
    possible = precisions_here(backend) if backend == "core" else ("float32",)
    with (
        make_evaluator(*chess, backend=backend, precision="auto", threads=1, device="cpu") as chosen,
        make_evaluator(*chess, backend=backend, threads=1, device="cpu") as default,
    ):
        assert any(f" {precision} " in chosen.name for precision in possible)
        assert " float32 " in default.name


@pytest.mark.skipif(not has_cuda(), reason="torch finds no CUDA device here")
@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_cuda_agrees_with_the_processor(chess: tuple[_core.Game, Path], precision: Precision) -> None:
    game, net = chess
    states = random_positions(game, 50)
    features = features_of(game, states)
    reference = evaluate(game, net, features, backend="torch", precision="float32", threads=1)
    evaluator = make_evaluator(game, net, device="cuda", precision=precision)
    pending = [evaluator.submit(features[i : i + 10].copy()) for i in range(0, 50, 10)]
    parts = [one.result() for one in pending]
    answers = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    assert largest_difference(states, answers, reference) < (2e-3 if precision == "float32" else 0.3)
    evaluator.close()


@pytest.mark.parametrize("spec", ["chess", "connect4", "minichess", "nogo(size=5)"])
def test_bit_planes_unpack_to_the_features(spec: str) -> None:
    torch = pytest.importorskip("torch")
    from hauteur.networks.evaluators.torch import unpacked

    game = _core.Game(spec)
    states = random_positions(game, 20)
    packed = [state.features_packed() for state in states]
    masks, values = (np.stack(parts) for parts in zip(*packed, strict=True))
    rows = unpacked(torch.from_numpy(masks.view(np.uint8)), torch.from_numpy(values), game.feature_shape)
    np.testing.assert_array_equal(rows.numpy(), features_of(game, states))


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_a_module_answers_bit_planes_as_it_does_features(kind: str) -> None:
    """On the processor; on a GPU it is the same program."""
    pytest.importorskip("torch")
    import torch

    from hauteur.networks.evaluators.torch import TYPES, UnpackingTorchEvaluator

    game = _core.Game("chess")
    states = random_positions(game, 20)
    packed = [state.features_packed() for state in states]
    masks, values = (np.stack(parts) for parts in zip(*packed, strict=True))

    class Divided(torch.nn.Module):
        def forward(self, outputs: Any) -> Any:
            return outputs[:, :1858], outputs[:, 1858:]

    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(112 * 64, 1858 + 3), Divided()).to(TYPES[kind])
    with UnpackingTorchEvaluator(game, module, "toy", torch.device("cpu"), TYPES[kind], 1) as evaluator:
        expected = evaluator(features_of(game, states))
        pending = evaluator.submit_packed(masks, values)
        masks[:] = 0
        for found, wanted in zip(pending.result(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_batches_are_filled_up_to_powers_of_two_and_the_usual_size() -> None:
    pytest.importorskip("torch")
    from hauteur.networks.evaluators.torch import padded_rows

    sizes = {rows: padded_rows(rows, 768) for rows in (1, 8, 9, 256, 257, 512, 513, 768, 769, 2000)}
    assert sizes == {1: 8, 8: 8, 9: 16, 256: 256, 257: 512, 512: 512, 513: 768, 768: 768, 769: 1024, 2000: 2048}


@pytest.mark.parametrize("backend", backends())
def test_threads_may_share_an_evaluator(chess: tuple[_core.Game, Path], backend: Backend) -> None:
    game, net = chess
    features = features_of(game, random_positions(game, 12))
    with (
        make_evaluator(game, net, backend=backend, precision="float32", threads=2, device="cpu") as shared,
        ThreadPoolExecutor(4) as pool,
    ):
        expected = shared(features)
        for answers in pool.map(lambda _: shared(features.copy()), range(60)):
            np.testing.assert_allclose(answers[1], expected[1], atol=1e-5)

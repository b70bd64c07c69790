"""int8 nets: near to float32, calibrated on positions of games, which are recorded; rounding loses little."""

from pathlib import Path

import numpy as np
import pytest

from hauteur import _core, networks
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.evaluators.compare import Floats, differences, features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.int8.calibration import chosen_positions, own_games
from hauteur.networks.int8.quantize import calibration_of, ensure_int8, int8_file, make_int8
from hauteur.networks.int8.rounding import patches, rounded, step_sizes
from hauteur.networks.lc0 import random_net, random_tensors


def even(features: Floats) -> Floats:
    return np.zeros((len(features), 7), np.float32)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HAUTEUR_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_positions_of_own_games() -> None:
    game = _core.Game("connect4")
    found = own_games(game, even, seed=3)
    plies = np.array([state.ply for state in found.states])
    assert found.record.kind == "own games"
    assert found.record.positions == len(found.states) == len(found.features) <= 1500
    assert all(state.outcome() is None for state in found.states)
    assert len(np.unique(plies)) > 20
    assert own_games(game, even, seed=3).record == found.record
    assert own_games(game, even, seed=4).record.sha256 != found.record.sha256


def test_every_game_gives_as_many_positions() -> None:
    game = _core.Game("connect4")
    lines = [random_positions(game, 7, seed=seed) for seed in range(50)]
    found = chosen_positions(game, lines, "games.pgn", count=100)
    assert len(found.states) == 100
    assert [state.ply for state in found.states].count(0) < 50
    with pytest.raises(ValueError, match=r"games\.pgn: holds no position"):
        chosen_positions(game, [], "games.pgn")


def test_rounding_makes_up_for_its_errors() -> None:
    random = np.random.default_rng(1)
    inputs = random.random((2000, 30)) @ random.random((30, 30))
    weights = random.normal(size=(8, 30))
    whole, steps = rounded(weights, inputs.T @ inputs)
    nearest = np.round(weights / step_sizes(weights)[:, None]) * steps[:, None]
    errors = [np.square(inputs @ (found - weights).T).mean() for found in (whole * steps[:, None], nearest)]
    assert whole.dtype == np.int8
    assert errors[0] < errors[1] / 4


def test_patches_are_what_a_convolution_sums_over() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    x, weights = (random.random(shape, dtype=np.float32) for shape in ((2, 3, 5, 4), (6, 3, 3, 3)))
    flat = patches(x, 3) @ weights.transpose(0, 2, 3, 1).reshape(6, -1).T
    expected = torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(weights), padding=1).numpy()
    np.testing.assert_allclose(flat.reshape(2, 5, 4, 6).transpose(0, 3, 1, 2), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "mish"])
def test_answers_are_near_those_of_float32(activation: str, cache: Path) -> None:
    game = _core.Game("connect4")
    architecture = ResNetArchitecture.model_validate(
        {
            "feature_shape": game.feature_shape,
            "num_actions": game.num_actions,
            "filters": 16,
            "blocks": 2,
            "se_channels": 8,
            "activation": activation,
        }
    )
    net = cache / "net.safetensors"
    networks.save(net, architecture, random_tensors(architecture.shapes(), 1), game="connect4")
    states = random_positions(game, 200, seed=7)
    features = features_of(game, states)
    answers = []
    for precision in ("float32", "int8"):
        with make_evaluator(game, net, backend="openvino", precision=precision, threads=1) as evaluator:
            answers.append(evaluator(features))
    found = differences(states, answers[1], answers[0])
    assert 0 < found.value_mean < 0.005
    assert found.policy_mean < 0.005
    assert found.largest < 0.05


def test_what_a_net_was_calibrated_on_is_kept(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = _core.Game("chess")
    net = random_net(cache / "chess.pb.gz", filters=8, blocks=1)
    file = ensure_int8(net, game)
    assert "int8 made in" in capsys.readouterr().err
    assert "of own games, seed 0" in str(calibration_of(net))
    written = file.stat().st_mtime_ns
    assert ensure_int8(net, game) == file == int8_file(net)
    assert file.stat().st_mtime_ns == written
    mine = chosen_positions(game, [random_positions(game, 40)], "mine.pgn", seed=5)
    make_int8(net, game, mine)
    assert calibration_of(net) == mine.record
    assert capsys.readouterr().err == ""
    assert {path.suffix for path in file.parent.iterdir()} == {".xml", ".bin"}

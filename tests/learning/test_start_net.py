"""Runs that begin from a net file, and the growing window of games in a run."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hauteur import networks
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.metrics import Display
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.networks import ResNetArchitecture
from hauteur.networks.modules import initialise, tensors_of

SHAPE: dict[str, Any] = {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8}


def tiny(**changes: Any) -> Recipe:
    values: dict[str, Any] = {
        "game": "tictactoe",
        "selfplay": {"games": 12, "visits": 8, "parallel_games": 6, "batch_size": 4, "shard_games": 5},
        "train": {"batch_size": 16, "samples_per_position": 1.0, "warmup_steps": 2, "schedule": "constant"},
        "gate": {"by": "off"},
        "run": {"generations": 1, "threads": 1},
    }
    return parse_recipe({name: values.get(name, {}) for name in changes | values} | merged(values, changes), "test")


def merged(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {**values.get(name, {}), **change} if isinstance(change, dict) else change
        for name, change in changes.items()
    }


@pytest.fixture
def net(tmp_path: Path) -> Path:
    shape = ResNetArchitecture(feature_shape=(2, 3, 3), num_actions=9, **SHAPE)
    path = tmp_path / "start.safetensors"
    networks.save(path, shape, tensors_of(initialise(shape, 77)), game="tictactoe")
    return path


@pytest.mark.parametrize("network", [{}, SHAPE])
def test_a_run_begins_with_the_weights_of_a_file(net: Path, tmp_path: Path, network: dict[str, Any]) -> None:
    folder = tmp_path / "run"
    run = learn(tiny(start={"net": str(net)}, network=network), folder=folder, display=Display())
    first, start = networks.load(folder / "nets/gen-00000.safetensors"), networks.load(net)
    assert first.description.architecture == start.description.architecture
    for name, values in start.tensors.items():
        np.testing.assert_array_equal(first.tensors[name], values)
    net.unlink()  # a run that has begun does not need the file
    again = learn(tiny(start={"net": str(net)}, network=network), folder=folder, display=Display())
    assert again.learners.steps == run.learners.steps > 0


def test_a_net_that_does_not_fit_is_refused(net: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape("but the section [network] says resnet 16x1")) as caught:
        learn(tiny(start={"net": str(net)}, network={**SHAPE, "filters": 16}), folder=tmp_path / "a", display=Display())
    assert str(caught.value).startswith(str(net))
    with pytest.raises(ValueError, match=r"is a net for tictactoe .* not for connect4"):
        learn(tiny(game="connect4", start={"net": str(net)}), folder=tmp_path / "b", display=Display())


def test_a_run_with_a_growing_window_goes_on_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = {"window_games": 12, "window": {"alpha": 0.75, "beta": 0.4}}
    whole = learn(tiny(train=train, run={"generations": 4}), folder=tmp_path / "whole", display=Display())
    assert whole.buffer.games is not None
    assert whole.buffer.games.games == round(12 * (1 + 0.4 * (4**0.75 - 1) / 0.75)) == 24
    learn(tiny(train=train, run={"generations": 3}), folder=tmp_path / "parts", display=Display())
    read: list[str] = []
    extend = ReplayBuffer.extend

    def recorded(buffer: ReplayBuffer, paths: list[Path], *known: Any) -> Games | None:
        read.extend(path.name for path in paths)
        return extend(buffer, paths, *known)

    monkeypatch.setattr(ReplayBuffer, "extend", recorded)
    parts = learn(tiny(train=train, run={"generations": 4}), folder=tmp_path / "parts", display=Display())
    assert {name[:9] for name in read} == {"gen-00002", "gen-00003", "gen-00004"}
    assert parts.buffer.games is not None
    assert np.array_equal(parts.buffer.games.lines, whole.buffer.games.lines)
    first, second = (
        load_checkpoint(tmp_path / name / "checkpoint/checkpoint.safetensors")[1] for name in ("whole", "parts")
    )
    assert [name for name in first if not np.array_equal(first[name], second[name])] == []

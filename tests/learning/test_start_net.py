"""Runs that begin from a net file, and the growing window of games in a run."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_toys import TINY, Silent, tiny
from start_toys import TICTACTOE

from hauteur import networks
from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.start import check_start
from hauteur.learning.trainers import first_trainer
from hauteur.networks import ResNetArchitecture
from hauteur.networks.modules import initialise, tensors_of

SHAPE = TINY["network"]


def begun(**changes: dict[str, Any]) -> Recipe:
    """A recipe of one generation, at a constant rate and without a gate."""
    constant = {"train": {"schedule": "constant"} | changes.pop("train", {}), "gate": {"by": "off"}}
    return tiny(**constant, **{"run": {"generations": 1}, "selfplay": {"opening_plies": 0}} | changes)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    shape = ResNetArchitecture(feature_shape=(2, 3, 3), num_actions=9, **SHAPE)
    path = tmp_path / "start.safetensors"
    networks.save(path, shape, tensors_of(initialise(shape, 77)), game="tictactoe")
    return path


def test_a_run_begins_with_the_weights_of_a_file(net: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = learn(begun(start={"net": str(net)}), folder=folder, display=Silent())
    first, start = networks.load(folder / "nets/gen-00000.safetensors"), networks.load(net)
    assert first.description.architecture == start.description.architecture
    for name, values in start.tensors.items():
        np.testing.assert_array_equal(first.tensors[name], values)
    net.unlink()  # a run that has begun does not need the file
    again = learn(begun(start={"net": str(net)}), folder=folder, display=Silent())
    assert again.learners.steps == run.learners.steps > 0


def test_a_net_that_does_not_fit_is_refused(net: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape("but the section [network] says resnet 16x1")) as caught:
        learn(begun(start={"net": str(net)}, network={"filters": 16}), folder=tmp_path / "a", display=Silent())
    assert str(caught.value).startswith(str(net))
    other = parse_recipe({"game": "connect4", "start": {"net": str(net)}, "gate": {"by": "off"}}, "test")
    with pytest.raises(ValueError, match=r"is a net for tictactoe .* not for connect4"):
        learn(other, folder=tmp_path / "b", display=Silent())


def test_a_run_with_a_growing_window_goes_on_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = {"window_games": 12, "window": {"alpha": 0.75, "beta": 0.4}}
    whole = learn(begun(train=train, run={"generations": 4}), folder=tmp_path / "whole", display=Silent())
    assert whole.buffer.games is not None
    assert whole.buffer.games.games == round(12 * (1 + 0.4 * (4**0.75 - 1) / 0.75)) == 24
    learn(begun(train=train, run={"generations": 3}), folder=tmp_path / "parts", display=Silent())
    read: list[int] = []
    append = ReplayBuffer.append

    def recorded(buffer: ReplayBuffer, added: Games) -> None:
        read.append(int(added.generation[0]))
        append(buffer, added)

    monkeypatch.setattr(ReplayBuffer, "append", recorded)
    parts = learn(begun(train=train, run={"generations": 4}), folder=tmp_path / "parts", display=Silent())
    assert read == [2, 3, 4]
    assert parts.buffer.games is not None
    assert np.array_equal(parts.buffer.games.lines, whole.buffer.games.lines)
    first, second = (
        load_checkpoint(tmp_path / name / "checkpoint/checkpoint.safetensors")[1] for name in ("whole", "parts")
    )
    assert [name for name in first if not np.array_equal(first[name], second[name])] == []


def test_a_run_begins_from_a_net_by_name() -> None:
    recipe = Recipe.model_validate({"game": "tictactoe", "start": {"net": "tictactoe"}})
    check_start(TICTACTOE, recipe)
    found, shipped = first_trainer(TICTACTOE, recipe).network_tensors(), networks.load("tictactoe").tensors
    assert found.keys() == shipped.keys()
    assert all(np.array_equal(found[name], values) for name, values in shipped.items())

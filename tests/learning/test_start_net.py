"""Runs that begin from a net file, and the growing window of games in a run."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_toys import TINY, Silent, tiny
from start_toys import TICTACTOE

from hauteur import networks
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import Recipe, parse_recipe
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


def test_a_run_begins_from_a_net_by_name() -> None:
    recipe = Recipe.model_validate({"game": "tictactoe", "start": {"net": "tictactoe"}})
    check_start(TICTACTOE, recipe)
    found, shipped = first_trainer(TICTACTOE, recipe).network_tensors(), networks.load("tictactoe").tensors
    assert found.keys() == shipped.keys()
    assert all(np.array_equal(found[name], values) for name, values in shipped.items())

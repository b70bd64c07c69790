"""Nets by name in recipes: those that a run begins from, and the one that teaches."""

import numpy as np
from start_toys import TICTACTOE

from hauteur import networks
from hauteur.learning.recipe import Recipe
from hauteur.learning.start import check_start
from hauteur.learning.trainers import first_trainer


def test_a_run_begins_from_a_net_by_name() -> None:
    recipe = Recipe.model_validate({"game": "tictactoe", "start": {"net": "tictactoe"}})
    check_start(TICTACTOE, recipe)
    found = first_trainer(TICTACTOE, recipe).network_tensors()
    shipped = networks.load("tictactoe").tensors
    assert found.keys() == shipped.keys()
    assert all(np.array_equal(found[name], values) for name, values in shipped.items())

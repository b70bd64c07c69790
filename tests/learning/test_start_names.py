"""Nets by name in recipes: those that a run begins from, and the one that teaches."""

import numpy as np
import pytest
from start_toys import TICTACTOE, tiny

from hauteur import networks
from hauteur.learning.bootstrap.steps import check_start
from hauteur.learning.recipe import Recipe
from hauteur.learning.trainers import first_trainer


def test_a_run_begins_from_a_net_by_name() -> None:
    recipe = Recipe.model_validate({"game": "tictactoe", "start": {"net": "tictactoe"}})
    check_start(TICTACTOE, recipe)
    found = first_trainer(TICTACTOE, recipe).network_tensors()
    shipped = networks.load("tictactoe").tensors
    assert found.keys() == shipped.keys()
    assert all(np.array_equal(found[name], values) for name, values in shipped.items())


@pytest.mark.parametrize("key", ["net", "distil_from"])
def test_names_are_checked_before_a_run_begins(key: str) -> None:
    for name, message in (("maia-1400", "hauteur net get maia-1400"), ("tictactow", "there is no net 'tictactow'")):
        with pytest.raises(ValueError, match=message):
            check_start(TICTACTOE, tiny({key: name, "games": ["x.parquet"]}))
    with pytest.raises(ValueError, match="is a net for connect4"):
        check_start(TICTACTOE, tiny({key: "connect4", "games": ["x.parquet"]}))

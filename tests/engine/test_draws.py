"""Random numbers for moves: one a move, the same whether the moves before were drawn or not."""

import numpy as np
import pytest

from hauteur.engine.draws import Draws

pytestmark = pytest.mark.quick


def test_a_move_has_its_number_whatever_the_moves_before_used() -> None:
    numbers = np.random.default_rng(5).random(5)
    draws = Draws(5)
    draws.pass_over()
    draws.pass_over()
    assert draws.uniform() == numbers[2]
    draws.pass_over()
    assert draws.uniform() == numbers[4]


def test_a_function_that_chooses_moves_gets_whole_numbers() -> None:
    random = np.random.default_rng(7)
    draws = Draws(7)
    assert [draws.whole() for _ in range(3)] == [int(random.integers(2**63)) for _ in range(3)]

"""Random numbers for the choice of moves: one a move, whether the move is drawn or not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class Draws:
    """The random numbers of a player. seed: of all of them.

    numpy's generators take longer to import than the first move: they are, with the first number that decides.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._passed = 0
        """Numbers that were passed over before the generator was made."""
        self._is_made = False

    @cached_property
    def _generator(self) -> np.random.Generator:
        from numpy.random import default_rng

        self._is_made = True
        generator = default_rng(self._seed)
        # As if all had been drawn: the moves of a seed do not depend on when the generator was made.
        generator.random(self._passed)
        return generator

    def pass_over(self) -> None:
        """Leave out the number of a move that is not drawn."""
        if self._is_made:
            self._generator.random()
        else:
            self._passed += 1

    def uniform(self) -> float:
        """Return the number of a move that is drawn, in [0, 1)."""
        return self._generator.random()

    def whole(self) -> int:
        """Return the number of a move that a function chooses, 0 to 2^63 - 1."""
        return int(self._generator.integers(2**63))

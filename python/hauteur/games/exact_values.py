"""Exact values of the moves of small games, by the solver of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hauteur import _core
from hauteur.games.registry import load_game

MoveValues = Callable[[_core.State], Sequence[int]]
"""Values of all legal moves of a position, in ascending order: +1 the mover wins by it, 0 draw, -1 loses."""


def exact_values(game: _core.Game | str, *, table_bits: int = 22) -> MoveValues:
    """Return a function that gives the exact value of each legal move of a position, in the order of `legal_actions()`.

    game: any whose value of a position depends on no more of the past than the ply; of another one ValueError. Values:
    +1 the mover wins by it, 0 draw, -1 loses. A call takes as long as it takes: `_core.ExactSolver` has a limit.
    table_bits: the table has 2^table_bits entries of 8 bytes (connect4) or 16.

    >>> import hauteur as ht
    >>> values = ht.exact_values("tictactoe")
    >>> list(values(ht.position("tictactoe", "a1 b1 a2 b2")))
    [1, 0, -1, -1, -1]
    """
    solver = _core.ExactSolver(load_game(game) if isinstance(game, str) else game, table_bits)
    return lambda state: solver.move_values(state) or ()

"""Exact values of the moves of small games: tic-tac-toe by plain negamax, Connect Four by the solver of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hauteur import _core
from hauteur.games.registry import load_game

MoveValues = Callable[[_core.State], Sequence[int]]
"""Values of all legal moves of a position, in ascending order: +1 the mover wins by it, 0 draw, -1 loses."""


def exact_values(game: _core.Game | str, *, table_bits: int = 22) -> MoveValues:
    """Return a function that gives the exact value of each legal move of a position, in the order of `legal_actions()`.

    game: tictactoe, or connect4 of any size; of another one ValueError. Values: +1 the mover wins by it, 0 draw, -1
    loses. table_bits: the table has 2^table_bits entries of 8 bytes (connect4).

    >>> import hauteur as ht
    >>> values = ht.exact_values("tictactoe")
    >>> list(values(ht.position("tictactoe", "a1 b1 a2 b2")))
    [1, 0, -1, -1, -1]
    """
    game = load_game(game) if isinstance(game, str) else game
    if game.name == "tictactoe":
        return _tictactoe()
    if game.name != "connect4":
        raise ValueError(f"exact values are those of connect4 and tictactoe, got {game.spec}")
    solver = _core.Connect4Solver(table_bits, game.feature_shape[2], game.feature_shape[1])
    return lambda state: solver.move_values(state).tolist()


def _tictactoe() -> MoveValues:
    """Plain negamax; each of the few positions once."""
    known: dict[int, int] = {}

    def value(state: _core.State) -> int:
        if state.key not in known:
            outcome = state.outcome()
            known[state.key] = max(values(state)) if outcome is None else outcome * (1 if state.to_move == 0 else -1)
        return known[state.key]

    def values(state: _core.State) -> list[int]:
        return [-value(state.child(action)) for action in state.legal_actions().tolist()]

    return values

"""Boards as pictures: the cells of a position, and the squares that an action belongs to.

The core has the one drawing of a board (`State.svg`, crates/core/src/picture). A game says by `Game.look` how its
squares are drawn: chess and minichess with pieces, others with stones, discs, crosses, on hexagons, or the signs of
their text; and by `State.squares` to which squares an action belongs.
"""

from hauteur import _core
from hauteur._core import Board, board_of, why_no_board

__all__ = ["Board", "action_squares", "board_of", "sees_second_side", "why_no_board"]


def sees_second_side(state: _core.State, humans: set[int]) -> bool:
    """Return whether a board of pieces is shown from the second player's side: it is the only human."""
    board = board_of(state)
    return humans == {1} and board is not None and board.look == "pieces"


def action_squares(state: _core.State, action: int) -> tuple[int, ...]:
    """Return the squares of a legal action as indices of cells: from and to, or one, or none."""
    columns = state.game.feature_shape[2]
    return tuple(row * columns + column for row, column in state.squares(action))

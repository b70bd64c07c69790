"""Moves as GTP writes them: vertices, a letter for the column (without I) and the number of the row from below."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hauteur import _core

COLUMN_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
PASS = "PASS"
_VERTEX = re.compile(r"([A-HJ-Z])([1-9][0-9]?)")


class Vertices(Protocol):
    """Names of the moves of a game."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex of an action in `state`, which the `actions` have led to."""


@dataclass(frozen=True)
class PointVertices:
    """The game itself calls its moves by their points."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex of an action."""
        del actions
        return state.action_to_text(action).upper()


@dataclass(frozen=True)
class ColumnVertices:
    """Moves are columns, and a stone comes to lie on those already there."""

    def name(self, state: _core.State, actions: Sequence[int], action: int) -> str:
        """The vertex at which the stone comes to lie."""
        del state
        return f"{COLUMN_LETTERS[action]}{actions.count(action) + 1}"


def vertices_of(game: _core.Game) -> Vertices:
    """Return the names of the moves of this game; ValueError for a game whose moves are neither points nor columns."""
    _, rows, columns = game.feature_shape
    state = game.new_initial_state()
    names = [state.action_to_text(action).upper() for action in state.legal_actions().tolist()]
    if names and all(_is_move(name, rows, columns) for name in names):
        return PointVertices()
    if columns <= len(COLUMN_LETTERS) and names == [str(number) for number in range(1, columns + 1)]:
        return ColumnVertices()
    shown = names[0] if names else "none"
    raise ValueError(f"GTP is for games whose moves are points, such as nogo; a move of {game.spec} is {shown}")


def board_size(game: _core.Game) -> int:
    """Size of the smallest square board that holds the game's."""
    return max(game.feature_shape[1:])


def sgf_vertex(column: int, row: int, rows: int) -> str:
    """The vertex of a point; row from the top, both from 0."""
    return f"{COLUMN_LETTERS[column]}{rows - row}"


def is_vertex(text: str) -> bool:
    """Return whether the text is a vertex of a board of any size, or a pass."""
    return text == PASS or _VERTEX.fullmatch(text) is not None


def _is_move(name: str, rows: int, columns: int) -> bool:
    match = _VERTEX.fullmatch(name)
    if match is None:
        return name == PASS
    return COLUMN_LETTERS.index(match[1]) < columns and int(match[2]) <= rows

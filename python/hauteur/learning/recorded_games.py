"""Many recorded games as flat arrays, the form in which training keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.record import LearnedColumns, Level, column, columns_of

Rows = slice | NDArray[np.int64]
"""Which rows of a level are taken."""


@dataclass(frozen=True, kw_only=True)
class Games(LearnedColumns):
    """G games of M searched moves, V visited root edges and L actions in all; games one after another.

    nets [G, 2]: generation of the net in each seat; gave_up: the game ended by resignation; origin: spec of the game
    whose start it began from, None: the game's own. The offsets [G + 1] (of moves: [M + 1]) are where the rows of a
    game (of a move) begin.
    """

    lines: NDArray[np.uint16] = column("line", np.uint16)  # all actions, with those before the first search
    line_lengths: NDArray[np.int64] = column("game", np.int64)
    move_counts: NDArray[np.int64] = column("game", np.int64)
    outcome: NDArray[np.int8] = column("game", np.int8)
    generation: NDArray[np.int32] = column("game", np.int32)
    index: NDArray[np.int64] = column("game", np.int64)
    n_scl: NDArray[np.float32] = column("game", np.float32)  # NaN without search-contempt
    nets: NDArray[np.int32] = column("game", np.int32, width=2)
    resigned: NDArray[np.int8] = column("game", np.int8)
    gave_up: NDArray[np.bool_] = column("game", np.bool_)
    origin: NDArray[np.object_] = column("game", np.object_)

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.outcome)

    @property
    def positions(self) -> int:
        """Number of positions that are learned from."""
        return int(np.count_nonzero(self.learn))

    @cached_property
    def line_offsets(self) -> NDArray[np.int64]:
        """Offsets of the games' lines [G + 1]."""
        return offsets_of(self.line_lengths)

    @cached_property
    def moves_before(self) -> NDArray[np.int64]:
        """Offsets of the games' moves [G + 1]."""
        return offsets_of(self.move_counts)

    @cached_property
    def edge_offsets(self) -> NDArray[np.int64]:
        """Offsets of the moves' edges [M + 1]."""
        return offsets_of(self.policy_lengths)

    @cached_property
    def plies(self) -> NDArray[np.int64]:
        """The index of each move into the line of its game [M]."""
        starts = self.line_lengths - self.move_counts
        return np.repeat(starts - self.moves_before[:-1], self.move_counts) + np.arange(len(self.movers))

    def game_of(self, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the games that these moves are of."""
        return np.searchsorted(self.moves_before, moves, side="right") - 1

    def last(self, games: int) -> Games:
        """Return the last so many games."""
        game = max(0, self.games - games)
        line, move = self.line_offsets[game], self.moves_before[game]
        begins = {"game": game, "line": line, "move": move, "edge": self.edge_offsets[move]}
        return self._taken({level: slice(begin, None) for level, begin in begins.items()})

    def ordered(self) -> Games:
        """Return the games by generation and number, whatever the order of their shards."""
        games = np.lexsort((self.index, self.generation))
        lines, moves = places_of(self.line_offsets, games), places_of(self.moves_before, games)
        edges = places_of(self.edge_offsets, moves)
        return self._taken({"game": games, "line": lines, "move": moves, "edge": edges})

    @classmethod
    def join(cls, parts: Sequence[Games]) -> Games:
        """Return all games of the parts, in order."""
        return cls(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)})

    def _taken(self, rows: Mapping[Level, Rows] | Mapping[str, Rows]) -> Games:
        found: dict[str, Any] = {one.name: getattr(self, one.name)[rows[one.level]] for one in columns_of(Games)}
        return Games(**found)


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each of the rows with these lengths begins, and the end: [n + 1]."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def places_of(offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of all values of these rows, one row after another."""
    lengths = np.diff(offsets)[rows]
    begins = offsets_of(lengths)
    return np.repeat(offsets[rows] - begins[:-1], lengths) + np.arange(begins[-1])

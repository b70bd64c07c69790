"""Puzzle: a position with one good move that is hard to find, its line, and its origin."""

from __future__ import annotations

import hashlib
import math
from typing import Annotated

from pydantic import Field

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.system.settings import Section

EASIEST, HARDEST = 400, 3200
"""Bounds of ratings."""
RATING_AT_HIGH = 2600
"""Rating of a puzzle whose solution is found with the last visits only."""
RATING_A_DOUBLING = 200
ID_LETTERS = 11
"""Hexadecimal digits of a name, behind a letter so that no program takes it for a number."""


class Opinion(Section):
    """The move that a search of `visits` visits plays in a puzzle's position, and the root's value for its mover."""

    visits: int = Field(ge=1)
    move: str
    q: Annotated[float, Field(ge=-1, le=1)]


class Puzzle(Section):
    """A puzzle of any game; moves are texts of the game's notation.

    fen: the position that `opening` is played from, None: the game's start; opening: the moves that lead to the puzzle,
    the last one is the opponent's (none where a position of chess cannot have come from a move); solution: the solver's
    move, the opponent's reply, and so on to a move of the solver; visits: fewest at which a search finds every move of
    the solver and stays with it; gap: least by which a move of the solver is better than every other, -2 to 2; value:
    of the solver's last move, for the solver; source: where the position was found.
    """

    id: str
    game: str
    fen: str | None = None
    opening: tuple[str, ...] = ()
    solution: tuple[str, ...] = Field(min_length=1)
    rating: int
    themes: tuple[str, ...] = ()
    source: str = ""
    visits: int = Field(ge=1)
    gap: float
    value: Annotated[float, Field(ge=-1, le=1)]
    low: Opinion
    high: Opinion

    def start(self) -> _core.State:
        """The position before the moves of the opening."""
        return load_game(with_fen(self.game, self.fen)).new_initial_state()

    def position(self) -> _core.State:
        """The position that the solver sees."""
        state = self.start()
        for move in self.opening:
            state.apply(state.parse(move))
        return state

    @property
    def solver_moves(self) -> tuple[str, ...]:
        """The moves that must be found."""
        return self.solution[::2]


def identity(state: _core.State) -> str:
    """Name of a position, the same however it came about: of its FEN without counters, or of what the network sees."""
    game = state.game
    if game.has_fen:
        content = " ".join([game.name, *state.notation().split()[:4]]).encode()
    else:
        content = f"{game.spec} {state.to_move} ".encode() + state.features().tobytes()
    return "p" + hashlib.blake2b(content, digest_size=8).hexdigest()[:ID_LETTERS]


def rating(visits: int, high: int) -> int:
    """Return the difficulty: RATING_AT_HIGH - RATING_A_DOUBLING log2(high / visits), rounded, from EASIEST to HARDEST.

    visits: fewest at which a search finds the solution; high: of the confirming search. A scale of this program,
    monotone in visits; not calibrated against players' ratings.
    """
    figure = RATING_AT_HIGH - RATING_A_DOUBLING * math.log2(high / visits)
    return round(min(max(figure, EASIEST), HARDEST))

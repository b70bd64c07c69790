"""The answer of a player that is asked for one move: the move, or how it has lost the game instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.matches.record import RESIGNATION


@dataclass(frozen=True)
class ChosenMove:
    """The answer of a player.

    note: what a user should know of this move, such as that a search was cut short. score: in pawns from the mover's
    view (a mate: hauteur.search.scores.mate_score), None unknown; depth: in plies, 0 unknown; seconds: how long it
    thought,
    None: as long as the answer took.
    """

    action: int
    note: str = ""
    score: float | None = None
    depth: int = 0
    seconds: float | None = None


class GameLost(Exception):  # noqa: N818  (losing is no error)
    """Instead of a move: the player that was asked has lost this game; all other games go on.

    reason: a few words, the end reason of the game; detail: what happened, one line, a note of the game.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class EngineFailure(GameLost):
    """A program that plays has crashed, is late, or does not keep to the rules of the game or of its protocol."""


class EngineResignation(GameLost):
    """A program that plays has given the game up."""

    def __init__(self) -> None:
        super().__init__(RESIGNATION)


Rule = Callable[[_core.State, int], ChosenMove]
"""The choice of a move in a position with a seed."""


def most_visited(found: NDArray[np.uint32], moves: Sequence[int]) -> int:
    """The move with the most visits, the lowest of those tied; found [A, ...]: of a search, visits in column 0."""
    return max(sorted(moves), key=lambda action: int(found[action, 0]))

"""A recorded game: moves and a result, without searches; why games end; and the error report for an unusable one."""

from collections.abc import Mapping
from dataclasses import dataclass

from hauteur import _core
from hauteur.system.formatting import in_a_line

RESIGNATION = "resignation"
"""End reason of a game that a player gave up."""

TIME = "time"
"""End reason of a game whose loser had no time left."""

AGREEMENT = "agreement"
"""End reason of a game that both players called a draw."""

PLY_LIMIT = "ply limit"
"""End reason of a game that was stopped, and counted as a draw, at a limit of plies."""


RECORDED = "recorded result"
"""End reason of a game that did not end by its rules and whose file does not say why."""

NO_NET = -1
"""Stands in the place of a net's generation for a player that is none of the run's nets, such as a fixed opponent."""


@dataclass(frozen=True)
class TaggedGame:
    """The main line of a game as its file has it, finished or not.

    tags: what the file says of the game (PGN's tags, the properties of SGF's first node); outcome: +1 the first player
    won, 0 draw, -1 the second won, None where the file has no result; origin: the position that the game begins from,
    None: the game's own start.
    """

    actions: tuple[int, ...]
    tags: Mapping[str, str]
    outcome: int | None = None
    end_reason: str = RECORDED
    origin: _core.State | None = None


@dataclass(frozen=True)
class BadGame:
    """An unusable game: its location and the reason."""

    where: str
    reason: str

    def __str__(self) -> str:
        return in_a_line(f"{self.where}: {self.reason}")


def result_text(outcome: int) -> str:
    """1-0, 1/2-1/2 or 0-1."""
    return {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[outcome]


def end_text(state: _core.State) -> str:
    """Return the result and end reason of a finished position."""
    outcome, reason = state.outcome(), state.end_reason()
    result = "not over" if outcome is None else result_text(outcome)
    return f"{result} ({reason})" if reason else result

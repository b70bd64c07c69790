"""Rule of mining: the visit counts of a position's searches, and the criteria of a puzzle."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hauteur.mcts.batch_analysis import Readings
from hauteur.system.settings import Section

Verdict = Literal["same", "found", "several", "refuted", "puzzle"]
"""same: the judgement does not change by `swing`; found: it does, but the low search plays the best move already;
several: another move is nearly as good; refuted: not confirmed; puzzle: it became one."""

MISJUDGED: tuple[Verdict, ...] = ("found", "several", "refuted", "puzzle")
"""Verdicts of positions whose judgement changes."""

Visits = Annotated[int, Field(ge=1, le=100_000_000)]


class MineRule(Section):
    """Criteria of a puzzle.

    low, high: visits of the two searches; swing: least change of the root's value between them, 0 to 2; gap: least by
    which the best move is better than any other; rest: the value of any other move at most, and least: the best move's
    value at least, both for the solver; screens: counts of visits between the two, each with the change of value below
    which a position is given up there; hindsight: a position of a game is given up at once where the low search sees
    the next four plies of the game by less than this otherwise, 0: none is; moves: the solver's, at most. The
    confirming search has twice `high`.
    """

    low: Visits = 5
    high: Visits = 800
    swing: Annotated[float, Field(gt=0, le=2)] = 0.4
    gap: Annotated[float, Field(ge=0, le=2)] = 0.35
    rest: Annotated[float, Field(ge=-1, le=1)] = 0.45
    least: Annotated[float, Field(ge=-1, le=1)] = -0.2
    screens: tuple[tuple[Visits, Annotated[float, Field(ge=0, le=2)]], ...] = ((16, 0.05), (64, 0.1), (200, 0.2))
    hindsight: Annotated[float, Field(ge=0, le=2)] = 0.25
    moves: Annotated[int, Field(ge=1, le=100)] = 6

    @model_validator(mode="after")
    def _visits_ascend(self) -> Self:
        if list(self.visits) != sorted(set(self.visits)):
            given = ", ".join(map(str, self.visits))
            raise ValueError(f"the visits of low, screens and high must ascend, got {given}")
        return self

    @property
    def visits(self) -> tuple[int, ...]:
        """Visit counts at which a position is evaluated."""
        return (self.low, *(visits for visits, _ in self.screens), self.high)

    @property
    def deep(self) -> int:
        """Visits of the search that confirms."""
        return 2 * self.high

    def goes_on(self, found: Readings) -> bool:
        """Return whether a position is worth more visits."""
        passed = len(found) - 1
        return passed == 0 or abs(found[-1].q - found[0].q) >= self.screens[passed - 1][1]

    def loosens(self, other: MineRule) -> str | None:
        """Describe the first setting that results mined by `other` cannot serve; None if there is none.

        Results for a larger swing, gap or least, a smaller rest or fewer moves follow from existing ones.
        """
        for name in ("low", "high", "screens", "hindsight"):
            if getattr(self, name) != getattr(other, name):
                return f"{name} was {getattr(other, name)} and is now {getattr(self, name)}"
        for name, sign in (("swing", 1), ("gap", 1), ("least", 1), ("rest", -1), ("moves", -1)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if sign * mine < sign * theirs:
                return f"{name} was {theirs} and is now {mine}"
        return None

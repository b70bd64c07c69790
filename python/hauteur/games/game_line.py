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

BY_PYTHON = "game over"
"""End reason of every game that the rules of a game in Python ended."""

RECORDED = "recorded result"
"""End reason of a game that did not end by its rules and whose file does not say why."""

NO_NET = -1
"""Stands for a net's generation for a player that is none of the run's nets, such as a fixed opponent."""


@dataclass(frozen=True)
class TaggedGame:
    """The main line of a game as its file has it, finished or not."""

    actions: tuple[int, ...]
    """The moves."""
    tags: Mapping[str, str]
    """What the file says of the game: PGN's tags, the properties of SGF's first node."""
    outcome: int | None = None
    """+1 the first player won, 0 draw, -1 the second won; None where the file has no result."""
    end_reason: str = RECORDED
    """Why it ended, by the rules or as the file says."""
    origin: _core.State | None = None
    """The position that the game begins from; None: the game's own start."""
    notes: tuple[str, ...] = ()
    """What a user should know of how it was read, a line each: a FEN that was cleaned, a null move that ends it."""
    where: str = ""
    """The file and the number of the game in it."""
    source: _core.PgnGame | str | None = None
    """The game as its file has it, variations and comments too: the text of an SGF; of a PGN its tokens, where they
    were asked for."""

    @property
    def said(self) -> list[str]:
        """The notes with the place of the game, a line each."""
        return [in_a_line(f"{self.where}: {note}") for note in self.notes]


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
    outcome = state.outcome()
    reason = state.end_reason()
    result = "not over" if outcome is None else result_text(outcome)
    return f"{result} ({reason})" if reason else result

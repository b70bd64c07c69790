"""The reasons for which a program loses a game other than on the board, and the clocks that it plays by."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

from hauteur.players.engines.settings import EngineSettings, clock_of
from hauteur.players.move_player import EngineFailure

START_FAILED = "engine start failed"
CRASHED = "engine crashed"
TIMEOUT = "engine timeout"
LOST_ON_TIME = "loss on time"
ILLEGAL_MOVE = "illegal move"
BAD_OUTPUT = "bad output"
REASONS = (START_FAILED, CRASHED, TIMEOUT, LOST_ON_TIME, ILLEGAL_MOVE, BAD_OUTPUT)


@asynccontextmanager
async def within(seconds: float, failure: EngineFailure) -> AsyncIterator[None]:
    """Stop the block after this many seconds and raise `failure`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise failure from None


def no_answer(to: str, seconds: float) -> EngineFailure:
    """Return the failure of an engine that did not respond or act within this many seconds."""
    return EngineFailure(TIMEOUT, f"no {to} within {seconds:g} s")


@dataclass
class EngineClock:
    """The time of one side, in seconds. margin: how far it may be overdrawn before it counts."""

    left: float
    increment: float
    margin: float

    @classmethod
    def of(cls, settings: EngineSettings) -> Self | None:
        """The clock at the start of a game; None without a time control."""
        if settings.tc is None:
            return None
        left, increment = clock_of(settings.tc)
        return cls(left, increment, settings.time_margin / 1000)

    @property
    def deadline(self) -> float:
        """Seconds after which the game is lost."""
        return self.left + self.margin

    def spend(self, seconds: float) -> None:
        """A move took so long; EngineFailure where that was too long."""
        if seconds > self.deadline:
            raise self.overdrawn()
        self.left = max(self.left - seconds, 0.0) + self.increment

    def overdrawn(self) -> EngineFailure:
        """The loss of a game on time."""
        return EngineFailure(LOST_ON_TIME, f"no move within the {self.left:.2f} s on its clock")


def move_limit(settings: EngineSettings, clock: EngineClock | None) -> tuple[float, EngineFailure]:
    """Return the seconds without a move after which an engine has lost, and the failure."""
    seconds = settings.seconds_for_a_move
    if clock is not None and clock.deadline < seconds:
        return clock.deadline, clock.overdrawn()
    return seconds, no_answer("move", seconds)

"""The clocks of a game that a program plays by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from hauteur.players.engines.failures import LOST_ON_TIME, no_answer
from hauteur.players.engines.settings import EngineSettings, clock_of
from hauteur.players.move_player import EngineFailure


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

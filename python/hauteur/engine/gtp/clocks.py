"""Time in GTP: main time, then periods of a number of seconds for a number of moves. All times in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hauteur.mcts.time_manager import Budget, Clock, moves_left, plan


@dataclass(frozen=True)
class TimeSettings:
    """`time_settings`: main time for the game, then `stones` moves in every `period` (0 stones: none)."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0

    @property
    def is_unlimited(self) -> bool:
        """A period without stones means no limit, and so does no time at all, with which no player could move."""
        return self.stones == 0 and (self.period > 0.0 or self.main == 0.0)

    @property
    def a_move(self) -> float:
        """Seconds for a move in the periods."""
        return self.period / self.stones if self.stones else 0.0


@dataclass(frozen=True)
class PlayerClock:
    """Time left to a player: the main time, or with `stones` > 0 the time for `stones` more moves."""

    left: float
    stones: int = 0


def full_clock(settings: TimeSettings) -> PlayerClock:
    """Return the clock at the start of a game."""
    return PlayerClock(settings.main) if settings.main > 0.0 else PlayerClock(settings.period, settings.stones)


def after_move(clock: PlayerClock, settings: TimeSettings, seconds: float) -> PlayerClock:
    """Return the clock after a move that took so long; who oversteps a period begins the next one."""
    left, stones = clock.left - seconds, clock.stones
    if stones == 0:
        if left >= 0.0 or settings.stones == 0:
            return PlayerClock(max(left, 0.0))
        left, stones = left + settings.period, settings.stones
    if stones <= 1 or left <= 0.0:
        return PlayerClock(settings.period, settings.stones)
    return PlayerClock(left, stones - 1)


def budget_of(
    clock: PlayerClock, settings: TimeSettings, *, ply: int, max_plies: int, overhead: float
) -> Budget | None:
    """Return the seconds for the next move, at `ply` plies of a game of at most `max_plies`; None without a limit."""
    if settings.is_unlimited:
        return None
    if clock.stones > 0:
        return plan(Clock(clock.left, moves_to_go=clock.stones), move_number=ply // 2, overhead=overhead)
    most = max(1, math.ceil((max_plies - ply) / 2))
    return plan(
        Clock(clock.left + settings.a_move, settings.a_move, moves_to_go=most if most < moves_left(ply // 2) else None),
        move_number=ply // 2,
        overhead=overhead,
    )

"""Time management, the share of the clock for a move: a clock in, a budget out. Pure functions, all times in seconds.

The budget has two figures. `target` is what the move should cost when nothing speaks for more; `maximum` is what it may
cost when the search has not settled. Smart pruning (limits.py) often stops before `target`; what it saves is on
the clock of the next move, which plans anew.
"""

from dataclasses import dataclass

GAME_LENGTH = 55.0
"""Median length of a game, in moves."""
GAME_LENGTH_SHAPE = 4.0
"""How sharply the lengths of games gather around the median."""
LARGEST_SHARE = 0.5
"""No move of an unknown number of moves may use more than this share of what is left."""
USUAL_LAG = 0.25
"""Share of the overhead that an ordinary move loses; kept for each of the moves to come."""
LONG_GAME = 40.0
"""Moves for which lag is kept at least, where there is no time control before: games can be long."""
LARGEST_RESERVE = 0.8
"""No more than this share of what is left is kept for lag."""
STRETCH = 2.5
"""`maximum` over `target`, where the clock allows it."""


@dataclass(frozen=True)
class Clock:
    """The clock of the player to move."""

    remaining: float
    increment: float = 0.0
    moves_to_go: int | None = None
    """Moves until the next time control; None: the time is for the whole game."""


@dataclass(frozen=True)
class Budget:
    """Seconds for one move: 0 <= target <= maximum."""

    target: float
    maximum: float


def plan(clock: Clock, *, move_number: int, overhead: float, slowmover: float = 1.0, lateness: float = 0.0) -> Budget:
    """Divide the clock among the moves still to come.

    `move_number` counts full moves from 0. `overhead` seconds may be lost between clock and engine on a move and are
    never planned; what increments do not pay of the lag of later moves is kept too. `lateness`: by how much earlier
    moves came too late; so much is kept as well, but half of the clock stays in use. `maximum` is at most
    `remaining - overhead` for every clock, and 0 when nothing is left.
    """
    moves = moves_left(move_number) if clock.moves_to_go is None else float(max(1, clock.moves_to_go))
    increment = max(0.0, clock.increment)
    spare = max(0.0, clock.remaining - overhead)
    spare -= min(max(0.0, lateness), 0.5 * spare)
    spare -= min(_lag(clock, moves, overhead), LARGEST_RESERVE * spare)
    share = (spare + increment * (moves - 1.0)) / moves
    maximum = min(STRETCH * slowmover * share, _ceiling(spare, clock.moves_to_go))
    return Budget(target=min(slowmover * share, maximum), maximum=maximum)


def fixed(seconds: float, *, overhead: float) -> Budget:
    """Return the budget of a fixed time for a move: all but the overhead, of which a very short time keeps half."""
    usable = max(seconds - overhead, 0.5 * seconds, 0.0)
    return Budget(target=usable, maximum=usable)


def moves_left(move_number: int) -> float:
    """Return the median number of moves still to play after `move_number` moves, for log-logistic game lengths.

    The share of games longer than x moves is S(x) = 1 / (1 + (x/m)^s), with m = GAME_LENGTH and s = GAME_LENGTH_SHAPE.
    The median of what is left, t, solves S(x + t) = S(x) / 2: t = m (1 + 2 (x/m)^s)^(1/s) - x, at most m.
    """
    played = float(max(0, move_number))
    growth: float = 1.0 + 2.0 * (played / GAME_LENGTH) ** GAME_LENGTH_SHAPE
    left: float = GAME_LENGTH * growth ** (1.0 / GAME_LENGTH_SHAPE) - played
    return min(GAME_LENGTH, left)


def remember_lateness(before: float, late: float) -> float:
    """Return the largest lateness of late: an old one fades by 5 % a move."""
    return max(0.95 * before, late, 0.0)


def _lag(clock: Clock, moves: float, overhead: float) -> float:
    """Return what the moves after this one lose on the way, as far as increments do not pay for it."""
    later = max(moves, LONG_GAME) if clock.moves_to_go is None else moves - 1.0
    return later * max(0.0, USUAL_LAG * overhead - max(0.0, clock.increment))


def _ceiling(spare: float, moves_to_go: int | None) -> float:
    """Return the most that one move may use: the last move before a time control all, others a share."""
    if moves_to_go is None:
        return LARGEST_SHARE * spare
    return spare if moves_to_go <= 1 else spare * max(LARGEST_SHARE, 1.0 / moves_to_go)

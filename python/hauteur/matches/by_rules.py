"""Games of matches played over again: result, end and length must follow from the moves."""

from __future__ import annotations

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT, RESIGNATION
from hauteur.matches.record import GamePlan
from hauteur.matches.results import SEATS, MatchGame
from hauteur.players.engines.failures import REASONS

MOST_NOTE = 10_000
"""Characters of a note of a game."""


def player_a(plan: GamePlan) -> int:
    """Return the player from whose view the result of a game is told: the one with the lower number."""
    return min(plan.seats)


def check_game(
    game: _core.Game, plan: GamePlan, played: MatchGame, *, max_plies: int | None, programs: tuple[bool, bool]
) -> None:
    """ValueError unless this is the game of the plan, its moves are legal and all else follows from them.

    programs: whether A and B are programs, which may resign or fail.
    """
    state = plan.begin(game)
    fen, opening = None if plan.origin is None else state.notation(), list[str]()
    for action in plan.start:
        opening.append(state.action_to_text(action))
        state.apply(action)
    seat = SEATS[plan.seats.index(player_a(plan))]
    if (played.index, played.a, played.fen, played.opening) != (plan.index, seat, fen, " ".join(opening)):
        raise ValueError("another number, seat or start than planned")
    moves = played.moves.split()
    for move in moves:
        if state.outcome() is not None:
            raise ValueError(f"{move} after the end of the game")
        state.apply(state.parse(move))
    _check_columns(played, begins=len(opening), moves=len(moves))
    is_a = state.to_move == SEATS.index(played.a)
    _check_end(played, state, max_plies, may_fail=programs[0 if is_a else 1])


def _check_columns(played: MatchGame, *, begins: int, moves: int) -> None:
    """ValueError unless everything about the moves is of moves that were made."""
    if played.plies != begins + moves:
        raise ValueError(f"{played.plies} plies, but {begins + moves} moves")
    for name in ("centipawns", "depths", "milliseconds"):
        if len(getattr(played, name)) not in (0, moves):
            raise ValueError(f"{len(getattr(played, name))} {name} of {moves} moves")
    if any(not begins <= ply <= played.plies or len(note) > MOST_NOTE for ply, note in played.notes.items()):
        raise ValueError("notes of other moves, or too long ones")


def _check_end(played: MatchGame, state: _core.State, max_plies: int | None, *, may_fail: bool) -> None:
    """ValueError unless the game has ended in this position, so and with this result. may_fail: whose turn it is."""
    outcome, reason = state.outcome(), state.end_reason() or ""
    if outcome is None and max_plies is not None and played.plies >= max_plies:
        outcome, reason = 0, PLY_LIMIT
    elif outcome is None and may_fail:
        outcome = -1 if state.to_move == 0 else 1  # a program that failed or resigned
        reason = played.end if played.end in (*REASONS, RESIGNATION) else "none that a program can have"
    if outcome is None:
        raise ValueError("it is not over")
    score = (1 + outcome * (1 if played.a == SEATS[0] else -1)) / 2
    if (played.score, played.end) != (score, reason):
        raise ValueError(f"score {played.score:g} by {played.end!r}, but by the rules {score:g} by {reason!r}")

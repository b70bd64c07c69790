"""Short forced wins of a review, mates in chess: proven by an exact search of the core, in every game."""

from collections.abc import Sequence

from hauteur import _core

MATE_MOVES = 3
"""Moves of the player to move within which forced wins are looked for."""

MOST_POSITIONS = 300_000
"""Positions of a game with pieces that are looked at for one proof (chess: 0.01 s); what takes more stays unproven."""

MOST_OF_OTHERS = 5_000
"""The same of a game without pieces: wins of few moves are rare there, or seen by any search."""


def short_win(state: _core.State, moves: int = MATE_MOVES) -> tuple[int, ...]:
    """Return the shortest forced win of the player to move and the longest replies; empty where none is proven."""
    most = MOST_POSITIONS if state.game.look == "pieces" else MOST_OF_OTHERS
    return tuple(_core.forced_win(state, moves, nodes=most) or ())


def still_wins(state: _core.State, action: int) -> bool:
    """Return whether a move wins at once, or keeps a forced win within MATE_MOVES after each reply."""
    after = state.child(action)
    if after.outcome() is not None:
        return _won_by(after, state.to_move)
    if after.to_move == state.to_move:
        return bool(short_win(after))
    return all(_is_lost_behind(after, reply) for reply in after.legal_actions().tolist())


def moves_not_losing_at_once(state: _core.State, actions: Sequence[int]) -> tuple[int, ...]:
    """Return those of these moves after which the other player has no proven win within MATE_MOVES."""
    return tuple(action for action in actions if not _is_lost_behind(state, action))


def _is_lost_behind(state: _core.State, action: int) -> bool:
    """Return whether a move leads to a proven win of the other player."""
    after = state.child(action)
    if after.outcome() is not None:
        return _won_by(after, 1 - state.to_move)
    return after.to_move != state.to_move and bool(short_win(after))


def _won_by(state: _core.State, player: int) -> bool:
    """Return whether a game that is over was won by this player."""
    return state.outcome() == (1 if player == 0 else -1)

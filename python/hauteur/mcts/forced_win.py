"""Small proofs: does a player force a win within so many plies? Plain and/or search over the rules, for any game.

The tree of a search with a network is no proof, however good its values are. Where its best line ends in a win, these
functions check all replies, so that a mate is announced only when it is certain.
"""

from collections.abc import Sequence

from hauteur import _core

PROOF_POSITIONS = 4000
"""Positions that one proof may look at (about 20 ms of chess)."""


class _Spent(Exception):  # noqa: N818  (no error: the search for a proof gives up)
    """The proof has looked at as many positions as it may."""


def moves_to_win(state: _core.State, line: Sequence[int], *, positions: int = PROOF_POSITIONS) -> int | None:
    """Moves of the winner until a certain end: positive if the mover wins, negative if he loses, None if unproven.

    `line` is a likely line of play from `state` that ends the game; its first move is taken as the mover's choice when
    it wins. The figure is the shortest that the proof found, at most that of the line.
    """
    winner = _winner_of(state, line)
    if winner is None:
        return None
    wins = winner == state.to_move
    begin, plies = (_after(state, line[0]), len(line) - 1) if wins else (state, len(line))
    found = shortest_win(begin, winner, plies, positions=positions)
    if found is None:
        return None
    return found // 2 + 1 if wins else -(found // 2)


def shortest_win(state: _core.State, player: int, plies: int, *, positions: int = PROOF_POSITIONS) -> int | None:
    """Plies, at most `plies`, within which `player` forces a win; None if not proven within `positions` positions."""
    left = [positions]
    try:
        for depth in range(plies % 2, plies + 1, 2):
            if _forces(state, player, depth, left):
                return depth
    except _Spent:
        return None
    return None


def _forces(state: _core.State, player: int, plies: int, left: list[int]) -> bool:
    """Return whether `player` wins within `plies` against any play; `left[0]` counts positions down."""
    left[0] -= 1
    if left[0] < 0:
        raise _Spent
    outcome = state.outcome()
    if outcome is not None:
        return outcome == (1 if player == 0 else -1)
    if plies == 0:
        return False
    replies = (_forces(_after(state, action), player, plies - 1, left) for action in state.legal_actions().tolist())
    return any(replies) if state.to_move == player else all(replies)


def _winner_of(state: _core.State, line: Sequence[int]) -> int | None:
    """Return the winner after `line`; None if there is none."""
    end = state.copy()
    for action in line:
        end.apply(action)
    outcome = end.outcome() if line else None
    return None if outcome in (None, 0) else (0 if outcome == 1 else 1)


def _after(state: _core.State, action: int) -> _core.State:
    child = state.copy()
    child.apply(action)
    return child

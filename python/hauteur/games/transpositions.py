"""Positions with equal keys must be alike: graph search and exact solving take them for one position.

Random games seldom come to a position twice. So short lines are searched from positions of random games: a few actions
in all orders, and actions that a move has just made possible, such as the way back of a piece.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core

SHAPES = ((3, 3, 3, 3), (2, 2, 2, 2, 2, 2), (4, 1, 4, 1, 2, 2))
"""Actions that are tried at each ply of the lines; about a hundred positions each. In the last one a player moves a
piece away and back, or another one, while the other player does the same.
"""

ROOTS = (1, 3, 6)
"""Plies before the end of a random game at which lines begin, in addition to one anywhere and one near the start."""

EARLY = 4
"""The last ply that is near the start."""

SHOWN = 8
"""Actions that a message shows: the last ones, which lead to what is wrong."""

LEFT_OUT = "features() or key() leave out something that decides"


def actions_text(actions: Sequence[int]) -> str:
    """Return the last actions in brackets, with the number of those before: `[992 more, 0, 1, 2]`."""
    before = len(actions) - SHOWN
    shown = [str(action) for action in actions[max(0, before) :]]
    parts = [f"{before} more", *shown] if before > 0 else shown
    return f"[{', '.join(parts)}]"


@dataclass
class _Seen:
    """The first position with a key at a ply. outcome: for the mover; after: key of the position after an action, and
    who saw it.
    """

    moves: tuple[int, ...]
    outcome: int | None
    legal: NDArray[np.int64]
    after: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)


class Transpositions:
    """The positions of a game that were seen, by key and ply."""

    def __init__(self, game: _core.Game) -> None:
        self._game = game
        self._seen: dict[tuple[int, int], _Seen] = {}

    def violation(self, moves: Sequence[int], random: np.random.Generator) -> str | None:
        """Compare the positions of a game, and of lines that begin in it, with those seen before.

        Return how two positions with equal keys differ; None where none do.
        """
        state = self._game.new_initial_state()
        anywhere = int(random.integers(len(moves) + 1))
        early = int(random.integers(min(EARLY, len(moves)) + 1))
        late = [max(0, len(moves) - before) for before in ROOTS]
        roots = {*late, anywhere, early}
        for ply in range(len(moves) + 1):
            message = self._line(state, moves[:ply], moves[ply : ply + 1])
            if message is None and ply in roots:
                message = self._lines(state, tuple(moves[:ply]), random)
            if message is not None:
                return message
            if ply < len(moves):
                state.apply(moves[ply])
        return None

    def _line(self, state: _core.State, moves: Sequence[int], following: Sequence[int]) -> str | None:
        """Compare a position of a game, and the one after the action that follows, if any."""
        seen, message = self._compared(state, tuple(moves))
        for action in following:
            message = message or _followed(seen, action, state.child(action).key, tuple(moves))
        return message

    def _lines(self, root: _core.State, moves: tuple[int, ...], random: np.random.Generator) -> str | None:
        """Compare the positions of short lines from here."""
        for widths in SHAPES:
            rank = random.permutation(self._game.num_actions)
            message = self._explored(root, moves, rank, widths, {})
            if message is not None:
                return message
        return None

    def _explored(
        self,
        state: _core.State,
        moves: tuple[int, ...],
        rank: NDArray[np.int64],
        widths: tuple[int, ...],
        before: dict[int, NDArray[np.int64]],
    ) -> str | None:
        """Compare a position and those below. rank: of actions; before: legal actions at each mover's last turn."""
        seen, message = self._compared(state, moves)
        if message is not None or seen.outcome is not None or not widths:
            return message
        mover = state.to_move
        new = np.setdiff1d(seen.legal, before.get(mover, seen.legal))
        below = before | {mover: seen.legal}
        for action in _chosen(seen.legal, new, rank, widths[0]):
            child = state.child(action)
            message = _followed(seen, action, child.key, moves)
            message = message or self._explored(child, (*moves, action), rank, widths[1:], below)
            if message is not None:
                return message
        return None

    def _compared(self, state: _core.State, moves: tuple[int, ...]) -> tuple[_Seen, str | None]:
        """Return the first position with this key and ply, and how this one differs from it."""
        outcome = state.outcome()
        if outcome is not None and state.to_move == 1:
            outcome = -outcome
        legal = state.legal_actions()
        seen = self._seen.setdefault((state.key, state.ply), _Seen(moves, outcome, legal))
        what = None
        if seen.outcome != outcome:
            what = f"the outcomes for the mover are {seen.outcome} and {outcome}"
        elif not np.array_equal(seen.legal, legal):
            what = f"the legal actions are {actions_text(seen.legal.tolist())} and {actions_text(legal.tolist())}"
        return seen, None if what is None else _message(seen.moves, moves, what)


def _followed(seen: _Seen, action: int, key: int, moves: tuple[int, ...]) -> str | None:
    """Return that an action leads to another key than from the position with this one's key; None where it does not."""
    known, by = seen.after.setdefault(action, (key, moves))
    if known == key:
        return None
    return _message(by, moves, f"action {action} leads to positions with different keys")


def _message(one: Sequence[int], other: Sequence[int], what: str) -> str:
    places = f"after the actions {actions_text(one)} and {actions_text(other)}"
    return f"{places} the keys are equal, but {what}: {LEFT_OUT}"


def _chosen(legal: NDArray[np.int64], new: NDArray[np.int64], rank: NDArray[np.int64], width: int) -> list[int]:
    """Return the legal actions of the lowest ranks; half of them are such as have become legal, if there are any."""
    new_by_rank = new[np.argsort(rank[new])].tolist()
    legal_by_rank = legal[np.argsort(rank[legal])].tolist()
    chosen: list[int] = new_by_rank[: width // 2]
    for action in legal_by_rank:
        if len(chosen) >= width:
            break
        if action not in chosen:
            chosen.append(action)
    return chosen

"""Playout-cap randomisation (Wu 2019, "Accelerating Self-Play Learning in Go", arXiv:1902.10565, section 3.1).

A value target is worth one game, however many visits its moves had; a policy target wants many visits. So most moves
are searched with few visits, which gives more games for the same work, and only the others are learned from.
"""

from typing import Annotated

from pydantic import Field

from hauteur.system.seeds import stream
from hauteur.system.settings import Section


class PlayoutCap(Section):
    """Settings of the playout cap: a share of the moves of self-play is searched in full, the others are fast.

    full_share: chance that a move is searched with all visits; fast_visits: of the other moves, which are searched as
    in play, without noise at the root, and are not learned from.
    """

    full_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    fast_visits: Annotated[int, Field(ge=1, le=1_000_000_000)] = 20

    def searches_in_full(self, game_seed: int, ply: int) -> bool:
        """Return whether the move at this ply of this game is searched in full: one draw for every game and ply."""
        return bool(stream(game_seed, "playout cap", ply).random() < self.full_share)

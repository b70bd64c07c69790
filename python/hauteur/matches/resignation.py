"""Resignation in self-play, with a share of the games played out to see how often it is wrong (Silver et al. 2017)."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from hauteur.system.seeds import stream
from hauteur.system.settings import Section

NO_SIDE = -1
"""Side of a game in which neither side resigns."""


class Resignation(Section):
    """Rule of resignation in self-play.

    threshold: a player resigns once the root value of its searches, -1 to 1, is at most this `moves` times in a row;
    earliest_ply: plies of the game, opening included, before which no player resigns; play_through: share of games
    played on regardless, to measure how often resigning is wrong.
    """

    threshold: Annotated[float, Field(ge=-1, lt=0)] = -0.9
    moves: Annotated[int, Field(ge=1, le=10_000)] = 3
    earliest_ply: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    play_through: Annotated[float, Field(ge=0, le=1)] = 0.1

    def watch(self, game_seed: int) -> "Watch":
        """Return an observer of this game's root values."""
        plays_through = stream(game_seed, "play through").random() < self.play_through
        return Watch(self, bool(plays_through))


@dataclass
class Watch:
    """Follows the root values of one game. side: who was the first to have reason to resign; NO_SIDE so far."""

    settings: Resignation
    plays_through: bool
    side: int = NO_SIDE
    _in_a_row: list[int] = field(default_factory=lambda: [0, 0])

    def see(self, mover: int, value: float, ply: int) -> None:
        """Take the root value that side `mover` found before its move at this ply."""
        hopeless = value <= self.settings.threshold
        self._in_a_row[mover] = self._in_a_row[mover] + 1 if hopeless else 0
        in_time = ply >= self.settings.earliest_ply
        if self.side == NO_SIDE and in_time and self._in_a_row[mover] >= self.settings.moves:
            self.side = mover

    @property
    def ends_game(self) -> bool:
        """True where a player resigns now."""
        return self.side != NO_SIDE and not self.plays_through

"""Resignation, as the core decides it: `hauteur.matches.record` has the rule."""

from __future__ import annotations

from dataclasses import dataclass, field

from hauteur.matches.record import Resignation
from hauteur.system.seeds import stream

NO_SIDE = -1
"""Side of a game in which neither side resigns."""


@dataclass
class ResignationWatch:
    """Follows the root values of one game. side: that first had reason to resign; NO_SIDE so far."""

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

    @classmethod
    def begin(cls, settings: Resignation, game_seed: int) -> ResignationWatch:
        """Return the watch of a game; the seed decides whether the game is played through regardless."""
        return cls(settings, bool(stream(game_seed, "play through").random() < settings.play_through))

    @property
    def ends_game(self) -> bool:
        """True where a player resigns now."""
        return self.side != NO_SIDE and not self.plays_through
